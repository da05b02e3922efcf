// Tests AdamWOptimizer. The expected values are TensorFlow's (testdata/make_adam_w.py).
#include <gtest/gtest.h>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

const std::vector<float> kDenseA = {0.649204f, -1.589294f, 2.530204f, -3.471268f, 4.412388f, -5.353534f};
const std::vector<float> kRowsOfA = {0.649204f, -1.589294f, 3, -4, 4.412388f, -5.353534f};
const std::vector<float> kDecayedB = {0.191906f, 1.590714f};
const std::vector<float> kOtherB = {0.213221f, 1.701489f};

void ExpectNear(const Tensor& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got.data<float>()[i], expected[i], 2e-6) << i;
}

// Three steps on the variables a, which decays, and b.
std::vector<Tensor> Train(bool only_a_decays, bool sparse) {
  Graph g;
  const Variable a(g, {3, 2}, Constant(Tensor::Of<float>({3, 2}, {1, -2, 3, -4, 5, -6})), {.name = "a"});
  const Variable b(g, {2}, Constant(Tensor::Vector<float>({0.5, 2})), {.name = "b"});
  const Output used = sparse ? Gather(a, Tensor::Vector<int32_t>({2, 0, 2})) : a.value();
  const Output loss = ReduceSum(Square(used)) + ReduceSum(Square(b) * b);
  AdamWOptimizer optimizer(0.02, 0.1);
  if (only_a_decays) optimizer.set_decay_variables({a});
  const Operation train = optimizer.Minimize(loss);
  EXPECT_EQ(train.name(), "AdamW");
  EXPECT_EQ(optimizer.GetSlot(a, "m").name(), "a/AdamW");
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
  for (int step = 0; step < 3; ++step) EXPECT_TRUE((*session)->Run({train}).ok());
  return (*session)->Run({a, b}).value();
}

TEST(AdamWOptimizer, DecaysWeightsBeforeTheUpdate) {
  const auto values = Train(/*only_a_decays=*/false, /*sparse=*/false);
  ExpectNear(values[0], kDenseA);
  ExpectNear(values[1], kDecayedB);
}

TEST(AdamWOptimizer, DecaysTheChosenVariablesOnly) {
  const auto values = Train(/*only_a_decays=*/true, /*sparse=*/false);
  ExpectNear(values[0], kDenseA);
  ExpectNear(values[1], kOtherB);
}

TEST(AdamWOptimizer, DecaysTheRowsOfTheGradientOnly) {
  const auto values = Train(/*only_a_decays=*/false, /*sparse=*/true);
  ExpectNear(values[0], kRowsOfA);
  ExpectNear(values[1], kDecayedB);
}

}  // namespace
}  // namespace tensorbraid
