// Tests what the report of a cluster says about growing tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/status_text.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/testing/test_cluster.h"
#include "status/report_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ContainsRegex;

// A training with growing tables on the parameter servers of a cluster.
class TableTraining {
 public:
  TableTraining(TestCluster& cluster, int servers, int tables) {
    const auto device = g_.Device(ReplicaDeviceSetter({.ps_tasks = servers}));
    const Variable step = GetOrCreateGlobalStep(g_);
    Output loss = Const(g_, Tensor::Scalar(0.0f));
    for (int t = 0; t < tables; ++t) {
      EmbeddingVariableOptions options = {.name = StrCat("table", t)};
      if (servers > 1) options.partitioner = FixedSizePartitioner(servers);
      const EmbeddingVariable table(g_, 4, options);
      keys_.push_back(Placeholder(g_, kInt64, {-1}));
      const Output rows = nn::EmbeddingLookup(table, keys_.back());
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
    for (const Output& placeholder : keys_) feeds.push_back({placeholder, Tensor::Vector(keys)});
    const auto result = session_->Run({train_}, feeds);
    ASSERT_TRUE(result.ok()) << result.status();
  }

 private:
  Graph g_;
  std::vector<Output> keys_;
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

}  // namespace
}  // namespace tensorbraid
