#include "launch/processes/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "io/file_testutil.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(ChildProcess, SaysWhyAProgramCannotRun) {
  TempDir dir;
  const auto write = [&dir](const std::string& name, const std::string& content, mode_t mode) {
    const std::string path = dir.Write(name, content);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  };
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"tensorbraid_no_such_program", "there is no such program in PATH"},
      {"", "the name of the program is empty"},
      {dir.path() + "/nothing", "No such file or directory"},
      {dir.path(), "it is a directory"},
      {write("data", "#!/bin/sh\n", 0600), "it is not executable; 'chmod +x "},
      {write("python9", "#! /no/python9 -u\n", 0700), "the interpreter '/no/python9', which its first line names"},
      {write("windows", "#!/bin/sh\r\n", 0700), "carriage return"},
  };
  for (const auto& [program, message] : cases) {
    EXPECT_THAT(std::string(ChildProcess::Start({program}, {}).status().message()),
                AllOf(StartsWith("cannot run '" + program), HasSubstr(message)));
  }
}

TEST(ChildProcess, NamesAProgramOfTheCurrentDirectory) {
  TempDir dir;
  dir.Write("tensorbraid_train", "#!/bin/sh\n");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  EXPECT_THAT(ChildProcess::Start({"tensorbraid_train"}, {}).status().message(),
              HasSubstr("'./tensorbraid_train' is the one in this directory"));
  std::filesystem::current_path(before);
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
