// Tests what the report of a cluster says about growing tables, and what it shows of their messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <random>

#include "cli/status_text.h"
#include "cli/table/running_tables.h"
#include "cli/table/table_report.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "status/report_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ContainsRegex;

// A training with growing tables on the parameter servers of a cluster.
class TableTraining {
 public:
  // With `sparse`, a lookup combines the keys of each example, as those of feature columns do.
  TableTraining(TestCluster& cluster, int servers, int tables, bool sparse = false)
      : cluster_(cluster), sparse_(sparse) {
    const auto device = g_.Device(ReplicaDeviceSetter({.ps_tasks = servers}));
    const Variable step = GetOrCreateGlobalStep(g_);
    Output loss = Const(g_, Tensor::Scalar(0.0f));
    for (int t = 0; t < tables; ++t) {
      EmbeddingVariableOptions options = {.name = StrCat("table", t)};
      if (servers > 1) options.partitioner = FixedSizePartitioner(servers);
      const EmbeddingVariable table(g_, 4, options);
      keys_.push_back(SparsePlaceholder(g_, kInt64, {-1, 1}));
      const Output rows =
          sparse ? nn::EmbeddingLookupSparse(table, keys_.back()) : nn::EmbeddingLookup(table, keys_.back().values);
      loss = loss + ReduceSum(rows * rows);
    }
    AdagradOptimizer adagrad(0.1f);
    train_ = adagrad.Minimize(loss, {.global_step = step});
    const Operation initialize = GlobalVariablesInitializer(g_);
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    session_ = Session::Create(g_, {.target = cluster.worker_target(0)}).value();
    EXPECT_TRUE(session_->Run({initialize}).ok());
  }
  void Step(const std::vector<int64_t>& keys) {
    std::vector<Feed> feeds;
    const auto n = static_cast<int64_t>(keys.size());
    Tensor indices(kInt64, {n, 2});  // a key for each example
    for (int64_t i = 0; i < 2 * n; ++i)
      indices.mutable_data<int64_t>()[static_cast<size_t>(i)] = i % 2 == 0 ? i / 2 : 0;
    for (const SparseTensor& ids : keys_) {
      feeds.push_back({ids.values, Tensor::Vector(keys)});
      if (!sparse_) continue;
      feeds.push_back({ids.indices, indices});
      feeds.push_back({ids.dense_shape, Tensor::Vector<int64_t>({n, 1})});
    }
    const auto result = session_->Run({train_}, feeds);
    ASSERT_TRUE(result.ok()) << result.status();
  }
  // The messages of a step in both directions between the worker and a server, on average.
  double MessagesPerStep(const std::string& server) {
    constexpr int kSteps = 50;
    Step({1, 2, 3});
    const double before = Messages(server);
    for (int i = 0; i < kSteps; ++i) Step({i, i + 1, i + 2});
    return (Messages(server) - before) / kSteps;
  }

 private:
  double Messages(const std::string& server) {
    const proto::ClusterReport report = ReportOf(cluster_.task("worker", 0));
    double messages = 0;
    for (const auto& [to, from] : {std::pair(server, std::string("worker/0")), {std::string("worker/0"), server}}) {
      for (const auto& traffic : TaskIn(report, to).received()) {
        if (traffic.from() == from) messages += traffic.messages();
      }
    }
    return messages;
  }

  TestCluster& cluster_;
  Graph g_;
  const bool sparse_;
  std::vector<SparseTensor> keys_;
  Operation train_;
  std::unique_ptr<Session> session_;
};

TEST(TableStatusTest, AServerReportsItsTables) {
  TestCluster cluster(1, 1);
  TableTraining training(cluster, 1, 1);
  training.Step({1, 2, 3});
  training.Step({2, 3, 4});
  const proto::ClusterReport report = ReportOf(cluster.task("worker", 0));
  EXPECT_EQ(TaskIn(report, "worker/0").tables_size(), 0);
  ASSERT_EQ(TaskIn(report, "ps/0").tables_size(), 1);
  const proto::TableReport& table = TaskIn(report, "ps/0").tables(0);
  EXPECT_EQ(table.table(), "table0");
  EXPECT_EQ(table.rows(), 4);
  EXPECT_EQ(table.admissions(), 4);
  EXPECT_EQ(table.growth_per_minute(), 4);
  EXPECT_EQ(table.lookups(), 6);
  EXPECT_EQ(table.hits(), 2);
  EXPECT_GT(table.bytes(), 4 * 2 * 4 * 4);
  EXPECT_THAT(StatusText(report, report), ContainsRegex("ps/0 +table0 +4 "));
}

TEST(TableStatusTest, MessagesOfAStepDoNotDependOnTheNumberOfTables) {
  // Without heartbeats, which are messages, too: a longer run has more of them.
  TaskOptions silent;
  silent.membership.heartbeat_interval = silent.membership.heartbeat_timeout = std::chrono::hours(1);
  for (const int servers : {1, 2}) {
    TestCluster few(servers, 1, silent), many(servers, 1, silent);
    const double with_2 = TableTraining(few, servers, 2).MessagesPerStep("ps/0");
    const double with_26 = TableTraining(many, servers, 26).MessagesPerStep("ps/0");
    RecordProperty(StrCat("messages_", servers), StrCat(with_2, " ", with_26));
    // The report that is asked for is a message, too.
    EXPECT_NEAR(with_2, with_26, 0.5) << servers << " servers";
    EXPECT_LT(with_26, 12) << servers << " servers";
  }
}

TEST(TableStatusTest, RowsOfARunningJobAreRead) {
  for (const int servers : {1, 3}) {
    TestCluster cluster(servers, 1);
    TableTraining training(cluster, servers, 2);
    training.Step({1, 2, 3, 1000, 2001});
    training.Step({2, -5, 3});
    training.Step({3});
    const proto::ClusterReport before = ReportOf(cluster.task("worker", 0));
    RunningTables tables(before, {.target = cluster.worker_target(0)});
    EXPECT_THAT(tables.Describe(), ContainsRegex(StrCat("table1 +6 +", servers, " ")));

    TableInCheckpoint table;
    auto rows = tables.Rows("table1", {-5, 3, 7, 2001}, &table);
    ASSERT_TRUE(rows.ok()) << rows.status();
    const auto text = DescribeRows(*rows, table, {"-5", "3", "7", "2001"}, {-5, 3, 7, 2001}, /*slots=*/true);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(text->missing, 1);
    EXPECT_THAT(text->text, ContainsRegex("-5: last updated at step 1\n  table1: .*\n  table1/Adagrad: .*\n"
                                          "3: last updated at step 2\n.*\n.*\n7: no row\n2001: last"));

    TableInCheckpoint topmost;
    auto top = tables.Top("table1", "version", 2, &topmost);
    ASSERT_TRUE(top.ok()) << top.status();
    EXPECT_THAT(DescribeTopRows(*top, topmost, RowOrder::kVersion, 2).value(),
                ContainsRegex("^key +norm +version\n3 +.* +2\n-5 +.* +1\n$"));
    TableInCheckpoint none;
    EXPECT_THAT(tables.Rows("table3", {1}, &none).status().ToString(), ContainsRegex("did you mean 'table[01]'"));

    const proto::ClusterReport after = ReportOf(cluster.task("worker", 0));
    for (int server = 0; server < servers; ++server) {
      const std::string name = StrCat("ps/", server);
      for (int t = 0; t < 2; ++t)
        EXPECT_EQ(TaskIn(before, name).tables(t).lookups(), TaskIn(after, name).tables(t).lookups());
    }
  }
}

TEST(TableStatusTest, ServersServeAboutEquallyManyRows) {
  constexpr int kServers = 4, kSteps = 20, kBatch = 2048;
  TestCluster cluster(kServers, 1);
  TableTraining training(cluster, kServers, 1, /*sparse=*/true);
  // Zipf's law with the exponent 1.1 over 1e8 keys: a tenth of all keys is the same one.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<int64_t> keys(kBatch);
    for (int64_t& key : keys) {
      key = static_cast<int64_t>(std::pow((std::pow(1e8, -0.1) - 1) * uniform(random) + 1, -10));
    }
    training.Step(keys);
  }
  const proto::ClusterReport report = ReportOf(cluster.task("worker", 0));
  double most = 0, all = 0;
  for (int server = 0; server < kServers; ++server) {
    const proto::TaskReport& task = TaskIn(report, StrCat("ps/", server));
    ASSERT_EQ(task.tables_size(), 1);
    most = std::max(most, task.tables(0).lookups());
    all += task.tables(0).lookups();
  }
  EXPECT_GT(all, kSteps * kBatch / 10);
  EXPECT_LT(all, kSteps * kBatch) << "a key that occurs repeatedly in a batch is looked up once";
  EXPECT_LE(most, 1.15 * all / kServers);
}

}  // namespace
}  // namespace tensorbraid
