#include "launch/processes/group_guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>

#include "io/file_testutil.h"
#include "launch/processes/process_testutil.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {
namespace {

class GroupGuardTest : public ::testing::Test {
 protected:
  GroupGuardTest() {
    std::filesystem::create_directory(folder_);
    dir_.Write("folder/key", "secret");
  }
  // Makes a guard in another process, and kills that.
  static void MakeAndKill(const std::function<std::unique_ptr<GroupGuard>()>& make) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const Fd read(ready[0]), write(ready[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto guard = make();
      WriteAll(write.get(), "x");
      for (;;) ::pause();
    }
    char byte;
    EXPECT_EQ(::read(read.get(), &byte, 1), 1);
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  static bool IsAlive(const ChildProcess& process) {
    pollfd end = {process.end_event().get(), POLLIN, 0};
    return ::poll(&end, 1, 0) == 0;
  }

  const TempDir dir_;
  const std::string folder_ = dir_.path() + "/folder";
  ChildProcess process_ = ChildProcess::Start({"sleep", "1000"}, {}).value();
};

TEST_F(GroupGuardTest, KillsItsGroupsAndRemovesItsFolder) {
  const auto removed = ChildProcess::Start({"sleep", "1000"}, {});
  ASSERT_TRUE(removed.ok()) << removed.status();
  MakeAndKill([&] {
    auto guard = std::make_unique<GroupGuard>(GroupGuardOptions{.folder = folder_});
    for (const pid_t pid : {process_.pid(), removed->pid()}) guard->Add(pid);
    guard->Remove(removed->pid());
    return guard;
  });
  EXPECT_TRUE(Ends(process_.pid()));
  EXPECT_TRUE(IsRemoved(folder_));
  EXPECT_TRUE(IsAlive(*removed));
}

TEST_F(GroupGuardTest, ReadsOutputsToTheirEnd) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  Fd read(fds[0]), write(fds[1]);
  MakeAndKill([&] {
    write.Close();
    return std::make_unique<GroupGuard>(GroupGuardOptions{.folder = folder_, .outputs = {read.get()}});
  });
  read.Close();
  const auto handler = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(WriteAll(write.get(), std::string(1 << 20, 'x')), 0);  // more than a pipe holds
  ::signal(SIGPIPE, handler);
  EXPECT_TRUE(std::filesystem::exists(folder_));
  write.Close();
  EXPECT_TRUE(IsRemoved(folder_));
}

TEST_F(GroupGuardTest, SendsItsSignal) {
  MakeAndKill(
      [&] { return std::make_unique<GroupGuard>(GroupGuardOptions{.process = process_.pid(), .signal = SIGTERM}); });
  EXPECT_EQ(process_.Reap().signal, SIGTERM);
}

TEST_F(GroupGuardTest, DoesNothingWhenItsObjectIsDestroyed) {
  { GroupGuard({.folder = folder_, .process = process_.pid(), .signal = SIGTERM}).Add(process_.pid()); }
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/key"));
  EXPECT_TRUE(IsAlive(process_));
}

}  // namespace
}  // namespace tensorbraid
