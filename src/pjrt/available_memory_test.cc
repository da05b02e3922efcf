#include "pjrt/available_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

class AvailableMemoryTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  const TempDir directory_;
  const std::string root_ = directory_.path();
};

TEST_F(AvailableMemoryTest, IsThatOfTheMachine) {
  EXPECT_EQ(AvailableMemory(root_), std::numeric_limits<int64_t>::max());
  Write("/proc/meminfo", "MemTotal:       24000 kB\nMemFree:        1000 kB\nMemAvailable:   20000 kB\n");
  EXPECT_EQ(AvailableMemory(root_), 20000 * 1024);
  EXPECT_GT(AvailableMemory(), 0);
}

TEST_F(AvailableMemoryTest, IsWhatTheControlGroupHasLeft) {
  Write("/proc/meminfo", "MemAvailable:   20000 kB\n");
  Write("/sys/fs/cgroup/memory.max", "max\n");
  Write("/sys/fs/cgroup/memory.current", "5000\n");
  EXPECT_EQ(AvailableMemory(root_), 20000 * 1024);
  Write("/sys/fs/cgroup/memory.max", "8000\n");
  EXPECT_EQ(AvailableMemory(root_), 3000);
  Write("/sys/fs/cgroup/memory.stat", "anon 4000\ninactive_file 700\nactive_file 300\n");
  EXPECT_EQ(AvailableMemory(root_), 3700);
  Write("/sys/fs/cgroup/memory.current", "9000\n");
  EXPECT_EQ(AvailableMemory(root_), 0);
}

TEST_F(AvailableMemoryTest, KnowsTheFirstVersionOfControlGroups) {
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8000\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
  Write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 500\n");
  EXPECT_EQ(AvailableMemory(root_), 3500);
}

}  // namespace
}  // namespace tensorbraid
