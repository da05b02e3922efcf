#include "cli/bench/models.h"

#include <random>

#include "core/text/logging.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int64_t kDigits = 10;

Output Classify(BenchModel& m, const Output& logits) {
  m.inputs.push_back(Placeholder(m.graph, kInt64, {m.examples}, "labels"));
  Tensor labels(kInt64, {m.examples});
  for (int64_t i = 0; i < m.examples; ++i) labels.mutable_data<int64_t>()[i] = i % kDigits;
  m.batches[0].push_back(labels);
  return ReduceMean(nn::SparseSoftmaxCrossEntropy(m.inputs.back(), logits));
}

// Two convolutions and two dense layers on images of 28 x 28 pixels. The place of a bright column in an image encodes
// its class.
void MakeLeNet(int worker, BenchModel& m) {
  constexpr int64_t kWidth = 28;
  m.examples = 128;
  const Output images = Placeholder(m.graph, kFloat32, {m.examples, kWidth, kWidth, 1}, "images");
  m.inputs = {images};
  Tensor pixels = MakeNoise({m.examples, kWidth, kWidth, 1}, 7 + worker);
  for (int64_t i = 0; i < m.examples; ++i) {
    for (int64_t row = 0; row < kWidth; ++row) {
      pixels.mutable_data<float>()[(i * kWidth + row) * kWidth + 2 + 2 * (i % kDigits)] = 1;
    }
  }
  m.batches = {{pixels}};
  constexpr auto kRelu = layers::Activation::kRelu;
  Output x = layers::Conv2D(images, {.filters = 32, .kernel = {5, 5}, .activation = kRelu});
  x = nn::MaxPool(x, {.size = {2, 2}});
  x = layers::Conv2D(x, {.filters = 64, .kernel = {5, 5}, .activation = kRelu});
  x = nn::MaxPool(x, {.size = {2, 2}});
  x = layers::Dense(layers::Flatten(x), {.units = 1024, .activation = kRelu});
  m.loss = Classify(m, layers::Dense(x, {.units = kDigits}));
  m.optimizer = std::make_shared<AdamOptimizer>(1e-3);
  m.arithmetic = {
      {.batch = m.examples, .height = 28, .width = 28, .kernel = 5, .in = 1, .out = 32, .input_gradient = false},
      {.batch = m.examples, .height = 14, .width = 14, .kernel = 5, .in = 32, .out = 64},
      {.batch = m.examples, .in = 7 * 7 * 64, .out = 1024},
      {.batch = m.examples, .in = 1024, .out = kDigits}};
}

// An LSTM of 200 units over 20 steps of 200 features. In each step, one feature is larger than all others. It is the
// same in all steps of an example, and encodes the class.
void MakeLstm(int worker, BenchModel& m) {
  constexpr int64_t kUnits = 200;
  constexpr int64_t kSteps = 20;
  m.examples = 32;
  const Output sequences = Placeholder(m.graph, kFloat32, {m.examples, kSteps, kUnits}, "sequences");
  m.inputs = {sequences};
  Tensor values = MakeNoise({m.examples, kSteps, kUnits}, 7 + worker);
  for (int64_t i = 0; i < m.examples; ++i) {
    for (int64_t t = 0; t < kSteps; ++t) {
      values.mutable_data<float>()[(i * kSteps + t) * kUnits + i % kDigits] = 1;
    }
  }
  m.batches = {{values}};
  const layers::RnnResult rnn = layers::DynamicRnn(layers::LSTMCell(kUnits), sequences);
  m.loss = Classify(m, layers::Dense(rnn.state[1], {.units = kDigits}));
  m.optimizer = std::make_shared<GradientDescentOptimizer>(0.1);
  // The inputs are data and have no gradient, but the state before each step has one.
  m.arithmetic = {{.batch = m.examples * kSteps, .in = kUnits, .out = 4 * kUnits, .input_gradient = false},
                  {.batch = m.examples, .in = kUnits, .out = 4 * kUnits, .steps = kSteps},
                  {.batch = m.examples, .in = kUnits, .out = kDigits}};
}

}  // namespace

void MakeModel(const std::string& name, int worker, BenchModel& m) {
  m.graph.SetRandomSeed(1);
  if (name == "softmax") return MakeSoftmax(worker, m);
  if (name == "lenet") return MakeLeNet(worker, m);
  if (name == "lstm") return MakeLstm(worker, m);
  TB_CHECK(name == "crnn");
  MakeCrnn(worker, m);
}

StatusOr<Operation> AddTraining(BenchModel& m, const Variable& global_step) {
  if (m.clip_norm == 0) return m.optimizer->Minimize(m.loss, {.global_step = global_step});
  TF_ASSIGN_OR_RETURN(const auto grads, m.optimizer->ComputeGradients(m.loss));
  return m.optimizer->ApplyGradients(ClipByGlobalNorm(grads, m.clip_norm), {.global_step = global_step});
}

Tensor MakeNoise(const Shape& shape, int seed) {
  Tensor noise(kFloat32, shape);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0, 0.3f);
  for (float& x : noise.mutable_data<float>()) x = uniform(random);
  return noise;
}

}  // namespace tensorbraid
