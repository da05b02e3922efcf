// Values are TensorFlow's (tf.train, version 2.21) on the same problem.
#include "tensorbraid/optimizer.h"

#include <gtest/gtest.h>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// w after three steps towards (3, 1, -1) from (1, -2, 0.5).
std::vector<float> AfterThreeSteps(Optimizer& optimizer) {
  Graph g;
  Variable w(g, {3}, Constant(Tensor::Vector<float>({1.0f, -2.0f, 0.5f})), {.name = "w"});
  const Tensor target = Tensor::Vector<float>({3.0f, 1.0f, -1.0f});
  const Operation train = optimizer.Minimize(ReduceSum(Square(w - target)));
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  EXPECT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
  for (int i = 0; i < 3; ++i) {
    const Status status = (*session)->Run({train}).status();
    EXPECT_TRUE(status.ok()) << status;
  }
  const auto value = (*session)->Run({w});
  const auto data = (*value)[0].data<float>();
  return {data.begin(), data.end()};
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << i;
}

TEST(OptimizerTest, GradientDescentStepsAsTensorFlow) {
  GradientDescentOptimizer optimizer(0.1);
  ExpectNear(AfterThreeSteps(optimizer), {1.9760001f, -0.53599995f, -0.23200002f});
}

TEST(OptimizerTest, MomentumStepsAsTensorFlow) {
  MomentumOptimizer plain(0.1, 0.9);
  ExpectNear(AfterThreeSteps(plain), {2.876f, 0.814f, -0.907f});
  MomentumOptimizer nesterov(0.1, 0.9, {.use_nesterov = true});
  ExpectNear(AfterThreeSteps(nesterov), {3.2167041f, 1.3250558f, -1.1625279f});
}

TEST(OptimizerTest, AdadeltaStepsAsTensorFlow) {
  AdadeltaOptimizer optimizer(1.0, {.rho = 0.95, .epsilon = 1e-6});
  ExpectNear(AfterThreeSteps(optimizer), {1.0135522f, -1.9864422f, 0.48645332f});
  EXPECT_EQ(optimizer.GetSlotNames(), (std::vector<std::string>{"accum", "accum_update"}));
}

TEST(OptimizerTest, AdagradStepsAsTensorFlow) {
  AdagradOptimizer optimizer(0.5);
  ExpectNear(AfterThreeSteps(optimizer), {2.0142810f, -0.93719786f, -0.46007818f});
  EXPECT_EQ(optimizer.GetSlotNames(), (std::vector<std::string>{"accumulator"}));
}

TEST(OptimizerTest, AdamStepsAsTensorFlow) {
  AdamOptimizer plain(0.1);
  ExpectNear(AfterThreeSteps(plain), {1.2993755f, -1.7003826f, 0.20090392f});
  EXPECT_EQ(plain.GetSlotNames(), (std::vector<std::string>{"m", "v"}));
  AdamOptimizer other(0.1, {.beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.01});
  ExpectNear(AfterThreeSteps(other), {1.2974523f, -1.7016592f, 0.20347805f});
  ExpectNear(AfterThreeSteps(other), {1.2974523f, -1.7016592f, 0.20347805f});  // in a graph of its own each time
}

TEST(OptimizerTest, RMSPropStepsAsTensorFlow) {
  RMSPropOptimizer plain(0.1);
  ExpectNear(AfterThreeSteps(plain), {1.5946282f, -1.3427150f, -0.03204525f});
  EXPECT_EQ(plain.GetSlotNames(), (std::vector<std::string>{"momentum", "rms"}));
  RMSPropOptimizer centered(0.1, {.decay = 0.8, .momentum = 0.5, .epsilon = 0.01, .centered = true});
  ExpectNear(AfterThreeSteps(centered), {1.8094807f, -1.1269302f, -0.24095464f});
  EXPECT_EQ(centered.GetSlotNames(), (std::vector<std::string>{"mg", "momentum", "rms"}));
}

TEST(OptimizerTest, FtrlStepsAsTensorFlow) {
  FtrlOptimizer plain(0.5);
  ExpectNear(AfterThreeSteps(plain), {1.9517980f, -0.8453490f, -0.49526286f});
  FtrlOptimizer strict(0.5, {.learning_rate_power = -0.6,
                             .l1_regularization_strength = 0.1,
                             .l2_regularization_strength = 0.2,
                             .l2_shrinkage_regularization_strength = 0.05});
  ExpectNear(AfterThreeSteps(strict), {1.6440592f, -1.1573398f, -0.29802331f});
  EXPECT_EQ(strict.GetSlotNames(), (std::vector<std::string>{"accum", "linear"}));
}

TEST(OptimizerTest, AverageGradientsIsTheMeanOverTowers) {
  Graph g;
  Variable w(g, {}, Zeros(), {.name = "w"});
  Variable unused(g, {}, Zeros(), {.name = "unused"});
  GradientDescentOptimizer optimizer(1.0);
  std::vector<std::vector<GradAndVar>> towers;
  for (const float slope : {1.0f, 2.0f, 6.0f}) {
    auto grads = optimizer.ComputeGradients(w * slope);
    ASSERT_TRUE(grads.ok()) << grads.status();
    towers.push_back(*std::move(grads));
  }
  const auto mean = AverageGradients(towers);
  ASSERT_EQ(mean.size(), 2u);
  EXPECT_FALSE(mean[1].grad.valid());
  const Operation train = optimizer.ApplyGradients(mean);
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
  ASSERT_TRUE((*session)->Run({train}).ok());
  EXPECT_FLOAT_EQ((*(*session)->Run({w}))[0].scalar<float>(), -3.0f);
}

TEST(OptimizerTest, OperationsAreNamedAsTensorFlowNamesThem) {
  Graph g;
  Variable w(g, {}, Zeros(), {.name = "w"});
  const Output loss = Square(w);
  GradientDescentOptimizer optimizer(0.1);
  EXPECT_EQ(optimizer.Minimize(loss).name(), "GradientDescent");
  EXPECT_EQ(optimizer.Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)}).name(), "GradientDescent_1");
  EXPECT_EQ(optimizer.Minimize(loss, {.name = "train"}).name(), "train");
  AdamOptimizer adam;
  EXPECT_EQ(adam.Minimize(loss).name(), "Adam");
  for (const char* name : {"GradientDescent/update_w/ResourceApplyGradientDescent", "GradientDescent_1/update",
                           "Adam/update_w/ResourceApplyAdam", "w/Adam", "w/Adam_1", "beta1_power", "beta2_power"}) {
    EXPECT_TRUE(g.FindOperation(name).ok()) << g.FindOperation(name).status();
  }
}

TEST(OptimizerTest, ALossThatDependsOnNoVariableIsAMistake) {
  Graph g;
  Variable w(g, {}, Zeros(), {.name = "w"});
  GradientDescentOptimizer optimizer(1.0);
  optimizer.Minimize(Square(Placeholder(g, kFloat32, {}, "x")));
  EXPECT_NE(g.status().message().find("depends on none of the variables w"), std::string::npos) << g.status();
}

TEST(LearningRateTest, SchedulesFollowTensorFlow) {
  Graph g;
  Variable step = GetOrCreateGlobalStep(g);
  const Output decayed = ExponentialDecay(0.5, step, 4, 0.8);
  const Output in_stairs = ExponentialDecay(0.5, step, 4, 0.8, /*staircase=*/true);
  const Output in_pieces = PiecewiseConstant(step, {3, 6}, {1.0, 0.5, 0.1});
  const Output given = Placeholder(g, kInt64, {});
  const Operation set = step.Assign(given);
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  struct Row {
    int64_t step;
    float decayed, in_stairs, in_pieces;
  };
  for (const Row& row :
       {Row{0, 0.5f, 0.5f, 1.0f}, Row{3, 0.42294851f, 0.5f, 1.0f}, Row{4, 0.4f, 0.4f, 0.5f},
        Row{6, 0.35777089f, 0.4f, 0.5f}, Row{7, 0.33835882f, 0.4f, 0.1f}, Row{10, 0.28621671f, 0.32f, 0.1f}}) {
    ASSERT_TRUE((*session)->Run({set}, {{given, Tensor::Scalar(row.step)}}).ok());
    const auto rates = (*session)->Run({decayed, in_stairs, in_pieces});
    ASSERT_TRUE(rates.ok()) << rates.status();
    EXPECT_NEAR((*rates)[0].scalar<float>(), row.decayed, 1e-6) << row.step;
    EXPECT_NEAR((*rates)[1].scalar<float>(), row.in_stairs, 1e-6) << row.step;
    EXPECT_NEAR((*rates)[2].scalar<float>(), row.in_pieces, 1e-6) << row.step;
  }
}

TEST(LearningRateTest, WhatMakesNoScheduleIsAMistake) {
  Graph g;
  ExponentialDecay(0.5, GetOrCreateGlobalStep(g), 0, 0.8);
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
  Graph h;
  PiecewiseConstant(GetOrCreateGlobalStep(h), {6, 3}, {1.0, 0.5, 0.1});
  EXPECT_TRUE(absl::IsInvalidArgument(h.status())) << h.status();
}

}  // namespace
}  // namespace tensorbraid
