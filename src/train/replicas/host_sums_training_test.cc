// Tests synchronous training in which gradients are summed on each host, in a cluster within this process.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/text/device_name.h"
#include "tensorbraid/tensorbraid.h"
#include "train/replicas/host_plan.h"

namespace tensorbraid {
namespace {

// Addresses that put worker i on host hosts[i]. Only the hosts are used.
ClusterSpec OnHosts(const std::string& hosts) {
  std::map<std::string, std::vector<std::string>> jobs;
  jobs["ps"] = {"server:1"};
  for (size_t i = 0; i < hosts.size(); ++i) jobs["worker"].push_back(StrCat(hosts.substr(i, 1), ":", i));
  return ClusterSpec(jobs);
}

// A worker that moves `weights` and `table` towards its target. The rows of the table are looked up, so its gradients
// are slices.
struct Worker {
  Worker(const TestCluster& cluster, const std::string& hosts, int worker, int aggregate, int64_t last_step,
         const WireTypes& wire = {})
      : target(cluster.worker_target(worker)), is_chief(worker == 0) {
    const std::string own_device = StrCat("/job:worker/task:", worker);
    auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = own_device, .wire = wire}));
    aim = Placeholder(g, kFloat32, {}, "aim");
    weights = Variable(g, {8, 32}, Zeros(), {.name = "weights"});
    bias = Variable(g, {32}, Ones(), {.name = "bias"});
    table = Variable(g, {4, 3}, Zeros(), {.name = "table"});
    global_step = GetOrCreateGlobalStep(g);
    const Output row = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({1})));
    const Output loss =
        (ReduceSum(Square(weights - aim)) + ReduceSum(Square(bias - aim)) + ReduceSum(row * aim)) * 0.5f;
    sync = std::make_shared<SyncReplicasOptimizer>(
        std::make_shared<GradientDescentOptimizer>(0.25),
        SyncReplicasOptions{.replicas_to_aggregate = aggregate,
                            .total_num_replicas = static_cast<int>(hosts.size()),
                            .sum_per_host = true,
                            .cluster = OnHosts(hosts),
                            .worker_device = own_device});
    if (last_step > 0) hooks.push_back(StopAtStep(last_step));
    hooks.push_back(sync->MakeSessionRunHook(is_chief));
    train = sync->Minimize(loss, {.global_step = global_step});
    for (const Variable& variable : {weights, bias, table}) values.push_back(variable.Read());
  }
  Status Start() {
    TF_ASSIGN_OR_RETURN(session, MonitoredTrainingSession(g, {.master = target, .is_chief = is_chief, .hooks = hooks}));
    return OkStatus();
  }
  Status Step(float to) { return session->Run({train}, {{aim, Tensor::Scalar(to)}}).status(); }
  // Trains to the end and returns the status.
  Status Train(float to) {
    TF_RETURN_IF_ERROR(Start());
    while (!session->ShouldStop()) TF_RETURN_IF_ERROR(Step(to));
    return session->Close();
  }
  // The values of weights, bias and table on the parameter servers.
  std::vector<std::vector<float>> Values() {
    std::vector<std::vector<float>> result;
    const auto tensors = session->session().Run({values[0], values[1], values[2]}).value();
    for (const Tensor& value : tensors) {
      result.emplace_back(value.data<float>().begin(), value.data<float>().end());
    }
    return result;
  }
  int64_t GlobalStep() { return session->session().Run({global_step}).value()[0].scalar<int64_t>(); }

  const std::string target;
  const bool is_chief;
  Graph g;
  Output aim;
  std::vector<Output> values;
  Variable weights, bias, table, global_step;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  std::shared_ptr<SyncReplicasOptimizer> sync;
  Operation train;
  std::unique_ptr<MonitoredSession> session;
};

// Worker i trains towards i + 1, for `steps` steps.
void TrainAll(const std::string& hosts, int steps, const WireTypes& wire = {}, double tolerance = 1e-5) {
  const int n = static_cast<int>(hosts.size());
  TestCluster cluster(2, n);
  Worker chief(cluster, hosts, 0, n, steps, wire);
  std::vector<std::jthread> others;
  for (int i = 1; i < n; ++i) {
    others.emplace_back([&cluster, &hosts, i, n, steps, &wire] {
      Worker worker(cluster, hosts, i, n, steps, wire);
      const Status status = worker.Train(static_cast<float>(i + 1));
      EXPECT_TRUE(status.ok()) << "worker " << i << ": " << status;
      EXPECT_EQ(worker.sync->dropped_gradients(), 0) << "worker " << i;
    });
  }
  const Status started = chief.Start();
  ASSERT_TRUE(started.ok()) << started;
  while (!chief.session->ShouldStop()) {
    const Status status = chief.Step(1);
    ASSERT_TRUE(status.ok()) << status;
  }
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
  for (std::jthread& other : others) other.join();
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

// The bytes of tensors that `task` has received from `from`.
uint64_t Received(TestCluster& cluster, const std::string& job, int task, const std::string& from) {
  uint64_t bytes = 0;
  for (const Membership::Received& received : cluster.task(job, task).membership().AllReceived()) {
    if (received.task == FullTaskName(from.substr(0, from.find('/')), from.back() - '0'))
      bytes += received.tensor_bytes;
  }
  return bytes;
}

TEST(HostSumsTraining, ValuesReachAHostOnceAndOneSumLeavesIt) {
  constexpr uint64_t kWeights = 8 * 32 * sizeof(float);
  TestCluster cluster(1, 3);
  std::vector<std::jthread> others;
  for (int i = 1; i < 3; ++i) {
    others.emplace_back([&cluster, i] {
      Worker worker(cluster, "abb", i, 3, 0);
      const Status status = worker.Train(1);
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  Worker chief(cluster, "abb", 0, 3, 0);
  ASSERT_TRUE(chief.Start().ok());
  // Worker 2 may begin without worker 1, and then joins it.
  for (int steps = 0, joined = 0; joined < 4; ++steps) {
    ASSERT_LT(steps, 100'000) << "worker 2 does not join worker 1";
    const uint64_t sent = Received(cluster, "ps", 0, "worker/2"), read = Received(cluster, "worker", 2, "ps/0");
    const uint64_t sums = Received(cluster, "ps", 0, "worker/1");
    ASSERT_TRUE(chief.Step(1).ok());
    ASSERT_TRUE(chief.Step(1).ok());
    const bool by_host = Received(cluster, "ps", 0, "worker/2") - sent < kWeights &&
                         Received(cluster, "worker", 2, "ps/0") - read < kWeights;
    joined = by_host ? joined + 1 : 0;
    // Worker 1 always sends the sum of a step at least. It may send that of a second one while this is read.
    EXPECT_GE(Received(cluster, "ps", 0, "worker/1") - sums, kWeights);
  }
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(HostSumsTraining, GoesOnWhenAWorkerIsLost) {
  TestCluster cluster(1, 4);
  constexpr int64_t kSteps = 20;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(std::make_unique<Worker>(cluster, "abbb", i, 3, i == 3 ? 0 : kSteps));
    ASSERT_TRUE(workers[i]->Start().ok());
  }
  std::vector<std::jthread> threads;
  std::atomic<bool> lost = false;
  for (int i : {1, 2}) {
    threads.emplace_back([&, i] {
      while (!workers[i]->session->ShouldStop()) {
        const Status status = workers[i]->Step(1);
        ASSERT_TRUE(status.ok()) << status;
      }
      const Status closed = workers[i]->session->Close();
      EXPECT_TRUE(closed.ok()) << closed;
    });
  }
  threads.emplace_back([&] {
    while (workers[3]->Step(1).ok()) {
    }
    EXPECT_TRUE(lost);
  });
  while (!workers[0]->session->ShouldStop()) {
    ASSERT_TRUE(workers[0]->Step(1).ok());
    if (!lost && workers[0]->GlobalStep() >= 5) {
      lost = true;
      cluster.Stop("worker", 3, Unavailable("lost"));
    }
  }
  EXPECT_EQ(workers[0]->GlobalStep(), kSteps);
  EXPECT_EQ(workers[0]->session->Close(), OkStatus());
  for (std::jthread& thread : threads) thread.join();
}

// Worker 1 sums for workers 2 and 3.
TEST(HostSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemIsLost) {
  TestCluster cluster(2, 4);
  constexpr int64_t kSteps = 30;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(std::make_unique<Worker>(cluster, "abbb", i, 3, i == 1 ? 0 : kSteps));
    ASSERT_TRUE(workers[i]->Start().ok());
  }
  std::vector<std::jthread> threads;
  std::atomic<bool> lost = false;
  threads.emplace_back([&] {
    while (workers[1]->Step(1).ok()) {
    }
    EXPECT_TRUE(lost);
  });
  for (int i : {2, 3}) {
    threads.emplace_back([&, i] {
      while (!workers[i]->session->ShouldStop()) {
        const Status status = workers[i]->Step(1);
        ASSERT_TRUE(status.ok()) << status;
      }
      const Status closed = workers[i]->session->Close();
      EXPECT_TRUE(closed.ok()) << closed;
    });
  }
  while (!workers[0]->session->ShouldStop()) {
    ASSERT_TRUE(workers[0]->Step(1).ok());
    if (!lost && workers[0]->GlobalStep() >= 10) {
      lost = true;
      cluster.Stop("worker", 1, Unavailable("lost"));
    }
  }
  EXPECT_EQ(workers[0]->GlobalStep(), kSteps);
  double weight = 0;
  for (int step = 0; step < kSteps; ++step) weight -= 0.25 * (weight - 1);
  const auto values = workers[0]->Values();
  for (const float value : values[0]) EXPECT_NEAR(value, weight, 1e-5);
  EXPECT_EQ(workers[0]->session->Close(), OkStatus());
  for (std::jthread& thread : threads) thread.join();
}

TEST(HostSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemEndsFirst) {
  TestCluster cluster(1, 4);
  constexpr int64_t kSteps = 30;
  std::vector<std::jthread> threads;
  for (int i = 1; i < 4; ++i) {
    threads.emplace_back([&cluster, i] {
      Worker worker(cluster, "abbb", i, 3, i == 1 ? kSteps / 3 : kSteps);
      const Status status = worker.Train(1);
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  Worker chief(cluster, "abbb", 0, 3, kSteps);
  ASSERT_TRUE(chief.Start().ok());
  while (!chief.session->ShouldStop()) ASSERT_TRUE(chief.Step(1).ok());
  EXPECT_EQ(chief.GlobalStep(), kSteps);
  EXPECT_EQ(chief.session->Close(), OkStatus());
  for (std::jthread& thread : threads) thread.join();
}

TEST(HostSumsTraining, WhenTheChiefStopsTheOthersStopWithoutAnError) {
  TestCluster cluster(1, 4);
  Worker chief(cluster, "aabb", 0, 4, 0);
  std::vector<std::jthread> threads;
  for (int i = 1; i < 4; ++i) {
    threads.emplace_back([&cluster, i] {
      Worker worker(cluster, "aabb", i, 4, 0);
      const Status status = worker.Train(1);
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  ASSERT_TRUE(chief.Start().ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(chief.Step(1).ok());
  EXPECT_EQ(chief.session->Close(), OkStatus());
  for (std::jthread& thread : threads) thread.join();
}

// The chief is lost after three steps, and starts again.
void ReplaceChief(const std::string& hosts) {
  TestCluster cluster(1, 3);
  std::vector<std::jthread> threads;
  for (int i = 1; i < 3; ++i) {
    threads.emplace_back([&cluster, &hosts, i] {
      Worker worker(cluster, hosts, i, 3, 20);
      const Status status = worker.Train(1);
      EXPECT_TRUE(status.ok()) << status;
    });
  }
  {
    Worker chief(cluster, hosts, 0, 3, 0);
    ASSERT_TRUE(chief.Start().ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(chief.Step(1).ok());
    cluster.Stop("worker", 0, Unavailable("lost"));
  }
  cluster.Start("worker", 0);
  Worker again(cluster, hosts, 0, 3, 20);
  const Status status = again.Train(1);
  EXPECT_TRUE(status.ok()) << status;
  for (std::jthread& thread : threads) thread.join();
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
}

}  // namespace
}  // namespace tensorbraid
