#include "launch/credentials/job_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/credentials/new_file.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Folders are made in a directory of this test.
class JobFolderTest : public ::testing::Test {
 protected:
  JobFolderTest() {
    for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
      const char* const value = std::getenv(name);
      saved_.emplace_back(name, value == nullptr ? "" : value);
      ::setenv(name, directory_.path().c_str(), 1);
    }
  }
  ~JobFolderTest() override {
    for (const auto& [name, value] : saved_) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }

  const TempDir directory_;

 private:
  std::vector<std::pair<std::string, std::string>> saved_;
};

// The pid of a process that has ended.
pid_t EndedProcess() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  return pid;
}

TEST_F(JobFolderTest, RemovesOnlyWhatEndedProcessesOfThisMachineLeft) {
  auto mine = JobFolder::Make();
  ASSERT_TRUE(mine.ok()) << mine.status();
  const std::string path = mine->path();
  const std::string before_pid = path.substr(0, path.rfind(StrCat("-", ::getpid(), "-")) + 1);
  const std::string ended = StrCat(before_pid, EndedProcess(), "-abcdef");
  // As another machine that has the same directory names its folders. The pid means nothing here.
  const std::string of_other = StrCat(directory_.path(), "/tensorbraid-job-0-", EndedProcess(), "-abcdef");
  fs::create_directory(ended);
  fs::create_directory(of_other);
  const auto next = JobFolder::Make();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(fs::exists(ended));
  EXPECT_TRUE(fs::exists(of_other));
}

// While an object lives, no file of this process gets larger, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*const handler_)(int);
};

TEST_F(JobFolderTest, AFileThatIsCutShortIsAnError) {
  const auto folder = JobFolder::Make();
  ASSERT_TRUE(folder.ok()) << folder.status();
  Status status;
  {
    const FullDisk full(100);
    status = folder->Add({{"tls_key", std::string(1000, 'k')}});
  }
  EXPECT_THAT(std::string(status.message()), HasSubstr("tls_key"));
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(fs::is_empty(folder->path()));
}

TEST_F(JobFolderTest, ANewFileReplacesNoneAndLeavesNoPart) {
  const std::string path = directory_.path() + "/key";
  {
    const FullDisk full(100);
    EXPECT_FALSE(WriteNewFile(path, std::string(1000, 'k'), 0600).ok());
  }
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(WriteNewFile(path, "k", 0600).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(WriteNewFile(path, "l", 0600)));
}

}  // namespace
}  // namespace tensorbraid
