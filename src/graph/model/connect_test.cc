#include <gtest/gtest.h>

#include <algorithm>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/subgraph.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

const Node* Find(const Graph& graph, const std::string& name) {
  const auto& nodes = ImplOf(graph).nodes();
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n->name() == name; });
  return it == nodes.end() ? nullptr : it->get();
}

// The tensor that a consumer gets may come from a node with a higher id than the consumer's.
TEST(ConnectTest, ConsumersGetAConnectedTensorThatIsProducedLater) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {2}, "x");
  auto y = Placeholder(g, kFloat32, {2}, "y");
  auto early = Neg(y, "early");
  auto late = Exp(x, "late");
  const auto part = ExtractSubgraph(g, {x}, {early}, {}, {{late, y}});
  ASSERT_TRUE(part.ok()) << part.status();
  const Node* neg = Find(**part, "early");
  ASSERT_NE(neg, nullptr);
  EXPECT_EQ(NodeOf(neg->inputs()[0]), Find(**part, "late"));
  int args = 0, retvals = 0;
  for (const auto& node : ImplOf(*(*part)).nodes()) {
    args += node->type() == "_Arg";
    retvals += node->type() == "_Retval";
    for (const Output& in : node->inputs()) EXPECT_LT(NodeOf(in)->id(), node->id());
  }
  EXPECT_EQ(args, 1);
  EXPECT_EQ(retvals, 1);
}

TEST(ConnectTest, ConnectionsCanBeChained) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = Placeholder(g, kFloat32, {}, "y");
  auto z = Placeholder(g, kFloat32, {}, "z");
  auto out = Neg(z, "out");
  const auto part = ExtractSubgraph(g, {x}, {out}, {}, {{y, z}, {x, y}});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(NodeOf(Find(**part, "out")->inputs()[0])->type(), "_Arg");
}

TEST(ConnectTest, RefusesCyclesDoubleFeedsAndOtherDtypes) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = Neg(x, "y");
  auto z = Exp(y, "z");
  auto whole = Const(g, Tensor::Scalar(int32_t{1}), "whole");
  const auto refused = [&](std::vector<Output> feeds, std::vector<std::pair<Output, Output>> connections) {
    return absl::IsInvalidArgument(ExtractSubgraph(g, feeds, {z}, {}, connections).status());
  };
  EXPECT_TRUE(refused({}, {{z, y}}));          // a cycle
  EXPECT_TRUE(refused({}, {{z, x}}));          // a cycle
  EXPECT_TRUE(refused({}, {{x, y}, {y, x}}));  // a cycle of connections
  EXPECT_TRUE(refused({}, {{whole, x}}));      // int32 to float32
  EXPECT_TRUE(refused({x}, {{whole, x}}));     // x is fed and connected
  EXPECT_FALSE(refused({x}, {}));
}

}  // namespace
}  // namespace tensorbraid
