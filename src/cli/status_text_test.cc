#include "cli/status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/protobuf/report.pb.h"

namespace tensorbraid {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusTextTest, ShowsAcceleratorsAndWhatIsCompiled) {
  proto::ClusterReport report;
  auto* task = report.add_tasks();
  task->set_task("worker/0");
  task->set_state("up");
  EXPECT_THAT(StatusText(report, report), Not(HasSubstr("accelerator")));

  auto* compile = task->add_compiling();
  compile->set_program("a program of 40 nodes that ends with 'loss'");
  compile->set_seconds(12);
  EXPECT_THAT(StatusText(report, report),
              HasSubstr("programs that are being compiled:\n"
                        "  worker/0 has compiled a program of 40 nodes that ends with 'loss' for 12 s\n"));

  task->set_programs(3);
  task->set_compile_seconds(7);
  task->set_host_runs(15);
  for (const char* device : {"GPU:0", "GPU:1"}) {
    auto* accelerator = task->add_accelerators();
    accelerator->set_device(device);
    accelerator->set_tensor_bytes(2e9);
    accelerator->set_memory_limit(8e10);
  }
  EXPECT_THAT(StatusText(report, report), ContainsRegex("worker/0 +GPU:0 +2[^ ]* GB +80 GB +3 +7[^ ]* s +15"));
  EXPECT_THAT(StatusText(report, report), ContainsRegex("worker/0 +GPU:1 +2[^ ]* GB +80 GB *\n"));
}

TEST(StatusTextTest, ShowsGrowingTables) {
  proto::ClusterReport report;
  auto* task = report.add_tasks();
  task->set_task("ps/0");
  task->set_state("up");
  EXPECT_THAT(StatusText(report, report), Not(HasSubstr("lookups")));

  auto* table = task->add_tables();
  table->set_table("users/part_0");
  table->set_rows(1200);
  table->set_bytes(3e6);
  table->set_growth_per_minute(40);
  table->set_admissions(1300);
  table->set_lookups(200);
  table->set_hits(150);
  table->set_waiting(17);
  EXPECT_THAT(StatusText(report, report), ContainsRegex("ps/0 +users/part_0 +1200 +3[^ ]* MB +40 +1300 +75 % +17"));
}

}  // namespace
}  // namespace tensorbraid
