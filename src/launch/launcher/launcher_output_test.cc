// A launcher whose output is not read, or not to the end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// Runs shell scripts as tasks. "say TEXT" in a script tells the test something, beside the task's output.
class LauncherOutputTest : public ::testing::Test {
 protected:
  LauncherOutputTest() {
    const std::string fifo = dir_.path() + "/fifo";
    EXPECT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    said_ = Fd(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  }
  ChildProcess Start(const std::string& script, const std::vector<std::string>& options = {"--workers=1"}) {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM, "launch", "--ps=0"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(),
                   {"--", "sh", "-c", "say() { echo \"$*\" > " + dir_.path() + "/fifo; }; " + script, "program"});
    auto launch = ChildProcess::Start(command, {});
    EXPECT_TRUE(launch.ok()) << launch.status();
    return *std::move(launch);
  }
  // What the script said after `start`.
  std::string AwaitSaid(const std::string& start) { return AwaitLine(said_, start); }

  TempDir dir_;
  Fd said_;
};

TEST_F(LauncherOutputTest, TasksGoOnAndSignalsAreAnsweredWhileNobodyReads) {
  ChildProcess launch =
      Start("trap 'say saved; exit 0' TERM; seq 100000; seq 100000 >&2; say written; while :; do sleep 0.01; done");
  EXPECT_EQ(AwaitSaid("writ"), "ten");
  ::kill(launch.pid(), SIGTERM);
  EXPECT_EQ(AwaitSaid("sav"), "ed");
  EXPECT_EQ(launch.Reap().ToString(), "exited with 143");  // still, nothing of the output has been read
}

TEST_F(LauncherOutputTest, WhatIsReadLateIsComplete) {
  ChildProcess launch = Start("seq 100000; say written; echo end of output");
  EXPECT_EQ(AwaitSaid("writ"), "ten");
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(AwaitLine(launch.out(), "[worker/0] "), StrCat(i + 1));
  EXPECT_EQ(AwaitLine(launch.out(), "[worker/0] end"), " of output");
  EXPECT_EQ(launch.Reap().exit_code, 0);
}

TEST_F(LauncherOutputTest, APipeThatIsClosedLetsTheTasksSave) {
  ChildProcess launch = Start("trap 'say saved; exit 0' TERM; while :; do echo line; sleep 0.01; done");
  AwaitLine(launch.out(), "[worker/0] line");
  launch.out().Close();
  EXPECT_EQ(AwaitSaid("sav"), "ed");
  EXPECT_THAT(AwaitLine(launch.err(), "launch: the reader of standard output"), HasSubstr("has ended: the tasks have"));
  EXPECT_EQ(launch.Reap().ToString(), "exited with 141");  // 128 + SIGPIPE
}

TEST_F(LauncherOutputTest, ASignalIsAnsweredWhileTheLauncherStopsTheOtherTasksAndNobodyReads) {
  ChildProcess launch = Start(
      "case \"$*\" in *index=0) seq 100000; exit 3;; esac; trap 'say stopped' TERM; "
      "while :; do sleep 0.01; done",
      {"--workers=2", "--grace_s=0"});
  EXPECT_EQ(AwaitSaid("stop"), "ped");  // worker/0 has failed, and worker/1 is killed soon
  ::kill(launch.pid(), SIGTERM);
  EXPECT_EQ(launch.Reap().ToString(), "exited with 3");
}

TEST_F(LauncherOutputTest, OutputThatIsNotReadToItsEndDoesNotHoldUpASignal) {
  ChildProcess launch = Start("seq 100000; say written");
  EXPECT_EQ(AwaitSaid("writ"), "ten");
  ::kill(launch.pid(), SIGINT);
  launch.Reap();
}

}  // namespace
}  // namespace tensorbraid
