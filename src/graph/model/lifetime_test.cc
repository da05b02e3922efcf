// Tests what happens when handles, guards and variables are used after their graph was destroyed or moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// A graph that a test can destroy, and handles of its parts.
struct Mortal {
  Mortal() {
    const auto device = graph->Device("/job:ps");
    x = Placeholder(*graph, kFloat64, {2, -1}, "x");
    weight = Variable(*graph, {3}, Zeros(), {.name = "weight"});
  }
  void EndGraph() { graph.reset(); }

  std::optional<Graph> graph = std::make_optional<Graph>();
  Output x;
  Variable weight;
};

void ExpectDestroyed(const Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("is used after its Graph was destroyed"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("(lifetime_test.cc:"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

TEST(GraphLifetime, AHandleKeepsTheDescriptionOfItsNode) {
  Mortal m;
  m.EndGraph();
  EXPECT_TRUE(m.x.valid());
  EXPECT_EQ(m.x.name(), "x:0");
  EXPECT_EQ(m.x.dtype(), kFloat64);
  EXPECT_EQ(m.x.shape(), Shape({2, -1}));
  EXPECT_EQ(m.x.op().type(), "Placeholder");
  EXPECT_EQ(m.x.op().device(), "/job:ps");
  EXPECT_EQ(m.x.op().output(0), m.x);
  EXPECT_EQ(m.weight.name(), "weight");
  EXPECT_EQ(m.weight.shape(), Shape({3}));
  EXPECT_EQ(m.weight.initializer().type(), "AssignVariableOp");
}

TEST(GraphLifetime, AHandleOfACallKeepsTheNameOfItsFunction) {
  Operation call;
  {
    Graph g;
    const Status imported = g.ImportGraphDefText(R"(
      library { function {
        signature { name: "Twice" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
        node_def { name: "sum" op: "AddV2" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
        ret { key: "b" value: "sum:z:0" } } }
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "call" op: "Twice" input: "x" })");
    ASSERT_TRUE(imported.ok()) << imported;
    call = g.FindOperation("call").value();
  }
  EXPECT_EQ(call.type(), "Twice");
}

TEST(GraphLifetimeDeathTest, UsesWithoutAStatusEndTheProgramAndNameTheNodeAndTheLine) {
  Mortal m;
  m.EndGraph();
  const std::string x = "lifetime_test.cc:[0-9]+: graph: Placeholder 'x' \\(lifetime_test.cc:[0-9]+\\) is used after";
  const std::string weight =
      "lifetime_test.cc:[0-9]+: graph: .* 'weight[^ ]*' \\(lifetime_test.cc:[0-9]+\\) is used after";
  EXPECT_DEATH(m.x * 2.0, x);
  EXPECT_DEATH(2.0 * m.x, x);
  EXPECT_DEATH(Exp(m.x), x);
  EXPECT_DEATH(Concat({m.x, m.x}, 0), x);
  EXPECT_DEATH(AddN({m.x, m.x}), x);
  EXPECT_DEATH(m.x.graph(), x);
  EXPECT_DEATH(m.x.op().graph(), x);
  EXPECT_DEATH(Gradient(m.x).graph(), x);
  EXPECT_DEATH(m.weight.graph(), weight);
  EXPECT_DEATH(m.weight + 1.0, weight);
  EXPECT_DEATH(m.weight.Read(), weight);
  EXPECT_DEATH(m.weight.Assign(1.0), weight);
  EXPECT_DEATH(m.weight.SparseRead(0), weight);
}

TEST(GraphLifetimeDeathTest, AQueueNamesTheLineThatUsesIt) {
  FIFOQueue queue;
  {
    Graph g;
    queue = FIFOQueue(g, {kFloat32});
  }
  EXPECT_EQ(queue.name(), "fifo_queue");
  EXPECT_DEATH(queue.Dequeue(), "lifetime_test.cc:[0-9]+: graph: FIFOQueueV2 'fifo_queue' .* is used after its Graph");
  EXPECT_DEATH(queue.Close(), "lifetime_test.cc:[0-9]+: graph: FIFOQueueV2 'fifo_queue' .* is used after its Graph");
}

TEST(GraphLifetime, ALivingGraphRecordsTheUseOfATensorOfADestroyedOne) {
  Mortal m;
  m.EndGraph();
  const auto status_after = [](const std::function<void(Graph&, const Output&)>& use) {
    Graph g;
    use(g, Placeholder(g, kFloat64, {}, "y"));
    return g.status();
  };
  ExpectDestroyed(status_after([&](Graph&, const Output& y) { EXPECT_FALSE((y + m.x).valid()); }), "AddV2");
  ExpectDestroyed(status_after([&](Graph& g, const Output& y) {
                    EXPECT_FALSE(NodeBuilder(g, "AddV2").Name("sum").Input(y).Input(m.x).Output().valid());
                  }),
                  "AddV2 'sum' (lifetime_test.cc:");
  ExpectDestroyed(status_after([&](Graph& g, const Output&) {
                    EXPECT_FALSE(NodeBuilder(g, "NoOp").Name("end").Control(m.x.op()).Finish().valid());
                  }),
                  "NoOp 'end'");
  ExpectDestroyed(status_after([&](Graph& g, const Output&) {
                    EXPECT_FALSE(NodeBuilder(g, "NoOp").ColocateWith(m.x.op()).Finish().valid());
                  }),
                  "colocate");
  ExpectDestroyed(status_after([&](Graph& g, const Output&) { (void)g.ControlDependencies({m.x.op()}); }),
                  "ControlDependencies");
  ExpectDestroyed(status_after([&](Graph& g, const Output&) { (void)g.ColocateWith(m.x.op()); }), "ColocateWith");
}

TEST(GraphLifetime, AControlInputOfAnotherGraphIsRefused) {
  Graph g, other;
  const Operation end = NodeBuilder(g, "NoOp").Control(NoOp(other, "foreign")).Finish();
  EXPECT_FALSE(end.valid());
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("'foreign' belongs to another graph"));
}

TEST(GraphLifetime, GradientsOfADestroyedGraphAreAnError) {
  Mortal m;
  const Output y = Square(m.x);
  m.EndGraph();
  const Status status = Gradients({y}, {m.x}).status();
  ExpectDestroyed(status, "Square");
  EXPECT_THAT(std::string(status.message()), HasSubstr("Gradients (lifetime_test.cc:"));
  Graph g;
  const Output z = Placeholder(g, kFloat32, {}, "z");
  ExpectDestroyed(Gradients({z}, {m.x}).status(), "Placeholder 'x'");
  ExpectDestroyed(Gradients({z}, {z}, {m.x}).status(), "Placeholder 'x'");
}

TEST(GraphLifetime, AGuardMayOutliveItsGraph) {
  Mortal m;
  const auto device = m.graph->Device("/job:worker");
  const auto name = m.graph->NameScope("tower");
  const auto control = m.graph->ControlDependencies({m.x});
  const auto colocation = m.graph->ColocateWith(m.x.op());
  m.EndGraph();
  Mortal assigned;
  const auto scope = assigned.graph->Device("/job:worker");
  *assigned.graph = Graph();
  EXPECT_EQ(NoOp(*assigned.graph).device(), "");
}

TEST(GraphLifetime, AMovedGraphKeepsItsHandlesAndScopes) {
  Graph g;
  Output x;
  {
    Graph first;
    x = Placeholder(first, kFloat32, {}, "x");
    {
      const auto scope = first.NameScope("inside");
      g = std::move(first);
      EXPECT_EQ(Square(x).name(), "inside/Square:0");
    }
  }
  EXPECT_EQ(x.graph(), &g);
  EXPECT_EQ(Square(x).name(), "Square:0");
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GraphLifetime, AMovedFromGraphIsEmptyAndCanBeUsed) {
  Graph first;
  Placeholder(first, kFloat32, {}, "x");
  const Graph second = std::move(first);
  EXPECT_FALSE(first.FindOperation("x").ok());  // NOLINT(bugprone-use-after-move): the subject of this test
  const Output x = Placeholder(first, kInt32, {}, "x");
  EXPECT_EQ(x.name(), "x:0");
  EXPECT_EQ(x.graph(), &first);
  EXPECT_TRUE(second.FindOperation("x").ok());
}

TEST(GraphLifetimeDeathTest, AssigningToAGraphDestroysItsEarlierNodes) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {}, "x");
  g = Graph();
  EXPECT_EQ(x.name(), "x:0");
  EXPECT_DEATH(Square(x), "Placeholder 'x' .* is used after its Graph was destroyed");
}

TEST(GraphLifetime, ADeviceFunctionMayKeepItsOperation) {
  Operation kept;
  {
    Graph g;
    const auto device = g.Device([&](const Operation& op) {
      kept = op;
      return "/job:ps";
    });
    NoOp(g, "a");
  }
  EXPECT_EQ(kept.name(), "a");
}

// In a loop, the nodes own each other.
TEST(GraphLifetime, TheNodesOfALoopAreFreedWithTheirGraph) {
  Tensor constant = Tensor::Scalar(1.0f);
  {
    Graph g;
    GraphImpl& impl = ImplOf(g);
    const Output enter = NodeBuilder(g, "Enter").Input(Const(g, constant)).Attr("frame_name", "loop").Output();
    const Output merge = OutputOf(impl.AddNode({.name = "merge",
                                                .op = "Merge",
                                                .inputs = {enter, Output()},
                                                .controls = {},
                                                .attrs = {{"N", 2}},
                                                .device = ""})
                                      .value(),
                                  0);
    const Output next = NodeBuilder(g, "NextIteration").Input(merge).Output();
    ASSERT_TRUE(impl.CloseLoop(NodeOf(merge), /*input=*/1, next).ok());
    EXPECT_FALSE(constant.IsWritable()) << "the graph shares the buffer";
  }
  EXPECT_TRUE(constant.IsWritable()) << "a node still has the buffer";
}

TEST(GraphTest, LongLongIsInt64) {
  EXPECT_EQ(AttrValue(7LL).ToString(), "7");
  ASSERT_NE(AttrValue(7LL).get<int64_t>(), nullptr);
  const AttrValue list(std::vector<long long>{1, 2});
  ASSERT_NE(list.get<std::vector<int64_t>>(), nullptr);
  EXPECT_EQ(*list.get<std::vector<int64_t>>(), (std::vector<int64_t>{1, 2}));
  Graph g;
  EXPECT_EQ(Const(g, Tensor::Scalar(7LL)).dtype(), kInt64);
  EXPECT_EQ((Placeholder(g, kInt64) + 7LL).dtype(), kInt64);
  EXPECT_TRUE(g.status().ok()) << g.status();
}

// Without operands, there is no graph that could record the error. So the error is written to standard error.
TEST(GraphTest, AnEmptyListOfOperandsIsAnErrorThatNamesTheOpAndTheLine) {
  const auto log_of = [](const std::function<void()>& call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  };
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"AddN", [] { EXPECT_FALSE(AddN({}).valid()); }},
      {"ConcatV2", [] { EXPECT_FALSE(Concat({}, 0).valid()); }},
      {"Pack", [] { EXPECT_FALSE(Stack({}).valid()); }},
      {"IdentityN", [] { EXPECT_TRUE(IdentityN({}).empty()); }},
      {"ShapeN", [] { EXPECT_TRUE(ShapeN({}).empty()); }},
      {"Einsum", [] { EXPECT_FALSE(Einsum("->", {}).valid()); }},
      {"SumOfGradients", [] { EXPECT_FALSE(SumOfGradients({}).valid()); }},
  };
  for (const auto& [op, call] : calls) {
    EXPECT_THAT(log_of(call),
                ::testing::ContainsRegex(std::string(op) + " \\(lifetime_test.cc:[0-9]+\\): the list is empty"));
  }
}

TEST(GraphTest, TheErrorOfAnInvalidInputQuotesTheErrorThatWasLoggedBefore) {
  Graph g;
  testing::internal::CaptureStderr();
  const Output sum = AddN({});
  testing::internal::GetCapturedStderr();
  NodeBuilder(g, "Square").Input(sum).Finish();
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("AddN (lifetime_test.cc:"));
  Graph later;
  NodeBuilder(later, "Square").Input(sum).Finish();
  EXPECT_THAT(std::string(later.status().message()), ::testing::Not(HasSubstr("AddN")))
      << "the logged error is quoted only once";
}

TEST(GradientDeathTest, ReadingTheWrongKindOfGradientEndsTheProgramAndNamesTheLine) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}, "x");
  const Gradient dense(x);
  const Gradient slices(IndexedSlices{.values = x, .indices = x, .dense_shape = x});
  EXPECT_DEATH(dense.slices(), "lifetime_test.cc:[0-9]+: gradient: the gradient 'x' is dense");
  EXPECT_DEATH(slices.dense(), "lifetime_test.cc:[0-9]+: gradient: the gradient 'x' is slices");
}

}  // namespace
}  // namespace tensorbraid
