// Tests growing tables with a filter: keys get rows after some occurrences in updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <random>

#include "cluster/testing/test_cluster.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/optimizers/table_rules_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<Optimizer> HalfMomentum(Graph&) { return std::make_shared<MomentumOptimizer>(0.5, 1.0); }

// A training in which the gradient of a row is the sum of its factors. Rows begin with 0.25.
struct Filtered {
  Filtered(int parts, int64_t filter_freq, const MakeOptimizer& make = HalfDescent,
           const DeviceFunction& device = nullptr) {
    auto place = g.Device(device ? device : [](const Operation&) { return std::string(); });
    table = EmbeddingVariable(g, 2,
                              {.name = "ids",
                               .initializer = Constant(0.25),
                               .partitioner = FixedSizePartitioner(parts),
                               .filter_freq = filter_freq,
                               .no_permission = -7});
    keys = Placeholder(g, kInt64, {-1});
    factors = Placeholder(g, kFloat32, {-1, 2});
    rows = nn::EmbeddingLookup(table, keys);
    train = make(g)->Minimize(ReduceSum(rows * factors), {.global_step = GetOrCreateGlobalStep(g)});
    count = table.NumRows();
    init = GlobalVariablesInitializer(g);
  }
  Status Start(const std::string& target = "") {
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(session, Session::Create(g, {.target = target}));
    return session->Run({init}).status();
  }
  std::vector<float> Lookup(const std::vector<int64_t>& of) {
    const auto got = session->Run({rows}, {{keys, Tensor::Vector(of)}});
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? ValuesOf<float>(got->at(0)) : std::vector<float>();
  }
  // Each number of a row has the same factor.
  Status Step(const std::vector<int64_t>& of, const std::vector<float>& by) {
    Tensor both(kFloat32, {static_cast<int64_t>(by.size()), 2});
    for (size_t i = 0; i < 2 * by.size(); ++i) both.mutable_data<float>()[i] = by[i / 2];
    return session->Run({train}, {{keys, Tensor::Vector(of)}, {factors, both}}).status();
  }
  int64_t NumRows() { return session->Run({count}).value()[0].scalar<int64_t>(); }

  Graph g;
  EmbeddingVariable table;
  Output keys, factors, rows, count;
  Operation train, init;
  std::unique_ptr<Session> session;
};

TEST(TableFilterTest, AKeyIsAdmittedWithTheUpdateThatReachesTheCount) {
  for (const int parts : {1, 2}) {
    Filtered t(parts, 3);
    const Status started = t.Start();
    ASSERT_TRUE(started.ok()) << started;
    EXPECT_THAT(t.Lookup({5, 6}), ElementsAre(-7, -7, -7, -7));
    EXPECT_EQ(t.Lookup({5, 5, 5})[4], 0.25f);  // an update of this batch would admit it
    EXPECT_EQ(t.Lookup({5, 5})[0], -7);        // and lookups do not count
    ASSERT_TRUE(t.Step({5}, {1}).ok());
    ASSERT_TRUE(t.Step({5, 6}, {1, 1}).ok());
    EXPECT_EQ(t.NumRows(), 0);
    EXPECT_THAT(t.Lookup({5, 6}), ElementsAre(0.25, 0.25, -7, -7));
    ASSERT_TRUE(t.Step({5, 6}, {2, 2}).ok());
    EXPECT_EQ(t.NumRows(), 1);
    EXPECT_THAT(t.Lookup({5, 6}), ElementsAre(-0.75, -0.75, 0.25, 0.25));
    ASSERT_TRUE(t.Step({-8, -8, -8}, {1, 1, 2}).ok());  // one update is enough
    EXPECT_THAT(t.Lookup({-8}), ElementsAre(-1.75, -1.75));
  }
}

TEST(TableFilterTest, AProgramThatMakesKeysDistinctSaysHowOftenTheyOccur) {
  for (const int parts : {1, 2}) {
    for (const DType dtype : {kInt32, kInt64}) {
      Graph g;
      const EmbeddingVariable table(g, 1,
                                    {.name = "ids",
                                     .initializer = Constant(1),
                                     .partitioner = FixedSizePartitioner(parts),
                                     .filter_freq = 3,
                                     .no_permission = -7});
      const Output keys = Placeholder(g, kInt64, {-1}), counts = Placeholder(g, dtype, {-1});
      const Output rows = nn::EmbeddingLookup(table, keys, {.counts = counts});
      const Operation train = GradientDescentOptimizer(0.5).Minimize(ReduceSum(rows));
      const Output count = table.NumRows();
      const Operation init = GlobalVariablesInitializer(g);
      ASSERT_TRUE(g.status().ok()) << g.status();
      auto session = Session::Create(g).value();
      ASSERT_TRUE(session->Run({init}).ok());
      const auto feeds = [&](const std::vector<int32_t>& of, const std::vector<int32_t>& occur) {
        return std::vector<Feed>{
            {keys, Tensor::Vector(std::vector<int64_t>(of.begin(), of.end()))},
            {counts, dtype == kInt32 ? Tensor::Vector(occur)
                                     : Tensor::Vector(std::vector<int64_t>(occur.begin(), occur.end()))}};
      };
      EXPECT_THAT(ValuesOf<float>(session->Run({rows}, feeds({5, 6, 7, 7}, {3, 2, 2, 1})).value()[0]),
                  ElementsAre(1, -7, 1, 1));
      ASSERT_TRUE(session->Run({train}, feeds({5, 6}, {3, 2})).ok());
      EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), 1);
      ASSERT_TRUE(session->Run({train}, feeds({6}, {1})).ok());
      EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), 2);
    }
  }
  Graph g;
  const EmbeddingVariable table(g, 1, {.name = "ids", .filter_freq = 3});
  nn::EmbeddingLookup(table, Placeholder(g, kInt64, {3}), {.counts = Placeholder(g, kInt64, {2})});
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("counts are int64[2], but must be int32 or int64"));
}

TEST(TableFilterTest, OccurrencesOfAllLookupsCount) {
  Graph g;
  const EmbeddingVariable table(g, 1, {.name = "ids", .initializer = Constant(1), .filter_freq = 4});
  const auto keys = Placeholder(g, kInt64, {-1});
  const SparseTensor sparse = {.indices = Const(g, Tensor::Of<int64_t>({2, 2}, {0, 0, 0, 1})),
                               .values = keys,
                               .dense_shape = Const(g, Tensor::Vector<int64_t>({1, 2}))};
  const auto loss = ReduceSum(nn::EmbeddingLookup(table, keys)) +
                    ReduceSum(nn::EmbeddingLookupSparse(table, sparse, {.combiner = nn::Combiner::kSum}));
  const auto train = AdagradOptimizer(0.1).Minimize(loss);
  const auto count = table.NumRows();
  const auto init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  ASSERT_TRUE(session->Run({train}, {{keys, Tensor::Vector<int64_t>({1, 2})}}).ok());
  EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), 0);  // twice each
  ASSERT_TRUE(session->Run({train}, {{keys, Tensor::Vector<int64_t>({3, 3})}}).ok());
  EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), 1);  // 3, four times at once
  ASSERT_TRUE(session->Run({train}, {{keys, Tensor::Vector<int64_t>({1, 4})}}).ok());
  EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), 2);
}

// Savers whose variables are written by one task save the state of a Bloom filter, too.
TEST(TableFilterTest, TheCountsOfABloomFilterAreRestored) {
  const TempDir dir;
  for (const bool sharded : {true, false}) {
    const std::string path = dir.path() + (sharded ? "/sharded" : "/whole");
    int64_t step = 0;
    for (const int parts : {1, 3, 2}) {
      Graph g;
      const EmbeddingVariable table(g, 1,
                                    {.name = "ids",
                                     .partitioner = FixedSizePartitioner(parts),
                                     .filter_freq = 3,
                                     .filter_keys = 1000,
                                     .filter_error = 0.01});
      const Output keys = Const(g, Tensor::Vector<int64_t>({8, -9}));
      const Operation train = GradientDescentOptimizer(0.5).Minimize(ReduceSum(nn::EmbeddingLookup(table, keys)));
      const Output count = table.NumRows();
      const Operation init = GlobalVariablesInitializer(g);
      Saver saver(g, {.sharded = sharded});
      ASSERT_TRUE(g.status().ok()) << g.status();
      auto session = Session::Create(g).value();
      ASSERT_TRUE(session->Run({init}).ok());
      if (step > 0) {
        const Status restored = saver.Restore(*session, StrCat(path, "-", step));
        ASSERT_TRUE(restored.ok()) << restored;
      }
      ASSERT_TRUE(session->Run({train}).ok());
      EXPECT_EQ(session->Run({count}).value()[0].scalar<int64_t>(), ++step == 3 ? 2 : 0) << sharded << parts;
      const auto saved = saver.Save(*session, path, {.global_step = step});
      ASSERT_TRUE(saved.ok()) << saved.status();
    }
  }
}

TEST(TableFilterTest, EveryRuleTakesCounts) {
  const std::map<std::string, MakeOptimizer> rules = {
      {"descent", HalfDescent},
      {"momentum", [](Graph&) { return std::make_shared<MomentumOptimizer>(0.1, 0.9); }},
      {"adagrad", [](Graph&) { return std::make_shared<AdagradOptimizer>(0.1); }},
      {"adadelta", [](Graph&) { return std::make_shared<AdadeltaOptimizer>(0.5); }},
      {"adam", [](Graph&) { return std::make_shared<AdamOptimizer>(0.1); }},
      {"adam w", [](Graph&) { return std::make_shared<AdamWOptimizer>(0.1, 0.1); }},
      {"adam async", [](Graph&) { return std::make_shared<AdamAsyncOptimizer>(0.1); }},
      {"adagrad decay",
       [](Graph& g) { return std::make_shared<AdagradDecayOptimizer>(0.1, GetOrCreateGlobalStep(g)); }},
      {"rms prop", [](Graph&) { return std::make_shared<RMSPropOptimizer>(0.1); }},
      {"centered", [](Graph&) { return std::make_shared<RMSPropOptimizer>(0.1, RMSPropOptions{.centered = true}); }},
      {"ftrl", [](Graph&) { return std::make_shared<FtrlOptimizer>(0.1); }},
      {"shrinkage",
       [](Graph&) {
         return std::make_shared<FtrlOptimizer>(0.1, FtrlOptions{.l2_shrinkage_regularization_strength = 0.1});
       }},
      {"replicas", [](Graph&) {
         return std::make_shared<AsyncReplicasOptimizer>(std::make_shared<AdagradOptimizer>(0.1),
                                                         AsyncReplicasOptions{});
       }}};
  const std::vector<int64_t> keys = {1, 2, 2, 1003};
  for (const auto& [name, make] : rules) {
    SCOPED_TRACE(name);
    Filtered without(1, 0, make), once(1, 1, make), twice(1, 2, make);
    for (Filtered* t : {&without, &once, &twice}) {
      const Status started = t->Start();
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 3; ++step) {
        const Status stepped = t->Step(keys, {1, 2, 3, -1});
        ASSERT_TRUE(stepped.ok()) << stepped;
      }
    }
    EXPECT_EQ(once.Lookup(keys), without.Lookup(keys));
    EXPECT_EQ(twice.NumRows(), 3);
    EXPECT_NE(twice.Lookup({1}), without.Lookup({1}));  // its first update only counted
  }
}

// What the table should be.
struct FilterModel {
  struct Key {
    int64_t count = 0;
    std::optional<float> row;
    float slot = 0;
  };
  std::map<int64_t, Key> keys;
  int64_t freq;
  bool momentum;  // as HalfMomentum, whose slot is the sum of all gradients

  std::vector<float> Lookup(const std::vector<int64_t>& of) {
    std::vector<float> values;
    for (const int64_t key : of) {
      const Key& k = keys[key];
      const bool permitted = k.count + std::ranges::count(of, key) >= freq;
      values.insert(values.end(), 2, k.row ? *k.row : permitted ? 0.25f : -7.0f);
    }
    return values;
  }
  void Step(const std::vector<int64_t>& of, const std::vector<float>& by) {
    std::map<int64_t, float> gradients;
    for (size_t i = 0; i < of.size(); ++i) {
      ++keys[of[i]].count;
      gradients[of[i]] += by[i];
    }
    for (const auto& [key, gradient] : gradients) {
      Key& k = keys[key];
      if (k.count < freq) continue;
      k.slot = gradient + (momentum ? k.slot : 0);
      k.row = k.row.value_or(0.25f) - 0.5f * k.slot;  // exact: multiples of 0.25
    }
  }
  int64_t NumRows() const {
    return std::ranges::count_if(keys, [](const auto& k) { return k.second.row.has_value(); });
  }
};

TEST(TableFilterTest, RandomStepsSavesAndRestoresEqualAModel) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "table_filter_test";
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
    const bool on_servers = seed % 3 == 0;
    TestCluster cluster(2, 1);
    FilterModel model{.keys = {}, .freq = 1 + below(5), .momentum = seed % 2 == 0};
    std::string checkpoint;
    for (int turn = 0; turn < 4; ++turn) {
      const int parts = on_servers ? 2 : static_cast<int>(1 + below(3));
      Filtered t(parts, model.freq, model.momentum ? HalfMomentum : HalfDescent,
                 on_servers ? ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"})
                            : nullptr);
      Saver saver(t.g);
      // On the servers, the initializer drops the rows of the turn before.
      const Status started = t.Start(on_servers ? cluster.worker_target() : "");
      ASSERT_TRUE(started.ok()) << started;
      if (turn > 0) {
        const Status restored = saver.Restore(*t.session, checkpoint);
        ASSERT_TRUE(restored.ok()) << restored;
      }
      for (int step = 0; step < 25; ++step) {
        std::vector<int64_t> keys;
        std::vector<float> factors;
        for (int64_t n = 1 + below(6); n > 0; --n) {
          keys.push_back((below(30) - 10) * (below(2) == 0 ? 1 : 999'999'937));
          factors.push_back(0.5f * static_cast<float>(below(5)));
        }
        ASSERT_EQ(t.Lookup(keys), model.Lookup(keys)) << step;
        ASSERT_TRUE(t.Step(keys, factors).ok());
        model.Step(keys, factors);
        ASSERT_EQ(t.NumRows(), model.NumRows()) << step;
      }
      const auto saved = saver.Save(*t.session, folder + "/model", {.global_step = turn});
      ASSERT_TRUE(saved.ok()) << saved.status();
      checkpoint = *saved;
    }
  }
}

TEST(TableFilterTest, ACheckpointHasTheCountsOfAllKeys) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "table_filter_test_counts";
  Filtered t(1, 3);
  Saver saver(t.g);
  ASSERT_TRUE(t.Start().ok());
  ASSERT_TRUE(t.Step({5, 5, 5, 6, 5, 1007}, {1, 1, 1, 1, 1, 1}).ok());
  const auto saved = saver.Save(*t.session, folder + "/model");
  ASSERT_TRUE(saved.ok()) << saved.status();
  const auto reader = CheckpointReader::Open(*saved).value();
  const auto list = [&](const std::string& name) {
    const auto tensor = reader->GetTensor("ids/part_0-" + name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    return std::vector<int64_t>(tensor->data<int64_t>().begin(), tensor->data<int64_t>().end());
  };
  EXPECT_THAT(list("keys"), ElementsAre(5));
  EXPECT_THAT(list("freqs"), ElementsAre(4));
  EXPECT_THAT(list("keys_filtered"), ElementsAre(6, 1007));
  EXPECT_THAT(list("freqs_filtered"), ElementsAre(1, 1));
  const auto offsets = reader->GetTensor("ids/part_0-partition_filter_offset").value();
  EXPECT_EQ(offsets.data<int32_t>()[6], 0);
  EXPECT_EQ(offsets.data<int32_t>()[7], 1);
  EXPECT_EQ(offsets.data<int32_t>()[8], 2);
  EXPECT_EQ(offsets.data<int32_t>()[1000], 2);
}

TEST(TableFilterTest, AFilterNeedsCountsInTheCheckpoint) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "table_filter_test_lacks";
  std::string saved;
  {
    Filtered without(1, 0);
    Saver saver(without.g);
    ASSERT_TRUE(without.Start().ok());
    ASSERT_TRUE(without.Step({5}, {1}).ok());
    saved = saver.Save(*without.session, folder + "/model").value();
  }
  Filtered t(2, 3);
  Saver saver(t.g);
  ASSERT_TRUE(t.Start().ok());
  ASSERT_TRUE(t.Step({9, 9, 9}, {1, 1, 1}).ok());
  const Status restored = saver.Restore(*t.session, saved);
  EXPECT_TRUE(absl::IsFailedPrecondition(restored)) << restored;
  EXPECT_THAT(std::string(restored.message()), HasSubstr("make the table without the filter"));
  EXPECT_EQ(t.NumRows(), 1);  // nothing is lost
  Graph g;
  const EmbeddingVariable wrong(g, 2, {.name = "ids", .filter_freq = -1});
  EXPECT_FALSE(wrong.valid());
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("filter_freq must not be negative, got -1"));
}

}  // namespace
}  // namespace tensorbraid
