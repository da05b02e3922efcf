#include <gtest/gtest.h>

#include "placement/placer.h"
#include "runtime/testing/fake_device.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

const DeviceName kWorker = *DeviceName::Parse("/job:worker/replica:0/task:0/device:CPU:0");
const DeviceName kPs0 = *DeviceName::Parse("/job:ps/replica:0/task:0/device:CPU:0");
const DeviceName kPs1 = *DeviceName::Parse("/job:ps/replica:0/task:1/device:CPU:0");

PlacerOptions Cluster() { return {.devices = {kWorker, kPs0, kPs1}}; }

TEST(DeviceNameTest, ValidNamesAreParsedAndOthersRefused) {
  EXPECT_EQ(DeviceName::Parse("/job:ps/task:1/cpu:0")->ToString(), "/job:ps/task:1/device:CPU:0");
  EXPECT_EQ(DeviceName::Parse("/device:CPU:*")->ToString(), "/device:CPU:*");
  for (const char* bad : {"job:ps", "/job:", "/task:x", "/device:CPU:-1", "/nonsense"}) {
    EXPECT_EQ(DeviceName::Parse(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(ShortTaskName("/job:ps/replica:0/task:1"), "ps/1");
}

TEST(PlacerTest, UnconstrainedNodesGoToTheFirstDeviceAndUsersGoToTheirVariable) {
  Graph g;
  auto c = Operand(1.0f).ToOutput(g);
  Variable v;
  {
    auto device = g.Device("/job:ps/task:1");
    v = Variable(g, {}, Zeros(), {.name = "v"});
  }
  const Operation add = v.AssignAdd(c);
  ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
  EXPECT_EQ(c.op().device(), kWorker.ToString());
  EXPECT_EQ(v.handle().op().device(), kPs1.ToString());
  EXPECT_EQ(add.device(), kPs1.ToString());  // a variable is updated on its device
}

TEST(PlacerTest, ANodeGoesToADeviceOfATypeThatHasItsKernel) {
  const DeviceName fake = *DeviceName::Parse("/job:worker/replica:0/task:0/device:FAKE:0");
  const PlacerOptions devices{.devices = {kWorker, fake}, .allow_soft_placement = true};
  Graph g;
  Variable v;
  Output product, logarithm, free;
  {
    auto device = g.Device("/device:FAKE:0");
    v = Variable(g, {2, 2}, Ones(), {.name = "v"});
    product = MatMul(v, v);
    logarithm = Log(product);
  }
  free = product + logarithm;
  const Operation add = v.AssignAdd(free);
  ASSERT_TRUE(g.status().ok()) << g.status();
  ASSERT_TRUE(PlaceNodes(&g, devices).ok());
  EXPECT_EQ(v.handle().op().device(), fake.ToString());
  EXPECT_EQ(add.device(), fake.ToString());
  EXPECT_EQ(product.op().device(), fake.ToString());
  EXPECT_EQ(logarithm.op().device(), kWorker.ToString());  // FAKE has no such kernel
  EXPECT_EQ(free.op().device(), kWorker.ToString());
}

TEST(PlacerTest, UsersGoToTheirVariableWhateverTheyRequest) {
  Graph g;
  Variable placed, open;
  {
    auto device = g.Device("/job:ps/task:1");
    placed = Variable(g, {}, Zeros(), {.name = "placed"});
  }
  open = Variable(g, {}, Zeros(), {.name = "open"});
  Operation add, first, second;
  {
    auto device = g.Device("/job:ps/task:0");
    add = NodeBuilder(g, "AssignAddVariableOp").Input(placed.handle()).Input(Operand(1.0f).ToOutput(g)).Finish();
    first = NodeBuilder(g, "AssignAddVariableOp").Input(open.handle()).Input(Operand(1.0f).ToOutput(g)).Finish();
  }
  {
    auto device = g.Device("/job:worker/task:0");
    second = NodeBuilder(g, "AssignAddVariableOp").Input(open.handle()).Input(Operand(1.0f).ToOutput(g)).Finish();
  }
  ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
  EXPECT_EQ(add.device(), kPs1.ToString());
  EXPECT_EQ(open.handle().op().device(), kPs0.ToString());  // requests no device itself, so gets that of its first user
  EXPECT_EQ(second.device(), first.device());
}

TEST(PlacerTest, APartialNameSelectsTheFirstMatchingDevice) {
  Graph g;
  auto device = g.Device("/job:ps");
  const Operation op = NoOp(g);
  ASSERT_TRUE(PlaceNodes(&g, Cluster()).ok());
  EXPECT_EQ(op.device(), kPs0.ToString());
}

TEST(PlacerTest, ConflictingRequestsNameBothNodes) {
  Graph g;
  Operation a, b;
  {
    auto device = g.Device("/job:ps/task:0");
    a = NoOp(g, "a");
  }
  b = NodeBuilder(g, "NoOp")
          .Name("b")
          .Attr("_class", std::vector<std::string>{"loc:@a"})
          .Device("/job:ps/task:1")
          .Finish();
  const Status s = PlaceNodes(&g, Cluster());
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("'a'"), absl::string_view::npos) << s;
  EXPECT_NE(s.message().find("'b'"), absl::string_view::npos) << s;
}

}  // namespace
}  // namespace tensorbraid
