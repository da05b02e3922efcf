#include "partition/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "core/text/strings.h"
#include "core/values/repeated_tensor.h"
#include "graph/model/node.h"
#include "graph/model/wire_attrs.h"
#include "placement/placer.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

const DeviceName kWorker = *DeviceName::Parse("/job:worker/replica:0/task:0/device:CPU:0");
const DeviceName kPs0 = *DeviceName::Parse("/job:ps/replica:0/task:0/device:CPU:0");
const DeviceName kPs1 = *DeviceName::Parse("/job:ps/replica:0/task:1/device:CPU:0");

PlacerOptions Cluster() { return {.devices = {kWorker, kPs0, kPs1}}; }

TEST(PartitionTest, ATensorIsSentToATaskOnce) {
  Graph g;
  Output x, y, z;
  {
    auto device = g.Device("/job:ps/task:0");
    x = Operand(1.0f).ToOutput(g);
  }
  {
    auto device = g.Device("/job:worker/task:0");
    y = Neg(x);
    z = Exp(x);
    auto after = g.ControlDependencies({x.op()});
    NoOp(g, "after");
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
  auto parts = PartitionByTask(g);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 2u);
  const auto count = [&](const char* task, const char* type) {
    int n = 0;
    for (const Operation& op : parts->at(task)->operations()) n += op.type() == type;
    return n;
  };
  EXPECT_EQ(count("/job:ps/replica:0/task:0", "_Send"), 2);  // the tensor, and the control edge
  EXPECT_EQ(count("/job:worker/replica:0/task:0", "_Recv"), 2);
}

TEST(PartitionTest, ALargeConstantThatRepeatsOneValueIsMadeWhereItIsUsed) {
  const float value = 2;
  for (const int64_t size : {10, 10 << 20}) {
    Graph g;
    const auto repeated = RepeatedTensor(kFloat32, {size}, &value);
    ASSERT_TRUE(repeated.ok());
    Output c;
    {
      auto device = g.Device("/job:worker/task:0");
      c = Const(g, *repeated);
    }
    {
      auto device = g.Device("/job:ps/task:0");
      Neg(c);
      Exp(c);
    }
    ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
    const auto parts = PartitionByTask(g);
    ASSERT_TRUE(parts.ok()) << parts.status();
    int received = 0, constants = 0;
    for (const Operation& op : parts->at("/job:ps/replica:0/task:0")->operations()) {
      received += op.type() == "_Recv";
      constants += op.type() == "Const";
      if (op.type() == "Const") {
        EXPECT_EQ(op.device(), "/job:ps/replica:0/task:0/device:CPU:0");
      }
    }
    const bool is_large = size > 10;
    EXPECT_EQ(received, is_large ? 0 : 1);
    EXPECT_EQ(constants, is_large ? 1 : 0);
  }
}

// A variable on ps/0 with 1000 elements that a worker reads and updates.
struct WireGraph {
  explicit WireGraph(WireTypes types) {
    {
      auto device = g.Device("/job:ps/task:0");
      v = Variable(g, {1000}, Zeros(), {.name = "v"});
      SetWireTypes(NodeOf(v.handle()), types);
      local = Neg(v);
    }
    auto device = g.Device("/job:worker/task:0");
    read = Neg(v);
    update = v.AssignSub(read);
  }
  // The number of nodes of this type in the part of a task.
  int Count(const char* task, const char* type, const JobWireTypes& jobs = {}) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    EXPECT_TRUE(PlaceNodes(&g, Cluster()).ok());
    const auto parts = PartitionByTask(g, jobs);
    EXPECT_TRUE(parts.ok()) << parts.status();
    int n = 0;
    for (const Operation& op : parts->at(StrCat("/job:", task, "/replica:0/task:0"))->operations()) {
      n += op.type() == type;
    }
    return n;
  }
  Graph g;
  Variable v;
  Output local, read;
  Operation update;
};

TEST(WireEdgesTest, OnlyMarkedEdgesBetweenTasksAreEncoded) {
  struct Case {
    WireTypes types;
    int values, gradients;  // how many edges are encoded
  };
  // A single type is also used for values only if it loses little: kBFloat16 is, kInt8 is not (see WireTypes).
  for (const Case& c :
       {Case{{}, 0, 0}, Case{Wire::kFloat32, 0, 0}, Case{Wire::kBFloat16, 1, 1}, Case{Wire::kInt8, 0, 1},
        Case{{Wire::kInt8, Wire::kFloat32}, 1, 0}, Case{{Wire::kFloat16, Wire::kTopK}, 1, 1}}) {
    WireGraph graph(c.types);
    EXPECT_EQ(graph.Count("ps", "_WireEncode"), c.values);
    EXPECT_EQ(graph.Count("worker", "_WireDecode"), c.values);
    EXPECT_EQ(graph.Count("worker", "_WireEncode"), c.gradients);
    EXPECT_EQ(graph.Count("ps", "_WireDecode"), c.gradients);
    EXPECT_EQ(graph.Count("ps", "_Send"), 1);
    EXPECT_EQ(graph.Count("ps", "_Recv"), 1);
  }
}

TEST(WireEdgesTest, TheTypesOfAJobApplyToItsVariablesWithoutTypesOfTheirOwn) {
  const JobWireTypes jobs = {{"ps", Wire::kBFloat16}};
  EXPECT_EQ(WireGraph({}).Count("worker", "_WireEncode", jobs), 1);
  EXPECT_EQ(WireGraph(Wire::kFloat32).Count("worker", "_WireEncode", jobs), 0);
  EXPECT_EQ(WireGraph({}).Count("worker", "_WireEncode", {{"worker", Wire::kBFloat16}}), 0);
}

TEST(WireEdgesTest, FetchedValuesStayExact) {
  WireGraph graph(Wire::kBFloat16);
  {
    auto device = graph.g.Device("/job:worker/task:0");
    NodeBuilder(graph.g, "_Retval").Input(graph.v.value()).Attr("index", 0).Finish();
  }
  // The worker receives the value twice: as bfloat16 for Neg, and exactly.
  EXPECT_EQ(graph.Count("worker", "_Recv"), 2);
  EXPECT_EQ(graph.Count("worker", "_WireDecode"), 1);
}

TEST(WireEdgesTest, GradientsAreFoundBehindSumsInTheVariablesTask) {
  Graph g;
  Variable v;
  Operation update;
  {
    auto device = g.Device("/job:ps/task:0");
    v = Variable(g, {1000}, Zeros(), {.name = "v"});
    SetWireTypes(NodeOf(v.handle()), Wire::kInt8);
  }
  Output a, b, rate;
  {
    auto device = g.Device("/job:worker/task:0");
    a = Placeholder(g, kFloat32, {1000}, "a");
    b = Placeholder(g, kFloat32, {1000}, "b");
    rate = Placeholder(g, kFloat32, {}, "rate");
  }
  {
    auto device = g.Device("/job:ps/task:0");
    v.AssignSub((a + b) * rate);
  }
  ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
  const auto parts = PartitionByTask(g);
  ASSERT_TRUE(parts.ok()) << parts.status();
  std::set<std::string> residuals;
  for (const Operation& op : parts->at("/job:worker/replica:0/task:0")->operations()) {
    if (op.type() == "_WireEncode") residuals.insert(NodeOf(op)->attr<std::string>("residual"));
  }
  EXPECT_EQ(residuals.size(), 2u);  // one for a and one for b, but none for the rate
  EXPECT_FALSE(residuals.contains(""));
}

TEST(WireEdgesTest, ATypeThatValuesCannotHaveIsRefusedAndNamed) {
  WireGraph graph({Wire::kTopK, Wire::kTopK});
  ASSERT_TRUE(PlaceNodes(&graph.g, Cluster()).ok());
  const Status s = PartitionByTask(graph.g).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("'topk'"), absl::string_view::npos) << s;
}

}  // namespace
}  // namespace tensorbraid
