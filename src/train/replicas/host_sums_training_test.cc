// Tests synchronous training in which gradients are summed on each host.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "train/replicas/host_plan.h"
#include "train/replicas/host_sums_testutil.h"

namespace tensorbraid {
namespace {

// Worker i trains towards i + 1, for `steps` steps.
void TrainAll(const std::string& hosts, int steps, const WireTypes& wire = {}, double tolerance = 1e-5) {
  const int n = static_cast<int>(hosts.size());
  HostTraining training({.hosts = hosts, .num_ps = 2, .wire = wire});
  for (int i = 1; i < n; ++i) {
    training.Train(i, static_cast<float>(i + 1), steps,
                   [](HostWorker& worker) { EXPECT_EQ(worker.sync->dropped_gradients(), 0); });
  }
  HostWorker& chief = training.Start(0, steps);
  ASSERT_EQ(chief.Train(1), OkStatus());
  EXPECT_EQ(chief.GlobalStep(), steps);
  const double mean_aim = (n + 1) / 2.0;
  double weight = 0, bias = 1, row = 0;
  for (int step = 0; step < steps; ++step) {
    weight -= 0.25 * (weight - mean_aim);
    bias -= 0.25 * (bias - mean_aim);
    row -= 0.25 * 0.5 * mean_aim;
  }
  const auto values = chief.Values();
  for (const float value : values[0]) EXPECT_NEAR(value, weight, tolerance);
  for (const float value : values[1]) EXPECT_NEAR(value, bias, tolerance);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(values[2][i], i / 3 == 1 ? row : 0, 1e-5) << i;
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(HostPlan, WorkersOfAHostAreThoseWithItsAddress) {
  const ClusterSpec cluster({{"chief", {"a:1"}}, {"ps", {"b:9"}}, {"worker", {"b:1", "a:2", "b:2"}}});
  const HostPlan chief = PlanOfHost(cluster, "/job:chief/task:0").value();
  EXPECT_TRUE(chief.sums_here && chief.meets);
  EXPECT_EQ(chief.replica, 0);
  EXPECT_EQ(chief.replicas, 4);
  EXPECT_EQ(chief.on_host, 2);
  const HostPlan last = PlanOfHost(cluster, "/job:worker/task:2").value();
  EXPECT_FALSE(last.sums_here);
  EXPECT_EQ(last.sums_device, "/job:worker/replica:0/task:0");
  EXPECT_EQ(last.replica, 3);
  EXPECT_FALSE(PlanOfHost(OnHosts("abc"), "/job:worker/task:0")->meets);
  EXPECT_TRUE(absl::IsInvalidArgument(PlanOfHost(cluster, "/job:worker").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PlanOfHost(cluster, "/job:worker/task:7").status()));
}

TEST(HostSumsTraining, StepsApplyTheMeanOverAllWorkers) { TrainAll("aabb", 12); }
TEST(HostSumsTraining, HostsMayHaveDifferentNumbersOfWorkers) { TrainAll("abbbc", 8); }
TEST(HostSumsTraining, WorkersMayAllBeOnOneHost) { TrainAll("aaa", 6); }
TEST(HostSumsTraining, WireTypesApplyToSumsAndValues) {
  TrainAll("abb", 8, WireTypes(Wire::kBFloat16, Wire::kBFloat16), /*tolerance=*/0.02);
}
TEST(HostSumsTraining, HasNoEffectIfNoHostHasSeveralWorkers) { TrainAll("a", 6); }

TEST(HostSumsTraining, ValuesReachAHostOnceAndOneSumLeavesIt) {
  constexpr uint64_t kWeights = 8 * 32 * sizeof(float);
  HostTraining training({.hosts = "abb"});
  for (int i = 1; i < 3; ++i) training.Train(i, 1);
  HostWorker& chief = training.Start(0);
  // Worker 2 may begin without worker 1, and then joins it.
  for (int steps = 0, joined = 0; joined < 4; ++steps) {
    ASSERT_LT(steps, 100'000) << "worker 2 does not join worker 1";
    const uint64_t sent = training.Received("ps", 0, "worker", 2), read = training.Received("worker", 2, "ps", 0);
    const uint64_t sums = training.Received("ps", 0, "worker", 1);
    ASSERT_TRUE(chief.Step(1).ok());
    ASSERT_TRUE(chief.Step(1).ok());
    const bool by_host = training.Received("ps", 0, "worker", 2) - sent < kWeights &&
                         training.Received("worker", 2, "ps", 0) - read < kWeights;
    joined = by_host ? joined + 1 : 0;
    // Worker 1 always sends the sum of a step at least. It may send that of a second one while this is read.
    EXPECT_GE(training.Received("ps", 0, "worker", 1) - sums, kWeights);
  }
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

// Trains workers 0 to 3 of hosts "abbb" with one spare. `lost` is stopped at half of the steps. The others need no step
// of any single worker, so each worker looks for this moment after each of its steps.
void TrainAndLose(HostTraining& training, int lost, int64_t steps) {
  for (int i = 0; i < 4; ++i) training.Start(i, i == lost ? 0 : steps);
  std::once_flag half;
  const auto train = [&](int i) -> Status {
    HostWorker& worker = *training.workers[i];
    while (!worker.session->ShouldStop()) {
      TF_RETURN_IF_ERROR(worker.Step(1));
      TF_ASSIGN_OR_RETURN(const auto step, worker.session->session().Run({worker.global_step}));
      if (step[0].scalar<int64_t>() < steps / 2) continue;
      std::call_once(half, [&] { training.cluster.Stop("worker", lost, Unavailable("lost")); });
    }
    return i == 0 ? OkStatus() : worker.session->Close();
  };
  for (int i = 1; i < 4; ++i) {
    training.threads.emplace_back([&, i] {
      const Status status = train(i);
      EXPECT_EQ(status.ok(), i != lost) << "worker " << i << ": " << status;
    });
  }
  HostWorker& chief = *training.workers[0];
  EXPECT_EQ(train(0), OkStatus());
  EXPECT_EQ(chief.GlobalStep(), steps);
  double weight = 0;
  for (int step = 0; step < steps; ++step) weight -= 0.25 * (weight - 1);
  const auto values = chief.Values();
  for (const float value : values[0]) EXPECT_NEAR(value, weight, 1e-5);
  EXPECT_EQ(chief.session->Close(), OkStatus());
  training.Join();
}

TEST(HostSumsTraining, GoesOnWhenAWorkerIsLost) {
  HostTraining training({.hosts = "abbb", .spares = 1});
  TrainAndLose(training, /*lost=*/3, 20);
}

TEST(HostSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemIsLost) {
  HostTraining training({.hosts = "abbb", .num_ps = 2, .spares = 1});
  TrainAndLose(training, /*lost=*/1, 30);
}

TEST(HostSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemEndsFirst) {
  constexpr int64_t kSteps = 30;
  HostTraining training({.hosts = "abbb", .spares = 1});
  for (int i = 1; i < 4; ++i) training.Train(i, 1, i == 1 ? kSteps / 3 : kSteps);
  HostWorker& chief = training.Start(0, kSteps);
  ASSERT_EQ(chief.Train(1), OkStatus());
  EXPECT_EQ(chief.GlobalStep(), kSteps);
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(HostSumsTraining, WhenTheChiefStopsTheOthersStopWithoutAnError) {
  HostTraining training({.hosts = "aabb"});
  for (int i = 1; i < 4; ++i) training.Train(i, 1);
  HostWorker& chief = training.Start(0);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(chief.Step(1).ok());
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(HostSumsTraining, TrainsUnderASupervisor) {
  HostTraining training({.hosts = "abb"});
  for (int i = 0; i < 3; ++i) {
    training.TrainSupervised(i, 1, 10, [i](Session& session) {
      if (i != 0) return;
      const auto step = session.Run({GetGlobalStep(session.graph())});
      ASSERT_TRUE(step.ok()) << step.status();
      EXPECT_EQ((*step)[0].scalar<int64_t>(), 10);
    });
  }
}

// Worker 1 sums for worker 2. It is lost, starts again, and sums again.
TEST(HostSumsTraining, WorkersJoinTheOneThatSumsForThemWhenItIsBack) {
  constexpr uint64_t kWeights = 8 * 32 * sizeof(float);
  HostTraining training({.hosts = "abb", .spares = 1});
  for (int i = 0; i < 3; ++i) training.Start(i);
  training.TrainUntilLost(1, 1);
  std::atomic<bool> stop = false;
  training.threads.emplace_back([&] {
    while (!stop && !training.workers[2]->session->ShouldStop()) ASSERT_EQ(training.workers[2]->Step(1), OkStatus());
  });
  HostWorker& chief = *training.workers[0];
  for (int i = 0; i < 5; ++i) ASSERT_EQ(chief.Step(1), OkStatus());
  training.cluster.Stop("worker", 1, Unavailable("lost"));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(chief.Step(1), OkStatus());
  training.cluster.Start("worker", 1);
  training.Train(1, 1);
  for (int joined = 0; joined < 4;) {
    const uint64_t before = training.Received("ps", 0, "worker", 2);
    ASSERT_EQ(chief.Step(1), OkStatus());
    ASSERT_EQ(chief.Step(1), OkStatus());
    const bool by_host =
        training.Received("ps", 0, "worker", 2) - before < kWeights && training.Received("worker", 2, "worker", 1) > 0;
    joined = by_host ? joined + 1 : 0;
  }
  EXPECT_EQ(chief.session->Close(), OkStatus());
  stop = true;
  training.Join();
}

// The chief is lost after three steps, and starts again.
void ReplaceChief(const std::string& hosts) {
  HostTraining training({.hosts = hosts});
  for (int i = 1; i < 3; ++i) training.Train(i, 1, 20);
  HostWorker& chief = training.Start(0);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(chief.Step(1).ok());
  training.cluster.Stop("worker", 0, Unavailable("lost"));
  training.workers.at(0).reset();
  training.cluster.Start("worker", 0);
  HostWorker& again = training.Start(0, 20);
  ASSERT_EQ(again.Train(1), OkStatus());
  EXPECT_EQ(again.session->Close(), OkStatus());
}

TEST(HostSumsTraining, AChiefThatComesBackGoesOn) { ReplaceChief("abb"); }
TEST(HostSumsTraining, AChiefThatSumsForOthersAndComesBackGoesOn) { ReplaceChief("aab"); }

TEST(HostSumsTraining, WrongOptionsAreMistakesOfTheGraph) {
  const auto mistake = [](SyncReplicasOptions options) {
    Graph g;
    const Variable w(g, {}, Zeros());
    SyncReplicasOptimizer sync(std::make_shared<GradientDescentOptimizer>(1.0), std::move(options));
    sync.Minimize(Square(w), {.global_step = GetOrCreateGlobalStep(g)});
    return g.status();
  };
  const ClusterSpec cluster = OnHosts("aa");
  const Status no_cluster = mistake({.sum_per_host = true});
  EXPECT_NE(no_cluster.message().find("sum_per_host needs the cluster"), absl::string_view::npos) << no_cluster;
  const Status too_many = mistake({.replicas_to_aggregate = 3,
                                   .total_num_replicas = 2,
                                   .sum_per_host = true,
                                   .cluster = cluster,
                                   .worker_device = "/job:worker/task:0"});
  EXPECT_NE(too_many.message().find("at most total_num_replicas"), absl::string_view::npos) << too_many;
  Graph g;
  const Variable w(g, {}, Zeros());
  SyncReplicasOptimizer sync(
      std::make_shared<GradientDescentOptimizer>(1.0),
      {.replicas_to_aggregate = 2, .sum_per_host = true, .cluster = cluster, .worker_device = "/job:worker/task:0"});
  sync.Minimize(Square(w), {.global_step = GetOrCreateGlobalStep(g)});
  ASSERT_EQ(g.status(), OkStatus());
  EXPECT_FALSE(sync.init_tokens_op(0).valid());
  EXPECT_NE(g.status().message().find("num_tokens 0 with sum_per_host"), absl::string_view::npos) << g.status();
}

}  // namespace
}  // namespace tensorbraid
