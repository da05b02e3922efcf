#include <gtest/gtest.h>

#include "executor/passes/pass_test_util.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Output ReferenceVariableOf(Graph& g) {
  return NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
}

TEST(RemoveIdentitiesPass, RemovesChains) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const auto o = After(RemoveIdentities, g, {x}, {Exp(Identity(Identity(x)))});
  EXPECT_EQ(Count(*o, "Identity"), 0);
  EXPECT_EQ(NodeOf(FetchedFrom(*o, 0).inputs()[0])->type(), "_Arg");
}

TEST(RemoveIdentitiesPass, NodesWaitForWhatTheIdentityForwarded) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = Exp(x);
  const Output passed = Identity(y);
  Output last;
  {
    auto order = g.ControlDependencies({passed.op(), y.op()});
    last = Square(x);
  }
  const auto o = After(RemoveIdentities, g, {x}, {last});
  ASSERT_EQ(FetchedFrom(*o, 0).control_inputs().size(), 1u);
  EXPECT_EQ(FetchedFrom(*o, 0).control_inputs()[0]->type(), "Exp");
}

TEST(RemoveIdentitiesPass, KeepsIdentitiesThatOrderOrMoveOrGuard) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Output p = Placeholder(g, kBool, {});
  const Operation first = Exp(x).op();
  Output waits, moved, guarded;
  {
    auto order = g.ControlDependencies({first});
    waits = Identity(x);
  }
  {
    auto device = g.Device("/job:ps/task:1");
    moved = Identity(x);
  }
  const Operation branch = NodeBuilder(g, "Switch").Input(x).Input(p).Finish();
  {
    auto order = g.ControlDependencies({Identity(branch.output(1)).op()});
    guarded = Square(x);
  }
  const auto o = After(RemoveIdentities, g, {x, p}, {waits, moved, guarded});
  EXPECT_EQ(Count(*o, "Identity"), 3);
}

TEST(RemoveIdentitiesPass, LeavesReadsOfReferencesToTheLaterPass) {
  Graph g;
  const Output read = Identity(ReferenceVariableOf(g));
  const auto kept = After(RemoveIdentities, g, {}, {Exp(read)});
  EXPECT_EQ(Count(*kept, "Identity"), 1);
  const auto removed = After(RemoveReferenceIdentities, g, {}, {Exp(read)});
  EXPECT_EQ(Count(*removed, "Identity"), 0);
  EXPECT_EQ(NodeOf(FetchedFrom(*removed, 0).inputs()[0])->type(), "VariableV2");
}

TEST(RemoveIdentitiesPass, ATargetIsReplacedByItsInput) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {});
  const Output y = Exp(x);
  auto part = Part(g, {x}, {}, {Identity(y).op()});
  PassContext context(*part);
  ASSERT_TRUE(RemoveIdentities(part.get(), context).ok());
  ASSERT_TRUE(Prune(part.get(), context).ok());
  EXPECT_EQ(Count(*part, "Identity"), 0);
  EXPECT_EQ(Count(*part, "Exp"), 1);
}

}  // namespace
}  // namespace tensorbraid
