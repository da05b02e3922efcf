#include "planner/model/training_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/file.h"
#include "planner/model/placed_step.h"
#include "planner/simulation/simulation.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A softmax regression, as a program builds it for one parameter server and one worker.
struct Softmax {
  explicit Softmax(bool with_cluster = true) {
    std::optional<ScopeGuard> device;
    if (with_cluster) device.emplace(g.Device(ReplicaDeviceSetter({.ps_tasks = 1})));
    auto x = Placeholder(g, kFloat32, {-1, 784}, "images");
    auto labels = Placeholder(g, kInt64, {-1}, "labels");
    Variable w(g, {784, 10}, Zeros(), {.name = "weights"});
    Variable b(g, {10}, Zeros(), {.name = "bias"});
    auto loss = ReduceMean(nn::SparseSoftmaxCrossEntropy(labels, MatMul(x, w) + b));
    train = GradientDescentOptimizer(0.1).Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)});
  }
  TrainingGraph Graph(int64_t batch) const {
    const auto def = g.ToGraphDef();
    EXPECT_TRUE(def.ok()) << def.status();
    TrainingGraph graph;
    graph.graph_def = *def;
    graph.feeds = {{"images:0", {batch, 784}}, {"labels:0", {batch}}};
    graph.targets = {train.name()};
    return graph;
  }
  tensorbraid::Graph g;
  Operation train;
};

StepProgram Program(const TrainingGraph& graph, const GraphOptions& options = {}) {
  auto program = ProgramOf(graph, options);
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *std::move(program) : StepProgram{};
}

int Accumulators(const StepProgram& p) {
  return static_cast<int>(
      std::count_if(p.activities.begin(), p.activities.end(), [](const Activity& a) { return a.accumulates; }));
}

TEST(TrainingGraphTest, AStepSendsTheVariablesAndTheirGradients) {
  const StepProgram p = Program(Softmax().Graph(100));
  EXPECT_EQ(p.BytesBetween(1, 0), (7840 + 10) * 4);
  EXPECT_EQ(p.BytesBetween(0, 1), (7840 + 10) * 4);
  EXPECT_EQ(Accumulators(p), 2) << "the global step is no variable with a gradient";
  EXPECT_EQ(p.batch, 100);
  EXPECT_GT(p.ComputeNs(0), p.ComputeNs(1));
  for (const Activity& a : p.activities) {
    EXPECT_TRUE(!a.accumulates || a.task == 1);
  }
}

TEST(TrainingGraphTest, AGradientOfRowsIsSortedByTheWorkerInSynchronousTraining) {
  tensorbraid::Graph g;
  TrainingGraph graph;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    const Variable table(g, {1000, 64}, Zeros(), {.name = "table"});
    const Output ids = Placeholder(g, kInt64, {100}, "ids");
    const Output loss = ReduceMean(nn::EmbeddingLookup(table, ids));
    const Operation train = GradientDescentOptimizer(0.1).Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)});
    graph.targets = {train.name()};
  }
  graph.graph_def = *g.ToGraphDef();
  graph.feeds = {{"ids:0", {100}}};
  const StepProgram p = Program(graph);
  EXPECT_EQ(std::ranges::count_if(p.activities, [](const Activity& a) { return a.by_rows && a.task == 1; }), 1);
  EXPECT_EQ(std::ranges::count_if(p.activities, [](const Activity& a) { return a.sort_ns > 0 && a.task == 0; }), 1);
}

TEST(TrainingGraphTest, AGraphWithoutDevicesIsPlacedLikeOneForACluster) {
  const StepProgram p = Program(Softmax(/*with_cluster=*/false).Graph(100));
  EXPECT_EQ(p.BytesBetween(1, 0), (7840 + 10) * 4);
  EXPECT_EQ(Accumulators(p), 2);
}

TEST(TrainingGraphTest, VariablesAreDividedAmongServers) {
  const TrainingGraph graph = Softmax().Graph(100);
  const StepProgram round_robin = Program(graph, {.servers = 2});
  EXPECT_EQ(round_robin.BytesBetween(1, 0), 7840 * 4);
  EXPECT_EQ(round_robin.BytesBetween(2, 0), 10 * 4);
  const StepProgram even = Program(graph, {.servers = 2, .placement = Placement::kEven});
  EXPECT_EQ(even.BytesBetween(1, 0), 7850 * 2);
  EXPECT_EQ(even.BytesBetween(0, 2), 7850 * 2);
  for (const auto* program : {&round_robin, &even}) {
    const auto prediction = Simulate(*program, SeparateMachines(2, 3, 2, {}, {}), {.mode = Mode::kSync});
    ASSERT_TRUE(prediction.ok()) << prediction.status();
    EXPECT_GT(prediction->steps_per_s, 0);
  }
}

// Adam keeps the powers of its decays in variables on one of the servers, whose values go to the updates on the others.
TEST(TrainingGraphTest, UpdatesThatUseAValueOfAnotherServerUseGradients) {
  tensorbraid::Graph g;
  TrainingGraph graph;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    auto x = Placeholder(g, kFloat32, {100, 64}, "x");
    const Variable w(g, {64, 32}, Zeros(), {.name = "weights"});
    const auto loss = ReduceSum(MatMul(x, w));
    graph.targets = {AdamOptimizer(0.1).Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)}).name()};
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  graph.graph_def = *g.ToGraphDef();
  graph.feeds = {{"x:0", {100, 64}}};
  for (const int servers : {1, 2, 3}) {
    for (const Placement placement : {Placement::kRoundRobin, Placement::kLeastBytes}) {
      const StepProgram p = Program(graph, {.servers = servers, .placement = placement});
      EXPECT_EQ(Accumulators(p), 1) << servers;
      const auto prediction = Simulate(p, SeparateMachines(servers, 4, 2, {}, {.latency_ns = 1e5}), {});
      ASSERT_TRUE(prediction.ok()) << prediction.status();
      // All four workers are in step, so their updates follow those of 0, 1, 2 and 3 others.
      EXPECT_NEAR(prediction->mean_staleness, 1.5, 0.1) << servers;
    }
  }
}

TEST(TrainingGraphTest, AnUpdateThatWaitsForAnotherOneUsesAGradient) {
  tensorbraid::Graph g;
  TrainingGraph graph;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    auto x = Placeholder(g, kFloat32, {100, 64}, "x");
    const Variable w(g, {64, 32}, Zeros(), {.name = "weights"}), mean(g, {64}, Zeros(), {.name = "mean"});
    const auto loss = ReduceSum(MatMul(x, w));
    auto after = g.ControlDependencies({mean.Assign(ReduceMean(x, {0}))});
    graph.targets = {GradientDescentOptimizer(0.1).Minimize(loss).name()};
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  graph.graph_def = *g.ToGraphDef();
  graph.feeds = {{"x:0", {100, 64}}};
  EXPECT_EQ(Accumulators(Program(graph)), 2);
}

TEST(TrainingGraphTest, WireTypesShrinkTheMessages) {
  const StepProgram p = Program(Softmax().Graph(100), {.wire = Wire::kBFloat16});
  EXPECT_LT(p.BytesBetween(0, 1), 7850 * 2 + 200);
  EXPECT_LT(p.BytesBetween(1, 0), 7850 * 2 + 200);
}

TEST(TrainingGraphTest, ALargerBatchCostsMoreComputationAndNoMoreBytes) {
  const TrainingGraph graph = Softmax().Graph(100);
  const StepProgram one = Program(graph), ten = Program(graph, {.batch = 1000});
  EXPECT_EQ(ten.batch, 1000);
  EXPECT_EQ(ten.BytesBetween(0, 1), one.BytesBetween(0, 1));
  EXPECT_GT(ten.ComputeNs(0), 3 * one.ComputeNs(0));
}

TEST(TrainingGraphTest, MeasuredTimesReplaceEstimates) {
  TrainingGraph graph = Softmax().Graph(100);
  const auto parts = PlacedStep(graph, {});
  ASSERT_TRUE(parts.ok()) << parts.status();
  for (const Operation& op : parts->at("/job:worker/replica:0/task:0")->operations()) {
    if (op.type() != "_Send" && op.type() != "_Recv") graph.measured.node_ns[op.name()] = 1000;
  }
  const double nodes = static_cast<double>(graph.measured.node_ns.size());
  EXPECT_LE(Program(graph).ComputeNs(0), 1000 * nodes);
  EXPECT_GT(Program(graph).ComputeNs(0), 500 * nodes);
  const DeviceSpeed slow = {.flops_per_s = 1e6, .bytes_per_s = 1e6};
  EXPECT_GT(Program(graph, {.worker_device = &slow}).ComputeNs(0), 1e9) << "a given device does not use them";
}

TEST(TrainingGraphTest, TheWorkerSendsEachGradientBeforeItComputesTheNext) {
  tensorbraid::Graph g;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    Output x = Placeholder(g, kFloat32, {64, 256}, "x");
    for (int i = 0; i < 4; ++i) x = MatMul(x, Variable(g, {256, 256}, Zeros(), {}));
    GradientDescentOptimizer(0.1).Minimize(ReduceSum(x), {.name = "train"});
  }
  TrainingGraph graph;
  graph.graph_def = *g.ToGraphDef();
  graph.feeds = {{"x:0", {64, 256}}};
  graph.targets = {"train"};
  const StepProgram p = Program(graph);
  int sending = 0;
  for (const Activity& a : p.activities) sending += a.task == 0 && !a.sends.empty();
  EXPECT_EQ(sending, 4);
}

TEST(TrainingGraphTest, UnknownShapesAreNamedWithTheFlagsThatGiveThem) {
  const TrainingGraph graph = Softmax().Graph(-1);
  const auto program = ProgramOf(graph, {});
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(std::string(program.status().message()),
              AllOf(HasSubstr("'images:0' [?,784]"), HasSubstr("--batch=N"), HasSubstr("--shape=NAME=DIM,DIM")));
  EXPECT_TRUE(ProgramOf(graph, {.batch = 100}).ok());
  EXPECT_TRUE(ProgramOf(graph, {.shapes = {{"images", {7, 784}}, {"labels", {7}}}}).ok());
}

TEST(TrainingGraphTest, SynchronousGraphsAreRefused) {
  tensorbraid::Graph g;
  Operation train;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    Variable w(g, {10}, Zeros(), {.name = "weights"});
    SyncReplicasOptimizer optimizer(std::make_shared<GradientDescentOptimizer>(0.1), {.replicas_to_aggregate = 2});
    train = optimizer.Minimize(ReduceSum(w.value()), {.global_step = GetOrCreateGlobalStep(g)});
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  TrainingGraph graph;
  graph.graph_def = *g.ToGraphDef();
  graph.targets = {train.name()};
  EXPECT_THAT(std::string(ProgramOf(graph, {}).status().message()),
              AllOf(HasSubstr("synchronously"), HasSubstr("--mode=sync")));
}

TEST(TrainingGraphTest, FilesAreReadInBothForms) {
  const Softmax softmax;
  const std::string path = testing::TempDir() + "/planner_graph.pb";
  for (const auto& form : {softmax.g.ToGraphDef(), softmax.g.ToGraphDefText()}) {
    ASSERT_TRUE(form.ok()) << form.status();
    ASSERT_TRUE(WriteFile(path, *form).ok());
    const auto graph = ReadTrainingGraph(path, softmax.train.name());
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_EQ(graph->feeds.size(), 2u);
    EXPECT_EQ(graph->feeds[0].tensor, "images:0");
    EXPECT_EQ(Program(*graph, {.batch = 10}).BytesBetween(0, 1), 7850 * 4);
  }
  EXPECT_THAT(std::string(ReadTrainingGraph(path, "").status().message()),
              AllOf(HasSubstr("--train_op"), HasSubstr(softmax.train.name())));
  EXPECT_THAT(std::string(ReadTrainingGraph(path, "trian").status().message()), HasSubstr("no operation 'trian'"));
  ASSERT_TRUE(WriteFile(path, "not a graph").ok());
  EXPECT_THAT(std::string(ReadTrainingGraph(path, "").status().message()), HasSubstr(path));
  EXPECT_FALSE(ReadTrainingGraph(path + ".none", "").ok());
}

}  // namespace
}  // namespace tensorbraid::planner
