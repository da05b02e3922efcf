#include "executor/clusters/make.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/passes/pass_test_util.h"
#include "executor/step_watch.h"
#include "graph/model/graph_impl.h"
#include "pjrt/compile_log.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;

constexpr const char* kTask = "/job:localhost/replica:0/task:0";

// Places the part of a graph that the fetches need: feeds and fetches, and the nodes of these types, on the CPU, all
// other nodes on an accelerator. Then marks the clusters.
StatusOr<std::shared_ptr<const Graph>> MarkedPart(const Graph& g, const std::vector<Output>& feeds,
                                                  const std::vector<Output>& fetches,
                                                  const std::vector<std::string>& on_cpu, bool marked = true,
                                                  const std::vector<Operation>& targets = {}) {
  auto part = Part(g, feeds, fetches, targets);
  for (const auto& node : ImplOf(*part).nodes()) {
    const bool cpu = node->type().starts_with("_") || std::ranges::find(on_cpu, node->type()) != on_cpu.end();
    node->set_device(StrCat(kTask, cpu ? "/device:CPU:0" : "/device:XLA_CPU:0"));
  }
  if (marked) {
    PassContext context(*part);
    TF_RETURN_IF_ERROR(MarkClusters(part.get(), context));
  }
  return part;
}

// The same, and makes the clusters.
StatusOr<std::unique_ptr<Graph>> Clustered(const Graph& g, const std::vector<Output>& feeds,
                                           const std::vector<Output>& fetches, const std::vector<std::string>& on_cpu,
                                           bool marked = true, const std::vector<Operation>& targets = {}) {
  TF_ASSIGN_OR_RETURN(auto part, MarkedPart(g, feeds, fetches, on_cpu, marked, targets));
  return MakeClusters(std::move(part));
}

const ClusterBody& BodyOf(const Graph& g, int i) { return *ImplOf(g).extension<ClusterBodies>().at(i); }

std::vector<std::string> NodesOf(const ClusterBody& body) {
  std::vector<std::string> types;
  for (const Node* node : body.nodes) types.push_back(node->type());
  return types;
}

TEST(MakeClustersTest, NodesOfADeviceBecomeOneNodeWithTheirConstants) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x");
  const Output y = Neg(MatMul(x, Const(g, Tensor(kFloat32, {2, 2}))));
  const auto made = Clustered(g, {x}, {y}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Count(**made, "_Cluster"), 1);
  EXPECT_EQ(Count(**made, "MatMul") + Count(**made, "Neg") + Count(**made, "Const"), 0);
  const ClusterBody& body = BodyOf(**made, 0);
  EXPECT_THAT(NodesOf(body), ElementsAre("Const", "MatMul", "Neg"));
  ASSERT_EQ(body.arguments.size(), 1u);
  EXPECT_EQ(body.arguments[0].kind, ClusterBody::Kind::kTensor);
  const Node& cluster = FetchedFrom(**made, 0);
  EXPECT_EQ(cluster.type(), "_Cluster");
  EXPECT_EQ(cluster.device(), StrCat(kTask, "/device:XLA_CPU:0"));
  EXPECT_EQ(cluster.output_shape(0), Shape({2, 2}));
}

// A step that waits says for what, and since when.
TEST(MakeClustersTest, AWaitNamesTheProgramAndWhoWorksOnIt) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x");
  const auto made = Clustered(g, {x}, {Neg(MatMul(x, x), "last")}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  const Node& cluster = FetchedFrom(**made, 0);
  EXPECT_EQ(DescribeWait(cluster).text, "a program of 2 nodes that ends with 'last'");
  const int64_t other = CompileLog::Global().Begin("another program");
  const int64_t compile = CompileLog::Global().Begin(NameOfProgram(cluster));
  // A program may be compiled while no run waits for that.
  EXPECT_EQ(DescribeWait(cluster).text, "a program of 2 nodes that ends with 'last'");
  using WaitFor = CompileLog::WaitFor;
  const std::pair<WaitFor, std::string> waits[] = {
      {WaitFor::kCompiler, "which the compiler has worked on for [0-9]+ s"},
      {WaitFor::kHost, "in whose place the host has computed for [0-9]+ s"},
      {WaitFor::kDevice, "which has run on the device for [0-9]+ s"}};
  for (const auto& [what, text] : waits) {
    const CompileLog::Waiting waiting(NameOfProgram(cluster), what);
    EXPECT_THAT(DescribeWait(cluster).text, MatchesRegex("a program of 2 nodes that ends with 'last', " + text));
  }
  const auto running = CompileLog::Global().running();
  ASSERT_EQ(running.size(), 2u);
  EXPECT_EQ(running[0].program, "another program");
  CompileLog::Global().Count(/*ok=*/true, std::chrono::seconds(2));
  CompileLog::Global().Count(/*ok=*/false, std::chrono::seconds(1));
  CompileLog::Global().End(compile);
  CompileLog::Global().End(other);
  EXPECT_TRUE(CompileLog::Global().running().empty());
  const CompileLog::Totals totals = CompileLog::Global().totals();
  EXPECT_GE(totals.programs, 1);
  EXPECT_GE(totals.failed, 1);
  EXPECT_GE(totals.time, std::chrono::seconds(3));
}

TEST(MakeClustersTest, WithoutMarksEachNodeIsAProgramOfItsOwn) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x");
  const auto made = Clustered(g, {x}, {Neg(MatMul(x, x))}, {}, /*marked=*/false);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Count(**made, "_Cluster"), 2);
}

TEST(MakeClustersTest, ANodeOnTheHostBetweenTwoNodesDividesThem) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x");
  const Output a = MatMul(x, x), host = Exp(a), b = a * host;
  const auto made = Clustered(g, {x}, {b, a}, {"Exp"});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Count(**made, "_Cluster"), 2);
  EXPECT_THAT(NodesOf(BodyOf(**made, 0)), ElementsAre("MatMul"));
  EXPECT_THAT(NodesOf(BodyOf(**made, 1)), ElementsAre("Mul"));
}

TEST(MakeClustersTest, AConstantThatWaitsForANodeDoesNotDivideTheProgram) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x"), a = MatMul(x, x);
  Output c;
  {
    auto after = g.ControlDependencies({a.op()});
    c = Const(g, Tensor(kFloat32, {2, 2}));
  }
  const auto made = Clustered(g, {x}, {a * c}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Count(**made, "_Cluster"), 1);
}

TEST(MakeClustersTest, AShapeFromTheHostIsAStaticArgumentAndAShapeOfTheDeviceIsKnown) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 4}, "x"), shape = Placeholder(g, kInt32, {2}, "shape");
  const Output given = Reshape(Neg(x), shape), back = Reshape(given, ShapeOf(x));
  const auto made = Clustered(g, {x, shape}, {back}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(Count(**made, "_Cluster"), 1);
  const ClusterBody& body = BodyOf(**made, 0);
  ASSERT_EQ(body.arguments.size(), 2u);
  for (const ClusterBody::Argument& argument : body.arguments) {
    EXPECT_EQ(argument.kind == ClusterBody::Kind::kStatic, argument.tensor.dtype() == kInt32);
  }
  EXPECT_THAT(FetchedFrom(**made, 0).attr<std::vector<int64_t>>("host_inputs"), ElementsAre(1));
}

TEST(MakeClustersTest, ANodeWhoseAxisIsComputedOnTheDeviceRunsOnTheHost) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 2}, "x");
  const Output axis = Cast(ReduceSum(x), kInt32);
  const Output y = Neg(ReduceSum(x * x, axis));
  const auto made = Clustered(g, {x}, {y}, {});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(Count(**made, "Sum"), 1);
  for (const auto& node : ImplOf(**made).nodes()) {
    if (node->type() != "Sum") continue;
    EXPECT_EQ(node->device(), StrCat(kTask, "/device:CPU:0"));
  }
  EXPECT_EQ(Count(**made, "_Cluster"), 2);
}

// Graphs in which the integers `n`, an input from the host, have changed too often.
class ChangingValuesTest : public ::testing::Test {
 protected:
  // The part that the fetches need, without programs for values of `n`.
  std::unique_ptr<Graph> Divided(const std::vector<Output>& fetches) {
    const auto part = MarkedPart(g_, {x_, n_}, fetches, {"Unpack"});
    EXPECT_TRUE(part.ok()) << part.status();
    const auto changing = std::make_shared<ChangingValues>();
    auto whole = MakeClusters(*part, changing);
    EXPECT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(Count(**whole, "_Cluster"), 1);
    const auto& arguments = BodyOf(**whole, 0).arguments;
    const auto value = std::ranges::find(arguments, ClusterBody::Kind::kStatic, &ClusterBody::Argument::kind);
    EXPECT_NE(value, arguments.end());
    changing->Add(value->tensor);
    auto made = MakeClusters(*part, changing);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  static std::string DeviceOf(const Graph& g, const std::string& node) {
    const Node* const found = ImplOf(g).Find(node);
    if (found == nullptr) return "in a program";
    const DeviceName device = DeviceName::Parse(found->device()).value();
    return StrCat(*device.type, ":", *device.id);
  }

  Graph g_;
  const Output x_ = Placeholder(g_, kFloat32, {4, 4}, "x");
  const Output n_ = Placeholder(g_, kInt32, {2}, "n");
};

TEST_F(ChangingValuesTest, OnlyTheNodeThatNeedsTheValueLeaves) {
  const Output tiled = NodeBuilder(g_, "Tile").Name("tiled").Input(Neg(x_)).Input(n_).Output();
  const auto made = Divided({Exp(tiled), x_ * x_});
  EXPECT_EQ(DeviceOf(*made, "tiled"), "CPU:0");
  ASSERT_EQ(Count(*made, "_Cluster"), 2);
  EXPECT_THAT(NodesOf(BodyOf(*made, 0)), UnorderedElementsAre("Neg", "Mul"));
  EXPECT_THAT(NodesOf(BodyOf(*made, 1)), ElementsAre("Exp"));
  for (int i = 0; i < 2; ++i) {
    for (const auto& argument : BodyOf(*made, i).arguments) EXPECT_EQ(argument.kind, ClusterBody::Kind::kTensor);
  }
}

TEST_F(ChangingValuesTest, TheHostComputesTheIntegersThatTheValueIsFor) {
  const Output sizes = NodeBuilder(g_, "AddV2").Name("sizes").Input(n_).Input(n_).Output();
  const Output tiled = NodeBuilder(g_, "Tile").Name("tiled").Input(Neg(x_)).Input(sizes).Output();
  const auto made = Divided({Exp(tiled)});
  EXPECT_EQ(DeviceOf(*made, "sizes"), "CPU:0");
  EXPECT_EQ(DeviceOf(*made, "tiled"), "CPU:0");
  EXPECT_EQ(Count(*made, "_Cluster"), 2);
}

// As in a loop (moving_slice.h).
TEST_F(ChangingValuesTest, ASliceTakesItsPlaceAsAnArgument) {
  const Output size = Const(g_, Tensor::Vector<int32_t>({1, 2}));
  const Output slice = NodeBuilder(g_, "Slice").Name("slice").Input(Neg(x_)).Input(n_).Input(size).Output();
  const auto made = Divided({Exp(slice)});
  EXPECT_EQ(DeviceOf(*made, "slice"), "in a program");
  ASSERT_EQ(Count(*made, "_Cluster"), 1);
  EXPECT_THAT(BodyOf(*made, 0).arguments, Contains(Field(&ClusterBody::Argument::kind, ClusterBody::Kind::kFromHost)));
}

TEST_F(ChangingValuesTest, AReshapeStaysOnTheDeviceWithoutAProgram) {
  const Output flat = NodeBuilder(g_, "Reshape").Name("flat").Input(Neg(x_)).Input(n_).Output();
  const auto made = Divided({Exp(flat)});
  EXPECT_EQ(DeviceOf(*made, "flat"), "XLA_CPU:0");
  EXPECT_EQ(Count(*made, "_Cluster"), 2);
}

// The other output of the node that makes it is still a value that a program is compiled for.
TEST_F(ChangingValuesTest, AnotherOutputOfTheSameNodeMayStayStatic) {
  const auto numbers = Unstack(n_, 0, 2);
  const Output sum = NodeBuilder(g_, "Sum").Name("sum").Input(Neg(x_)).Input(numbers[0]).Output();
  const Output total = NodeBuilder(g_, "Cumsum").Name("total").Input(sum).Input(numbers[1]).Output();
  const auto made = Divided({total});
  EXPECT_EQ(DeviceOf(*made, "sum"), "CPU:0");
  EXPECT_EQ(DeviceOf(*made, "total"), "in a program");
  EXPECT_EQ(Count(*made, "_Cluster"), 2);
}

// Variables of TensorFlow 1, which nodes use by reference.
class ReferencesTest : public ::testing::Test {
 protected:
  ReferencesTest() {
    v_ = NodeBuilder(g_, "VariableV2").Name("v").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Finish().output(0);
    x_ = Placeholder(g_, kFloat32, {2}, "x");
    const Output added = NodeBuilder(g_, "AssignAdd").Name("added").Input(v_).Input(Neg(x_)).Finish().output(0);
    added_ = added;
  }
  Graph g_;
  Output v_, x_, added_;
};

TEST_F(ReferencesTest, TheVariableIsAnArgumentAndReadsWithoutAnOrderGoFirst) {
  const Output read = Exp(v_);
  const auto made = Clustered(g_, {x_}, {read}, {}, true, {added_.op()});
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(Count(**made, "_Cluster"), 1);
  EXPECT_EQ(Count(**made, "VariableV2"), 1);
  const ClusterBody& body = BodyOf(**made, 0);
  EXPECT_EQ(body.nodes.back()->type(), "AssignAdd");
  int variables = 0;
  for (const auto& argument : body.arguments) variables += argument.kind == ClusterBody::Kind::kVariable ? 1 : 0;
  EXPECT_EQ(variables, 1);
  const Node& cluster = FetchedFrom(**made, 0);
  EXPECT_TRUE(IsRef(cluster.declared_input_type(0)) || IsRef(cluster.declared_input_type(1)));
}

// A node of the host that uses the reference that an update returns reads the variable after the update.
TEST_F(ReferencesTest, AReferenceThatAnUpdateReturnsIsTheVariableAfterTheCluster) {
  const Output read = Exp(added_);
  const auto made = Clustered(g_, {x_}, {read}, {"Exp"});
  ASSERT_TRUE(made.ok()) << made.status();
  const Node& exp = FetchedFrom(**made, 0);
  ASSERT_EQ(exp.type(), "Exp");
  EXPECT_EQ(NodeOf(exp.inputs()[0])->type(), "VariableV2");
  ASSERT_EQ(exp.control_inputs().size(), 1u);
  EXPECT_EQ(exp.control_inputs()[0]->type(), "_Cluster");
}

TEST_F(ReferencesTest, AnUpdateThatCannotBeInAProgramStaysWithItsVariable) {
  const Output indices = Placeholder(g_, kInt32, {1}, "indices"), rows = Placeholder(g_, kFloat32, {1}, "rows");
  const Output zero = Const(g_, Tensor::Scalar(0.0f));
  const Operation scatter = NodeBuilder(g_, "SparseApplyProximalGradientDescent")
                                .Name("scatter")
                                .Input(v_)
                                .Input(zero)
                                .Input(zero)
                                .Input(zero)
                                .Input(rows)
                                .Input(indices)
                                .Finish();
  const auto made = Clustered(g_, {indices, rows}, {}, {}, true, {scatter});
  ASSERT_TRUE(made.ok()) << made.status();
  const Node* node = ImplOf(**made).Find("scatter");
  EXPECT_EQ(node->device(), StrCat(kTask, "/device:XLA_CPU:0"));
  EXPECT_TRUE(RunsOnHost(*node));
}

}  // namespace
}  // namespace tensorbraid
