// Tests growing tables whose gradients are summed before an update: those of several workers, or of several batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"
#include "train/optimizers/table_rules_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

using Wrap = std::function<std::shared_ptr<Optimizer>(std::shared_ptr<Optimizer>)>;

// A worker in whose training the gradient of a row is the sum of its factors. Rows begin with 0.25.
struct Worker {
  // Without a table, a static variable of 40 rows takes its place.
  Worker(const TestCluster& cluster, int worker, bool has_table, int64_t filter_freq, const MakeOptimizer& make,
         int replicas, const Wrap& wrap = nullptr)
      : is_chief(worker == 0), target(cluster.worker_target(worker)) {
    auto device = g.Device(
        ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
    if (has_table) {
      table = EmbeddingVariable(g, 2,
                                {.name = "ids",
                                 .initializer = Constant(0.25),
                                 .partitioner = FixedSizePartitioner(2),
                                 .filter_freq = filter_freq,
                                 .no_permission = -7});
      count = table.NumRows();
    } else {
      fixed = Variable(g, {40, 2}, Constant(0.25), {.name = "ids"});
    }
    keys = Placeholder(g, kInt64, {-1});
    factors = Placeholder(g, kFloat32, {-1});
    rows = nn::EmbeddingLookup(has_table ? nn::EmbeddingTable(table) : nn::EmbeddingTable(fixed), keys);
    std::shared_ptr<Optimizer> optimizer = make(g);
    if (replicas > 0) {
      const auto sync = std::make_shared<SyncReplicasOptimizer>(
          optimizer, SyncReplicasOptions{.replicas_to_aggregate = replicas, .total_num_replicas = replicas});
      hooks.push_back(sync->MakeSessionRunHook(is_chief));
      optimizer = sync;
    }
    if (wrap) optimizer = wrap(optimizer);
    if (const auto async = std::dynamic_pointer_cast<AsyncReplicasOptimizer>(optimizer); async != nullptr) {
      hooks.push_back(async->MakeSessionRunHook());
    }
    train = optimizer->Minimize(ReduceSum(rows * ExpandDims(factors, 1)), {.global_step = GetOrCreateGlobalStep(g)});
  }
  Status Start() {
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(session, MonitoredTrainingSession(g, {.master = target, .is_chief = is_chief, .hooks = hooks}));
    return OkStatus();
  }
  Status Step(const std::vector<int64_t>& of, const std::vector<float>& by) {
    return session->Run({train}, {{keys, Tensor::Vector(of)}, {factors, Tensor::Vector(by)}}).status();
  }
  std::vector<float> Lookup(const std::vector<int64_t>& of) {
    const auto got = session->session().Run({rows}, {{keys, Tensor::Vector(of)}});
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? ValuesOf<float>(got->at(0)) : std::vector<float>();
  }
  int64_t NumRows() { return session->session().Run({count}).value()[0].scalar<int64_t>(); }

  const bool is_chief;
  const std::string target;
  Graph g;
  EmbeddingVariable table;
  Variable fixed;
  Output keys, factors, rows, count;
  std::vector<std::shared_ptr<SessionRunHook>> hooks;
  Operation train;
  std::unique_ptr<MonitoredSession> session;
};

// Two workers that train together, in a cluster with two parameter servers.
struct Pair {
  Pair(bool has_table, int64_t filter_freq, const MakeOptimizer& make)
      : cluster(2, 2),
        chief(cluster, 0, has_table, filter_freq, make, 2),
        other(cluster, 1, has_table, filter_freq, make, 2) {
    const Status started = chief.Start(), also = other.Start();
    EXPECT_TRUE(started.ok() && also.ok()) << started << also;
    // The tokens of the first step are there at the beginning, so gradients of the second may come too late.
    for (int i = 0; i < 2; ++i) Finish();
  }
  // One step of both.
  void Step(const std::vector<int64_t>& keys0, const std::vector<float>& by0, const std::vector<int64_t>& keys1,
            const std::vector<float>& by1) {
    std::thread thread([&] { EXPECT_TRUE(other.Step(keys1, by1).ok()); });
    const Status status = chief.Step(keys0, by0);
    EXPECT_TRUE(status.ok()) << status;
    thread.join();
  }

  // Waits for the update of the last step. A worker begins each step when the update of the step before is done, so
  // this takes one more step, without keys.
  void Finish() { Step({}, {}, {}, {}); }

  TestCluster cluster;
  Worker chief, other;
};

// Gradients are exact, in whatever order those of the workers are added.
TEST(SyncTableTest, ATableOverAVocabularyEqualsAVariableBitForBit) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 40; ++i) all.push_back(i);
  for (const auto& [name, make] : RulesOfTables()) {
    SCOPED_TRACE(name);
    Pair fixed(false, 0, make), table(true, 0, make), filtered(true, 1, make);
    for (int step = 0; step < 8; ++step) {
      std::vector<int64_t> keys[2];
      std::vector<float> by[2];
      for (int w = 0; w < 2; ++w) {
        for (int i = 0; i < 7; ++i) {
          keys[w].push_back((step * 7 + w * 3 + i * i) % 40);
          by[w].push_back(0.25f * static_cast<float>((step + w + i * 5) % 9 - 4));
        }
      }
      for (Pair* pair : {&fixed, &table, &filtered}) pair->Step(keys[0], by[0], keys[1], by[1]);
    }
    for (Pair* pair : {&fixed, &table, &filtered}) pair->Finish();
    const auto expected = fixed.chief.Lookup(all);
    EXPECT_EQ(table.chief.Lookup(all), expected);
    EXPECT_EQ(filtered.other.Lookup(all), expected);
  }
}

TEST(SyncTableTest, AllKeysAreKeys) {
  Pair pair(true, 0, [](Graph&) { return std::make_shared<GradientDescentOptimizer>(1.0); });
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  for (int step = 0; step < 2; ++step) pair.Step({most, -1, least}, {1, 2, 4}, {least, -1, 3, least}, {8, 2, 2, 8});
  pair.Finish();
  // The mean of a row is over the workers that have it.
  EXPECT_THAT(pair.chief.Lookup({most, -1, least, 3, 4}),
              ElementsAre(-1.75, -1.75, -3.75, -3.75, -19.75, -19.75, -3.75, -3.75, 0.25, 0.25));
  EXPECT_EQ(pair.chief.NumRows(), 4);
}

TEST(SyncTableTest, OccurrencesOfAllWorkersCount) {
  Pair pair(true, 3, HalfDescent);
  pair.Step({5, 6}, {1, 1}, {5, 5, 7}, {1, 2, 1});
  pair.Finish();
  EXPECT_EQ(pair.chief.NumRows(), 1);
  EXPECT_THAT(pair.other.Lookup({5, 6}), ElementsAre(-0.75, -0.75, -7, -7));  // 0.25 - 0.5 * (1 + 3) / 2
  pair.Step({6}, {1}, {8, 6}, {1, 3});
  pair.Finish();
  EXPECT_EQ(pair.chief.NumRows(), 2);
  EXPECT_THAT(pair.chief.Lookup({6, 7, 8}), ElementsAre(-0.75, -0.75, -7, -7, -7, -7));
}

TEST(BatchesOfATableTest, TheMeanOfBatchesIsPushed) {
  for (const int64_t filter_freq : {0, 2}) {
    SCOPED_TRACE(filter_freq);
    TestCluster cluster(2, 1);
    Worker worker(cluster, 0, true, filter_freq, HalfDescent, 0, [](std::shared_ptr<Optimizer> optimizer) {
      AsyncReplicasOptions options;
      options.staleness.batches_per_push = {{0, 2}};
      return std::make_shared<AsyncReplicasOptimizer>(optimizer, options);
    });
    const Status started = worker.Start();
    ASSERT_TRUE(started.ok()) << started;
    ASSERT_TRUE(worker.Step({5, 6}, {1, 2}).ok());
    EXPECT_EQ(worker.NumRows(), 0);
    ASSERT_TRUE(worker.Step({5, 7}, {3, 2}).ok());
    EXPECT_EQ(worker.NumRows(), filter_freq == 0 ? 3 : 1);
    EXPECT_EQ(worker.Lookup({5})[0], -0.75f);                             // 0.25 - 0.5 * (1 + 3) / 2
    EXPECT_EQ(worker.Lookup({6})[0], filter_freq == 0 ? -0.25f : 0.25f);  // it occurred once, and here again
  }
}

// Three workers, of which the first two share a host, make 12 steps each without waiting for each other. All sums are
// exact, so that the order of the updates does not matter.
void TrainWithSumsPerHost(int64_t filter_freq) {
  constexpr int kSteps = 12, kWorkers = 3;
  TestCluster cluster(2, kWorkers);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.push_back(std::make_unique<Worker>(
        cluster, w, true, filter_freq, HalfDescent, 0, [w](std::shared_ptr<Optimizer> optimizer) {
          AsyncReplicasOptions options;
          options.replica = w;
          options.sum_per_host = true;
          options.cluster = ClusterSpec({{"ps", {"server:1"}}, {"worker", {"a:0", "a:1", "b:2"}}});
          options.worker_device = StrCat("/job:worker/task:", w);
          return std::make_shared<AsyncReplicasOptimizer>(optimizer, options);
        }));
  }
  std::vector<std::thread> threads;
  for (int w = 0; w < kWorkers; ++w) {
    threads.emplace_back([&worker = *workers[static_cast<size_t>(w)], w] {
      const Status started = worker.Start();
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < kSteps; ++step) {
        const Status stepped = worker.Step({-1, -1, 7 + w, 1000 + 100 * w + step}, {1, 0.25, 0.5, 2});
        ASSERT_TRUE(stepped.ok()) << stepped;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Worker& chief = *workers[0];
  if (filter_freq <= 1) {
    EXPECT_EQ(chief.NumRows(), 4 + kWorkers * kSteps);
    const float all = 0.25f - 0.5f * 1.25f * kWorkers * kSteps, own = 0.25f - 0.5f * 0.5f * kSteps;
    EXPECT_THAT(chief.Lookup({-1, 7, 8, 9, 1000, 1211}),
                ElementsAre(all, all, own, own, own, own, own, own, -0.75, -0.75, -0.75, -0.75));
  } else {  // keys that come in one step only have no row
    EXPECT_EQ(chief.NumRows(), 4);
    EXPECT_THAT(chief.Lookup({1000}), ElementsAre(-7, -7));
  }
  for (int w = kWorkers - 1; w >= 0; --w) EXPECT_EQ(workers[static_cast<size_t>(w)]->session->Close(), OkStatus());
}

TEST(SumsPerHostOfATableTest, EachGradientIsAppliedOnce) {
  for (const int64_t filter_freq : {0, 1, 3}) {
    SCOPED_TRACE(filter_freq);
    TrainWithSumsPerHost(filter_freq);
  }
}

}  // namespace
}  // namespace tensorbraid
