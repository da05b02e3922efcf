#include "partition/joined_edges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "partition/partition.h"
#include "partition/passage.h"
#include "placement/placer.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr const char* kTasks[] = {"/job:worker/task:0", "/job:ps/task:0", "/job:ps/task:1"};

// A graph that is cut into the parts of three tasks. Growing tables are made by hand, one for each lookup.
class Parted {
 public:
  // The rows of these keys, on a task.
  Output Lookup(const Output& keys, const char* task) {
    const auto device = g.Device(task);
    const std::string name = StrCat("table", tables_++);
    const Output handle = NodeBuilder(g, "KvVarHandleOp")
                              .Attr("shared_name", name)
                              .Attr("dtype", kFloat32)
                              .Attr("shape", Shape({4}))
                              .Output();
    return NodeBuilder(g, "KvResourceGather")
        .Input(handle)
        .Input(keys)
        .Input(Const(g, Tensor(kFloat32, {0})))
        .Attr("dtype", kFloat32)
        .Output();
  }
  Output Keys() {
    const auto device = g.Device(kTasks[0]);
    return Placeholder(g, kInt64, {-1});
  }
  // Keys that depend on these rows, made on a task.
  Output KeysOf(const Output& rows, const char* task) {
    const auto device = g.Device(task);
    return Cast(ReduceSum(rows, {1}), kInt64);
  }
  void Cut(Feeding feeding = Feeding::kAtOnce) {
    ASSERT_TRUE(g.status().ok()) << g.status();
    std::vector<DeviceName> devices;
    for (const char* device : {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0",
                               "/job:ps/replica:0/task:1/device:CPU:0"}) {
      devices.push_back(*DeviceName::Parse(device));
    }
    ASSERT_TRUE(PlaceNodes(&g, {.devices = devices}).ok());
    auto cut = PartitionByTask(g, {}, feeding);
    ASSERT_TRUE(cut.ok()) << cut.status();
    parts = *std::move(cut);
  }
  int Count(const char* type) const {
    int count = 0;
    for (const auto& [task, part] : parts) {
      for (const Operation& op : part->operations()) count += op.type() == type;
    }
    return count;
  }
  // Whether every node of all parts can run: it waits for its inputs, and a _Recv for its _Send.
  bool CanEnd() const {
    std::set<const Node*> ran;
    std::set<int64_t> sent;
    size_t nodes = 0;
    for (bool again = true; std::exchange(again, false);) {
      nodes = 0;
      for (const auto& [task, part] : parts) {
        for (const auto& node : ImplOf(*part).nodes()) {
          ++nodes;
          if (ran.contains(node.get())) continue;
          bool ready = node->type() != "_Recv" || sent.contains(node->attr<int64_t>("edge"));
          for (const Output& in : node->inputs()) ready = ready && ran.contains(NodeOf(in));
          for (const Node* control : node->control_inputs()) ready = ready && ran.contains(control);
          if (!ready) continue;
          ran.insert(node.get());
          if (node->type() == "_Send") sent.insert(node->attr<int64_t>("edge"));
          again = true;
        }
      }
    }
    return ran.size() == nodes;
  }

  Graph g;
  GraphParts parts;

 private:
  int tables_ = 0;
};

TEST(JoinedEdgesTest, KeysAndRowsOfAllTablesTravelTogether) {
  for (const Feeding feeding : {Feeding::kAtOnce, Feeding::kInParts}) {
    Parted parted;
    for (int t = 0; t < 20; ++t) {
      const Output rows = parted.Lookup(parted.Keys(), kTasks[1 + t % 2]);
      const auto device = parted.g.Device(kTasks[0]);
      Neg(rows);
    }
    parted.Cut(feeding);
    EXPECT_TRUE(parted.CanEnd());
    EXPECT_EQ(parted.Count("_Send"), feeding == Feeding::kAtOnce ? 4 : 40);
    EXPECT_EQ(parted.Count("_TakeJoined"), feeding == Feeding::kAtOnce ? 40 : 0);
  }
}

TEST(JoinedEdgesTest, KeysThatDependOnRowsTravelLater) {
  Parted parted;
  const Output first = parted.Keys();
  const Output rows = parted.Lookup(first, kTasks[1]), also = parted.Lookup(parted.Keys(), kTasks[1]);
  const Output later = parted.KeysOf(rows, kTasks[0]), and_later = parted.KeysOf(rows, kTasks[0]);
  for (const Output& r : {parted.Lookup(later, kTasks[1]), parted.Lookup(and_later, kTasks[1]), also}) {
    const auto device = parted.g.Device(kTasks[0]);
    Neg(r);
  }
  parted.Cut();
  EXPECT_TRUE(parted.CanEnd());
  EXPECT_EQ(parted.Count("_JoinTensors"), 4);  // the first keys, their rows, the later keys, their rows
}

TEST(JoinedEdgesTest, NothingIsJoinedAcrossQueues) {
  // The second keys come from a queue that is filled with what the first rows give, in the same step.
  Parted parted;
  const Output keys = parted.Keys();
  Output more;
  {
    const auto device = parted.g.Device(kTasks[0]);
    FIFOQueue queue(parted.g, {kInt64}, {.name = "queue"});
    more = queue.Dequeue()[0];
    queue.Enqueue({parted.KeysOf(parted.Lookup(keys, kTasks[1]), kTasks[0])});
  }
  const Output rows = parted.Lookup(more, kTasks[1]);
  const auto device = parted.g.Device(kTasks[0]);
  Neg(rows);
  parted.Cut();
  EXPECT_EQ(parted.Count("_JoinTensors"), 0);
}

TEST(JoinedEdgesTest, LoopsAndConditionalsAreLeftOut) {
  Parted parted;
  std::vector<Output> rows;
  for (int t = 0; t < 3; ++t) rows.push_back(parted.Lookup(parted.Keys(), kTasks[1]));
  const auto device = parted.g.Device(kTasks[0]);
  const std::vector<Output> ends = While(
      {Const(parted.g, Tensor::Scalar(0.0f))}, [](const std::vector<Output>& v) { return Less(v[0], 3.0f); },
      [&](const std::vector<Output>& v) -> std::vector<Output> {
        Output sum = v[0] + 1.0f;
        for (const Output& r : rows) sum = sum + 0.0f * ReduceSum(r);
        const Output inside = parted.Lookup(Cast(Reshape(sum, {1}), kInt64), kTasks[2]);
        const Output other = parted.Lookup(Cast(Reshape(sum, {1}), kInt64) + int64_t{1}, kTasks[2]);
        return {sum + 0.0f * ReduceSum(inside + other)};
      });
  // These keys follow the loop, and the rows above are used in it.
  for (int t = 0; t < 2; ++t) {
    const Output after = parted.Lookup(Cast(Reshape(ends[0], {1}), kInt64) + int64_t{t}, kTasks[1]);
    Neg(after);
  }
  parted.Cut();
  // The first keys, their rows, the keys after the loop, their rows.
  EXPECT_EQ(parted.Count("_JoinTensors"), 4);
}

TEST(JoinedEdgesTest, RandomGraphsCanAlwaysEnd) {
  std::mt19937 random(7);
  int joined = 0;
  for (int round = 0; round < 100; ++round) {
    Parted parted;
    std::vector<Output> keys = {parted.Keys(), parted.Keys()};
    for (int t = 0; t < 12; ++t) {
      const Output rows = parted.Lookup(keys[random() % keys.size()], kTasks[random() % 3]);
      std::vector<Output> first;  // control edges
      if (random() % 4 == 0) first.push_back(keys[random() % keys.size()]);
      const auto after = parted.g.ControlDependencies(first);
      keys.push_back(parted.KeysOf(rows, kTasks[random() % 3]));
    }
    parted.Cut();
    EXPECT_TRUE(parted.CanEnd()) << "round " << round;
    joined += parted.Count("_JoinTensors");
  }
  EXPECT_GT(joined, 100);
}

}  // namespace
}  // namespace tensorbraid
