#include "executor/clusters/run_conditions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/model/graph_impl.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

class RunConditionsTest : public testing::Test {
 protected:
  Output Node1(const char* op, std::vector<Output> inputs, int output = 0) {
    NodeBuilder node(g_, op);
    for (const Output& in : inputs) node.Input(in);
    return node.Finish().output(output);
  }
  // A loop: value is replaced by `next(value)` while `condition` is true.
  Output Enter(const Output& value, bool is_constant = false) {
    return NodeBuilder(g_, "Enter").Input(value).Attr("frame_name", "loop").Attr("is_constant", is_constant).Output();
  }
  std::vector<int> Numbers() {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    auto numbers = RunConditions(g_);
    EXPECT_TRUE(numbers.ok()) << numbers.status();
    return numbers.ok() ? *std::move(numbers) : std::vector<int>();
  }
  static int NumberOf(const std::vector<int>& numbers, const Output& o) { return numbers.at(NodeOf(o)->id()); }

  Graph g_;
};

TEST_F(RunConditionsTest, BranchesOfAPredicateAreTwoAndTheirMergeIsOutside) {
  const Output x = Placeholder(g_, kFloat32, {}, "x"), y = Placeholder(g_, kFloat32, {}, "y");
  const Output p = Placeholder(g_, kBool, {}, "p"), same = Identity(p), q = Placeholder(g_, kBool, {}, "q");
  const Output before = Neg(x);
  const Output x0 = Node1("Switch", {x, p}, 0), x1 = Node1("Switch", {x, p}, 1), y1 = Node1("Switch", {y, same}, 1);
  const Output a0 = Neg(x0), a1 = Neg(x1), b1 = Exp(y1), c1 = a1 + b1, other = Exp(Node1("Switch", {x, q}, 1));
  const Output merged = NodeBuilder(g_, "Merge").InputList({a0, c1}).Finish().output(0), after = Neg(merged);
  const Output partly = Neg(NodeBuilder(g_, "Merge").InputList({c1, other}).Finish().output(0));
  const Output same_partly = Exp(NodeBuilder(g_, "Merge").InputList({other, a1}).Finish().output(0));
  const auto n = Numbers();
  EXPECT_EQ(NumberOf(n, a1), NumberOf(n, b1));
  EXPECT_EQ(NumberOf(n, a1), NumberOf(n, c1));
  EXPECT_NE(NumberOf(n, a0), NumberOf(n, a1));
  EXPECT_NE(NumberOf(n, a0), NumberOf(n, before));
  EXPECT_NE(NumberOf(n, other), NumberOf(n, a1));
  EXPECT_EQ(NumberOf(n, after), NumberOf(n, before));
  EXPECT_NE(NumberOf(n, partly), NumberOf(n, before));
  EXPECT_EQ(NumberOf(n, partly), NumberOf(n, same_partly));
}

// The body runs once less than the condition.
TEST_F(RunConditionsTest, ConditionAndBodyOfALoopAreTwoAndItsResultIsOutside) {
  const Output x = Placeholder(g_, kFloat32, {}, "x"), before = Neg(x);
  const std::vector<Output> after = While(
      {x, before}, [](const std::vector<Output>& v) { return Less(v[0], 5.0f); },
      [](const std::vector<Output>& v) {
        return std::vector<Output>{Add(v[0], 1.0f), Exp(v[1])};
      });
  const Output sum = after[0] + after[1];
  const auto n = Numbers();
  EXPECT_EQ(NumberOf(n, sum), NumberOf(n, before));
  int less = -1, add = -1, exp = -1;
  for (const auto& node : ImplOf(g_).nodes()) {
    if (node->type() == "Less") less = n[node->id()];
    if (node->type() == "Exp") exp = n[node->id()];
    if (node->type() == "AddV2" && node.get() != NodeOf(sum)) add = n[node->id()];
  }
  EXPECT_EQ(add, exp);
  EXPECT_NE(less, exp);
  EXPECT_NE(less, NumberOf(n, before));
  EXPECT_NE(exp, NumberOf(n, before));
}

// One value goes to the next iteration in a branch only, so its Merge does not run in each iteration.
TEST_F(RunConditionsTest, MergesOfALoopMayRunInDifferentIterations) {
  const Output x = Placeholder(g_, kFloat32, {}, "x"), p = Placeholder(g_, kBool, {}, "p");
  std::vector<Output> merges, uses;
  for (int i = 0; i < 2; ++i) {
    const Output enter = Enter(x);
    merges.push_back(NodeBuilder(g_, "Merge").InputList({enter, enter}).Finish().output(0));
    uses.push_back(Neg(merges[i]));
  }
  const Output go_on = Node1("LoopCond", {Less(merges[0], Neg(merges[0]))}), branch = Enter(p, /*is_constant=*/true);
  const Output a = Node1("Switch", {merges[0], go_on}, 1), b = Node1("Switch", {merges[1], go_on}, 1);
  const Output sometimes = Node1("Switch", {b, branch}, 1);
  const std::vector<Output> next = {Node1("NextIteration", {a}), Node1("NextIteration", {sometimes})};
  const auto regular = Numbers();
  EXPECT_EQ(NumberOf(regular, uses[0]), NumberOf(regular, uses[1]));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(ImplOf(g_).CloseLoop(NodeOf(merges[i]), 1, next[i]).ok());
  }
  const auto n = Numbers();
  EXPECT_NE(NumberOf(n, uses[0]), NumberOf(n, uses[1]));
}

}  // namespace
}  // namespace tensorbraid
