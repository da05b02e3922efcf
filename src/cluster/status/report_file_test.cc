#include "cluster/status/report_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cluster/protobuf/report.pb.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

class ReportFileTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv(ReportFile::kVariable); }
  TempDir dir_;
  const std::string path_ = dir_.path() + "/report";
};

TEST_F(ReportFileTest, TheLastReportIsThatOfTheEnd) {
  ::setenv(ReportFile::kVariable, path_.c_str(), 1);
  int calls = 0;
  {
    const auto file = ReportFile::FromEnvironment([&calls](proto::TaskReport* report) {
      report->set_task("worker/1");
      report->set_steps(++calls);
      report->add_history();
      report->add_running();
    });
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr) << "one server of a process writes";
  }
  proto::TaskReport report;
  ASSERT_TRUE(report.ParseFromString(ReadFile(path_).value_or("")));
  EXPECT_EQ(report.task(), "worker/1");
  EXPECT_EQ(report.steps(), calls);
  EXPECT_EQ(report.history_size() + report.running_size(), 0);
  EXPECT_NE(::access((path_ + ".new").c_str(), F_OK), 0);
  // The file is free again.
  EXPECT_NE(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr);
}

TEST_F(ReportFileTest, NobodyAsksWithoutTheVariable) {
  EXPECT_EQ(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr);
}

TEST_F(ReportFileTest, AFileThatCannotBeWrittenDoesNoHarm) {
  ::setenv(ReportFile::kVariable, (path_ + "/").c_str(), 1);  // a directory
  EXPECT_NE(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr);
}

}  // namespace
}  // namespace tensorbraid
