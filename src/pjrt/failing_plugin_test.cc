// A plugin that fails at any call: each call of ours then returns a Status, and nothing of the plugin's is left.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/program.h"
#include "pjrt/testing/failing_calls.h"
#include "pjrt/testing/fake_plugin.h"
#include "pjrt/testing/test_plugins.h"
#include "pjrt/topology.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::HasSubstr;

class FailingPluginTest : public testing::Test {
 protected:
  FailingPluginTest() {
    void* const library = dlopen(TB_FAKE_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
    control_ = reinterpret_cast<GetFakePluginControlFunction>(dlsym(library, "GetFakePluginControl"))();
    control_->wait_for_work();
    programs_before_ = control_->programs;
  }
  ~FailingPluginTest() override { control_->fail_at = -1; }

  // The first error of this work. It uses each function of the table.
  StatusOr<std::vector<float>> Work() {
    TF_ASSIGN_OR_RETURN(const auto compiled, client_.Compile(kUpdate, UpdateOptions()));
    TF_ASSIGN_OR_RETURN(const std::string bytes, compiled->Serialize());
    TF_ASSIGN_OR_RETURN(const auto program, client_.LoadProgram(bytes, UpdateOptions()));
    TF_RETURN_IF_ERROR(program->Memory());
    TF_RETURN_IF_ERROR(client_.MemoryOf(0));
    TF_ASSIGN_OR_RETURN(const auto card, DescribeCard("h100"));
    TF_ASSIGN_OR_RETURN(const auto topology, Topology::Create(client_.plugin(), card));
    TF_RETURN_IF_ERROR(topology->Compile(kUpdate, "an update"));
    TF_ASSIGN_OR_RETURN(const Tensor a, ToDevice(client_, Tensor::Of<float>({4}, {1, 2, 3, 4}), 1));
    TF_ASSIGN_OR_RETURN(const Tensor b, ToDevice(client_, Tensor::Of<float>({4}, {1, 1, 1, 1}), 1));
    const std::vector<const Tensor*> arguments = {&a, &b};
    auto results = program->Run(arguments, {}, 1);
    // Whatever has happened, the argument has its value or none.
    if (DeviceBuffer::Of(a).value()->array()) {
      TF_ASSIGN_OR_RETURN(const bool consumed, ArrayOf(a).value()->IsConsumed());
      EXPECT_FALSE(consumed);
    }
    TF_RETURN_IF_ERROR(results);
    TF_ASSIGN_OR_RETURN(const auto moved, results->outputs[0]->CopyTo(0));
    TF_ASSIGN_OR_RETURN(Event ready, moved->Ready());
    std::promise<Status> done;
    ready.OnReady([&](const Status& status) { done.set_value(status); });
    TF_RETURN_IF_ERROR(done.get_future().get());
    TF_ASSIGN_OR_RETURN(const Tensor value, ToHost(*moved, kFloat32, {4}));
    TF_RETURN_IF_ERROR(results->done.Await());
    const auto floats = value.data<float>();
    return std::vector<float>(floats.begin(), floats.end());
  }
  // The objects that are left when all work has been done. Caches may keep programs of other tests.
  std::string Left() const {
    control_->wait_for_work();
    return StrCat(control_->buffers.load(), " buffers, ", control_->events.load(), " events, ",
                  control_->programs - programs_before_, " programs, ", control_->topologies.load(), " topologies, ",
                  control_->errors.load(), " errors");
  }

  Client& client_ = ClientOf(TB_FAKE_PLUGIN);
  FakePluginControl* control_;
  int programs_before_;
};

TEST_F(FailingPluginTest, ReturnsAStatusAndLeavesNothing) {
  for (const bool consumes : {false, true}) {
    control_->consumes_when_failing = consumes;
    ASSERT_THAT(Work().value(), testing::ElementsAre(0, 1, 2, 3));
    int failures = 0;
    for (FailingCalls calls(*control_);;) {
      control_->code = 1 + calls.next() % 16;
      StatusOr<std::vector<float>> result;
      const char* const call = calls.Next([&] { result = Work(); });
      EXPECT_EQ(Left(), "0 buffers, 0 events, 0 programs, 0 topologies, 0 errors") << calls.next();
      if (call == nullptr) {
        ASSERT_GT(calls.next(), 40);
        break;
      }
      const std::string name = call;
      if (name.ends_with("_Destroy")) continue;  // the caller cannot do anything about it
      ++failures;
      ASSERT_FALSE(result.ok()) << name;
      EXPECT_EQ(static_cast<int>(result.status().code()), control_->code) << name << ": " << result.status();
      EXPECT_THAT(result.status().message(), HasSubstr("made to fail: " + name));
    }
    EXPECT_GT(failures, 30);
  }
}

TEST_F(FailingPluginTest, FailsToMakeAClient) {
  const Plugin& plugin = client_.plugin();
  const int clients = control_->clients;
  for (int call = 0; call < 5; ++call) {
    control_->fail_at = control_->calls + call;
    const Status status = Client::Create(plugin, {}).status();
    EXPECT_THAT(status.message(), HasSubstr("made to fail")) << call;
    EXPECT_EQ(control_->clients, clients);
  }
}

// A value that has been consumed by a run that failed is lost, and says so.
TEST_F(FailingPluginTest, KnowsWhichArgumentsAFailedRunHasConsumed) {
  const auto program = client_.Compile(kUpdate, UpdateOptions()).value();
  for (const bool consumes : {false, true}) {
    control_->consumes_when_failing = consumes;
    const Tensor a = ToDevice(client_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
    const Tensor b = ToDevice(client_, Tensor::Of<float>({4}, {1, 1, 1, 1})).value();
    const std::vector<const Tensor*> both = {&a, &b};
    control_->fail_at = control_->calls.load();
    EXPECT_THAT(program->Run(both, {}, 0).status().message(), HasSubstr("made to fail: LoadedExecutable_Execute"));
    EXPECT_EQ(ToHost(a).ok(), !consumes);
  }
}

// The work is done later: nothing waits for it but what needs it.
TEST_F(FailingPluginTest, EnqueuesWorkAndBringsItsErrorLater) {
  const auto program = client_.Compile(kUpdate, UpdateOptions()).value();
  const Tensor a = ToDevice(client_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const Tensor b = ToDevice(client_, Tensor::Of<float>({4}, {1, 1, 1, 1})).value();
  const std::vector<const Tensor*> arguments = {&a, &b};
  control_->fail_at = control_->calls + 1;
  control_->hold_work(true);
  auto results = program->Run(arguments, {}, 0);
  ASSERT_TRUE(results.ok()) << results.status();
  Tensor host(kFloat32, {4});
  auto copied = results->outputs[0]->ToHost(host.inplace_raw_data(), 16);
  ASSERT_TRUE(copied.ok()) << copied.status();
  control_->hold_work(false);
  EXPECT_THAT(copied->Await().message(), HasSubstr("made to fail: work of LoadedExecutable_Execute"));
  EXPECT_THAT(results->done.Await().message(), HasSubstr("made to fail: work of LoadedExecutable_Execute"));
}

}  // namespace
}  // namespace tensorbraid::pjrt
