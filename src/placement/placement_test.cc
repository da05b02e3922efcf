#include <gtest/gtest.h>

#include "graph/model/graph_impl.h"
#include "placement/placer.h"
#include "runtime/testing/fake_device.h"
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

const DeviceName kCpu = *DeviceName::Parse("/job:localhost/replica:0/task:0/device:CPU:0");
const DeviceName kGpu0 = *DeviceName::Parse("/job:localhost/replica:0/task:0/device:GPU:0");
const DeviceName kGpu1 = *DeviceName::Parse("/job:localhost/replica:0/task:0/device:GPU:1");

// A model whose programmer has thought of no device.
struct Model {
  Model() {
    x = Placeholder(g, kFloat32, {-1, 2}, "x");
    w = Variable(g, {2, 2}, RandomUniform(), {.name = "w"});
    step = Variable(g, {}, Constant(Tensor::Scalar<int64_t>(0)), {.name = "global_step", .dtype = kInt64});
    names = NodeBuilder(g, "AsString").Input(MatMul(x, w)).Finish().output(0);
    loss = ReduceSum(MatMul(x, w));
    rate = Cast(step.value(), kFloat32) * 0.5f;
    count = step.AssignAdd(Const(g, Tensor::Scalar<int64_t>(1)));
    train = w.AssignSub(Const(g, Tensor(kFloat32, {2, 2})) * rate);
    const Output sizes = Const(g, Tensor::Vector<int32_t>({3}));
    initial = Neg(NodeBuilder(g, "RandomUniform").Input(sizes).Attr("dtype", kFloat32).Output());
    const Output v = NodeBuilder(g, "VariableV2").Attr("shape", Shape({3})).Attr("dtype", kFloat32).Output();
    init = NodeBuilder(g, "Assign").Input(v).Input(initial).Finish();
    only_for_host = NodeBuilder(g, "AsString").Input(Neg(Abs(x))).Finish().output(0);
  }
  const std::string& DeviceOf(const Output& o) const { return o.op().device(); }
  Graph g;
  Output x, names, loss, rate, initial, only_for_host;
  Variable w, step;
  Operation count, train, init;
};

TEST(PlacerTest, WhatCanBeInAProgramPrefersTheFirstGpu) {
  Model m;
  ASSERT_TRUE(m.g.status().ok()) << m.g.status();
  ASSERT_TRUE(PlaceNodes(&m.g, {.devices = {kCpu, kGpu0, kGpu1}}).ok());
  EXPECT_EQ(m.DeviceOf(m.w.handle()), kGpu0.ToString());
  EXPECT_EQ(m.train.device(), kGpu0.ToString());
  EXPECT_EQ(m.DeviceOf(m.loss), kGpu0.ToString());
  EXPECT_EQ(m.DeviceOf(m.rate), kGpu0.ToString());
  // The step counts on the host, and what the host alone needs is there.
  EXPECT_EQ(m.DeviceOf(m.step.handle()), kCpu.ToString());
  EXPECT_EQ(m.count.device(), kCpu.ToString());
  EXPECT_EQ(m.DeviceOf(m.names), kCpu.ToString());
  EXPECT_EQ(m.DeviceOf(m.only_for_host.op().input(0)), kCpu.ToString());
  EXPECT_EQ(m.DeviceOf(m.only_for_host.op().input(0).op().input(0)), kCpu.ToString());
  EXPECT_EQ(m.DeviceOf(m.initial), kCpu.ToString());
  EXPECT_EQ(m.init.device(), kGpu0.ToString());
}

// kernels/pjrt/host_ops.cc has the reason.
TEST(PlacerTest, TheLogSaysWhyTheHostComputesAnOp) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1}, "x");
  NodeBuilder(g, "Where").Name("where").Input(x).Finish();
  ASSERT_TRUE(g.status().ok()) << g.status();
  testing::internal::CaptureStderr();
  const Status placed = PlaceNodes(&g, {.devices = {kCpu, kGpu0}, .log_placement = true});
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(placed.ok()) << placed;
  EXPECT_NE(log.find("where (Where): " + kCpu.ToString() +
                     ", since Where has no emitter: the shape of its output depends "
                     "on the elements of its inputs\n"),
            std::string::npos)
      << log;
}

// The place of a variable does not depend on what else a step runs.
TEST(PlacerTest, AVariableIsWhereverItsDtypeSays) {
  Graph g;
  const Variable w(g, {2}, Zeros(), {.name = "w"});
  const Variable ids(g, {2}, Constant(Tensor::Vector<int64_t>({1, 2})), {.name = "ids", .dtype = kInt64});
  ASSERT_TRUE(g.status().ok()) << g.status();
  ASSERT_TRUE(PlaceNodes(&g, {.devices = {kCpu, kGpu0}}).ok());
  EXPECT_EQ(w.handle().op().device(), kGpu0.ToString());
  EXPECT_EQ(ids.handle().op().device(), kCpu.ToString());
}

TEST(PlacerTest, AGpuIsNotPreferredIfItCannotBeUsedOrAnotherDeviceIsRequested) {
  {
    Graph g;
    const Output x = Placeholder(g, kFloat32, {2}, "x");
    auto device = g.Device("/cpu:0");
    const Output on_cpu = Neg(x);
    ASSERT_TRUE(PlaceNodes(&g, {.devices = {kCpu, kGpu0}}).ok());
    EXPECT_EQ(on_cpu.op().device(), kCpu.ToString());
  }
  for (const bool usable : {true, false}) {
    Graph g;
    const Output x = Placeholder(g, kFloat32, {2}, "x"), free = Exp(Neg(x));
    int asked = 0;
    const auto can_be_used = [&](const DeviceName&) { return ++asked, usable; };
    ASSERT_TRUE(PlaceNodes(&g, {.devices = {kCpu, kGpu0}, .can_be_used = can_be_used}).ok());
    EXPECT_EQ(free.op().device(), (usable ? kGpu0 : kCpu).ToString());
    EXPECT_EQ(asked, 1);
  }
}

TEST(PlacerTest, AGpuOfAnotherTaskOrAnotherTypeIsNotPreferred) {
  const DeviceName gpu_of_ps = *DeviceName::Parse("/job:ps/replica:0/task:0/device:GPU:0");
  const DeviceName xla = *DeviceName::Parse("/job:localhost/replica:0/task:0/device:XLA_CPU:0");
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}, "x"), free = Neg(x);
  ASSERT_TRUE(PlaceNodes(&g, {.devices = {kCpu, xla, gpu_of_ps}}).ok());
  EXPECT_EQ(free.op().device(), kCpu.ToString());
}

}  // namespace
}  // namespace tensorbraid
