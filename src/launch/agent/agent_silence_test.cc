// An agent whose launcher has become silent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/agent/agent_messages.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AgentSilenceTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  // Where agents keep keys.
  std::vector<std::pair<std::string, std::string>> Environment() const {
    std::filesystem::create_directory(Path("tmp"));
    return {{"TMPDIR", Path("tmp")}, {"XDG_RUNTIME_DIR", ""}};
  }
  void ExpectNothingIsLeft() const {
    for (const auto& entry : std::filesystem::directory_iterator(Path("tmp"))) ADD_FAILURE() << entry.path();
  }
  // An agent whose task is this shell script. The launcher is silent after it has started the task.
  ChildProcess StartAgent(const std::string& script, PrepareNode prepare) const {
    auto agent = ChildProcess::Start({TENSORBRAID_PROGRAM, "agent", "--node=alpha"}, Environment(),
                                     ChildProcess::Stdout::kPipe, ChildProcess::Stdin::kPipe);
    EXPECT_TRUE(agent.ok()) << agent.status();
    prepare.version = TENSORBRAID_VERSION;
    prepare.directory = dir_.path();
    prepare.tasks = {"worker/0"};
    prepare.numbers = {0};
    prepare.tasks_move = true;  // it has a folder for that
    const std::string lines = ToLine("alpha", prepare) + ToLine("alpha", StartTask{0, {{"sh", "-c", script}}, false});
    EXPECT_EQ(::write(agent->in().get(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
    return *std::move(agent);
  }
  TempDir dir_;
};

// Five periods. By this silence the script of a task is ready for signals, also on a busy machine.
constexpr int kAliveMs = 200, kSilenceMs = 1000;
constexpr char kSaves[] = "trap 'sleep 0.2; echo > saved; exit 0' TERM; while :; do sleep 0.01; done";

TEST_F(AgentSilenceTest, TheTasksSaveAndNothingIsLeft) {
  ChildProcess agent = StartAgent(kSaves, {.alive_ms = kAliveMs, .silence_ms = kSilenceMs, .stop_grace_ms = 100'000});
  EXPECT_TRUE(Ends(agent.pid()));
  EXPECT_TRUE(std::filesystem::exists(Path("saved")));
  ExpectNothingIsLeft();
  std::string output(1 << 16, ' ');
  output.resize(static_cast<size_t>(::read(agent.out().get(), output.data(), output.size())));
  EXPECT_THAT(output, AllOf(HasSubstr("heard nothing from the launcher for 1 s"), HasSubstr("\"event\":\"ended\"")));
  EXPECT_TRUE(agent.Reap().ok());
}

TEST_F(AgentSilenceTest, OutputThatNobodyReadsChangesNothing) {
  // The writer fills all pipes. The shell saves when it gets the signal.
  ChildProcess agent =
      StartAgent(StrCat("yes & ", kSaves), {.alive_ms = kAliveMs, .silence_ms = kSilenceMs, .stop_grace_ms = 100'000});
  EXPECT_TRUE(Ends(agent.pid()));
  EXPECT_TRUE(std::filesystem::exists(Path("saved")));
  ExpectNothingIsLeft();
}

TEST_F(AgentSilenceTest, ATaskThatDoesNotEndIsKilledAfterTheTimeToStop) {
  ChildProcess agent = StartAgent("trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done",
                                  {.alive_ms = kAliveMs, .silence_ms = kSilenceMs, .stop_grace_ms = 50});
  EXPECT_TRUE(Ends(agent.pid()));
  EXPECT_TRUE(Ends(std::stoi(TextOf(Path("pid")))));
  ExpectNothingIsLeft();
}

// The launcher itself, with a stand-in for ssh. The task writes the pid of its agent to a file.
class LauncherSilenceTest : public AgentSilenceTest {
 protected:
  ChildProcess StartLauncher(const std::string& script, const std::string& silence) const {
    const std::string ssh = dir_.Write("ssh",
                                       "#!/bin/sh\n"
                                       "[ \"$1\" = -G ] && { echo hostname 127.0.0.1; exit; }\n"
                                       "while [ \"$1\" != -- ]; do shift; done\n"
                                       "shift; exec sh -c \"$*\"\n");
    ::chmod(ssh.c_str(), 0700);
    auto launcher =
        ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", "--on=ssh", "--ssh=" + ssh, "--hosts=alpha", "--ps=0",
                             "--workers=1", "--directory=" + dir_.path(), "--silence_s=" + silence, "--", "sh", "-c",
                             StrCat("echo $PPID > agent; ls -d tmp/* > folders; echo started; ", script)},
                            Environment());
    EXPECT_TRUE(launcher.ok()) << launcher.status();
    return *std::move(launcher);
  }
};

TEST_F(LauncherSilenceTest, AStoppedLauncherLosesItsTasksAndSaysSoWhenItGoesOn) {
  ChildProcess launcher = StartLauncher(kSaves, "2");
  AwaitLine(launcher.out(), "[worker/0] started");
  const pid_t agent = std::stoi(TextOf(Path("agent")));
  EXPECT_THAT(TextOf(Path("folders")), HasSubstr("tensorbraid-job"));
  ::kill(launcher.pid(), SIGSTOP);
  EXPECT_TRUE(Ends(agent));
  EXPECT_TRUE(std::filesystem::exists(Path("saved")));
  ::kill(launcher.pid(), SIGCONT);
  EXPECT_THAT(AwaitLine(launcher.err(), "launch: worker/0 was lost: "),
              HasSubstr("alpha: its agent has heard nothing from the launcher for 2 s, so it has ended its tasks"));
  EXPECT_EQ(launcher.Reap().exit_code, 255);
  ExpectNothingIsLeft();
}

TEST_F(LauncherSilenceTest, ALauncherThatSpeaksKeepsItsTasks) {
  // The task goes on for longer than the silence, by the clock that the agent has.
  ChildProcess launcher = StartLauncher("sleep 2.5; echo ends", "2");
  AwaitLine(launcher.out(), "[worker/0] ends");
  EXPECT_TRUE(launcher.Reap().ok());
  ExpectNothingIsLeft();
}

}  // namespace
}  // namespace tensorbraid
