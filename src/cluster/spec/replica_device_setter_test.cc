#include "tensorbraid/cluster/replica_device_setter.h"

#include <gtest/gtest.h>

#include "tensorbraid/cluster/server.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {
namespace {

ClusterSpec TwoServers() { return ClusterSpec({{"ps", {"p0:1", "p1:1"}}, {"worker", {"w0:1"}}}); }

std::string DeviceOfNewVariable(Graph& g, const Shape& shape = {}) {
  return Variable(g, shape, Zeros()).handle().op().device();
}

std::string DeviceOfNewNode(Graph& g) { return NodeBuilder(g, "NoOp").Finish().device(); }

TEST(ReplicaDeviceSetter, VariablesGoToTheServersInTurnAndOtherNodesToTheWorker) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = TwoServers(), .worker_device = "/job:worker/task:7"}));
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0");
  EXPECT_EQ(DeviceOfNewNode(g), "/job:worker/task:7");
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:1");
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0");
}

TEST(ReplicaDeviceSetter, InitialiserAndReadsFollowTheirVariable) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = TwoServers()}));
  const Variable first(g, {}, Zeros());
  const Variable second(g, {}, Zeros());
  for (const Operation& op : {second.initializer(), second.value().op(), second.initial_value().op()}) {
    EXPECT_EQ(op.device(), "/job:ps/task:1") << op.name();
  }
}

TEST(ReplicaDeviceSetter, TheDeviceThatANodeRequestsIsMerged) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = TwoServers(), .worker_device = "/job:worker/task:0"}));
  {
    auto own = g.Device("/device:CPU:1");
    EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0/device:CPU:1");
    EXPECT_EQ(DeviceOfNewNode(g), "/job:worker/task:0/device:CPU:1");
  }
  {
    auto own = g.Device("/job:ps/task:0");
    EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0");  // advances the round robin past task 1
  }
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0");
}

TEST(ReplicaDeviceSetter, AVariableOfAnotherJobDoesNotAdvanceTheRoundRobin) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = TwoServers()}));
  {
    auto own = g.Device("/job:worker");
    EXPECT_EQ(DeviceOfNewVariable(g), "/job:worker");
  }
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:0");
}

TEST(ReplicaDeviceSetter, UsesTheIndicesThatTheClusterHas) {
  Graph g;
  const auto cluster = ClusterSpec::Sparse({{"ps", {{2, "p2:1"}, {5, "p5:1"}}}});
  auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster}));
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:2");
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:5");
}

TEST(ReplicaDeviceSetter, WithoutServersDoesNothing) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 0, .worker_device = "/job:worker/task:3"}));
  EXPECT_EQ(DeviceOfNewNode(g), "");
}

TEST(ReplicaDeviceSetter, AMalformedDeviceNameFailsTheGraph) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1, .worker_device = "worker"}));
  DeviceOfNewNode(g);
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
}

TEST(ReplicaDeviceSetter, TablesGoToTheServersToo) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 2}));
  const Operation table = NodeBuilder(g, "MutableHashTableOfTensorsV2")
                              .Attr("key_dtype", kInt64)
                              .Attr("value_dtype", kFloat32)
                              .Attr("value_shape", Shape({2}))
                              .Finish();
  EXPECT_EQ(table.device(), "/job:ps/task:0");
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:ps/task:1");
}

TEST(ReplicaDeviceSetter, WithoutADeviceOfServersEverythingIsOnTheWorker) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 2, .ps_device = ""}));
  EXPECT_EQ(DeviceOfNewVariable(g), "/job:worker");
}

TEST(ReplicaDeviceSetter, AServerThatDoesNotExistIsAnError) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 2, .strategy = [](const Operation&, int) { return 2; }}));
  const Variable w(g, {}, Zeros(), {.name = "w"});
  EXPECT_TRUE(absl::IsInvalidArgument(g.status()));
  EXPECT_NE(
      g.status().message().find("returned 2 for VarHandleOp 'w', but the parameter servers have the numbers 0 to 1"),
      absl::string_view::npos)
      << g.status();
}

TEST(ReplicaDeviceSetter, LeastBytesBalancesBySize) {
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 2, .strategy = LeastBytesStrategy(2)}));
  EXPECT_EQ(DeviceOfNewVariable(g, {100}), "/job:ps/task:0");
  EXPECT_EQ(DeviceOfNewVariable(g, {10}), "/job:ps/task:1");
  EXPECT_EQ(DeviceOfNewVariable(g, {10}), "/job:ps/task:1");
  EXPECT_EQ(DeviceOfNewVariable(g, {90}), "/job:ps/task:1");  // the servers now have 100 and 110 elements
  EXPECT_EQ(DeviceOfNewVariable(g, {1}), "/job:ps/task:0");
}

}  // namespace
}  // namespace tensorbraid
