#include "launch/agent/agent.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/agent/agent_messages.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "launch/processes/write_all.h"

namespace tensorbraid {
namespace {

TEST(AgentTest, TasksGoOnAndSignalsAreAnsweredWhileTheLauncherReadsNothing) {
  const TempDir dir;
  const std::string fifo = dir.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Fd said(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  auto agent = ChildProcess::Start({TENSORBRAID_PROGRAM, "agent", "--node=alpha"}, {}, ChildProcess::Stdout::kPipe,
                                   ChildProcess::Stdin::kPipe);
  ASSERT_TRUE(agent.ok()) << agent.status();
  PrepareNode prepare;
  prepare.version = TENSORBRAID_VERSION;
  prepare.tasks = {"worker/0"};
  prepare.numbers = {0};
  const std::string script = StrCat("trap 'echo saved > ", fifo, "; exit 0' TERM; seq 100000; echo written > ", fifo,
                                    "; while :; do sleep 0.01; done");
  const StartTask start{.task = 0, .call = {.command = {"sh", "-c", script}}};
  WriteAll(agent->in().get(), ToLine("alpha", prepare) + ToLine("alpha", start));
  EXPECT_EQ(AwaitLine(said, "writ"), "ten");
  ::kill(agent->pid(), SIGTERM);
  EXPECT_EQ(AwaitLine(said, "sav"), "ed");
  EXPECT_EQ(agent->Reap().exit_code, 0);
}

}  // namespace
}  // namespace tensorbraid
