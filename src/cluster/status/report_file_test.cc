#include "cluster/status/report_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_text.h"
#include "core/system/fd.h"
#include "core/text/strings.h"
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
      report->set_steps(++calls);
      report->add_history();
      report->add_running();
    });
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr) << "one server of a process writes";
  }
  const auto report = ReportFromText(ReadFile(path_).value_or(""));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps(), calls);
  EXPECT_EQ(report->history_size() + report->running_size(), 0);
  EXPECT_NE(::access((path_ + ".new").c_str(), F_OK), 0);
  // The file is free again.
  EXPECT_NE(ReportFile::FromEnvironment([](proto::TaskReport*) {}), nullptr);
}

TEST_F(ReportFileTest, AFileThatCannotBeReplacedIsOverwritten) {
  const Fd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string text(3000, 'x');
  ASSERT_EQ(::write(fd.get(), text.data(), text.size()), ssize_t(text.size()));
  ::setenv(ReportFile::kVariable, StrCat("/proc/self/fd/", fd.get()).c_str(), 1);
  int calls = 0;
  {
    const auto file = ReportFile::FromEnvironment([&calls](proto::TaskReport* r) { r->set_steps(++calls); });
  }
  const std::string written = ReadFile(path_).value_or("");
  const auto report = ReportFromText(written);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps(), calls);
  EXPECT_EQ(written.find('x', written.find('\n')), std::string::npos) << "the rest of what was there before";
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
