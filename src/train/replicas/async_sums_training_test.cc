// Tests asynchronous training in which gradients are summed on each host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "train/replicas/host_sums_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kWeights = 8 * 32 * sizeof(float);

// Worker i makes `steps` steps with gradients of i + 1. All sums are exact.
void TrainAllAsync(const std::string& hosts, int steps, const StalenessPolicy& staleness = {}) {
  const int n = static_cast<int>(hosts.size());
  HostTraining training({.hosts = hosts, .num_ps = 2, .async = true, .staleness = staleness});
  for (int i = 0; i < n; ++i) {
    training.threads.emplace_back([&training, i, steps] {
      HostWorker& worker = training.Start(i);
      for (int step = 0; step < steps; ++step) {
        const Status status = worker.Step(static_cast<float>(i + 1));
        ASSERT_TRUE(status.ok()) << "worker " << i << ": " << status;
      }
      const StalenessCounts counts = worker.async->counts();
      EXPECT_EQ(counts.pushes, steps) << "worker " << i;
      EXPECT_EQ(counts.applied, 3 * steps) << "worker " << i;
      EXPECT_EQ(counts.dropped, 0) << "worker " << i;
    });
  }
  training.Join();
  HostWorker& chief = *training.workers[0];
  EXPECT_EQ(chief.GlobalStep(), n * steps) << "each gradient counts";
  const float sum = 0.25f * static_cast<float>(steps * n * (n + 1) / 2);
  const auto values = chief.Values();
  EXPECT_THAT(values[0], Each(-sum));
  EXPECT_THAT(values[1], Each(1 - sum));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(values[2][i], i / 3 == 1 ? -sum : 0) << i;
  for (int i = n - 1; i >= 0; --i) EXPECT_EQ(training.workers[i]->session->Close(), OkStatus()) << "worker " << i;
}

TEST(AsyncSumsTraining, EachGradientIsAppliedOnce) { TrainAllAsync("aabb", 12); }
TEST(AsyncSumsTraining, HostsMayHaveDifferentNumbersOfWorkers) { TrainAllAsync("abbbc", 8); }
TEST(AsyncSumsTraining, WorkersMayAllBeOnOneHost) { TrainAllAsync("aaa", 8); }
TEST(AsyncSumsTraining, HasNoEffectIfNoHostHasSeveralWorkers) { TrainAllAsync("ab", 8); }
TEST(AsyncSumsTraining, WorkersMayWaitForOthers) { TrainAllAsync("aab", 8, {.max_lead = 100, .warm_up_steps = 1}); }

// Starts a worker and returns its values after some steps while the other one of its host only waits.
std::vector<std::vector<float>> TrainAlone(const std::string& hosts, int worker, HostTrainingOptions options) {
  options.hosts = hosts;
  options.async = true;
  HostTraining training(options);
  for (int i = 0; i < 2; ++i) training.Start(i);
  HostWorker& alone = *training.workers[worker];
  for (int step = 0; step < 10; ++step) {
    EXPECT_THAT(alone.SlowStep(1), ElementsAre(0, 0, 0)) << "worker " << worker << ", step " << step;
  }
  const auto values = alone.Values();
  for (int i = 1; i >= 0; --i) EXPECT_EQ(training.workers[i]->session->Close(), OkStatus());
  return values;
}

// The next step of a worker begins with values that include its own gradient.
TEST(AsyncSumsTraining, AWorkerAloneTrainsAsWithoutSums) {
  const HostTrainingOptions adam = {.optimizer = [] { return std::make_shared<AdamOptimizer>(0.125); }};
  const auto without = TrainAlone("ab", 0, adam);
  EXPECT_NE(without[0][0], 0);
  EXPECT_EQ(TrainAlone("aa", 0, adam), without);
  EXPECT_EQ(TrainAlone("aa", 1, adam), without);
}

TEST(AsyncSumsTraining, ValuesReachAHostOnceAndSumsLeaveIt) {
  HostTraining training({.hosts = "abb", .async = true});
  for (int i = 0; i < 3; ++i) training.Start(i);
  std::atomic<bool> stop = false;
  for (int i = 1; i < 3; ++i) {
    training.threads.emplace_back([&, i] {
      while (!stop) ASSERT_EQ(training.workers[i]->Step(0), OkStatus());
    });
  }
  // Worker 2 may begin without worker 1, and then joins it.
  for (int steps = 0, joined = 0; joined < 4; ++steps) {
    ASSERT_LT(steps, 10'000) << "worker 2 does not join worker 1";
    const uint64_t sent = training.Received("ps", 0, "worker", 2), read = training.Received("worker", 2, "ps", 0);
    const uint64_t sums = training.Received("ps", 0, "worker", 1);
    while (training.Received("ps", 0, "worker", 1) - sums < 2 * kWeights) {
      ASSERT_EQ(training.workers[0]->Step(0), OkStatus());
    }
    const bool by_host = training.Received("ps", 0, "worker", 2) - sent < kWeights &&
                         training.Received("worker", 2, "ps", 0) - read < kWeights;
    joined = by_host ? joined + 1 : 0;
  }
  stop = true;
  training.Join();
}

// Between a read of worker 1 and its gradient of 8, worker 0 makes three steps with gradient 1.
std::vector<int64_t> SlowGradient(HostTraining& training) {
  HostWorker& fast = training.Start(0);
  HostWorker& slow = training.Start(1);
  return slow.SlowStep(8, [&] {
    for (int i = 0; i < 3; ++i) EXPECT_THAT(fast.SlowStep(1), ElementsAre(0, 0, 0));
  });
}

TEST(AsyncSumsTraining, OldGradientsAreDroppedAndTheirWorkersLearnIt) {
  HostTraining training({.hosts = "aa", .async = true, .staleness = {.max_age = 2}, .held = true});
  EXPECT_THAT(SlowGradient(training), ElementsAre(-4, -4, -4));
  EXPECT_EQ(training.workers[1]->async->counts().dropped, 3);
  EXPECT_EQ(training.workers[0]->async->counts().dropped, 0);
  EXPECT_THAT(training.workers[0]->Values()[0], Each(-0.25f * 3));
  EXPECT_EQ(training.workers[0]->GlobalStep(), 4);
}

TEST(AsyncSumsTraining, OldGradientsAreScaled) {
  HostTraining training({.hosts = "aa", .async = true, .staleness = {.gradient_decay = 1}, .held = true});
  EXPECT_THAT(SlowGradient(training), ElementsAre(3, 3, 3));
  EXPECT_EQ(training.workers[1]->async->counts().scaled, 3);
  EXPECT_THAT(training.workers[0]->Values()[0], Each(-0.25f * (3 + 2)));
}

// Trains workers of hosts "abbb" until the global step is `steps`. `lost` is stopped at half of them.
void LoseAsync(int lost) {
  constexpr int64_t kSteps = 200;
  HostTraining training({.hosts = "abbb", .num_ps = 2, .async = true});
  for (int i = 0; i < 4; ++i) training.Start(i, i == lost ? 0 : kSteps);
  training.TrainUntilLost(lost, 1);
  for (int i = 1; i < 4; ++i) {
    if (i != lost) training.TrainStarted(i, 1);
  }
  HostWorker& chief = *training.workers[0];
  for (bool stopped = false; !chief.session->ShouldStop();) {
    ASSERT_EQ(chief.Step(1), OkStatus());
    if (stopped || chief.GlobalStep() < kSteps / 2) continue;
    stopped = true;
    training.cluster.Stop("worker", lost, Unavailable("lost"));
  }
  training.Join();
  EXPECT_GE(chief.GlobalStep(), kSteps);
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(AsyncSumsTraining, GoesOnWhenAWorkerIsLost) { LoseAsync(3); }
TEST(AsyncSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemIsLost) { LoseAsync(1); }

TEST(AsyncSumsTraining, WorkersGoOnWhenTheOneThatSumsForThemEndsFirst) {
  HostTraining training({.hosts = "abbb", .async = true});
  for (int i = 0; i < 4; ++i) training.Start(i, i == 1 ? 50 : 200);
  for (int i = 1; i < 4; ++i) training.TrainStarted(i, 1);
  HostWorker& chief = *training.workers[0];
  ASSERT_EQ(chief.Train(1), OkStatus());
  training.Join();
  EXPECT_THAT(chief.Values()[0], Each(-0.25f * static_cast<float>(chief.GlobalStep())));
  EXPECT_EQ(chief.session->Close(), OkStatus());
}

TEST(AsyncSumsTraining, TrainsUnderASupervisor) {
  HostTraining training({.hosts = "abb", .async = true});
  std::latch ended(3);  // so that worker 1 does not end, and drop a gradient of worker 2
  for (int i = 0; i < 3; ++i) training.TrainSupervised(i, 1, 10, [&](Session&) { ended.arrive_and_wait(); });
  training.Join();
  HostWorker reader(training.cluster, training.options, 1, 0);
  const auto session = Session::Create(reader.g, {.target = reader.target}).value();
  const auto values = session->Run({reader.global_step, reader.values[0]}).value();
  EXPECT_EQ(values[0].scalar<int64_t>(), 30);
  EXPECT_THAT(values[1].data<float>(), Each(-0.25f * 30));
}

// Worker 1 sums for worker 2. It is lost, starts again, and sums again.
TEST(AsyncSumsTraining, WorkersJoinTheOneThatSumsForThemWhenItIsBack) {
  HostTraining training({.hosts = "abb", .async = true});
  for (int i = 0; i < 3; ++i) training.Start(i);
  training.TrainUntilLost(1, 1);
  std::atomic<bool> stop = false;
  const auto train = [&](int i) {
    while (!stop) ASSERT_EQ(training.workers[i]->Step(1), OkStatus());
  };
  std::thread second([&] { train(2); });
  for (int i = 0; i < 5; ++i) ASSERT_EQ(training.workers[0]->Step(1), OkStatus());
  training.cluster.Stop("worker", 1, Unavailable("lost"));
  training.Join();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(training.workers[0]->Step(1), OkStatus());
  training.cluster.Start("worker", 1);
  training.Start(1);
  std::thread first([&] { train(1); });
  for (int joined = 0; joined < 4;) {
    const uint64_t sent = training.Received("ps", 0, "worker", 2), sums = training.Received("ps", 0, "worker", 1);
    while (training.Received("ps", 0, "worker", 1) - sums < 2 * kWeights) {
      ASSERT_EQ(training.workers[0]->Step(1), OkStatus());
    }
    joined = training.Received("ps", 0, "worker", 2) - sent < kWeights ? joined + 1 : 0;
  }
  stop = true;
  first.join();
  second.join();
}

TEST(AsyncSumsTraining, WrongOptionsAreMistakesOfTheGraph) {
  const auto mistake = [](AsyncReplicasOptions options) {
    Graph g;
    const Variable w(g, {}, Zeros());
    options.sum_per_host = true;
    AsyncReplicasOptimizer async(std::make_shared<GradientDescentOptimizer>(1.0), std::move(options));
    async.Minimize(Square(w), {.global_step = GetOrCreateGlobalStep(g)});
    return std::string(g.status().message());
  };
  EXPECT_THAT(mistake({}), HasSubstr("sum_per_host needs the cluster"));
  const AsyncReplicasOptions good = {.cluster = OnHosts("aa"), .worker_device = "/job:worker/task:0"};
  AsyncReplicasOptions compensates = good, batches = good;
  compensates.staleness.delay_compensation = 1;
  EXPECT_THAT(mistake(compensates), HasSubstr("use gradient_decay or rate_decay instead"));
  batches.staleness.batches_per_push = {{0, 2}};
  EXPECT_THAT(mistake(batches), HasSubstr("leave out one of them"));
}

}  // namespace
}  // namespace tensorbraid
