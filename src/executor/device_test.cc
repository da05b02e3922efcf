// Tests steps on a FakeDevice: the host cannot access its memory, and its kernels only enqueue work, which runs later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "core/values/new_tensor.h"
#include "executor/evaluate.h"
#include "executor/executor.h"
#include "graph/model/graph_impl.h"
#include "graph/model/subgraph.h"
#include "runtime/testing/device_conformance.h"
#include "runtime/testing/fake_device.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

const char* const kCpu = "/job:localhost/replica:0/task:0/device:CPU:0";
const char* const kFake = "/job:localhost/replica:0/task:0/device:FAKE:0";
const char* const kFake1 = "/job:localhost/replica:0/task:0/device:FAKE:1";

class DeviceTest : public ::testing::Test {
 protected:
  struct Result {
    Status status;
    std::vector<Tensor> values;
  };

  // A plan of the part of the graph that the fetches and targets need. Nodes without a device are on the CPU.
  StatusOr<std::shared_ptr<const Plan>> PlanFor(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                                const std::vector<Operation>& targets = {}) {
    TF_RETURN_IF_ERROR(g_.status());
    TF_ASSIGN_OR_RETURN(auto part, ExtractSubgraph(g_, feeds, fetches, targets));
    for (const auto& node : ImplOf(*part).nodes()) {
      if (node->device().empty()) node->set_device(kCpu);
    }
    return Plan::Create(std::move(part), &resources_, &kernels_, devices_.get());
  }
  std::future<Result> Start(const std::shared_ptr<const Plan>& plan, std::vector<Tensor> args = {}) {
    auto promise = std::make_shared<std::promise<Result>>();
    auto executor = std::make_shared<Executor>(plan, &pool_, &resources_);
    executor->Run(std::move(args), nullptr, nullptr, [promise](const Status& status, std::vector<Tensor> values) {
      promise->set_value({status, std::move(values)});
    });
    return promise->get_future();
  }
  Result Run(const std::vector<Output>& fetches, const std::vector<Operation>& targets = {}) {
    auto plan = PlanFor({}, fetches, targets);
    if (!plan.ok()) return {plan.status(), {}};
    return Start(*plan).get();
  }
  FakeDevice& fake(int id = 0) {
    return static_cast<FakeDevice&>(*devices_->Find(*DeviceName::Parse(id == 0 ? kFake : kFake1)));
  }
  static int Copies(const Plan& plan) {
    const auto& nodes = ImplOf(plan.graph()).nodes();
    return static_cast<int>(
        std::count_if(nodes.begin(), nodes.end(), [](const auto& n) { return n->type() == "_Copy"; }));
  }

  Graph g_;
  std::unique_ptr<DeviceSet> devices_ = DeviceSet::Create({{"FAKE", 2}}).value();
  ResourceManager resources_;
  KernelCache kernels_;
  ThreadPool pool_{"test", 2};
};

// Stops the stream of a device until the gate is opened.
class Gate {
 public:
  explicit Gate(FakeDevice& device) {
    device.Enqueue([opened = opened_.get_future().share()] { opened.wait(); });
  }
  void Open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

TEST_F(DeviceTest, TheHostCannotAccessTheMemoryOfADevice) {
  const Tensor t = NewTensor(kFloat32, {4}, fake().allocator()).value();
  EXPECT_EQ(t.buffer()->space(), MemorySpace::kDevice);
  EXPECT_EQ(t.buffer()->allocator(), &fake().allocator());
  EXPECT_EQ(t.ToString(), "float32[4] <in device memory>");
  EXPECT_DEATH(*static_cast<volatile float*>(const_cast<void*>(t.raw_data())), "");
}

TEST_F(DeviceTest, DoesWhatDevicesPromise) { TestConformance(fake(1)); }

TEST_F(DeviceTest, AGraphOnTheFakeDeviceHasTheValuesOfTheCpu) {
  const auto build = [this](const char* device) {
    const Output x = Const(g_, Tensor::Of<float>({2, 2}, {1, -2, 3, 4}));
    Output y;
    {
      auto on = g_.Device(device);
      y = nn::Relu(MatMul(x, x) - 5.0f);
    }
    return ReduceSum(y * y, {0});
  };
  const Output on_cpu = build(kCpu), on_fake = build(kFake);
  const Result result = Run({on_cpu, on_fake});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.values[0].ToString(), "float32[2] [100 25]");
  EXPECT_EQ(result.values[1].ToString(), result.values[0].ToString());
}

TEST_F(DeviceTest, ATensorIsCopiedToEachMemoryOnceAndShapesStayOnTheHost) {
  const Output x = Placeholder(g_, kFloat32, {2, 3}, "x");
  Output sum, flat, other;
  {
    auto on = g_.Device(kFake);
    sum = x + x * x;
    flat = Reshape(sum, {6});
  }
  {
    auto on = g_.Device(kFake1);
    other = -sum;
  }
  const auto plan = PlanFor({x}, {flat, sum, other});
  ASSERT_TRUE(plan.ok()) << plan.status();
  // The five copies: x from the host to FAKE:0; the sum and the flat sum from FAKE:0 to the host; the sum from the host
  // to FAKE:1; `other` from FAKE:1 to the host.
  EXPECT_EQ(Copies(**plan), 5);
  const Result result = Start(*plan, {Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}).get();
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.values[0].ToString(), "float32[6] [2 6 12 20 30 42]");
  EXPECT_EQ(result.values[1].ToString(), "float32[2,3] [[2 6 12][20 30 42]]");
  EXPECT_EQ(result.values[2].ToString(), "float32[2,3] [[-2 -6 -12][-20 -30 -42]]");
  for (const Tensor& t : result.values) EXPECT_EQ(t.buffer()->space(), MemorySpace::kHost);
}

TEST_F(DeviceTest, AStepWithoutOtherDevicesHasNoCopies) {
  const Output x = Placeholder(g_, kFloat32, {2}, "x");
  const auto plan = PlanFor({x}, {x + x});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(Copies(**plan), 0);
  EXPECT_TRUE((*plan)->streams().empty());
}

TEST_F(DeviceTest, AStepEndsWhenTheStreamHasDoneItsWork) {
  Variable v;
  Operation add;
  {
    auto on = g_.Device(kFake);
    v = Variable(g_, {2}, Ones(), {.name = "v"});
    add = v.AssignAdd(Tensor::Vector<float>({1, 2}));
  }
  ASSERT_TRUE(Run({}, {v.initializer()}).status.ok());
  const auto plan = PlanFor({}, {}, {add});
  ASSERT_TRUE(plan.ok()) << plan.status();
  Gate gate(fake());
  auto ended = Start(*plan);  // its kernels only enqueue work, which waits until the gate is opened
  EXPECT_EQ(ended.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  gate.Open();
  const Result result = ended.get();
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(Run({v.value()}).values.at(0).ToString(), "float32[2] [2 3]");
}

TEST_F(DeviceTest, AnErrorOfEnqueuedWorkFailsTheStep) {
  Output y;
  {
    auto on = g_.Device(kFake);
    y = -Operand(1.0f).ToOutput(g_);
  }
  const auto plan = PlanFor({}, {y});
  ASSERT_TRUE(plan.ok()) << plan.status();
  fake().Enqueue([this] { fake().Fail(Internal("the device has overheated")); });
  EXPECT_THAT(std::string(Start(*plan).get().status.message()), HasSubstr("overheated"));
  EXPECT_TRUE(Start(*plan).get().status.ok());  // the next step
}

TEST_F(DeviceTest, AFreedBufferIsUsedAgainOnlyAfterTheWorkThatWasEnqueuedBefore) {
  Allocator& allocator = fake().allocator();
  const Tensor from = Tensor::Of<float>({3}, {1, 2, 3});
  Tensor a = NewTensor(kFloat32, {3}, allocator).value();
  const Tensor b = NewTensor(kFloat32, {3}, allocator).value();
  Tensor back = Tensor::Create(kFloat32, {3}).value();
  std::promise<void> copied;
  Gate gate(fake());
  fake().Copy(from, a, [](const Status&) {});
  fake().CopyInStream(a, b);
  const void* const address = a.raw_data();
  a = Tensor();  // the copy from it has not run yet
  const Tensor c = NewTensor(kFloat32, {3}, allocator).value();
  EXPECT_NE(c.raw_data(), address);
  fake().Copy(b, back, [&copied](const Status&) { copied.set_value(); });
  gate.Open();
  copied.get_future().wait();
  EXPECT_EQ(back.ToString(), "float32[3] [1 2 3]");
}

TEST_F(DeviceTest, TheMemoryOfAStepReturnsToTheDevice) {
  Output y;
  {
    auto on = g_.Device(kFake);
    y = -(Operand(1.0f).ToOutput(g_) * 2.0f);
  }
  ASSERT_TRUE(Run({y}).status.ok());
  EXPECT_EQ(fake().allocator().stats().bytes_in_use, 0);
}

// A host buffer that must not be written, as if another task could read it, too (shared memory).
class ReadOnlyBuffer final : public Buffer {
 public:
  explicit ReadOnlyBuffer(std::vector<float>* values)
      : Buffer(values->data(), values->size() * sizeof(float),
               {.allocator = &HostAllocator(), .space = MemorySpace::kHost, .writable = false}) {}
};

TEST_F(DeviceTest, AReadOnlyInputIsNotOverwrittenThoughNothingElseRefersToIt) {
  const Output x = Placeholder(g_, kFloat32, {2}, "x");
  const auto plan = PlanFor({x}, {-x});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<float> values = {1, 2};
  std::vector<Tensor> args;
  args.push_back(Tensor::FromBuffer(MakeRef<ReadOnlyBuffer>(&values), 0, kFloat32, {2}).value());
  EXPECT_FALSE(args[0].IsWritable());
  const Result result = Start(*plan, std::move(args)).get();
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.values[0].ToString(), "float32[2] [-1 -2]");
  EXPECT_THAT(values, ::testing::ElementsAre(1, 2));
}

TEST_F(DeviceTest, AVariableIsUpdatedOnItsDeviceWhileItsOldValueIsRead) {
  Variable v;
  Output read;
  Operation add;
  {
    auto on = g_.Device(kFake);
    v = Variable(g_, {2}, Ones(), {.name = "v"});
    read = -v.value();
    auto after = g_.ControlDependencies({read.op()});
    add = v.AssignSub(Tensor::Vector<float>({1, 2}));
  }
  ASSERT_TRUE(Run({}, {v.initializer()}).status.ok());
  const auto plan = PlanFor({}, {read}, {add});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const char* expected : {"float32[2] [-1 -1]", "float32[2] [0 1]", "float32[2] [1 3]"}) {
    const Result result = Start(*plan).get();
    ASSERT_TRUE(result.status.ok()) << result.status;
    std::string text = result.values[0].ToString();
    // The negation of 0 is -0.
    if (const size_t minus = text.find("-0"); minus != std::string::npos) text.erase(minus, 1);
    EXPECT_EQ(text, expected);
  }
}

TEST_F(DeviceTest, ADeviceThatDoesNotExistIsAnErrorThatNamesTheNode) {
  Output y;
  {
    auto on = g_.Device("/job:localhost/replica:0/task:0/device:FAKE:7");
    y = -Operand(1.0f).ToOutput(g_);
  }
  const Status status = Run({y}).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("FAKE:7"));
}

TEST(DeviceSetTest, ListsTheTypesThatExist) {
  const auto devices = DeviceSet::Create({{"CPU", 2}, {"FAKE", 1}});
  ASSERT_TRUE(devices.ok()) << devices.status();
  std::vector<std::string> names;
  for (const auto& device : (*devices)->devices()) names.push_back(device->name());
  EXPECT_THAT(names, ::testing::ElementsAre("/device:CPU:0", "/device:CPU:1", "/device:FAKE:0"));
  const Status none = DeviceSet::Create({{"TPU", 1}}).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(none.message()), HasSubstr("no devices of type 'TPU', only 'CPU', 'GPU', 'XLA_CPU', 'FAKE'"));
}

}  // namespace
}  // namespace tensorbraid
