// Tasks whose machine is lost, and which go on on another one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "absl/strings/str_replace.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/shared_channel_testutil.h"
#include "launch/launcher/launcher.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class MovingTasksTest : public ::testing::Test {
 protected:
  // Machines that an agent reaches as long as there is no file DOWN.NAME. Each agent writes its pid to a file with the
  // machine's name.
  AgentEngineOptions Machines(const std::vector<AgentNode>& nodes, const std::vector<AgentNode>& spares) const {
    AgentEngineOptions options{
        .nodes = nodes, .spares = spares, .command = nullptr, .version = TENSORBRAID_VERSION, .directory = dir_.path()};
    options.command = [path = dir_.path()](const AgentNode& node) {
      const std::string script =
          StrCat("cd ", path, "; [ ! -e down.", node.name, " ] || { echo no route >&2; exit 255; }; echo $$ > ",
                 node.name, "; exec ", TENSORBRAID_PROGRAM, " agent --node=", node.name);
      return std::vector<std::string>{"sh", "-c", script};
    };
    return options;
  }
  AgentEngineOptions Shared(const std::vector<std::string>& nodes, int spares) const {
    AgentEngineOptions options{.nodes = {},
                               .command = nullptr,
                               .shared = SharedChannelOf(nodes, dir_.path()),
                               .version = TENSORBRAID_VERSION,
                               .directory = dir_.path()};
    options.shared->spares = spares;
    options.shared->alive = milliseconds(500);
    return options;
  }
  // Runs a shell script as the tasks, which are in the directory of the test.
  LaunchResult Run(const std::string& script, AgentEngineOptions engine, LaunchOptions options) {
    options.command = {"sh", "-c", script, "program"};
    options.restart.first_delay = milliseconds(1);
    options.restart.max_delay = milliseconds(100);
    const Fd out(::open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Fd err(::open(Path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    options.out_fd = out.get();
    options.err_fd = err.get();
    const auto result = Launch(options, std::make_unique<AgentEngine>(std::move(engine)));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : LaunchResult{};
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string out() const { return TextOf(Path("out")); }
  std::string err() const { return TextOf(Path("err")); }

  TempDir dir_;
};

// Worker 1, which runs on beta at first, ends its machine for good. Worker 0 goes on until it has heard where worker 1
// is.
constexpr char kLoseBeta[] =
    "case \"$*\" in *index=1*) "
    "  if [ -e second ]; then echo \"again $2\"; exit 0; fi; touch second down.beta; kill -KILL $(cat beta); "
    "  exec sleep 1000;; "
    "esac; "
    "echo \"first $2\"; until grep -q : $TENSORBRAID_MOVES_FILE; do sleep 0.05; done; cat $TENSORBRAID_MOVES_FILE; "
    "echo";

// What the workers of kLoseBeta have printed: both know the address of now, and worker 0 has heard of the move.
void ExpectMoved(const std::string& out) {
  const auto hosts_after = [&out](const std::string& mark) {
    const size_t begin = out.find(mark + " --worker_hosts=");
    EXPECT_NE(begin, std::string::npos) << out;
    const std::string line = out.substr(begin, out.find('\n', begin) - begin);
    return StrSplit(line.substr(line.find('=') + 1), ',');
  };
  const std::vector<std::string> before = hosts_after("first"), after = hosts_after("again");
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(before[0], after[0]);
  EXPECT_NE(before[1], after[1]);
  EXPECT_THAT(out, HasSubstr(StrCat("\n{\"", before[1], "\":\"", after[1], "\"}")));
}

TEST_F(MovingTasksTest, ASpareMachineTakesThePlaceOfOneThatIsNotReachedAgain) {
  const LaunchResult result =
      Run(kLoseBeta, Machines({{"alpha", "127.0.0.1", 0}, {"beta", "127.0.0.1", 0}}, {{"gamma", "localhost", 0}}),
          {.ps = 0, .workers = 2, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  ExpectMoved(out());
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/1 was lost: beta: the connection has ended"),
                           HasSubstr("gamma takes the place of beta"),
                           ContainsRegex("worker/1 runs on localhost:[0-9]+, pid [0-9]+ on gamma")));
}

TEST_F(MovingTasksTest, ASpareAgentTakesThePlaceOfOneThatIsSilent) {
  const LaunchResult result =
      Run(kLoseBeta, Shared({"alpha", "beta", "gamma"}, 1), {.ps = 0, .workers = 2, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  ExpectMoved(out());
  EXPECT_THAT(err(),
              AllOf(HasSubstr("worker/1 was lost: beta: its agent has said nothing for 3 s"),
                    HasSubstr("gamma takes the place of beta"), ContainsRegex("worker/1 runs on [^\n]* on gamma"),
                    Not(ContainsRegex("worker/0 runs on [^\n]* on gamma"))));
}

TEST_F(MovingTasksTest, ASpareMachineTakesThePlaceOfOneThatIsSilentAndDoesNotAnswerAgain) {
  // As mpirun, which ends neither when a machine is cut off nor when it cannot reach one: the agent of beta is stopped,
  // and the second connection to beta says nothing.
  AgentEngineOptions engine =
      Machines({{"alpha", "127.0.0.1", 0}, {"beta", "127.0.0.1", 0}}, {{"gamma", "localhost", 0}});
  engine.alive = milliseconds(500);
  engine.command = [path = dir_.path(), command = engine.command](const AgentNode& node) {
    std::vector<std::string> words = command(node);
    words[2] = StrCat("[ ! -e ", path, "/down.", node.name, " ] || exec sleep 1000; ", words[2]);
    return words;
  };
  const LaunchResult result = Run(absl::StrReplaceAll(kLoseBeta, {{"kill -KILL", "kill -STOP"}}), std::move(engine),
                                  {.ps = 0, .workers = 2, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  ExpectMoved(out());
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/1 was lost: beta: its agent has said nothing for 3 s"),
                           HasSubstr("gamma takes the place of beta"),
                           ContainsRegex("worker/1 runs on localhost:[0-9]+, pid [0-9]+ on gamma")));
}

TEST_F(MovingTasksTest, AllTasksOfAMachineMoveTogether) {
  // Four tasks on two machines. The spare comes in place of beta, which has worker/0 and worker/2.
  const std::string script =
      "case \"$*\" in *job_name=worker*index=0*) if [ -e second ]; then touch third; else until [ -e two ]; do sleep "
      "0.05; done; touch second down.beta; kill -KILL $(cat beta); exec sleep 1000; fi;; "
      "*job_name=worker*index=2*) touch two;; esac; until [ -e third ]; do sleep 0.05; done";
  const LaunchResult result =
      Run(script, Machines({{"alpha", "127.0.0.1", 2}, {"beta", "127.0.0.1", 2}}, {{"gamma", "localhost", 2}}),
          {.ps = 1, .workers = 3, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  EXPECT_THAT(
      err(), AllOf(ContainsRegex("worker/0 runs on [^\n]* on gamma"), ContainsRegex("worker/2 runs on [^\n]* on gamma"),
                   Not(ContainsRegex("ps/0 runs on [^\n]* on gamma"))));
}

TEST_F(MovingTasksTest, WithoutASpareThatHasRoomTheLossIsForGood) {
  AgentEngineOptions engine = Shared({"alpha", "beta"}, 1);
  engine.shared->slots = {2, 1};
  const LaunchResult result =
      Run("kill -KILL $(cat alpha); exec sleep 1000", engine, {.ps = 0, .workers = 2, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(err(), HasSubstr("does not come back to this job, and there is no other one (--spare_nodes)"));
}

TEST_F(MovingTasksTest, ASpareThatIsLostItselfIsReplacedByTheNext) {
  // beta is lost before it is needed. With alpha the task itself ends.
  const std::string script =
      "case $(cat where 2> /dev/null) in '') echo once > where; kill -KILL $(cat beta) $(cat alpha); exec sleep 1000;; "
      "esac; echo again";
  const LaunchResult result =
      Run(script, Shared({"alpha", "beta", "gamma"}, 2), {.ps = 0, .workers = 1, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  EXPECT_THAT(out(), HasSubstr("[worker/0] again"));
  EXPECT_THAT(err(), AllOf(HasSubstr("beta takes the place of alpha"), HasSubstr("gamma takes the place of beta"),
                           ContainsRegex("worker/0 runs on [^\n]* on gamma")));
}

TEST_F(MovingTasksTest, MachinesThatAreAllDownAreTriedAgain) {
  // beta answers at the second try only: the launcher says so twice.
  const std::string script = "[ -e second ] || { touch second down.alpha; kill -KILL $(cat alpha); exec sleep 1000; }";
  AgentEngineOptions engine = Machines({{"alpha", "127.0.0.1", 0}}, {{"beta", "127.0.0.1", 0}});
  engine.command = [path = dir_.path(), command = engine.command](const AgentNode& node) {
    std::vector<std::string> words = command(node);
    if (node.name == "beta") words[2] = StrCat("cd ", path, "; [ -e tried ] || { touch tried; exit 255; }; ", words[2]);
    return words;
  };
  const LaunchResult result = Run(script, engine, {.ps = 0, .workers = 1, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  EXPECT_THAT(err(), ContainsRegex("worker/0 runs on [^\n]* on beta"));
}

TEST_F(MovingTasksTest, AJobThatIsStoppedDoesNotWaitForAPlace) {
  // alpha's connection takes for ever the second time, and the launcher gets SIGINT meanwhile.
  AgentEngineOptions engine = Machines({{"alpha", "127.0.0.1", 0}}, {});
  engine.command = [path = dir_.path(), command = engine.command](const AgentNode& node) {
    std::vector<std::string> words = command(node);
    words[2] = StrCat("cd ", path, "; [ ! -e second ] || { kill -INT $(cat launcher); exec cat; }; ", words[2]);
    return words;
  };
  dir_.Write("launcher", std::to_string(::getpid()));
  const LaunchResult result = Run("touch second; kill -KILL $(cat alpha); exec sleep 1000", engine,
                                  {.ps = 0, .workers = 1, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
}

TEST_F(MovingTasksTest, AChannelThatReplacesAgentsIsAskedToDoSo) {
  // As the channel of Ray: it reads requests, and starts another agent when it is asked to. The first agent is alpha.
  AgentEngineOptions engine = Shared({}, 0);
  engine.shared->agents = 1;
  engine.shared->replaces = true;
  const std::string agent = StrCat("env TENSORBRAID_HOST=127.0.0.1 ", TENSORBRAID_PROGRAM, " agent --shared");
  engine.shared->command = {
      "bash", "-c",
      StrCat("trap '' PIPE; cd ", dir_.path(),
             "; mkfifo in.alpha in.beta; SLURM_PROCID=0 SLURMD_NODENAME=alpha bash -c 'echo $$ > ", "alpha; exec ",
             agent, "' < in.alpha & exec 3> in.alpha; while read -r line; do case $line in ",
             "*'\"do\":\"replace\"'*) SLURM_PROCID=0 SLURMD_NODENAME=beta ", agent, " < in.beta & exec 3> in.beta;; ",
             "*) echo \"$line\" 2> /dev/null >&3;; esac; done; exec 3>&-; wait")};
  const LaunchResult result =
      Run("[ -e second ] || { touch second; kill -KILL $(cat alpha); exec sleep 1000; }; "
          "cat $TENSORBRAID_MOVES_FILE",
          engine, {.ps = 0, .workers = 1, .restart = {.max_restarts = -1}});
  EXPECT_EQ(result.exit_code, 0) << err();
  EXPECT_THAT(out(), ContainsRegex("\\{\"127.0.0.1:[0-9]+\":\"127.0.0.1:[0-9]+\"\\}"));
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/0 was lost: alpha"), HasSubstr("beta takes the place of alpha"),
                           ContainsRegex("worker/0 runs on [^\n]* on beta")));
}

}  // namespace
}  // namespace tensorbraid
