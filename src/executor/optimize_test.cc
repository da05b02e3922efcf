#include "executor/optimize.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid {
namespace {

// Extracts the part of `g` that the fetches and targets need, and optimizes it.
std::unique_ptr<Graph> Optimized(const Graph& g, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                 const std::vector<Operation>& targets = {}, const OptimizeOptions& options = {}) {
  auto part = Part(g, feeds, fetches, targets);
  TB_CHECK_OK(Optimize(part.get(), options));
  return part;
}

TEST(OptimizeTest, FoldsExpressionsOfConstants) {
  Graph g;
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  const Output all = Square(sum) * 2.0f;
  const auto o = Optimized(g, {}, {all});
  EXPECT_EQ(ImplOf(*o).nodes().size(), 2u);
  EXPECT_EQ(FetchedConstant(*o, 0).scalar<float>(), 50.0f);
  EXPECT_NE(ImplOf(*o).Find(NodeOf(all)->name()), nullptr);  // keeps the name of the node that it replaces
}

TEST(OptimizeTest, EndsWhenTheGraphIsNoLongerWanted) {
  Graph g;
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  const Output all = Square(Square(sum));
  int asked = 0;
  bool wanted = true;
  const StillWanted still_wanted = [&] {
    ++asked;
    return wanted ? OkStatus() : Cancelled("the session is closed");
  };
  ASSERT_TRUE(Optimize(Part(g, {}, {all}, {}).get(), {.skipped_passes = {}}, still_wanted).ok());
  const int asked_by_all = asked;
  EXPECT_EQ(asked_by_all, static_cast<int>(Passes().size()) + 3);  // once for each pass and each of 3 folded nodes
  asked = 0;
  wanted = false;
  EXPECT_EQ(Optimize(Part(g, {}, {all}, {}).get(), {}, still_wanted), Cancelled("the session is closed"));
  EXPECT_EQ(asked, 1);
}

TEST(OptimizeTest, DoesNotFoldTheRankOfAVariable) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
  const Output rank = NodeBuilder(g, "Rank").Input(Identity(v)).Output();
  const Operation nothing = NodeBuilder(g, "NoOp").Finish();
  const auto o = Optimized(g, {}, {rank}, {nothing});
  EXPECT_EQ(Count(*o, "Rank"), 1);
  EXPECT_EQ(Count(*o, "NoOp"), 1);
}

TEST(OptimizeTest, OptionsDisableRewrites) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  const Output once = Square(x);
  const Output twice = Square(x);
  const auto unfolded = Optimized(g, {x}, {sum, once, twice}, {}, {.skipped_passes = {"constant_folding"}});
  EXPECT_EQ(Count(*unfolded, NodeOf(sum)->type()), 1);
  EXPECT_EQ(Count(*unfolded, "Square"), 1);
  const auto unmerged = Optimized(g, {x}, {sum, once, twice}, {}, {.skipped_passes = {"common_subexpressions"}});
  EXPECT_EQ(Count(*unmerged, NodeOf(sum)->type()), 0);
  EXPECT_EQ(Count(*unmerged, "Square"), 2);
}

TEST(OptimizeTest, TheEnvironmentDisablesRewrites) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  ::setenv("TENSORBRAID_SKIP_PASSES", "constant_folding,no_such_pass", 1);
  const auto o = Optimized(g, {x}, {sum, Square(x), Square(x)});
  ::unsetenv("TENSORBRAID_SKIP_PASSES");
  EXPECT_EQ(FetchedFrom(*o, 0).type(), NodeOf(sum)->type());
  EXPECT_EQ(Count(*o, "Square"), 1);
}

TEST(OptimizeTest, EveryPassCanBeSkipped) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output y = Identity(Square(x)) + Identity(Square(x)) * Add(Operand(2.0f).ToOutput(g), 3.0f);
  for (const Pass& pass : Passes()) {
    const auto o = Optimized(g, {x}, {y, ShapeOf(y)}, {}, {.skipped_passes = {std::string(pass.name)}});
    EXPECT_EQ(Count(*o, "_Retval"), 2) << pass.name;
  }
}

TEST(OptimizeTest, RewritesTheBodyOfALoopAndKeepsItsBackEdge) {
  Graph g;
  const Output p = Placeholder(g, kBool, {});
  const auto node = [&](const char* op, std::vector<Output> inputs) {
    NodeBuilder b(g, op);
    for (const Output& in : inputs) b.Input(in);
    return b;
  };
  const Output enter = node("Enter", {Identity(Operand(1.0f).ToOutput(g))}).Attr("frame_name", "loop").Output();
  const Output again = node("Enter", {p}).Attr("frame_name", "loop").Attr("is_constant", true).Output();
  const auto merge = ImplOf(g).AddNode({.name = "merge",
                                        .op = "Merge",
                                        .inputs = {enter, Output()},  // the back edge comes later
                                        .controls = {},
                                        .attrs = {{"T", kFloat32}, {"N", int64_t{2}}},
                                        .device = ""});
  ASSERT_TRUE(merge.ok()) << merge.status();
  const Output value = OutputOf(*merge, 0);
  const Output cond = node("LoopCond", {again}).Output();
  const Operation branch = node("Switch", {value, cond}).Finish();
  const Output body = Identity(branch.output(1));
  const Output next = node("NextIteration", {Square(body) + Square(body)}).Output();
  ASSERT_TRUE(ImplOf(g).CloseLoop(*merge, 1, next).ok());
  const Output exit = node("Exit", {branch.output(0)}).Output();
  const auto o = Optimized(g, {p}, {exit});
  EXPECT_EQ(Count(*o, "Identity"), 0);
  EXPECT_EQ(Count(*o, "Square"), 1);
  const Node* copy = ImplOf(*o).Find("merge");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(NodeOf(copy->inputs()[1]), ImplOf(*o).Find(NodeOf(next)->name()));
}

TEST(PassContextTest, KnowsTheTypeOfANodesDevice) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  Output there;
  {
    auto device = g.Device("/job:worker/task:0/device:FAKE:1");
    there = Exp(x);
  }
  PassContext context(g);
  EXPECT_EQ(context.DeviceType(*NodeOf(there)), "FAKE");
  EXPECT_EQ(context.DeviceType(*NodeOf(x)), "CPU");
}

TEST(OptimizeTest, FoldsKnownShapesAndDropsTheirTensors) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output y = Placeholder(g, kFloat32, {-1, 3});
  const auto o = Optimized(g, {x, y}, {ShapeOf(Exp(x)), ShapeOf(y)});
  EXPECT_EQ(Count(*o, "Exp"), 0);
  EXPECT_EQ(Count(*o, "Shape"), 1);
  const Tensor shape = FetchedConstant(*o, 0);
  ASSERT_TRUE(shape.is_valid());
  EXPECT_EQ(shape.data<int32_t>()[0], 2);
  EXPECT_EQ(shape.data<int32_t>()[1], 3);
}

TEST(OptimizeTest, DoesNotFoldLargeResults) {
  Graph g;
  const auto o = Optimized(g, {}, {Fill(g, {1000, 1000}, 1.0f)});
  EXPECT_EQ(Count(*o, "Fill"), 1);
}

TEST(OptimizeTest, KeepsExpressionsThatFailToEvaluate) {
  Graph g;
  const Output three = Operand(Tensor::Vector<float>({1, 2, 3})).ToOutput(g);
  const Output outside = Gather(three, Operand(Tensor::Vector<int32_t>({7})).ToOutput(g));
  EXPECT_EQ(Count(*Optimized(g, {}, {outside}), NodeOf(outside)->type()), 1);
}

TEST(OptimizeTest, EqualExpressionsAreComputedOnce) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4});
  const Output once = Exp(x) + 1.0f;
  const Output twice = Exp(x) + 1.0f;
  const Output other = Exp(x) + 2.0f;
  const auto o = Optimized(g, {x}, {once, twice, other});
  EXPECT_EQ(Count(*o, "Exp"), 1);
  EXPECT_EQ(Count(*o, "AddV2"), 2);
  EXPECT_EQ(Count(*o, "Const"), 2);
}

TEST(OptimizeTest, DoesNotMergeNodesWithDifferentAttributesOrDevices) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4, 4});
  const Output here = Exp(x);
  Output there;
  {
    auto device = g.Device("/job:ps/task:1");
    there = Exp(x);
  }
  const auto o = Optimized(g, {x}, {MatMul(x, x), MatMul(x, x, {.transpose_a = true}), here, there});
  EXPECT_EQ(Count(*o, "MatMul"), 2);
  EXPECT_EQ(Count(*o, "Exp"), 2);
}

TEST(OptimizeTest, DoesNotMergeStatefulNodes) {
  Graph g;
  const Output random = RandomUniform(g, {2});
  const Output another = RandomUniform(g, {2});
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Operation add = v.AssignAdd(1.0f);
  Output before = v.Read(), after;
  {
    auto order = g.ControlDependencies({add});
    after = v.Read();
  }
  const auto o = Optimized(g, {}, {random, another, before, after});
  EXPECT_EQ(Count(*o, "RandomUniform"), 2);
  EXPECT_EQ(Count(*o, "ReadVariableOp"), 2);
  EXPECT_EQ(Count(*o, "AssignAddVariableOp"), 1);
}

TEST(OptimizeTest, RemovesIdentitiesWithoutControlInputsOnTheSameDevice) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Operation first = Exp(x).op();
  Output waits, moved;
  {
    auto order = g.ControlDependencies({first});
    waits = Identity(x);
  }
  {
    auto device = g.Device("/job:ps/task:1");
    moved = Identity(x);
  }
  const auto o = Optimized(g, {x}, {Identity(Identity(x)), waits, moved});
  EXPECT_EQ(Count(*o, "Identity"), 2);
  EXPECT_EQ(Count(*o, "Exp"), 1);
}

TEST(OptimizeTest, KeepsTargets) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = Exp(x);
  const auto o = Optimized(g, {x}, {}, {y.op()});
  EXPECT_EQ(Count(*o, "Exp"), 1);
}

}  // namespace
}  // namespace tensorbraid
