#include "executor/clusters/convex.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Whether the graph has a cycle when each set is one node.
bool HasCycle(const Graph& graph, const std::vector<int>& set_of) {
  const int n = static_cast<int>(set_of.size());
  const auto place = [&](int id) { return set_of[id] < 0 ? id : n + set_of[id]; };
  std::map<int, std::set<int>> after;
  std::map<int, int> incoming;
  for (const auto& node : ImplOf(graph).nodes()) {
    incoming.try_emplace(place(node->id()), 0);
    for (const Output& in : node->inputs()) {
      const int from = place(NodeOf(in)->id()), to = place(node->id());
      if (from != to && after[from].insert(to).second) ++incoming[to];
    }
  }
  std::vector<int> ready;
  for (const auto& [at, count] : incoming) {
    if (count == 0) ready.push_back(at);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const int at = ready.back();
    ready.pop_back();
    ++done;
    for (int to : after[at]) {
      if (--incoming[to] == 0) ready.push_back(to);
    }
  }
  return done < incoming.size();
}

int IdOf(const Output& o) { return NodeOf(o)->id(); }

TEST(ConvexSetsTest, AChainOfOneKindIsOneSet) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}), a = Neg(x), b = Neg(a), c = Neg(b);
  std::vector<int> kinds(4, 0);
  kinds[IdOf(x)] = -1;
  const auto sets = ConvexSets(g, kinds);
  EXPECT_EQ(sets[IdOf(x)], -1);
  EXPECT_EQ(sets[IdOf(a)], 0);
  EXPECT_EQ(sets[IdOf(b)], 0);
  EXPECT_EQ(sets[IdOf(c)], 0);
}

TEST(ConvexSetsTest, APathThatLeavesASetDoesNotComeBackToIt) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}), a = Neg(x), host = Neg(a), b = Add(a, host), c = Neg(a);
  std::vector<int> kinds(5, 0);
  kinds[IdOf(x)] = kinds[IdOf(host)] = -1;
  const auto sets = ConvexSets(g, kinds);
  EXPECT_EQ(sets[IdOf(a)], sets[IdOf(c)]);
  EXPECT_NE(sets[IdOf(a)], sets[IdOf(b)]);
}

// a -> b1 and b2 -> a2 with {b1, b2} of another kind: a and a2 would depend on each other through the set of the b.
TEST(ConvexSetsTest, SetsOfTwoKindsDoNotDependOnEachOtherInACircle) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}), a = Neg(x), b1 = Neg(a), b2 = Neg(x), a2 = Neg(b2);
  std::vector<int> kinds(5);
  kinds[IdOf(x)] = -1;
  kinds[IdOf(a)] = kinds[IdOf(a2)] = 0;
  kinds[IdOf(b1)] = kinds[IdOf(b2)] = 1;
  EXPECT_FALSE(HasCycle(g, ConvexSets(g, kinds)));
}

// `before` gets to the second result only by way of the first one, in the iteration after.
TEST(ConvexSetsTest, WhatComesBeforeALoopAndBehindItIsNoSet) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}), before = Neg(x);
  const std::vector<Output> results = While(
      {before, x}, [&](const std::vector<Output>&) { return Output(Const(g, Tensor::Scalar(false))); },
      [&](const std::vector<Output>& v) {
        return std::vector<Output>{v[0], v[1] + v[0]};
      });
  const Output behind = Neg(results[1]);
  ASSERT_TRUE(g.status().ok()) << g.status();
  std::vector<int> kinds(ImplOf(g).nodes().size(), -1);
  kinds[IdOf(before)] = kinds[IdOf(behind)] = 0;
  const auto sets = ConvexSets(g, kinds);
  EXPECT_NE(sets[IdOf(before)], sets[IdOf(behind)]);
}

TEST(ConvexSetsTest, RandomGraphsHaveNoCycle) {
  std::mt19937 random(1);
  int joined = 0;
  for (int round = 0; round < 300; ++round) {
    Graph g;
    std::vector<Output> tensors = {Placeholder(g, kFloat32, {2})};
    std::vector<int> kinds = {-1};
    for (int i = 0; i < 40; ++i) {
      tensors.push_back(Add(tensors[random() % tensors.size()], tensors[random() % tensors.size()]));
      kinds.push_back(static_cast<int>(random() % 4) - 1);
    }
    const auto sets = ConvexSets(g, kinds);
    ASSERT_FALSE(HasCycle(g, sets)) << "round " << round;
    for (size_t i = 0; i < sets.size(); ++i) {
      EXPECT_EQ(sets[i] < 0, kinds[i] < 0);
      for (size_t j = 0; j < i; ++j) {
        if (sets[i] >= 0 && sets[i] == sets[j]) {
          EXPECT_EQ(kinds[i], kinds[j]);
          ++joined;
        }
      }
    }
  }
  EXPECT_GT(joined, 1000);
}

}  // namespace
}  // namespace tensorbraid
