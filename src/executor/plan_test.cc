#include "executor/plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "core/memory/shared_memory.h"
#include "core/text/logging.h"
#include "executor/passes/pass_test_util.h"
#include "executor/scheduling.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace {

std::shared_ptr<const Plan> PlanOf(const Graph& g, const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                   ResourceManager* resources) {
  auto part = Part(g, feeds, fetches);
  for (const auto& node : ImplOf(*part).nodes()) node->set_device("/job:localhost/replica:0/task:0/device:CPU:0");
  KernelCache cache;
  auto plan = Plan::Create(std::move(part), resources, &cache);
  TB_CHECK_OK(plan.status());
  return *std::move(plan);
}

const Plan::PlanNode& Find(const Plan& plan, const Output& output) {
  for (const Plan::PlanNode& p : plan.nodes()) {
    if (p.node->name() == NodeOf(output)->name()) return p;
  }
  CheckFailed(__FILE__, __LINE__, "node", output.name());
}

TEST(PlanTest, KnownShapesDecideTheWeightBeforeAnyStep) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {1, 256});
  const Output w = Placeholder(g, kFloat32, {256, 16});
  const Output wide = Placeholder(g, kFloat32, {256, 256});
  const Output small = MatMul(x, w);
  const Output product = MatMul(wide, wide);
  ResourceManager resources;
  const auto plan = PlanOf(g, {x, w, wide}, {small, product}, &resources);
  EXPECT_EQ(Find(*plan, small).weight, Plan::Weight::kLight);
  // The product is heavy because of its 34 million flops; its 786 KB of inputs and output alone would not suffice.
  EXPECT_EQ(Find(*plan, product).weight, Plan::Weight::kHeavy);
}

TEST(PlanTest, ASmallBatchIsHeavyIfItsArithmeticIs) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 256});
  const Output w = Placeholder(g, kFloat32, {256, 256});
  const Output product = MatMul(x, w);
  ResourceManager resources;
  const auto plan = PlanOf(g, {x, w}, {product}, &resources);
  const Plan::PlanNode& p = Find(*plan, product);
  ASSERT_EQ(p.weight, Plan::Weight::kAsk);
  const auto is_heavy = [&](int64_t rows) {
    Entry inputs[2] = {{.value = Tensor(kFloat32, {rows, 256}), .ref = nullptr},
                       {.value = Tensor(kFloat32, {256, 256}), .ref = nullptr}};
    return IsHeavy(p, inputs);
  };
  EXPECT_FALSE(is_heavy(4));
  EXPECT_TRUE(is_heavy(64));  // 320 KB of inputs, 8 million flops
}

TEST(PlanTest, ATensorIsMadeInSharedMemoryIfItIsSentEvenInAnotherShape) {
  SetHasNeighbours();
  auto g = std::make_unique<Graph>();
  const Output x = Const(*g, Tensor(kFloat32, {16, 16}));
  const Output sent = MatMul(x, x, {.name = "sent"}), kept = MatMul(sent, x, {.name = "kept"});
  const auto send = ImplOf(*g).AddNode(
      {.name = "send",
       .op = "_Send",
       .inputs = {Identity(Reshape(sent, {256}))},
       .controls = {},
       .attrs = {{"edge", int64_t{0}}, {"peer", std::string("/job:worker/replica:0/task:1")}, {"bytes", int64_t{-1}}},
       .device = ""});
  ASSERT_TRUE(send.ok()) << send.status();
  for (const auto& node : ImplOf(*g).nodes()) node->set_device("/job:worker/replica:0/task:0/device:CPU:0");
  ResourceManager resources;
  KernelCache cache;
  const auto plan = Plan::Create(std::move(g), &resources, &cache);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(&Find(**plan, sent).memory->output(0), &SharedAllocator());
  EXPECT_NE(&Find(**plan, kept).memory->output(0), &SharedAllocator());
}

TEST(PlanTest, NodesThatOnlyPassTensorsOnAreLightWhateverTheirSize) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {1000, 1000});
  const Output unknown = Placeholder(g, kFloat32, Shape::Unknown());
  const Output reshaped = Reshape(x, {1000000});
  const Output passed = Identity(unknown);
  const Output squared = Square(x);
  ResourceManager resources;
  const auto plan = PlanOf(g, {x, unknown}, {reshaped, passed, squared}, &resources);
  EXPECT_EQ(Find(*plan, reshaped).weight, Plan::Weight::kLight);
  EXPECT_EQ(Find(*plan, passed).weight, Plan::Weight::kLight);
  EXPECT_EQ(Find(*plan, squared).weight, Plan::Weight::kHeavy);
}

}  // namespace
}  // namespace tensorbraid
