#include "partition/prerequisites.h"

#include <gtest/gtest.h>

#include "graph/model/graph_impl.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

class PrerequisitesTest : public ::testing::Test {
 protected:
  Output Dequeue(const std::vector<Output>& first = {}) {
    const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}});
    const auto after = g.ControlDependencies(first);
    return queue.Dequeue()[0];
  }
  // The sets of the tensors; -1 for those of a loop.
  std::vector<Prerequisites::Sets> Find(const std::vector<Output>& tensors) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    const auto frames = AssignFrames(g);
    EXPECT_TRUE(frames.ok()) << frames.status();
    const Prerequisites found(g, *frames);
    std::vector<Prerequisites::Sets> sets;
    for (const Output& tensor : tensors) sets.push_back(found.Of(tensor).value_or(Prerequisites::Sets{-1, -1}));
    return sets;
  }
  bool AreEqual(const Output& a, const Output& b) {
    const auto sets = Find({a, b});
    return sets[0] == sets[1];
  }
  Output Always() { return Const(g, Tensor::Scalar(1.0f)); }
  Output Predicate() { return Placeholder(g, kBool, {}); }

  Graph g;
};

TEST_F(PrerequisitesTest, EqualSetsHaveEqualNumbers) {
  NumberedSets sets;
  const int a = sets.Number({1, 3}), b = sets.Number({3, 4});
  EXPECT_EQ(sets.Number({}), 0);
  EXPECT_EQ(sets.Union(a, b), sets.Number({1, 3, 4}));
  EXPECT_EQ(sets.Union(b, a), sets.Number({1, 3, 4}));
  EXPECT_EQ(sets.Intersection(a, b), sets.Number({3}));
  EXPECT_EQ(sets.Without(a, b), sets.Number({1}));
  EXPECT_EQ(sets.With(0, 3), sets.Number({3}));
}

TEST_F(PrerequisitesTest, ATensorWaitsForTheQueuesBeforeIt) {
  const Output first = Dequeue(), second = Dequeue({first}), alone = Dequeue();
  EXPECT_TRUE(AreEqual(Neg(Always()), Always()));
  EXPECT_FALSE(AreEqual(first, Always()));
  EXPECT_FALSE(AreEqual(first, alone));
  EXPECT_TRUE(AreEqual(Neg(first) + Always(), Exp(first)));
  EXPECT_TRUE(AreEqual(first + second, second));
  EXPECT_FALSE(AreEqual(first + alone, first));
  EXPECT_TRUE(AreEqual(first + alone, Mul(alone, first)));
  const auto after = g.ControlDependencies({first});
  EXPECT_TRUE(AreEqual(Identity(Always()), first));
}

TEST_F(PrerequisitesTest, WhatOnlyLetsOthersGoOnIsNoWait) {
  const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}});
  const SparseConditionalAccumulator sums(g, kFloat32, {.shape = {-1, 2}});
  for (const Output& only : {queue.Size(), queue.IsClosed(), sums.NumAccumulated()})
    EXPECT_TRUE(AreEqual(only, Always()));
  EXPECT_FALSE(AreEqual(sums.TakeGrad(1).values, Always()));
  EXPECT_FALSE(AreEqual(Dequeue(), Always()));
}

TEST_F(PrerequisitesTest, SidesOfAConditionalDiffer) {
  const Output by = Predicate(), x = Always();
  Output yes, also, no;
  const std::vector<Output> merged = Cond(
      by,
      [&]() -> std::vector<Output> {
        yes = x + 1.0f;
        also = x + 2.0f;
        return {yes, also};
      },
      [&]() -> std::vector<Output> {
        no = x + 3.0f;
        return {no, no};
      });
  EXPECT_TRUE(AreEqual(yes, also));
  EXPECT_FALSE(AreEqual(yes, no));
  EXPECT_FALSE(AreEqual(yes, x));
  EXPECT_TRUE(AreEqual(merged[0], merged[1]));
  EXPECT_TRUE(AreEqual(merged[0], x)) << "one of the sides is alive, and none of them waits";
}

TEST_F(PrerequisitesTest, AMergeDoesNotWaitForTheOtherSide) {
  const Output by = Predicate(), x = Always();
  std::vector<Output> merged;
  for (const bool both : {true, false}) {
    const Output taken = Dequeue();
    const auto side = [&](bool waits) {
      return [&, waits]() -> std::vector<Output> { return {waits ? taken + 1.0f : x + 2.0f}; };
    };
    merged.push_back(Cond(by, side(true), side(both))[0]);
    // If both sides wait for the queue, so does the Merge.
    EXPECT_EQ(AreEqual(merged.back(), taken), both);
    EXPECT_FALSE(AreEqual(merged.back(), x));
  }
  EXPECT_TRUE(AreEqual(Neg(merged[1]), Exp(merged[1])));
  EXPECT_FALSE(AreEqual(merged[0], merged[1]));
}

TEST_F(PrerequisitesTest, GradientsThroughAConditionalExistWhateverIsTaken) {
  const Output by = Predicate();
  const Variable x(g, {}, Constant(2.0), {.name = "x"}), y(g, {}, Constant(3.0), {.name = "y"});
  const Output value = Cond(
      by, [&]() -> std::vector<Output> { return {x.value() * y.value() * 3.0f}; },
      [&]() -> std::vector<Output> { return {Exp(x.value()) + y.value()}; })[0];
  const auto gradients = Gradients({Square(value)}, {x.handle(), y.handle()});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  EXPECT_TRUE(AreEqual((*gradients)[0], value));
  EXPECT_TRUE(AreEqual((*gradients)[1], value));
}

TEST_F(PrerequisitesTest, AMergeOfOneSideMayBeDead) {
  const Output x = Always();
  const Operation sides = NodeBuilder(g, "Switch").Input(x).Input(Predicate()).Finish();
  const Output one = NodeBuilder(g, "Merge").InputList({sides.output(1)}).Output();
  EXPECT_FALSE(AreEqual(one, x));
}

TEST_F(PrerequisitesTest, ALoopWaitsForWhatItsEndWaitsFor) {
  const Output taken = Dequeue();
  const auto loop = [&](const Output& begin, const Output& limit) {
    return While(
        {begin, Always()}, [&](const std::vector<Output>& v) { return Less(v[0], limit); },
        [&](const std::vector<Output>& v) -> std::vector<Output> {
          return {v[0] + 1.0f, v[1] + taken};
        });
  };
  const Output x = Always();
  // The number of iterations depends on the queue, so every variable of the loop does.
  for (const Output& end : loop(taken, x)) EXPECT_TRUE(AreEqual(end, taken));
  for (const Output& end : loop(x, taken)) EXPECT_TRUE(AreEqual(end, taken));
  // Without iterations, the second variable does not wait for the queue, and the first one never does.
  const std::vector<Output> ends = loop(x, x);
  EXPECT_FALSE(AreEqual(ends[1], taken));
  EXPECT_FALSE(AreEqual(ends[0], taken));
  EXPECT_FALSE(AreEqual(ends[0], ends[1]));
  EXPECT_TRUE(AreEqual(Neg(ends[1]), ends[1]));
}

TEST_F(PrerequisitesTest, ALoopWithoutWaitsIsNoWait) {
  const Output x = Always();
  Output inside;
  const std::vector<Output> ends = While(
      {x, x}, [&](const std::vector<Output>& v) { return Less(v[0], 3.0f); },
      [&](const std::vector<Output>& v) -> std::vector<Output> {
        inside = v[0] + 1.0f;
        return {inside, v[1] * v[0]};
      });
  for (const Output& end : ends) EXPECT_TRUE(AreEqual(end, x));
  EXPECT_EQ(Find({inside})[0].waits, -1);
}

TEST_F(PrerequisitesTest, ALoopInABranchMayBeDead) {
  const Output x = Always();
  std::vector<Output> ends;
  const Output merged = Cond(
      Predicate(),
      [&]() -> std::vector<Output> {
        ends = While(
            {x, x}, [&](const std::vector<Output>& v) { return Less(v[0], 3.0f); },
            [&](const std::vector<Output>& v) -> std::vector<Output> {
              return {v[0] + 1.0f, v[1] * 2.0f};
            });
        return {ends[0]};
      },
      [&]() -> std::vector<Output> { return {x + 2.0f}; })[0];
  EXPECT_FALSE(AreEqual(ends[0], x));
  EXPECT_TRUE(AreEqual(ends[0], ends[1]));
  EXPECT_TRUE(AreEqual(merged, x));
}

}  // namespace
}  // namespace tensorbraid
