#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid {
namespace {

TEST(CommonSubexpressionsPass, ComputesEqualExpressionsOnce) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4});
  const auto o = After(MergeCommonSubexpressions, g, {x}, {Exp(x) + 1.0f, Exp(x) + 1.0f, Exp(x) + 2.0f});
  EXPECT_EQ(Count(*o, "Exp"), 1);
  EXPECT_EQ(Count(*o, "AddV2"), 2);
  EXPECT_EQ(Count(*o, "Const"), 2);
}

TEST(CommonSubexpressionsPass, MergesNodesThatOnlyOrderOthers) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4});
  const Operation before = RandomUniform(g, {2}).op();
  Operation one, other;
  {
    auto order = g.ControlDependencies({before});
    one = NodeBuilder(g, "NoOp").Finish();
    other = NodeBuilder(g, "NoOp").Finish();
  }
  Output last;
  {
    auto order = g.ControlDependencies({one, other});
    last = Exp(x);
  }
  const auto o = After(MergeCommonSubexpressions, g, {x}, {last});
  EXPECT_EQ(Count(*o, "NoOp"), 1);
  EXPECT_EQ(FetchedFrom(*o, 0).control_inputs().size(), 1u);
}

TEST(CommonSubexpressionsPass, KeepsNodesThatDifferOrHaveState) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4, 4});
  const Output here = Exp(x);
  Output there, later;
  {
    auto device = g.Device("/job:ps/task:1");
    there = Exp(x);
  }
  {
    auto order = g.ControlDependencies({here.op()});
    later = Exp(x);
  }
  const auto o = After(MergeCommonSubexpressions, g, {x},
                       {MatMul(x, x), MatMul(x, x, {.transpose_a = true}), here, there, later, RandomUniform(g, {2}),
                        RandomUniform(g, {2})});
  EXPECT_EQ(Count(*o, "MatMul"), 2);
  EXPECT_EQ(Count(*o, "Exp"), 3);
  EXPECT_EQ(Count(*o, "RandomUniform"), 2);
}

TEST(CommonSubexpressionsPass, KeepsReadsOfTheSameFile) {
  Graph g;
  const Output name = Operand(Tensor::Scalar("words.txt")).ToOutput(g);
  const Output before = NodeBuilder(g, "ReadFile").Input(name).Output();
  const Output after = NodeBuilder(g, "ReadFile").Input(name).Output();
  const auto o = After(MergeCommonSubexpressions, g, {}, {before, after});
  EXPECT_EQ(Count(*o, "ReadFile"), 2);
}

}  // namespace
}  // namespace tensorbraid
