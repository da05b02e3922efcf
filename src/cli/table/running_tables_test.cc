// Tests what `tensorbraid table` reads from a running job.
#include "cli/table/running_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/table/table_report.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// A table in two parts, on two parameter servers, with a row for each number from 0 to kRows - 1 times 37.
class RunningTablesTest : public testing::Test {
 protected:
  static constexpr int64_t kRows = 60;

  RunningTablesTest() {
    const auto device = g_.Device(ReplicaDeviceSetter({.ps_tasks = 2}));
    // The setter takes the servers in turns, so part i is on server i.
    const EmbeddingVariable table(g_, 2,
                                  {.name = "users", .initializer = Zeros(), .partitioner = FixedSizePartitioner(2)});
    const Variable step = GetOrCreateGlobalStep(g_);
    std::vector<int64_t> all;
    for (int64_t i = 0; i < kRows; ++i) all.push_back(i * 37);
    const Output keys = Const(g_, Tensor::Vector(all));
    const Output loss = ReduceSum(nn::EmbeddingLookup(table, keys));
    const Operation train = AdagradOptimizer(1.0f).Minimize(loss, {.global_step = step});
    const Operation slot = RowwiseAdagradOptimizer(0.0f).Minimize(loss, {.global_step = step});
    const Operation init = GlobalVariablesInitializer(g_);
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    session_ = Session::Create(g_, {.target = cluster_.worker_target()}).value();
    EXPECT_TRUE(session_->Run({init}).ok());
    EXPECT_TRUE(session_->Run({train}).ok());
    EXPECT_TRUE(session_->Run({slot}).ok());
  }
  // `rows` is what the report says of each part.
  RunningTables Tables(double rows) {
    proto::ClusterReport report;
    for (int i = 0; i < 2; ++i) {
      proto::TaskReport* task = report.add_tasks();
      task->set_task(StrCat("ps/", i));
      proto::TableReport* table = task->add_tables();
      table->set_table(StrCat("users/part_", i));
      table->set_rows(rows);
    }
    return RunningTables(report, {.target = cluster_.worker_target()});
  }

  TestCluster cluster_{2, 1};
  Graph g_;
  std::unique_ptr<Session> session_;
};

TEST_F(RunningTablesTest, AnExportHasEachRowOnce) {
  for (const double rows : {30.0, 1e6}) {  // at once, and 25 of the 1,000 small tables at a time
    RunningTables tables = Tables(rows);
    TableInCheckpoint found;
    auto all = tables.All("users", &found);
    ASSERT_TRUE(all.ok()) << all.status();
    std::ostringstream csv;
    ASSERT_TRUE(WriteRows(*all, found, /*slots=*/true, csv).ok());
    std::istringstream lines(csv.str());
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "key,version,v0,v1,Adagrad:0,Adagrad:1,RowwiseAdagrad:0");
    std::set<std::string> expected, exported;
    for (int64_t i = 0; i < kRows; ++i) expected.insert(StrCat(i * 37));
    while (std::getline(lines, line)) {
      EXPECT_TRUE(exported.insert(line.substr(0, line.find(','))).second) << line;
      EXPECT_THAT(line, HasSubstr(",1,-0.95")) << "a step of Adagrad from 0";
    }
    EXPECT_EQ(exported, expected);
  }
}

TEST_F(RunningTablesTest, RowsOfKeysAndTheTopAreOfBothParts) {
  RunningTables tables = Tables(30);
  TableInCheckpoint found;
  auto rows = tables.Rows("users", {37, 74, 5}, &found);
  ASSERT_TRUE(rows.ok()) << rows.status();
  const auto text = DescribeRows(*rows, found, {"37", "74", "5"}, {37, 74, 5}, /*slots=*/false);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->missing, 1);
  EXPECT_EQ(tables.All("user", &found).status().message(),
            "the job has no growing table 'user'; did you mean 'users'?");
}

}  // namespace
}  // namespace tensorbraid
