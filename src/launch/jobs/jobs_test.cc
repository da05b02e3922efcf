#include "launch/jobs/jobs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/jobs/bounded_log.h"
#include "launch/jobs/detached_job.h"
#include "launch/processes/process_testutil.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BoundedLogTest, KeepsTheLatestLines) {
  TempDir dir;
  const std::string path = dir.path() + "/log";
  {
    auto log = BoundedLog::Open(path, 100);
    ASSERT_TRUE(log.ok()) << log.status();
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(log->Write(StrCat("line ", i, "\n")).ok());
  }
  auto log = BoundedLog::Open(path, 100);  // continues the file
  EXPECT_TRUE(log->Write("line 100\n").ok());
  const Fd copy(::open((dir.path() + "/copy").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(CopyLog(path, copy.get()).ok());
  const std::string text = TextOf(dir.path() + "/copy");
  EXPECT_THAT(text, AllOf(HasSubstr("line 98\nline 99\nline 100\n"), Not(HasSubstr("line 80\n"))));
  EXPECT_LE(text.size(), 100u);
  EXPECT_GE(text.size(), 50u);
  EXPECT_TRUE(absl::IsNotFound(CopyLog(dir.path() + "/none", copy.get())));
}

TEST(JobsTest, AreNamedAfterTheirPrograms) {
  TempDir dir;
  const auto name = [&dir](const std::vector<std::string>& command) {
    const auto job = CreateJob(dir.path() + "/jobs", {.command = command});
    return job.ok() ? job->job.name : job.status().ToString();
  };
  EXPECT_EQ(name({"build/mnist_softmax", "--steps=1"}), "mnist_softmax-1");
  EXPECT_EQ(name({"build/mnist_softmax"}), "mnist_softmax-2");
  EXPECT_EQ(name({"/usr/bin/python3.11", "-u", "scripts/train.py", "--x"}), "train-1");
  EXPECT_EQ(name({"a b;c"}), "a-b-c-1");
}

TEST(JobsTest, StopEndsWhatALostJobHasLeftBehind) {
  TempDir dir;
  auto job = CreateJob(dir.path(), {.command = {"train"}, .clean_up = {"touch", dir.path() + "/deleted"}});
  ASSERT_TRUE(job.ok()) << job.status();
  job->lock.Close();
  const Job lost = *FindJob(dir.path(), "train-1");
  EXPECT_THAT(AttachToJob(lost, -1, -1).status().message(), HasSubstr("'tensorbraid stop train-1' ends them"));
  const auto result = StopJob(lost);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->failure, HasSubstr("had been killed"));
  EXPECT_EQ(::access((dir.path() + "/deleted").c_str(), F_OK), 0);
  EXPECT_EQ(FindJob(dir.path(), "train-1")->StateText(), "exited with 137");

  auto other = CreateJob(dir.path(), {.command = {"other"}, .clean_up = {"false"}});
  other->lock.Close();
  EXPECT_THAT(StopJob(*FindJob(dir.path(), "other-1")).status().message(), HasSubstr("other-1 cannot be ended"));
  EXPECT_EQ(FindJob(dir.path(), "other-1")->StateText(), "lost");
}

TEST(JobsTest, LivesAsLongAsItsLockOrHasAResult) {
  TempDir dir;
  auto job = CreateJob(dir.path(), {.command = {"train"}});
  ASSERT_TRUE(job.ok()) << job.status();
  struct stat info {};
  ASSERT_EQ(::stat(job->job.folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(FindJob(dir.path(), "train-1")->StateText(), "running");
  EXPECT_FALSE(ForgetJob(*FindJob(dir.path(), "train-1")).ok());
  job->lock.Close();
  EXPECT_EQ(FindJob(dir.path(), "train-1")->StateText(), "lost");
  ASSERT_TRUE(WriteResult(job->job, {.exit_code = 3, .failure = "worker/0 exited with 3"}).ok());
  EXPECT_EQ(FindJob(dir.path(), "train-1")->StateText(), "exited with 3");
  EXPECT_TRUE(ForgetJob(*FindJob(dir.path(), "train-1")).ok());
  EXPECT_THAT(FindJob(dir.path(), "train-1").status().message(), HasSubstr("there is no job 'train-1'"));
}

TEST(JobsTest, OnAFullDiskNoFolderIsLeft) {
  TempDir dir;
  // A limit on the size of files fails as a full disk does.
  auto launch = ChildProcess::Start(
      {"sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" launch --detach --jobs_dir=\"$1\" -- true",
       TENSORBRAID_PROGRAM, dir.path() + "/jobs"},
      {});
  ASSERT_TRUE(launch.ok()) << launch.status();
  EXPECT_THAT(AwaitLine(launch->err(), ""), HasSubstr("/jobs/true-1/job.json.new': File too large"));
  EXPECT_EQ(launch->Reap().exit_code, 1);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path() + "/jobs"));
}

TEST(JobsTest, ALogThatCannotBeWrittenIsSaidOnce) {
  TempDir dir;
  auto job = CreateJob(dir.path(), {.command = {"train"}});
  ASSERT_TRUE(job.ok()) << job.status();
  const std::string folder = job->job.folder;
  std::filesystem::create_symlink("/dev/full", folder + "/worker-0.log");
  auto monitor = DetachedJob::Create(*std::move(job), [] {});
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  for (int i = 0; i < 3; ++i) (*monitor)->OnTaskLine("worker/0", "step");
  const std::string output = TextOf(folder + "/output.log");
  EXPECT_THAT(output, HasSubstr("worker-0.log': No space left on device; lines of worker/0 are lost\n"));
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1);
}

// The commands themselves, for tasks of this machine and for tasks of agents.
class JobCommandsTest : public ::testing::TestWithParam<bool> {
 protected:
  // Jobs go on when a test fails.
  void TearDown() override {
    for (const Job& job : ListJobs(Path("jobs")).value_or(std::vector<Job>())) {
      if (job.state == Job::State::kRunning) ::kill(job.pid, SIGKILL);
    }
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  ChildProcess Start(std::vector<std::string> command) const {
    command.insert(command.begin(), TENSORBRAID_PROGRAM);
    command.push_back("--jobs_dir=" + Path("jobs"));
    return Start(std::move(command), {});
  }
  // A detached job of one worker, which runs the script.
  ChildProcess Launch(const std::string& script, std::vector<std::string> options = {},
                      const std::string& shell = "sh") {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM,          "launch", "--detach",
                                        "--jobs_dir=" + Path("jobs"), "--ps=0", "--workers=1"};
    if (GetParam()) {
      dir_.Write("ssh",
                 "#!/bin/sh\n"
                 "if [ \"$1\" = -G ]; then echo hostname 127.0.0.1; exit; fi\n"
                 "for last; do :; done; exec sh -c \"$last\"\n");
      ::chmod(Path("ssh").c_str(), 0700);
      command.insert(command.end(), {"--on=ssh", "--hosts=alpha", "--ssh=" + Path("ssh")});
    }
    command.insert(command.end(), options.begin(), options.end());
    return Start(std::move(command), {"--", shell, "-c", script});
  }
  static ChildProcess Start(std::vector<std::string> command, const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
    auto process = ChildProcess::Start(command, {});
    EXPECT_TRUE(process.ok()) << process.status();
    return *std::move(process);
  }
  // The standard output of a command that succeeds.
  std::string Output(std::vector<std::string> command) const {
    command.insert(command.begin(), TENSORBRAID_PROGRAM);
    command.push_back("--jobs_dir=" + Path("jobs"));
    auto output = RunCommand(command);
    return output.ok() ? *output : output.status().ToString();
  }
  // Waits until the log of worker/0, or of the job, has this text.
  std::string AwaitLog(const std::string& text, bool of_job = false) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    std::string log;
    while (log.find(text) == std::string::npos && std::chrono::steady_clock::now() < deadline) {
      log = of_job ? Output({"logs", "sh-1"}) : Output({"logs", "sh-1", "worker/0"});
    }
    return log;
  }

  TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Engines, JobCommandsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Agents" : "Local"; });

TEST_P(JobCommandsTest, AttachFollowsAJobToItsEndAndReturnsItsExitCode) {
  auto launch = Launch("echo early; until test -e " + Path("go") + "; do :; done; echo late; exit 3");
  EXPECT_EQ(AwaitLine(launch.out(), "sh-"), "1");
  EXPECT_EQ(launch.Reap().ToString(), "exited with 0");
  EXPECT_THAT(Output({"jobs"}), ::testing::ContainsRegex("sh-1 +running"));

  auto attach = Start({"attach", "sh-1"});
  EXPECT_EQ(AwaitLine(attach.out(), "[worker/0] "), "early");
  dir_.Write("go", "");
  EXPECT_EQ(AwaitLine(attach.out(), "[worker/0] "), "late");
  EXPECT_EQ(attach.Reap().exit_code, 3);

  EXPECT_THAT(Output({"jobs"}), ::testing::ContainsRegex("sh-1 +exited with 3"));
  EXPECT_EQ(Output({"logs", "sh-1", "worker/0"}), "early\nlate\n");
  EXPECT_THAT(Output({"logs", "sh-1"}), AllOf(HasSubstr("[worker/0] late\n"), HasSubstr("worker/0 exited with 3")));
  EXPECT_EQ(Start({"attach", "sh-1"}).Reap().exit_code, 3);
  EXPECT_EQ(Output({"jobs", "--older_than=1"}), "");
  EXPECT_EQ(Output({"jobs", "--forget=sh-1"}), "");
  EXPECT_EQ(Output({"jobs"}), "");
}

TEST_P(JobCommandsTest, StopLetsTasksSaveAndLeave) {
  EXPECT_TRUE(Launch("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done").Reap().ok());
  EXPECT_THAT(AwaitLog("ready\n"), HasSubstr("ready"));
  EXPECT_THAT(Output({"jobs", "--forget=sh-1"}), HasSubstr("is running"));
  EXPECT_TRUE(Start({"stop", "sh-1"}).Reap().ok());
  EXPECT_THAT(Output({"logs", "sh-1", "worker/0"}), HasSubstr("saved\n"));
  EXPECT_TRUE(Start({"stop", "sh-1"}).Reap().ok());  // it has ended already
}

TEST_P(JobCommandsTest, ASecondStopKills) {
  EXPECT_TRUE(Launch("trap '' TERM; echo ready; while :; do sleep 0.01; done", {"--stop_grace_s=1000"}).Reap().ok());
  EXPECT_THAT(AwaitLog("ready\n"), HasSubstr("ready"));
  auto first = Start({"stop", "sh-1"});
  EXPECT_THAT(AwaitLog("SIGTERM", /*of_job=*/true), HasSubstr("SIGTERM"));
  auto second = Start({"stop", "sh-1"});
  EXPECT_TRUE(first.Reap().ok());
  EXPECT_TRUE(second.Reap().ok());
}

TEST_P(JobCommandsTest, AJobIsLostWithItsLauncherAndLeavesNoTask) {
  EXPECT_TRUE(Launch("trap '' TERM; echo pid $$ ok; while :; do sleep 1000; done").Reap().ok());
  const std::string line = AwaitLog(" ok\n");
  ASSERT_THAT(line, HasSubstr("pid "));
  const pid_t task = std::stoi(line.substr(line.find("pid ") + 4));
  const pid_t launcher = FindJob(Path("jobs"), "sh-1")->pid;
  ::kill(launcher, SIGKILL);
  EXPECT_TRUE(Ends(task));
  EXPECT_TRUE(Ends(launcher));
  EXPECT_THAT(Output({"jobs"}), ::testing::ContainsRegex("sh-1 +lost"));
  EXPECT_THAT(Output({"attach", "sh-1"}), HasSubstr("is lost"));
  EXPECT_EQ(Output({"jobs", "--older_than=0"}), "sh-1\n");
  EXPECT_EQ(Output({"jobs"}), "");
}

TEST_P(JobCommandsTest, ALaunchThatFailsLeavesNoJob) {
  auto launch = Launch("true", {}, "/nonexistent/sh");
  EXPECT_THAT(AwaitLine(launch.err(), "INVALID_ARGUMENT: "), HasSubstr("cannot run '/nonexistent/sh'"));
  EXPECT_EQ(launch.Reap().exit_code, 2);
  EXPECT_EQ(Output({"jobs"}), "");
  EXPECT_THAT(Output({"stop", "sh-1"}), HasSubstr("there is no job 'sh-1'"));
}

}  // namespace
}  // namespace tensorbraid
