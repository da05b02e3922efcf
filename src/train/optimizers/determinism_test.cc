// Tests that two training runs with one thread and the same seed end with the same weights, bit for bit.
#include <gtest/gtest.h>

#include <string>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int64_t kExamples = 16;

Output CnnLogits(const Output& values) {
  Output x = Reshape(values, {kExamples, 12, 12, 1});
  x = layers::Conv2D(x, {.filters = 8, .kernel = {3, 3}, .bias = false});
  x = nn::MaxPool(nn::Relu(layers::BatchNorm(x, {.training = true})), {.size = {2}});
  x = layers::Dropout(layers::Flatten(x), {.rate = 0.5, .training = true});
  return layers::Dense(layers::Dense(x, {.units = 32, .activation = layers::Activation::kRelu}), {.units = 10});
}

Output LstmLogits(const Output& values) {
  const Output x = Reshape(values, {kExamples, 12, 12});
  return layers::Dense(layers::DynamicRnn(layers::LSTMCell(24), x).state[1], {.units = 10});
}

// The bytes of all variables, slots included, after some steps in a session with this many threads.
StatusOr<std::string> TrainedParameters(Output (*logits)(const Output&), int64_t seed, int threads) {
  Graph g;
  g.SetRandomSeed(seed);
  const Output labels = Const(g, Tensor::Vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5}));
  const Output values = RandomUniform(g, {kExamples, 12 * 12});
  const Output loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits(values)));
  const Operation train = AdamOptimizer(1e-2).Minimize(loss);
  const Operation init = GlobalVariablesInitializer(g);
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, {.inter_op_parallelism_threads = threads}));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  for (int step = 0; step < 10; ++step) TF_RETURN_IF_ERROR(session->Run({train}).status());
  std::string bytes;
  for (const Variable& variable : g.variables()) {
    TF_ASSIGN_OR_RETURN(const auto value, session->Run({variable}));
    const auto floats = value[0].data<float>();
    bytes.append(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
  }
  return bytes;
}

void ExpectTheSameBits(Output (*logits)(const Output&)) {
  const auto first = TrainedParameters(logits, /*seed=*/7, /*threads=*/1);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = TrainedParameters(logits, /*seed=*/7, /*threads=*/1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(*first == *second);
  const auto other_seed = TrainedParameters(logits, /*seed=*/8, /*threads=*/1);
  ASSERT_TRUE(other_seed.ok()) << other_seed.status();
  EXPECT_FALSE(*first == *other_seed) << "another seed must give other weights";
}

TEST(Determinism, OneThreadAndOneSeedTrainACnnToTheSameBits) { ExpectTheSameBits(CnnLogits); }

TEST(Determinism, OneThreadAndOneSeedTrainAnLstmToTheSameBits) { ExpectTheSameBits(LstmLogits); }

}  // namespace
}  // namespace tensorbraid
