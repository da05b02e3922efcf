#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid {
namespace {

TEST(PrunePass, DropsPureNodesThatLostTheirConsumers) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2});
  const Output unused = Square(Exp(x));
  const Output shape = ShapeOf(unused + RandomUniform(g, {2}));
  auto part = Part(g, {x}, {shape});
  PassContext context(*part);
  ASSERT_TRUE(FoldKnownShapes(part.get(), context).ok());
  ASSERT_TRUE(Prune(part.get(), context).ok());
  EXPECT_EQ(Count(*part, "Exp"), 0);
  EXPECT_EQ(Count(*part, "RandomUniform"), 1);  // without it, its generator would have another state in later runs
  EXPECT_EQ(ImplOf(*part).Find(NodeOf(unused)->name()), nullptr);
  for (size_t i = 0; i < ImplOf(*part).nodes().size(); ++i) {
    EXPECT_EQ(ImplOf(*part).nodes()[i]->id(), static_cast<int>(i));
  }
}

TEST(PrunePass, KeepsTargets) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const auto o = After(Prune, g, {x}, {}, {Exp(x).op()});
  EXPECT_EQ(Count(*o, "Exp"), 1);
}

}  // namespace
}  // namespace tensorbraid
