#include "executor/optimize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/strings.h"
#include "graph/node.h"
#include "graph/subgraph.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/random_ops.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {
namespace {

// What is left of the part of `g` that the fetches need.
std::unique_ptr<Graph> Optimized(const Graph& g, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                 const std::vector<Operation>& targets = {}, const OptimizeOptions& options = {}) {
  TB_CHECK_OK(g.status());
  auto part = ExtractSubgraph(g, feeds, fetches, targets);
  TB_CHECK_OK(part.status());
  auto optimized = Optimize(**part, options);
  TB_CHECK_OK(optimized.status());
  return *std::move(optimized);
}

int Count(const Graph& g, const std::string& type) {
  const auto& nodes = g.impl().nodes();
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->type() == type; }));
}

// The constant that goes to the fetch of this number.
Tensor Fetched(const Graph& g, int i) {
  const Node* retval = g.impl().Find(StrCat("_retval_", i));
  const Node* from = retval->inputs()[0].node();
  return from->type() == "Const" ? from->attr<Tensor>("value") : Tensor();
}

TEST(OptimizeTest, WhatDependsOnConstantsAloneIsAConstant) {
  Graph g;
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  const Output all = Square(sum) * 2.0f;
  const auto o = Optimized(g, {}, {all});
  EXPECT_EQ(o->impl().nodes().size(), 2u);
  EXPECT_EQ(Fetched(*o, 0).scalar<float>(), 50.0f);
  EXPECT_NE(o->impl().Find(all.node()->name()), nullptr);  // under the name of what it stands for
}

TEST(OptimizeTest, TheRankOfAVariableStillFailsWhereThereIsNoValue) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
  const Output rank = NodeBuilder(g, "Rank").Input(Identity(v)).Output();
  const Operation nothing = NodeBuilder(g, "NoOp").Finish();
  const auto o = Optimized(g, {}, {rank}, {nothing});
  EXPECT_EQ(Count(*o, "Rank"), 1);
  EXPECT_EQ(Count(*o, "NoOp"), 1);
}

TEST(OptimizeTest, LeavesOutWhatItIsToldTo) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output sum = Add(Operand(2.0f).ToOutput(g), 3.0f);
  const Output once = Square(x);
  const Output twice = Square(x);
  const auto unfolded = Optimized(g, {x}, {sum, once, twice}, {}, {.fold_constants = false});
  EXPECT_EQ(Count(*unfolded, sum.node()->type()), 1);
  EXPECT_EQ(Count(*unfolded, "Square"), 1);
  const auto unmerged = Optimized(g, {x}, {sum, once, twice}, {}, {.merge_equal = false});
  EXPECT_EQ(Count(*unmerged, sum.node()->type()), 0);
  EXPECT_EQ(Count(*unmerged, "Square"), 2);
}

TEST(OptimizeTest, AKnownShapeIsAConstantAndItsTensorIsNotNeeded) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output y = Placeholder(g, kFloat32, {-1, 3});
  const auto o = Optimized(g, {x, y}, {ShapeOf(Exp(x)), ShapeOf(y)});
  EXPECT_EQ(Count(*o, "Exp"), 0);
  EXPECT_EQ(Count(*o, "Shape"), 1);
  const Tensor shape = Fetched(*o, 0);
  ASSERT_TRUE(shape.is_valid());
  EXPECT_EQ(shape.data<int32_t>()[0], 2);
  EXPECT_EQ(shape.data<int32_t>()[1], 3);
}

TEST(OptimizeTest, LargeResultsAreLeftToTheStep) {
  Graph g;
  const auto o = Optimized(g, {}, {Fill(g, {1000, 1000}, 1.0f)});
  EXPECT_EQ(Count(*o, "Fill"), 1);
}

TEST(OptimizeTest, WhatCannotBeComputedFailsWhenItRuns) {
  Graph g;
  const Output three = Operand(Tensor::Vector<float>({1, 2, 3})).ToOutput(g);
  const Output outside = Gather(three, Operand(Tensor::Vector<int32_t>({7})).ToOutput(g));
  EXPECT_EQ(Count(*Optimized(g, {}, {outside}), outside.node()->type()), 1);
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

TEST(OptimizeTest, AttributesAndDevicesMakeADifference) {
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

TEST(OptimizeTest, WhatHasStateIsLeftAlone) {
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

TEST(OptimizeTest, IdentitiesGoUnlessTheyWaitOrMoveAValue) {
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

TEST(OptimizeTest, TargetsStay) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = Exp(x);
  const auto o = Optimized(g, {x}, {}, {y.op()});
  EXPECT_EQ(Count(*o, "Exp"), 1);
}

}  // namespace
}  // namespace tensorbraid
