// Tests the optimizers and learning rates, and the errors that they record. The expected values were computed by
// TensorFlow (tf.train, version 2.21) on the same problems.
#include "tensorbraid/optimizers/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph/model/node.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/optimizers/sync_replicas.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Returns w after three steps from (1, -2, 0.5) towards (3, 1, -1).
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

TEST(OptimizerTest, AnInitialAccumulatorThatGivesNanIsRefused) {
  const auto mistake = [](Optimizer& optimizer) {
    Graph g;
    const Variable w(g, {}, Zeros(), {.name = "w"});
    EXPECT_FALSE(optimizer.Minimize(Square(w)).valid());
    return g.status();
  };
  for (const double value : {0.0, -1.0, std::nan("")}) {
    AdagradOptimizer adagrad(0.5, {.initial_accumulator_value = value});
    const Status status = mistake(adagrad);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find("Adagrad: initial_accumulator_value must be positive"), absl::string_view::npos)
        << status;
  }
  FtrlOptimizer ftrl(0.5, {.initial_accumulator_value = -1});
  EXPECT_TRUE(absl::IsInvalidArgument(mistake(ftrl)));
  ProximalAdagradOptimizer proximal(0.5, {.initial_accumulator_value = 0});
  EXPECT_TRUE(absl::IsInvalidArgument(mistake(proximal)));
}

TEST(OptimizerTest, ALossOrVariableOfNoGraphIsAnError) {
  GradientDescentOptimizer optimizer(0.5);
  EXPECT_FALSE(optimizer.Minimize(Output{}).valid());  // no graph is known that could record the error
  {
    Graph g;
    const Variable step = GetOrCreateGlobalStep(g);
    EXPECT_FALSE(optimizer.Minimize(Output{}, {.global_step = step}).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status()));
    EXPECT_NE(g.status().message().find("optimizer_test.cc:"), absl::string_view::npos) << g.status();
  }
  {
    Graph g;
    const Variable w(g, {}, Zeros(), {.name = "w"});
    EXPECT_FALSE(optimizer.ApplyGradients({{Square(w), Variable{}}}).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status()));
  }
}

TEST(OptimizerTest, AdamStepsAsTensorFlow) {
  AdamOptimizer plain(0.1);
  ExpectNear(AfterThreeSteps(plain), {1.2993755f, -1.7003826f, 0.20090392f});
  EXPECT_EQ(plain.GetSlotNames(), (std::vector<std::string>{"m", "v"}));
  AdamOptimizer other(0.1, {.beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.01});
  ExpectNear(AfterThreeSteps(other), {1.2974523f, -1.7016592f, 0.20347805f});
  ExpectNear(AfterThreeSteps(other), {1.2974523f, -1.7016592f, 0.20347805f});  // each call uses a new graph
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

TEST(OptimizerTest, AMeanOverTowersIsWhereTheFewestBytesTravel) {
  const auto device_of_mean = [](const std::string& variable, const std::string& scope) {
    Graph g;
    Variable w;
    {
      auto device = g.Device(variable);
      w = Variable(g, {2}, Zeros(), {.name = "w"});
    }
    std::vector<std::vector<GradAndVar>> towers;
    for (const char* tower : {"/device:GPU:0", "/device:GPU:1"}) {
      auto device = g.Device(tower);
      towers.push_back({{.grad = Square(w), .var = w}});
    }
    auto device = g.Device(scope);
    return AverageGradients(towers)[0].grad.dense().op().device();
  };
  EXPECT_EQ(device_of_mean("/cpu:0", ""), "/device:CPU:0");
  EXPECT_EQ(device_of_mean("/gpu:1", ""), "/device:GPU:1");
  EXPECT_EQ(device_of_mean("", ""), "");
  EXPECT_EQ(device_of_mean("/job:worker/task:1/gpu:1", "/job:worker/task:1"), "/job:worker/task:1/device:GPU:1");
  EXPECT_EQ(device_of_mean("/job:ps/task:0", "/job:worker/task:1"), "/job:worker/task:1/device:CPU:0");
  EXPECT_EQ(device_of_mean("/cpu:0", "/gpu:0"), "/device:GPU:0") << "the program has chosen";
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

// The names come from TensorFlow.
TEST(OptimizerTest, VariablesOfAnOptimizerAreNamedInTheScopesThatAreOpen) {
  Graph g;
  {
    auto outer = g.VariableScope("a");
    const Variable w = GetVariable(g, "w", {2});
    auto inner = g.NameScope("train");
    AdamOptimizer().Minimize(ReduceSum(w));
    ExponentialMovingAverage(0.9).Apply(std::vector<Variable>{w});
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  for (const char* name : {"a/train/beta1_power", "a/a/w/Adam", "a/a/w/Adam_1", "a/a/w/ExponentialMovingAverage"}) {
    EXPECT_TRUE(g.FindOperation(name).ok()) << g.FindOperation(name).status();
  }
}

TEST(OptimizerTest, SlotsOfPartsAreSavedUnderTheNamesOfTensorFlow) {
  Graph g;
  {
    auto scope = g.VariableScope("s");
    const PartitionedVariable w = GetPartitionedVariable(g, "w", {4, 2}, FixedSizePartitioner(2));
    MomentumOptimizer(0.1, 0.9).Minimize(ReduceSum(w.AsTensor()));
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  std::vector<std::string> saved;
  for (const Variable& v : g.variables()) {
    if (v.part_of() != nullptr) saved.push_back(v.part_of()->whole);
  }
  EXPECT_THAT(saved, ::testing::ElementsAre("s/w", "s/w", "s/w/0/Momentum", "s/w/1/Momentum"));
}

TEST(OptimizerTest, ALossThatDependsOnNoVariableIsAnError) {
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

TEST(LearningRateTest, AnInvalidScheduleIsAnError) {
  Graph g;
  ExponentialDecay(0.5, GetOrCreateGlobalStep(g), 0, 0.8);
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
  Graph h;
  PiecewiseConstant(GetOrCreateGlobalStep(h), {6, 3}, {1.0, 0.5, 0.1});
  EXPECT_TRUE(absl::IsInvalidArgument(h.status())) << h.status();
}

TEST(LocationTest, NodesThatTheLibraryAddsCarryTheLineOfTheUsersCall) {
  const std::vector<std::shared_ptr<Optimizer>> optimizers = {
      std::make_shared<MomentumOptimizer>(0.1, 0.9), std::make_shared<AdamOptimizer>(),
      std::make_shared<FtrlOptimizer>(0.1),
      std::make_shared<SyncReplicasOptimizer>(std::make_shared<AdadeltaOptimizer>(),
                                              SyncReplicasOptions{.replicas_to_aggregate = 2})};
  for (const auto& optimizer : optimizers) {
    Graph g;
    auto x = Placeholder(g, kFloat32, {-1, 4});
    Variable w(g, {4, 3}, GlorotUniform());
    auto logits = MatMul(x, w);
    auto labels = ArgMax(logits, 1);
    auto loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, logits));
    auto step = GetOrCreateGlobalStep(g);
    ExponentialDecay(0.1, step, 10, 0.5, /*staircase=*/true);
    optimizer->Minimize(loss, {.global_step = step});
    FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}});
    Group(g, {queue.Enqueue({1.0}), queue.Close(), queue.Size().op()});
    queue.DequeueMany(2);
    Concat({Slice(x, {0, 0}, {1, 2}), Zeros(g, {1, 2})}, 1);
    RandomNormal(g, {2, 3}, 1.0, 0.5);
    Saver saver(g, {.sharded = true});
    GlobalVariablesInitializer(g);
    ReportUninitializedVariables(g, g.variables());
    ASSERT_TRUE(g.status().ok()) << g.status();
    for (const Operation& op : g.operations()) {
      EXPECT_TRUE(NodeOf(op)->location().starts_with("optimizer_test.cc:")) << NodeOf(op)->Describe();
    }
  }
}

TEST(LocationTest, ErrorsInNodesThatTheLibraryAddsNameTheLineOfTheUsersCall) {
  const auto has = [](const Graph& g, const std::string& text) {
    return std::string(g.status().message()).find(text) != std::string::npos;
  };
  Graph g;
  FIFOQueue queue(g, {kFloat32}, {.name = "q"});
  queue.Enqueue({Const(g, Tensor::Scalar<int64_t>(1))});
  const std::string at = "(optimizer_test.cc:" + std::to_string(__LINE__ - 1) + ")";
  EXPECT_TRUE(has(g, "queue 'q'") && has(g, at)) << g.status();
  Graph h, other;
  Saver(h, {.variables = {Variable()}});
  EXPECT_TRUE(has(h, "Saver (optimizer_test.cc:")) << h.status();
  Graph i;
  (void)(Placeholder(i, kFloat32, {}) + Placeholder(other, kFloat32, {}));
  EXPECT_TRUE(has(i, "AddV2 'AddV2' (optimizer_test.cc:")) << i.status();
}

TEST(OptimizerTest, AnErrorNamesTheOpWithoutGradientBetweenLossAndVariable) {
  Graph g;
  Variable w(g, {2, 3}, Zeros(), {.name = "w"});
  auto guess = ArgMax(w, 1, kInt64, "guess");
  auto loss = ReduceMean(Cast(Equal(guess, Const(g, Tensor::Vector<int64_t>({0, 1}))), kFloat32));
  GradientDescentOptimizer(0.1).Minimize(loss);
  const std::string message(g.status().message());
  EXPECT_NE(message.find("ArgMax 'guess' (optimizer_test.cc:"), std::string::npos) << message;
  EXPECT_NE(message.find("GradientDescent (optimizer_test.cc:"), std::string::npos) << message;
}

TEST(OptimizerTest, ErrorsSayHowToMendSwappedOrWrongLabelsAndLogits) {
  const auto mistake = [](bool sparse, DType labels, DType logits) {
    Graph g;
    auto a = Placeholder(g, labels, sparse ? Shape({-1}) : Shape({-1, 3}));
    auto b = Placeholder(g, logits, {-1, 3});
    if (sparse) {
      nn::SparseSoftmaxCrossEntropy(a, b);
    } else {
      nn::SoftmaxCrossEntropy(a, b);
    }
    return std::string(g.status().message());
  };
  EXPECT_EQ(mistake(/*sparse=*/true, kInt64, kFloat32), "");
  EXPECT_EQ(mistake(/*sparse=*/false, kFloat32, kFloat32), "");
  EXPECT_NE(mistake(true, kFloat32, kInt64).find("labels and logits are swapped"), std::string::npos);
  EXPECT_NE(mistake(true, kFloat32, kInt64).find("(optimizer_test.cc:"), std::string::npos);
  EXPECT_NE(mistake(true, kFloat32, kFloat32).find("use SoftmaxCrossEntropy"), std::string::npos);
  EXPECT_NE(mistake(false, kInt64, kFloat32).find("use SparseSoftmaxCrossEntropy"), std::string::npos);
}

TEST(OptimizerTest, ALossOfADestroyedGraphIsAnErrorThatNamesIt) {
  GradientDescentOptimizer optimizer(0.1);
  Variable w;
  Output loss;
  {
    Graph g;
    w = Variable(g, {}, Zeros(), {.name = "w"});
    loss = Square(w - 1.0);
    ASSERT_TRUE(optimizer.Minimize(loss).valid()) << g.status();
  }
  const Status computed = optimizer.ComputeGradients(loss, {w}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(computed)) << computed;
  EXPECT_NE(computed.message().find("GradientDescent (optimizer_test.cc:"), std::string::npos) << computed;
  EXPECT_NE(computed.message().find("Square 'Square' (optimizer_test.cc:"), std::string::npos) << computed;
  EXPECT_DEATH(optimizer.Minimize(loss), "optimizer_test.cc:[0-9]+: graph: Square 'Square' .* its Graph was destroyed");
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Status mixed = optimizer.ComputeGradients(Square(v), {w}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(mixed)) << mixed;
}

TEST(OptimizerTest, AnEmptyListOfGradientsIsLogged) {
  GradientDescentOptimizer optimizer(0.1);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(optimizer.ApplyGradients({}).valid());
  EXPECT_EQ(GlobalNorm({}), Output());
  EXPECT_FALSE(ExponentialMovingAverage(0.9).Apply(std::vector<Output>()).valid());
  const std::string log = testing::internal::GetCapturedStderr();
  for (const char* part : {"GradientDescent (optimizer_test.cc:", "GlobalNorm (optimizer_test.cc:",
                           "ExponentialMovingAverage (optimizer_test.cc:"}) {
    EXPECT_NE(log.find(part), std::string::npos) << part << " in " << log;
  }
}

TEST(OptimizerTest, ALearningRateThatIsKnownToBeWrongIsRefused) {
  const auto mistake = [](const std::function<Operation(Graph & g, const Output& loss)>& minimize) {
    Graph g;
    const Variable w(g, {}, Ones(), {.name = "w"});
    minimize(g, Square(w));
    return std::string(g.status().message());
  };
  const double nan = std::nan("");
  for (const double rate : {-1.0, nan, HUGE_VAL}) {
    const std::vector<std::function<std::unique_ptr<Optimizer>(const Operand& rate)>> makers = {
        [](const Operand& r) { return std::make_unique<GradientDescentOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<MomentumOptimizer>(r, 0.9); },
        [](const Operand& r) { return std::make_unique<AdadeltaOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<AdagradOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<AdamOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<RMSPropOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<FtrlOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<ProximalGradientDescentOptimizer>(r); },
        [](const Operand& r) { return std::make_unique<ProximalAdagradOptimizer>(r); },
    };
    for (const auto& make : makers) {
      EXPECT_NE(
          mistake([&](Graph&, const Output& loss) { return make(rate)->Minimize(loss); }).find("the learning rate is "),
          std::string::npos)
          << rate;
      const std::string tensor = mistake([&](Graph& g, const Output& loss) {
        return make(Cast(Const(g, Tensor::Scalar(rate)), kFloat32))->Minimize(loss);
      });
      EXPECT_NE(tensor.find("(optimizer_test.cc:"), std::string::npos) << tensor;
    }
    EXPECT_NE(mistake([&](Graph& g, const Output& loss) {
                const Variable step = GetOrCreateGlobalStep(g);
                return GradientDescentOptimizer(ExponentialDecay(rate, step, 10, 0.5)).Minimize(loss);
              }).find("learning_rate must be a finite number that is not negative"),
              std::string::npos);
  }
  EXPECT_EQ(mistake([](Graph&, const Output& loss) { return GradientDescentOptimizer(0.0).Minimize(loss); }), "");
}

TEST(GroupedOptimizerTest, EachGroupHasItsOptimizer) {
  Graph g;
  const Variable a(g, {}, Constant(1), {.name = "a"});
  const Variable b(g, {}, Constant(1), {.name = "b"});
  const Variable c(g, {}, Constant(1), {.name = "c"});
  const Variable step = GetOrCreateGlobalStep(g);
  const auto momentum = std::make_shared<MomentumOptimizer>(0.5, 0.9);
  GroupedOptimizer optimizer({{std::make_shared<GradientDescentOptimizer>(0.25), {a}}, {momentum, {b}}},
                             std::make_shared<GradientDescentOptimizer>(1.0));
  const Operation train = optimizer.Minimize(a + b + c, {.global_step = step});
  auto session = MonitoredTrainingSession(g, {.hooks = {StopAtStep(2)}});
  ASSERT_TRUE(session.ok()) << session.status();
  int runs = 0;
  for (; !(*session)->ShouldStop(); ++runs) ASSERT_TRUE((*session)->Run({train}).ok());
  EXPECT_EQ(runs, 2);
  const auto values = (*session)->Run({a, b, c}).value();
  EXPECT_FLOAT_EQ(values[0].scalar<float>(), 0.5f);
  EXPECT_FLOAT_EQ(values[1].scalar<float>(), 1 - 0.5f - 0.5f * 1.9f);  // the second momentum is 0.9 * 1 + 1
  EXPECT_FLOAT_EQ(values[2].scalar<float>(), -1.0f);
  EXPECT_EQ(optimizer.GetSlot(b, "momentum"), momentum->GetSlot(b, "momentum"));
  EXPECT_FALSE(optimizer.GetSlot(a, "momentum").valid());
  EXPECT_EQ(optimizer.GetSlotNames(), (std::vector<std::string>{"momentum"}));
}

TEST(GroupedOptimizerTest, ErrorsNameTheVariable) {
  Graph g;
  const Variable a(g, {}, Ones(), {.name = "a"});
  const Variable b(g, {}, Ones(), {.name = "b"});
  const auto descent = std::make_shared<GradientDescentOptimizer>(0.25);
  GroupedOptimizer({{descent, {a}}}).Minimize(a + b);
  EXPECT_NE(g.status().message().find("variable 'b' is in no group"), absl::string_view::npos) << g.status();
  Graph h;
  const Variable c(h, {}, Ones(), {.name = "c"});
  GroupedOptimizer({{descent, {c}}, {descent, {c}}}).Minimize(c * 2.0f);
  EXPECT_NE(h.status().message().find("variable 'c' is in the groups 0 and 1"), absl::string_view::npos) << h.status();
}

}  // namespace
}  // namespace tensorbraid
