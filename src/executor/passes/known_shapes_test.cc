#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

TEST(KnownShapesPass, ReplacesShapesThatAreKnown) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3});
  const Output y = Placeholder(g, kFloat32, {-1, 3});
  const Output shape = ShapeOf(Exp(x));
  const Output rank = NodeBuilder(g, "Rank").Input(y).Output();
  const auto o = After(FoldKnownShapes, g, {x, y}, {shape, ShapeOf(y), rank});
  const Tensor known = FetchedConstant(*o, 0);
  ASSERT_TRUE(known.is_valid());
  EXPECT_EQ(known.data<int32_t>()[0], 2);
  EXPECT_EQ(known.data<int32_t>()[1], 3);
  EXPECT_EQ(FetchedFrom(*o, 0).name(), NodeOf(shape)->name());
  EXPECT_EQ(FetchedFrom(*o, 1).type(), "Shape");
  EXPECT_EQ(FetchedFrom(*o, 2).type(), "Rank");
}

TEST(KnownShapesPass, KeepsSizesThatDoNotFitTheDtype) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {int64_t{1} << 31});
  const Output size = NodeBuilder(g, "Size").Input(x).Output();
  const auto o = After(FoldKnownShapes, g, {x}, {ShapeOf(x), size, ShapeOf(x, kInt64)});
  EXPECT_EQ(FetchedFrom(*o, 0).type(), "Shape");
  EXPECT_EQ(FetchedFrom(*o, 1).type(), "Size");
  const Tensor wide = FetchedConstant(*o, 2);
  ASSERT_TRUE(wide.is_valid());
  EXPECT_EQ(wide.data<int64_t>()[0], int64_t{1} << 31);
}

TEST(KnownShapesPass, KeepsTheRankOfAVariableThatMayHaveNoValue) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
  const Output rank = NodeBuilder(g, "Rank").Input(Identity(Identity(v))).Output();
  const Output shape = ShapeOf(Identity(v));
  const auto o = After(FoldKnownShapes, g, {}, {rank, shape});
  EXPECT_EQ(FetchedFrom(*o, 0).type(), "Rank");
  EXPECT_EQ(FetchedFrom(*o, 1).type(), "Const");
}

TEST(KnownShapesPass, KeepsShapesThatWaitForOtherNodes) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2});
  const Operation first = Exp(x).op();
  Output shape;
  {
    auto order = g.ControlDependencies({first});
    shape = ShapeOf(x);
  }
  const auto o = After(FoldKnownShapes, g, {x}, {shape});
  EXPECT_EQ(FetchedFrom(*o, 0).type(), "Shape");
}

}  // namespace
}  // namespace tensorbraid
