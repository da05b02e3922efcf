#include "partition/joined_edges.h"

#include <gtest/gtest.h>

#include <map>
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
  // Keys from a queue of their own, taken after `first`.
  Output Dequeue(const std::vector<Output>& first = {}, const char* task = kTasks[0]) {
    const auto device = g.Device(task);
    const FIFOQueue queue(g, {kInt64}, {.shapes = {Shape({2})}, .name = "queue"});
    const auto after = g.ControlDependencies(first);
    return queue.Dequeue()[0];
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
  // What a node that may wait waits for: a node of this step, or of another one.
  struct Release {
    int steps_later;
    std::string node;
  };
  using Releases = std::map<std::string, Release>;
  // The nodes that run if this many steps run at once: the number of the step and the name. A node waits for its
  // inputs, a _Recv for its _Send, and the named nodes for their releases.
  std::set<std::pair<int, std::string>> Run(int steps, const Releases& releases = {}) const {
    std::set<std::pair<int, std::string>> ran;
    std::set<std::pair<int, const Node*>> done;
    std::set<std::pair<int, int64_t>> sent;
    for (bool again = true; std::exchange(again, false);) {
      for (int step = 0; step < steps; ++step) {
        for (const auto& [task, part] : parts) {
          for (const auto& node : ImplOf(*part).nodes()) {
            if (done.contains({step, node.get()})) continue;
            bool ready = node->type() != "_Recv" || sent.contains({step, node->attr<int64_t>("edge")});
            for (const Output& in : node->inputs()) ready = ready && done.contains({step, NodeOf(in)});
            for (const Node* control : node->control_inputs()) ready = ready && done.contains({step, control});
            if (const auto release = releases.find(node->name()); release != releases.end()) {
              ready = ready && ran.contains({(step + release->second.steps_later) % steps, release->second.node});
            }
            if (!ready) continue;
            done.emplace(step, node.get());
            ran.emplace(step, node->name());
            if (node->type() == "_Send") sent.emplace(step, node->attr<int64_t>("edge"));
            again = true;
          }
        }
      }
    }
    return ran;
  }
  // Whether every node of all parts can run.
  bool CanEnd() const {
    size_t nodes = 0;
    for (const auto& [task, part] : parts) nodes += ImplOf(*part).nodes().size();
    return Run(1).size() == nodes;
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

TEST(JoinedEdgesTest, KeysOfThisStepDoNotWaitForThoseOfAQueue) {
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

TEST(JoinedEdgesTest, LookupsBetweenTwoQueuesAreJoined) {
  Parted parted;
  const Output keys = parted.Dequeue();
  std::vector<Operand> rows;
  for (int t = 0; t < 6; ++t) rows.emplace_back(parted.Lookup(keys + int64_t{t}, kTasks[1 + t % 2]));
  const auto device = parted.g.Device(kTasks[0]);
  FIFOQueue(parted.g, std::vector<DType>(6, kFloat32), {.name = "rows"}).Enqueue(rows);
  parted.Cut();
  EXPECT_TRUE(parted.CanEnd());
  EXPECT_EQ(parted.Count("_JoinTensors"), 4);
  EXPECT_EQ(parted.Count("_Send"), 4);
}

TEST(JoinedEdgesTest, KeysOfEachQueueTravelTogether) {
  Parted parted;
  for (const Output& keys : {parted.Dequeue(), parted.Dequeue()}) {
    for (int t = 0; t < 3; ++t) {
      const Output rows = parted.Lookup(keys + int64_t{t}, kTasks[1]);
      const auto device = parted.g.Device(kTasks[0]);
      Neg(rows);
    }
  }
  parted.Cut();
  EXPECT_EQ(parted.Count("_JoinTensors"), 4);  // for each queue: the keys, their rows
}

TEST(JoinedEdgesTest, GradientsForAccumulatorsOfTablesAreJoined) {
  Parted parted;
  for (int t = 0; t < 4; ++t) {
    // The last one is for a static variable.
    const Shape shape = t < 3 ? Shape({-1, 4}) : Shape({100, 4});
    Output values, keys;
    {
      const auto device = parted.g.Device(kTasks[0]);
      keys = Placeholder(parted.g, kInt64, {-1});
      values = Placeholder(parted.g, kFloat32, {-1, 4});
    }
    const auto device = parted.g.Device(kTasks[1]);
    const SparseConditionalAccumulator sums(parted.g, kFloat32, {.shape = shape, .name = "sums"});
    NodeBuilder(parted.g, "_SparseAccumulatorApplyGradient")
        .Input(sums.handle())
        .Input(Const(parted.g, Tensor::Scalar<int64_t>(1)))
        .Input(keys)
        .Input(values)
        .Input(Const(parted.g, Tensor::Vector<int64_t>({-1, 4})))
        .Attr("has_known_shape", true)
        .Finish();
  }
  parted.Cut();
  EXPECT_EQ(parted.Count("_TakeJoined"), 6);
  EXPECT_EQ(parted.Count("_Send"), 3);
}

TEST(JoinedEdgesTest, LoopsAreLeftOut) {
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

TEST(JoinedEdgesTest, KeysOfABranchTravelTogether) {
  Parted parted;
  Output takes, keys;
  {
    const auto device = parted.g.Device(kTasks[0]);
    takes = Placeholder(parted.g, kBool, {});
    keys = parted.Keys();
  }
  const auto branch = [&](int64_t add) {
    return [&, add]() -> std::vector<Output> {
      std::vector<Output> rows;
      for (int64_t t = 0; t < 3; ++t) {
        const auto device = parted.g.Device(kTasks[0]);
        rows.push_back(parted.Lookup(keys + (add + t), kTasks[1]));
      }
      const auto device = parted.g.Device(kTasks[0]);
      return {Neg(rows[0]), Neg(rows[1] + rows[2])};
    };
  };
  std::vector<Output> merged;
  {
    const auto device = parted.g.Device(kTasks[0]);
    merged = Cond(takes, branch(0), branch(10));
  }
  // These exist whatever branch is taken.
  for (const Output& rows : merged) {
    const Output later = parted.Lookup(parted.KeysOf(rows, kTasks[0]), kTasks[1]);
    const auto device = parted.g.Device(kTasks[0]);
    Neg(later);
  }
  parted.Cut();
  // Keys and rows of each branch, and of what follows.
  EXPECT_EQ(parted.Count("_JoinTensors"), 6);
  EXPECT_EQ(parted.Count("_TakeJoined"), 2 * (3 + 3 + 2));
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

// Whatever nodes wait for, in the same step or in another one: a message that waits for all its parts keeps no node
// from running that runs without joined messages.
TEST(JoinedEdgesTest, NoNodeWaitsForeverBecauseOfAJoin) {
  constexpr int kSteps = 3, kRounds = 60;
  std::mt19937 random(11);
  int joined = 0, stuck = 0;
  for (int round = 0; round < kRounds; ++round) {
    Parted parted;
    std::vector<Output> keys = {parted.Keys(), parted.Dequeue()};
    std::vector<std::string> waiting = {keys[1].op().name()};
    for (int t = 0; t < 10; ++t) {
      const Output rows = parted.Lookup(keys[random() % keys.size()], kTasks[random() % 3]);
      keys.push_back(parted.KeysOf(rows, kTasks[random() % 3]));
      if (random() % 2 == 0) continue;
      keys.push_back(parted.Dequeue({keys[random() % keys.size()]}, kTasks[random() % 3]));
      waiting.push_back(keys.back().op().name());
    }
    Parted::Releases releases;
    const auto& nodes = ImplOf(parted.g).nodes();
    for (const std::string& name : waiting) {
      if (random() % 4 == 0) continue;  // does not wait
      releases[name] = {.steps_later = static_cast<int>(random() % kSteps),
                        .node = nodes[random() % nodes.size()]->name()};
    }
    const auto runs = [&](Feeding feeding) {
      parted.Cut(feeding);
      std::set<std::pair<int, std::string>> ran;
      for (const auto& node : parted.Run(kSteps, releases)) {
        if (ImplOf(parted.g).Find(node.second) != nullptr) ran.insert(node);
      }
      return ran;
    };
    const auto alone = runs(Feeding::kInParts), together = runs(Feeding::kAtOnce);
    EXPECT_EQ(together.size(), alone.size()) << "round " << round;
    joined += parted.Count("_JoinTensors");
    stuck += alone.size() < kSteps * nodes.size();
  }
  EXPECT_GT(joined, kRounds);
  EXPECT_GT(stuck, kRounds / 10);
  EXPECT_LT(stuck, kRounds - kRounds / 10);
}

}  // namespace
}  // namespace tensorbraid
