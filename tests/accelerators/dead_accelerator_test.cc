// Tests of a task whose accelerator cannot be started. The fake plugin (src/pjrt/testing/fake_plugin.h) fails, and no
// test before has started it in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "fake_device.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(DeadAcceleratorTest, TheCpuOfAnotherTaskComputesWithSoftPlacement) {
  auto* const control = &UseFakePlugin("XLA_CPU");
  TaskOptions task;
  task.device_count = {{"XLA_CPU", 1}};
  TestCluster cluster(0, 2, task);
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}, "x");
  Output y;
  {
    auto device = g.Device("/job:worker/task:1/device:XLA_CPU:0");
    y = x + x;
  }
  const auto run = [&](bool soft) -> StatusOr<float> {
    TF_ASSIGN_OR_RETURN(const auto session,
                        Session::Create(g, {.target = cluster.target("worker", 0), .allow_soft_placement = soft}));
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({y}, {{x, Tensor::Vector<float>({1, 2})}}));
    return values[0].data<float>()[1];
  };
  control->fail_next = "Client_Create";
  const Status failed = run(/*soft=*/false).status();
  EXPECT_THAT(std::string(failed.message()), HasSubstr("made to fail: Client_Create"));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("worker/1"));
  EXPECT_THAT(std::string(failed.message()), EndsWith("; with allow_soft_placement, the CPU computes instead"));

  control->fail_next = "Client_Create";
  const auto on_cpu = run(/*soft=*/true);
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
  EXPECT_EQ(*on_cpu, 4);
  EXPECT_EQ(control->fail_next, nullptr);
  EXPECT_EQ(control->runs, 0);

  // A later session tries again.
  const auto on_device = run(/*soft=*/true);
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  EXPECT_EQ(*on_device, 4);
  EXPECT_EQ(control->runs, 1);
}

// The plugin finds two devices. A driver that shows three cards makes a process expect three.
TEST(DeadAcceleratorTest, TheCpuComputesForADeviceThatThePluginDoesNotFind) {
  auto* const control = &UseFakePlugin("XLA_CPU:3");
  TaskOptions task;
  task.device_count = {{"XLA_CPU", 3}};
  TestCluster cluster(0, 2, task);
  const auto run = [&](const std::string& device_name, bool soft) -> StatusOr<float> {
    Graph g;
    const Output x = Placeholder(g, kFloat32, {2}, "x");
    Output y;
    {
      auto device = g.Device(device_name);
      y = x + x;
    }
    TF_ASSIGN_OR_RETURN(const auto session,
                        Session::Create(g, {.target = cluster.target("worker", 0), .allow_soft_placement = soft}));
    TF_ASSIGN_OR_RETURN(const auto values, session->Run({y}, {{x, Tensor::Vector<float>({1, 2})}}));
    return values[0].data<float>()[1];
  };
  for (const char* task_name : {"/job:worker/task:0", "/job:worker/task:1"}) {
    const std::string missing = StrCat(task_name, "/device:XLA_CPU:2");
    const Status failed = run(missing, /*soft=*/false).status();
    EXPECT_EQ(failed.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(failed.message()),
                AllOf(HasSubstr("there is no /device:XLA_CPU:2: the plugin '"), HasSubstr("use a smaller number"),
                      EndsWith("; with allow_soft_placement, the CPU computes instead")));
    const int runs = control->runs;
    const auto on_cpu = run(missing, /*soft=*/true);
    ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
    EXPECT_EQ(*on_cpu, 4);
    EXPECT_EQ(control->runs, runs);
    const auto on_device = run(StrCat(task_name, "/device:XLA_CPU:1"), /*soft=*/true);
    ASSERT_TRUE(on_device.ok()) << on_device.status();
    EXPECT_EQ(control->runs, runs + 1) << "the other devices are used";
  }
}

}  // namespace
}  // namespace tensorbraid
