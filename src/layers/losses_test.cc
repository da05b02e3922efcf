#include "tensorbraid/layers/losses.h"

#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

float ValueOf(Graph& g, const Output& x) {
  EXPECT_TRUE(g.status().ok()) << g.status();
  if (!g.status().ok()) return 0;
  return Session::Create(g).value()->Run({x}).value()[0].data<float>()[0];
}

const std::vector<float> kErrors = {1, 2, 3, 4};

TEST(LossesTest, ReductionsDivideByWhatTheirNamesSay) {
  Graph g;
  const Output errors = Const(g, Tensor::Vector(kErrors));
  const Tensor weights = Tensor::Vector<float>({1, 0, 2, 0});
  const auto loss = [&](losses::Reduction reduction) {
    return ValueOf(g, losses::ComputeWeightedLoss(errors, {.weights = weights, .reduction = reduction}));
  };
  EXPECT_EQ(loss(losses::Reduction::kSum), 7);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kMean), 7.0f / 3);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kSumOverBatchSize), 7.0f / 4);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kSumByNonzeroWeights), 7.0f / 2);
  EXPECT_EQ(ValueOf(g, losses::ComputeWeightedLoss(errors, {.weights = 0.0})), 0);
}

TEST(LossesTest, ElementLossesFollowTheirFormulas) {
  Graph g;
  const Output y = Const(g, Tensor::Vector<float>({0, 1, 1})), p = Const(g, Tensor::Vector<float>({0.5, 3, 1}));
  EXPECT_FLOAT_EQ(ValueOf(g, losses::AbsoluteDifference(y, p)), 2.5f / 3);
  EXPECT_FLOAT_EQ(ValueOf(g, losses::MeanSquaredError(y, p)), 4.25f / 3);
  EXPECT_FLOAT_EQ(ValueOf(g, losses::HuberLoss(y, p, 1.0)), (0.125f + 1.5f) / 3);
  EXPECT_FLOAT_EQ(ValueOf(g, losses::HingeLoss(y, p)), 1.5f / 3);
  // The errors are 0.5, 2 and 0: the squared differences of the pairs are 2.25, 0.25 and 4.
  const auto row = [&](const Output& x) { return Reshape(x, {1, 3}); };
  EXPECT_NEAR(ValueOf(g, losses::MeanPairwiseSquaredError(row(y), row(p))), 6.5f / 3, 1e-5);
}

TEST(LossesTest, TheTotalIsTheSumOfTheCollections) {
  Graph g;
  const Output x = Const(g, Tensor::Vector<float>({2, 4}));
  losses::AbsoluteDifference(x, ZerosLike(x));
  losses::MeanSquaredError(x, ZerosLike(x));
  GetVariable(g, "w", {2}, {.initializer = Ones(), .regularizer = L2Regularizer(0.5)});
  EXPECT_EQ(losses::Losses(g).size(), 2);
  EXPECT_EQ(ValueOf(g, losses::TotalLoss(g, false)), 13);
  const Output total = losses::TotalLoss(g);
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_EQ(session->Run({total}).value()[0].data<float>()[0], 14);
  Graph empty;
  EXPECT_EQ(ValueOf(empty, losses::TotalLoss(empty)), 0);
}

TEST(LossesTest, MistakesNameTheLossTheShapesAndTheLine) {
  const auto message = [](const auto& build) {
    Graph g;
    build(Placeholder(g, kFloat32, {3, 2}), g);
    return std::string(g.status().message());
  };
  const std::string shapes = message([](const Output& x, Graph& g) {
    losses::LogLoss(Placeholder(g, kFloat32, {2, 3}), x);
  });
  EXPECT_NE(shapes.find("LogLoss (losses_test.cc:"), std::string::npos) << shapes;
  EXPECT_NE(shapes.find("[2,3]"), std::string::npos) << shapes;
  const std::string weights = message(
      [](const Output& x, Graph& g) { losses::MeanSquaredError(x, x, {.weights = Placeholder(g, kFloat32, {3})}); });
  EXPECT_NE(weights.find("do not fit losses"), std::string::npos) << weights;
}

}  // namespace
}  // namespace tensorbraid
