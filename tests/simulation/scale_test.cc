// Simulates jobs of 500 tasks, and checks that what a task pays depends on the tasks that it works with, not on the
// number of tasks.
#include "simulation/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kSeed = 0;
constexpr int kFew = 100, kMany = 500;
constexpr int kMaxThreads = 10;      // of a task
constexpr double kMaxMb = 8 * 1024;  // of a simulation

// Checks what the tasks of the larger job pay, by what those of the smaller job pay.
void ExpectThatTasksPayForTheirNeighboursOnly(const ScaleCosts& few, const ScaleCosts& many, bool sync) {
  // Workers connect to the parameter servers and to no other task. Each end of a connection sends a heartbeat a second.
  const auto [num_ps, num_workers] = UsualJob(kMany);
  EXPECT_EQ(num_ps, 20);
  for (const RoleCosts& worker : {many.worker, many.chief}) {
    EXPECT_EQ(worker.links, num_ps);
    EXPECT_NEAR(worker.heartbeats_per_second, num_ps, 0.1 * num_ps);
  }
  // In synchronous training, parameter servers exchange tensors, and are connected to each other.
  EXPECT_LE(many.ps.links, num_workers + (sync ? num_ps - 1 : 0));
  EXPECT_NEAR(many.ps.heartbeats_per_second, num_workers, 0.1 * num_workers);
  // A worker works with five times as many parameter servers in the larger job, a parameter server with five times as
  // many workers.
  const JobSize fewer = UsualJob(kFew);
  const double more_ps = num_ps / fewer.num_ps, more_workers = num_workers / fewer.num_workers;
  // A step that is half done when the measurement begins or ends counts as one step or as none.
  constexpr double kSlack = 1.6;
  EXPECT_LE(many.worker.messages_per_step, kSlack * more_ps * few.worker.messages_per_step);
  EXPECT_LE(many.worker.control_bytes_per_step, kSlack * more_ps * few.worker.control_bytes_per_step);
  EXPECT_LE(many.chief.messages_per_step, kSlack * more_ps * few.chief.messages_per_step);
  // Of a parameter server, asynchronous steps are those of one worker, and synchronous ones those of all workers.
  const double more_steps = sync ? more_workers : 1;
  EXPECT_LE(many.ps.messages_per_step, kSlack * more_steps * few.ps.messages_per_step);
  EXPECT_LE(many.ps.control_bytes_per_step, kSlack * more_steps * few.ps.control_bytes_per_step);
  // A machine that dies is noticed when its connections have been silent for 10 s.
  for (const double seconds : {many.worker_loss_seconds, many.ps_loss_seconds}) {
    EXPECT_GE(seconds, 8);
    EXPECT_LE(seconds, 12);
  }
  for (const RoleCosts& role : {many.ps, many.chief, many.worker}) EXPECT_LE(role.threads, kMaxThreads);
  EXPECT_LE(many.peak_mb, kMaxMb);
}

class ScaleOf500Test : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, ScaleOf500Test, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Synchronous" : "Asynchronous"; });

TEST_P(ScaleOf500Test, ATaskPaysForTheTasksThatItWorksWith) {
  const bool sync = GetParam();
  const auto few = MeasureScale(kSeed, UsualJob(kFew), sync, /*rounds=*/4);
  ASSERT_TRUE(few.ok()) << few.status();
  const auto many = MeasureScale(kSeed, UsualJob(kMany), sync, /*rounds=*/4);
  ASSERT_TRUE(many.ok()) << many.status();
  ExpectThatTasksPayForTheirNeighboursOnly(*few, *many, sync);
  std::cout << kMany << " tasks: " << many->cpu_seconds << " s of a processor, " << many->peak_mb << " MB" << std::endl;
}

// One parameter server and ten workers are killed while the others start or make their first steps, and started again.
// Train() checks that all workers end well, and that no gradient is lost or applied twice (simulation/training.h).
TEST(ScaleTest, TrainingOf500TasksSurvivesTheLossOfAParameterServerAndTenWorkers) {
  TrainingOptions options = ScaleTraining(UsualJob(kMany), /*sync=*/true);
  options.checkpoints = true;
  options.last_step = 16;
  const auto kill = [&](const FaultyTask& task, milliseconds at) {
    Fault fault;
    fault.task = fault.other = task;
    fault.at = at;
    fault.lasts = milliseconds(50);
    options.faults.push_back(fault);
  };
  for (int i = 0; i < 10; ++i) kill({"worker", 17 + 40 * i}, milliseconds(200 + 10 * i));
  kill({"ps", 7}, milliseconds(250));
  const SimulationResult result = Simulate(
      kSeed,
      [&](Scheduler& scheduler) -> StatusOr<std::string> {
        TF_ASSIGN_OR_RETURN(const Trained trained, Train(scheduler, options));
        return StrCat(trained.kills, " killed");
      },
      ScaleSimulation());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.value, "11 killed");
  EXPECT_LE(static_cast<double>(result.peak_bytes) / 1e6, kMaxMb);
  std::cout << result.seconds << " virtual s, " << result.cpu_seconds << " s of a processor" << std::endl;
}

// A worker that waits for the chief asks all parameter servers again and again. Without growing pauses, it would ask
// 400 times here.
TEST(ScaleTest, AWorkerThatWaitsForTheChiefAsksMoreRarelyTheLongerItWaits) {
  const SimulationResult result = Simulate(
      kSeed,
      [](Scheduler& scheduler) -> StatusOr<std::string> {
        TestCluster cluster(1, 2, {.inter_op_threads = 1},
                            std::make_unique<SimNetwork>(static_cast<uint32_t>(scheduler.Random(uint64_t{1} << 32)),
                                                         SimOptions{.follow_clock = true}));
        Graph g;
        auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster.spec()}));
        Variable(g, {}, Zeros(), {.name = "v"});
        const auto session = MonitoredTrainingSession(
            g, {.master = cluster.worker_target(1), .is_chief = false, .max_wait = std::chrono::seconds(20)});
        const SimTraffic traffic = cluster.network().TrafficOf(*cluster.spec().task_address("worker", 1));
        return StrCat(ToString(session.status()), "; ", traffic.messages - traffic.heartbeats, " messages");
      },
      ScaleSimulation());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.value, ::testing::HasSubstr("waiting for the chief to initialise v"));
  const std::string count = result.value.substr(result.value.rfind(';') + 2);
  EXPECT_GT(std::stoi(count), 30) << result.value;
  EXPECT_LT(std::stoi(count), 200) << result.value;
}

}  // namespace
}  // namespace tensorbraid
