#include "cli/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "cli/process_testutil.h"

namespace tensorbraid {
namespace {

StatusOr<ChildProcess> Shell(const std::string& script, std::vector<std::pair<std::string, std::string>> env = {}) {
  return ChildProcess::Start({"sh", "-c", script}, env);
}

TEST(ChildProcess, TellsHowTheProgramEnded) {
  auto exited = Shell("exit 3");
  ASSERT_TRUE(exited.ok()) << exited.status();
  ProcessEnd end = exited->Reap();
  EXPECT_EQ(end.ToString(), "exited with 3");
  EXPECT_EQ(end.ShellCode(), 3);
  end = Shell("kill -TERM $$")->Reap();
  EXPECT_EQ(end.ToString(), "was killed by SIGTERM");
  EXPECT_EQ(end.ShellCode(), 128 + SIGTERM);
  EXPECT_TRUE(Shell("true")->Reap().ok());
}

TEST(ChildProcess, SeparatesTheOutputsAndHasAnEmptyInput) {
  auto process = Shell("cat; echo out; echo err >&2");
  ASSERT_TRUE(process.ok()) << process.status();
  // AwaitLine returns the rest of the line.
  EXPECT_EQ(AwaitLine(process->out(), "o"), "ut");
  EXPECT_EQ(AwaitLine(process->err(), "e"), "rr");
}

TEST(ChildProcess, ChangesTheEnvironment) {
  ::setenv("TB_TEST_OLD", "old", 1);
  auto process = Shell("echo =$TB_TEST_OLD.$TB_TEST_NEW", {{"TB_TEST_OLD", ""}, {"TB_TEST_NEW", "new"}});
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_EQ(AwaitLine(process->out(), "="), ".new");
}

TEST(ChildProcess, ReapKillsTheRestOfTheGroup) {
  auto process = Shell("sleep 1000 & echo pid $!");
  ASSERT_TRUE(process.ok()) << process.status();
  const std::string pid = AwaitLine(process->out(), "pid ");
  ASSERT_NE(pid, "");
  EXPECT_TRUE(process->Reap().ok());
  EXPECT_TRUE(Ends(std::stoi(pid)));
}

TEST(ChildProcess, IsKilledWithItsObject) {
  pid_t pid;
  {
    auto process = Shell("trap '' TERM INT; while :; do sleep 1000; done");
    ASSERT_TRUE(process.ok()) << process.status();
    pid = process->pid();
  }
  EXPECT_TRUE(Ends(pid));
}

TEST(ChildProcess, ProgramThatCannotBeRunIsAnError) {
  EXPECT_EQ(ChildProcess::Start({"/nonexistent/program"}, {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ChildProcess::Start({"/"}, {}).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ChildProcess::Start({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensorbraid
