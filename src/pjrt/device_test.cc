#include "pjrt/device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "core/memory/shared_memory.h"
#include "core/values/new_tensor.h"
#include "pjrt/accelerator.h"
#include "pjrt/device_buffer.h"
#include "pjrt/program.h"
#include "pjrt/testing/fake_plugin.h"
#include "pjrt/testing/test_plugins.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/testing/device_conformance.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Status WaitUntilIdle(Device& device) {
  std::promise<Status> idle;
  device.WhenIdle([&](const Status& status) { idle.set_value(status); });
  return idle.get_future().get();
}

class PjrtDeviceTest : public testing::TestWithParam<std::string> {
 protected:
  Accelerator accelerator_{"XLA_CPU", [] { return StatusOr<std::string>(GetParam()); }};
};
INSTANTIATE_TEST_SUITE_P(All, PjrtDeviceTest, testing::ValuesIn(TestPlugins()), PluginName);

TEST_P(PjrtDeviceTest, DoesWhatDevicesPromise) {
  PjrtDevice first(0, accelerator_), second(1, accelerator_);
  EXPECT_EQ(second.name(), "/device:XLA_CPU:1");
  EXPECT_EQ(accelerator_.client_if_made(), nullptr);  // nothing is loaded before it is needed
  EXPECT_EQ(second.memory_limit(), 0);
  TestConformance(second);
  ASSERT_NE(accelerator_.client_if_made(), nullptr);
  EXPECT_EQ(accelerator_.client_if_made()->num_devices(), 2);
  TestConformance(first);
}

TEST_P(PjrtDeviceTest, FollowsTheRunsOfPrograms) {
  PjrtDevice device(0, accelerator_);
  Client& client = *device.client().value();
  const auto program = client.Compile(kUpdate, UpdateOptions()).value();
  const Tensor one = CopyToDevice(device, Tensor::Of<float>({4}, {1, 1, 1, 1})).value();
  Tensor value = CopyToDevice(device, Tensor::Of<float>({4}, {5, 6, 7, 8})).value();
  for (int i = 0; i < 5; ++i) {
    const std::vector<const Tensor*> arguments = {&value, &one};
    auto results = program->Run(arguments, {}, device.index());
    ASSERT_TRUE(results.ok()) << results.status();
    device.Follow(std::move(results->done));
    value = NewTensor(kFloat32, {4}, device.allocator()).value();
    DeviceBuffer::Of(value).value()->Set(std::move(results->outputs[0]));
    EXPECT_TRUE(DeviceBuffer::Of(value).value()->IsSole());
    if (i == 3) device.Stop();  // the last run is waited for
  }
  EXPECT_TRUE(WaitUntilIdle(device).ok());
  EXPECT_THAT(Floats(CopyToHost(device, value)), ElementsAre(0, 1, 2, 3));
}

// A copy within the device shares the elements, so a program does not consume them.
TEST_P(PjrtDeviceTest, KeepsWhatACopyShares) {
  PjrtDevice device(0, accelerator_);
  const auto program = device.client().value()->Compile(kUpdate, UpdateOptions()).value();
  const Tensor value = CopyToDevice(device, Tensor::Of<float>({4}, {5, 6, 7, 8})).value();
  const Tensor copy = NewTensor(kFloat32, {4}, device.allocator()).value();
  device.CopyInStream(value, copy);
  const std::vector<const Tensor*> both = {&value, &copy};
  ASSERT_TRUE(program->Run(both, {}, 0).ok());
  EXPECT_THAT(Floats(CopyToHost(device, copy)), ElementsAre(5, 6, 7, 8));
}

TEST_P(PjrtDeviceTest, SaysThatADeviceIsMissing) {
  PjrtDevice device(0, accelerator_);
  ASSERT_TRUE(device.client().ok());
  PjrtDevice late(3, accelerator_);  // after the plugin has made its devices
  const Status status = CopyToDevice(late, Tensor::Scalar(1.0f)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("there is no /device:XLA_CPU:3"), ContainsRegex("has [12] device")));
}

// Calls of the plugin that fail within the functions of a device.
class FailingDeviceTest : public testing::Test {
 protected:
  FailingDeviceTest() : client_(*device_.client().value()) {
    void* const library = dlopen(TB_FAKE_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
    control_ = reinterpret_cast<GetFakePluginControlFunction>(dlsym(library, "GetFakePluginControl"))();
  }
  ~FailingDeviceTest() override { control_->fail_at = -1; }

  Accelerator accelerator_{"XLA_CPU", [] { return StatusOr<std::string>(TB_FAKE_PLUGIN); }};
  PjrtDevice device_{0, accelerator_};
  Client& client_;
  FakePluginControl* control_;
};

TEST_F(FailingDeviceTest, CopiesBringTheirErrors) {
  const Tensor numbers = Tensor::Of<float>({4}, {1, 2, 3, 4});
  const auto work = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(const Tensor on_device, CopyToDevice(device_, numbers));
    return CopyToHost(device_, on_device).status();
  };
  control_->wait_for_work();
  int calls = -control_->calls;
  ASSERT_TRUE(work().ok());
  control_->wait_for_work();
  calls += control_->calls;
  int failures = 0;
  for (int call = 0; call < calls; ++call) {
    control_->failed = nullptr;
    control_->fail_at = control_->calls + call;
    const Status status = work();
    control_->wait_for_work();
    control_->fail_at = -1;
    ASSERT_NE(control_->failed, nullptr);
    const std::string name = control_->failed.load();
    if (name.ends_with("_Destroy")) continue;
    ++failures;
    EXPECT_THAT(status.message(), HasSubstr("made to fail: " + name));
    EXPECT_TRUE(WaitUntilIdle(device_).ok());  // the error has been returned already
  }
  EXPECT_GE(failures, 6);
}

// A plugin copies to memory that it has pinned without a detour.
TEST_F(FailingDeviceTest, SharedMemoryIsPinnedAsLongAsItExists) {
  const auto copy = [&] {
    const Tensor on_device = CopyToDevice(device_, Tensor(kFloat32, {int64_t{1} << 20})).value();
    Tensor shared = NewTensor(kFloat32, on_device.shape(), SharedAllocator()).value();
    std::promise<Status> copied;
    device_.Copy(on_device, shared, [&](const Status& status) { copied.set_value(status); });
    EXPECT_TRUE(copied.get_future().get().ok());
    return shared;
  };
  int64_t size = 0;
  {
    const Tensor first = copy(), second = copy();
    size = static_cast<int64_t>(SharedPlaceOf(*first.buffer(), first.raw_data()).segment->size());
    EXPECT_EQ(control_->bytes_pinned, 2 * size);
  }
  const Tensor again = copy();
  EXPECT_EQ(control_->bytes_pinned, 2 * size) << "memory that is used again stays pinned";
  // A limit that is reached gives the cached memory back to the system.
  SetAllocatorLimit(GetAllocatorStats().bytes_in_use + (int64_t{1} << 20));
  EXPECT_FALSE(SharedAllocator().Allocate(size_t{64} << 20));
  SetAllocatorLimit(int64_t{1} << 40);
  EXPECT_EQ(control_->bytes_pinned, size);
  control_->fail_next = "Client_DmaMap";
  EXPECT_TRUE(copy().is_valid()) << "a copy to memory that is not pinned is only slower";
  EXPECT_EQ(control_->fail_next, nullptr);
  EXPECT_EQ(control_->bytes_pinned, size);
}

TEST_F(FailingDeviceTest, AnErrorOfARunIsThatOfTheNextWait) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor numbers = CopyToDevice(device_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const std::vector<const Tensor*> arguments = {&numbers, &numbers};
  control_->fail_at = control_->calls + 1;  // the work, not the call
  auto results = program->Run(arguments, {}, 0);
  ASSERT_TRUE(results.ok()) << results.status();
  device_.Follow(std::move(results->done));
  EXPECT_THAT(WaitUntilIdle(device_).message(), HasSubstr("made to fail: work of LoadedExecutable_Execute"));
  EXPECT_TRUE(WaitUntilIdle(device_).ok());
}

// Each with its own error.
TEST_F(FailingDeviceTest, AStepWaitsForItsOwnWork) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor numbers = CopyToDevice(device_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const std::vector<const Tensor*> arguments = {&numbers, &numbers};
  const CancellationManager one, other, idle;
  const auto wait_for = [&](const CancellationManager& step) {
    auto done = std::make_shared<std::promise<Status>>();
    device_.WhenStepIsDone(&step, [done](const Status& status) { done->set_value(status); });
    return done->get_future();
  };
  const auto has_ended = [](const std::future<Status>& done) {
    return done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  control_->hold_work(true);
  control_->fail_at = control_->calls + 1;  // the work, not the call
  device_.Follow(std::move(program->Run(arguments, {}, 0).value().done), {.step = &one});
  device_.Follow(std::move(program->Run(arguments, {}, 0).value().done), {.step = &other});
  auto one_done = wait_for(one), other_done = wait_for(other), idle_done = wait_for(idle);
  EXPECT_TRUE(has_ended(idle_done));
  EXPECT_FALSE(has_ended(one_done));
  EXPECT_FALSE(has_ended(other_done));
  control_->hold_work(false);
  EXPECT_THAT(one_done.get().message(), HasSubstr("made to fail: work of LoadedExecutable_Execute"));
  EXPECT_TRUE(other_done.get().ok());
  EXPECT_TRUE(idle_done.get().ok());
  EXPECT_TRUE(WaitUntilIdle(device_).ok());
  EXPECT_TRUE(wait_for(one).get().ok()) << "an error is passed once";
}

TEST_F(FailingDeviceTest, WaitsOnlyForEarlierWork) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor numbers = CopyToDevice(device_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const std::vector<const Tensor*> arguments = {&numbers, &numbers};
  control_->hold_work(true);
  device_.Follow(std::move(program->Run(arguments, {}, 0).value().done));
  std::promise<Status> idle;
  device_.WhenIdle([&](const Status& status) { idle.set_value(status); });
  auto is_idle = idle.get_future();
  EXPECT_EQ(is_idle.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  control_->hold_work(false);
  EXPECT_TRUE(is_idle.get().ok());
}

}  // namespace
}  // namespace tensorbraid::pjrt
