// What holds for engines with agents only; launcher_test.cc has what holds for all engines.
#include "launch/agent/agent_engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/escaping.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/agent/agent_messages.h"
#include "launch/agent/shared_channel_testutil.h"
#include "launch/credentials/certificates.h"
#include "launch/launcher/launcher.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentEngineTest : public ::testing::Test {
 protected:
  // Two nodes. Each agent writes its pid to a file with the node's name when it starts, in a line of its own.
  AgentEngineOptions Options() const {
    AgentEngineOptions options{.nodes = {{"alpha", "127.0.0.1", 0}, {"beta", "127.0.0.1", 0}},
                               .command = nullptr,
                               .version = TENSORBRAID_VERSION,
                               .directory = dir_.path()};
    options.command = [path = dir_.path()](const AgentNode& node) {
      const std::string script =
          StrCat("echo $$ >> ", path, "/", node.name, "; exec ", TENSORBRAID_PROGRAM, " agent --node=", node.name);
      return std::vector<std::string>{"sh", "-c", script};
    };
    return options;
  }
  // Runs a shell script as the tasks, in which $* is the list of arguments that launch adds.
  StatusOr<LaunchResult> Run(const std::string& script, AgentEngineOptions engine, LaunchOptions options = {}) {
    options.command = {"sh", "-c", script, "program"};
    const Fd out(::open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Fd err(::open(Path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    options.out_fd = out.get();
    options.err_fd = err.get();
    return Launch(options, std::make_unique<AgentEngine>(std::move(engine)));
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string out() const { return TextOf(Path("out")); }
  std::string err() const { return TextOf(Path("err")); }

  TempDir dir_;
};

TEST_F(AgentEngineTest, TasksRunOnTheNodesInTheDirectory) {
  const auto result = Run("pwd", Options(), {.ps = 1, .workers = 2});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_THAT(out(), HasSubstr(StrCat("[worker/1] ", dir_.path(), "\n")));
  EXPECT_THAT(err(), AllOf(::testing::ContainsRegex("ps/0 runs on 127.0.0.1:[0-9]+, pid [0-9]+ on alpha"),
                           ::testing::ContainsRegex("worker/0 runs on .* on beta"),
                           ::testing::ContainsRegex("worker/1 runs on .* on alpha")));
}

TEST_F(AgentEngineTest, ANodeThatIsLostLosesItsTasks) {
  // The worker runs on beta, whose agent it kills.
  const auto result = Run(StrCat("case \"$*\" in *job_name=ps*) exec sleep 1000;; esac; kill -KILL $(tail -n1 ",
                                 Path("beta"), "); exec sleep 1000"),
                          Options(), {.ps = 1, .workers = 1, .grace = milliseconds(0)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 255);
  EXPECT_THAT(result->failure,
              AllOf(HasSubstr("worker/0 was lost: beta: the connection has ended"), HasSubstr("SIGKILL")));
}

TEST_F(AgentEngineTest, TasksOfALostNodeAreStartedAgainOnTheSamePorts) {
  const RestartPolicy policy{.max_restarts = 3, .first_delay = milliseconds(1)};
  const auto result = Run(StrCat("echo \"$2\"; test $(wc -l < ", Path("alpha"), ") -ge 2 || { kill -KILL $(cat ",
                                 Path("alpha"), "); exec sleep 1000; }"),
                          Options(), {.ps = 0, .workers = 1, .restart = policy});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0) << err();
  std::vector<std::string> lines = StrSplit(out(), '\n');  // the first may have been lost with its agent
  lines.pop_back();
  ASSERT_GE(lines.size(), 1u);
  EXPECT_THAT(lines, ::testing::Each(lines[0]));
  EXPECT_THAT(err(), HasSubstr("worker/0 was lost"));
}

TEST_F(AgentEngineTest, AMachineThatCannotBeReachedIsNamedWithWhatToTry) {
  AgentEngineOptions options = Options();
  options.hint = "try 'ssh NODE true'";
  options.command = [](const AgentNode&) {
    return std::vector<std::string>{"sh", "-c", "echo Connection refused >&2; exit 255"};
  };
  const auto result = Run("true", options, {.ps = 0, .workers = 1});
  EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("alpha: the connection has ended"), HasSubstr("exited with 255"),
                    HasSubstr("Connection refused"), HasSubstr("try 'ssh alpha true'")));
}

TEST_F(AgentEngineTest, ALongWaitForAMachineIsNotSilent) {
  AgentEngineOptions options = Options();
  // The machine answers when the launcher has said for the third time that it waits.
  options.command = [path = dir_.path()](const AgentNode&) {
    return std::vector<std::string>{
        "sh", "-c", StrCat("until [ $(grep -c 'still waits' ", path, "/err) -ge 3 ]; do sleep 0.01; done; exit 255")};
  };
  const auto result = Run("true", options, {.ps = 0, .workers = 1, .remind_after = std::chrono::milliseconds(10)});
  EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
  EXPECT_THAT(err(), HasSubstr("launch: still waits for machines, 0.0 s after the start\n"));
}

TEST_F(AgentEngineTest, AnotherVersionIsRefused) {
  AgentEngineOptions options = Options();
  options.version = "0.0.1";
  const auto result = Run("true", options, {.ps = 0, .workers = 1});
  EXPECT_TRUE(absl::IsFailedPrecondition(result.status()));
  EXPECT_THAT(result.status().message(), AllOf(HasSubstr("alpha: "), HasSubstr(TENSORBRAID_VERSION),
                                               HasSubstr("the launcher's has 0.0.1"), HasSubstr("install the same")));
}

TEST_F(AgentEngineTest, ClocksThatDifferAreNamedAndThoseThatDifferTooMuchAreRefused) {
  // The clock of beta shows another time.
  const auto run_with_clock = [&](int64_t ahead_s) {
    AgentEngineOptions options = Options();
    options.command = [ahead_s](const AgentNode& node) {
      std::string script = StrCat(TENSORBRAID_PROGRAM, " agent --node=", node.name);
      if (node.name == "beta") {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const int64_t time_ms = std::chrono::duration_cast<milliseconds>(now).count() + 1000 * ahead_s;
        script += StrCat(" | sed -u 's/\"time_ms\":[0-9]*/\"time_ms\":", time_ms, "/'");
      }
      return std::vector<std::string>{"sh", "-c", script};
    };
    return Run("true", options, {.ps = 1, .workers = 1});
  };
  const auto notable = run_with_clock(1800);
  ASSERT_TRUE(notable.ok()) << notable.status();
  EXPECT_EQ(notable->exit_code, 0) << err();
  EXPECT_THAT(err(), ::testing::ContainsRegex("beta: its clock is 1[78][0-9][0-9] s ahead of this machine's"));
  const auto refused = run_with_clock(-100'000);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("beta: its clock is 100"), HasSubstr(" s behind"), HasSubstr("set it (NTP)")));
}

TEST_F(AgentEngineTest, ADirectoryThatIsMissingIsNamed) {
  AgentEngineOptions options = Options();
  options.directory = Path("missing");
  const auto result = Run("true", options, {.ps = 0, .workers = 1});
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("alpha: cannot enter"), HasSubstr("missing"), HasSubstr("--sync")));
}

TEST_F(AgentEngineTest, AProgramThatDiffersBetweenNodesIsRefused) {
  AgentEngineOptions options = Options();
  dir_.Write("program", "one");
  options.checked_files = {"program"};
  // The agent of beta sees another file of this name.
  ASSERT_EQ(::mkdir(Path("other").c_str(), 0700), 0);
  dir_.Write("other/program", "two");
  options.directory = "";
  options.command = [this](const AgentNode& node) {
    const std::string directory = node.name == "alpha" ? dir_.path() : Path("other");
    return std::vector<std::string>{
        "sh", "-c", StrCat("cd ", directory, "; exec ", TENSORBRAID_PROGRAM, " agent --node=", node.name)};
  };
  const auto result = Run("true", options);
  EXPECT_TRUE(absl::IsFailedPrecondition(result.status())) << result.status();
  EXPECT_THAT(result.status().message(), HasSubstr("'program' on beta differs from that on alpha"));
}

TEST_F(AgentEngineTest, KeysAreInFilesForTheUserOnlyWhichAreGoneAtTheEnd) {
  AgentEngineOptions options = Options();
  TB_CHECK_OK(AddJobCredentials(&options));
  const auto result =
      Run("for word; do case $word in --tls_key=*) f=${word#*=}; esac; done; echo $f; head -n1 $f; "
          "stat -c %a $f $(dirname $f)",
          options, {.ps = 0, .workers = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  const std::vector<std::string> lines = StrSplit(out(), '\n');
  ASSERT_EQ(lines.size(), 5u) << out() << err();
  EXPECT_EQ(lines[1], "[worker/0] -----BEGIN PRIVATE KEY-----");
  EXPECT_EQ(lines[2], "[worker/0] 600");
  EXPECT_EQ(lines[3], "[worker/0] 700");
  EXPECT_NE(::access(lines[0].substr(std::string("[worker/0] ").size()).c_str(), F_OK), 0);
}

TEST_F(AgentEngineTest, KeysAreGoneWhenAnAgentIsKilled) {
  AgentEngineOptions options = Options();
  TB_CHECK_OK(AddJobCredentials(&options));
  const auto result = Run(StrCat("dirname $TENSORBRAID_TLS_KEY | tr -d '\\n' > ", Path("folder"), "; kill -KILL $(cat ",
                                 Path("alpha"), "); exec sleep 1000"),
                          options, {.ps = 0, .workers = 1, .grace = milliseconds(0)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 255);
  const std::string folder = TextOf(Path("folder"));
  EXPECT_THAT(folder, HasSubstr("tensorbraid-job-"));
  EXPECT_TRUE(IsRemoved(folder)) << folder;
}

TEST_F(AgentEngineTest, NoKeyTravels) {
  AgentEngineOptions options = Options();
  TB_CHECK_OK(AddJobCredentials(&options));
  // All that passes between the launcher and the agent of each node is recorded.
  options.command = [path = dir_.path()](const AgentNode& node) {
    const std::string record = StrCat(path, "/", node.name);
    const std::string script =
        StrCat("tee ", record, ".in | ", TENSORBRAID_PROGRAM, " agent --node=", node.name, " | tee ", record, ".out");
    return std::vector<std::string>{"sh", "-c", script};
  };
  // Each task leaves its key where the test finds it.
  const auto result = Run(StrCat("case \"$*\" in *job_name=ps*) n=ps;; *) n=worker;; esac; env > ", dir_.path(),
                                 "/$n.env; cp $TENSORBRAID_TLS_KEY ", dir_.path(), "/$n.key"),
                          options, {.ps = 1, .workers = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->exit_code, 0) << err();
  std::string all;
  for (const char* name : {"alpha.in", "alpha.out", "beta.in", "beta.out"}) all += TextOf(Path(name));
  // What may be seen is in the record, so the record is whole.
  EXPECT_THAT(all, AllOf(HasSubstr("BEGIN CERTIFICATE REQUEST"), HasSubstr("BEGIN CERTIFICATE-")));
  EXPECT_THAT(all, Not(HasSubstr("PRIVATE KEY")));
  for (const char* task : {"ps", "worker"}) {
    const std::string key = TextOf(Path(StrCat(task, ".key")));
    EXPECT_THAT(key, HasSubstr("PRIVATE KEY"));
    for (const std::string& line : StrSplit(key, '\n')) {
      if (line.empty() || line.starts_with('-')) continue;
      EXPECT_THAT(all, Not(HasSubstr(line))) << task;
    }
    EXPECT_THAT(all, Not(HasSubstr(absl::Base64Escape(key).substr(0, 60)))) << task;
    // The certificates are all that keeps others out: there is no secret that tasks share.
    EXPECT_THAT(TextOf(Path(StrCat(task, ".env"))), Not(HasSubstr("TENSORBRAID_TOKEN_FILE"))) << task;
  }
}

// A launcher that is played by the test, and an agent that has made a key.
class AgentKeyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = ChildProcess::Start({TENSORBRAID_PROGRAM, "agent", "--node=alpha"}, {}, ChildProcess::Stdout::kPipe,
                                       ChildProcess::Stdin::kPipe);
    ASSERT_TRUE(started.ok()) << started.status();
    agent_.emplace(*std::move(started));
    Send(PrepareNode{.version = TENSORBRAID_VERSION,
                     .directory = "",
                     .tasks = {"worker/0"},
                     .numbers = {0},
                     .ports = {},
                     .makes_key = true,
                     .checked_files = {}});
    const std::string begin = "{\"certificate_request\"";
    const auto prepared = ParseAgentEvent(begin + AwaitLine(agent_->out(), begin));
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    request_ = std::get<NodePrepared>(prepared->message).certificate_request;
  }
  void Send(const AgentRequest& request) {
    const std::string line = ToLine("alpha", request);
    ASSERT_EQ(::write(agent_->in().get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  // Why the agent refuses something.
  std::string Refusal() {
    const std::string begin = "{\"event\":\"refused\"";
    const auto refused = ParseAgentEvent(begin + AwaitLine(agent_->out(), begin));
    return refused.ok() ? std::string(std::get<NodeRefused>(refused->message).why.message()) : "no answer";
  }

  const JobCredentials job_ = JobCredentials::Make().value();
  std::string request_;
  std::optional<ChildProcess> agent_;
};

TEST_F(AgentKeyTest, ACertificateOfAnotherKeyIsRefused) {
  const std::string other = MakeCertificateRequest().value().request;
  Send(NodeCertificate{job_.CertificateFor("alpha", other).value(), job_.authority()});
  EXPECT_THAT(Refusal(), HasSubstr("the certificate is not of this key"));
}

TEST_F(AgentKeyTest, ACertificateOfAnotherAuthorityIsRefused) {
  const JobCredentials other = JobCredentials::Make().value();
  Send(NodeCertificate{job_.CertificateFor("alpha", request_).value(), other.authority()});
  EXPECT_THAT(Refusal(), HasSubstr("not signed by this authority"));
}

TEST_F(AgentKeyTest, NoTaskIsStartedWithoutItsCertificate) {
  Send(StartTask{0, {.command = {"true"}}});
  EXPECT_THAT(Refusal(), HasSubstr("has no certificate yet"));
}

TEST_F(AgentKeyTest, ASecondCertificateIsRefused) {
  const NodeCertificate certificate{job_.CertificateFor("alpha", request_).value(), job_.authority()};
  Send(certificate);
  Send(certificate);
  EXPECT_THAT(Refusal(), HasSubstr("asked for no certificate, or has one"));
}

TEST_F(AgentEngineTest, AnAgentEndsItsTasksWhenItsInputEnds) {
  auto agent = ChildProcess::Start({TENSORBRAID_PROGRAM, "agent", "--node=alpha"}, {}, ChildProcess::Stdout::kPipe,
                                   ChildProcess::Stdin::kPipe);
  ASSERT_TRUE(agent.ok()) << agent.status();
  const auto send = [&agent](const AgentRequest& request) {
    const std::string line = ToLine("alpha", request);
    ASSERT_EQ(::write(agent->in().get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  };
  send(PrepareNode{.version = TENSORBRAID_VERSION,
                   .directory = "",
                   .tasks = {"worker/0"},
                   .numbers = {5},
                   .ports = {},
                   .checked_files = {}});
  send(StartTask{5, {.command = {"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1000; done"}}});
  const std::string start = "{\"event\":\"started\"";
  const auto started = ParseAgentEvent(start + AwaitLine(agent->out(), start));
  ASSERT_TRUE(started.ok()) << started.status();
  const pid_t pid = std::get<TaskStarted>(started->message).pid;
  AwaitLine(agent->out(), "{\"event\":\"line\"");  // the task ignores SIGTERM from now on
  agent->in().Close();
  EXPECT_TRUE(Ends(pid));
  EXPECT_TRUE(agent->Reap().ok());
}

// One channel for all agents, as that of srun.
class SharedChannelTest : public AgentEngineTest {
 protected:
  AgentEngineOptions Options(const std::vector<std::string>& nodes) const {
    return {.nodes = {},
            .command = nullptr,
            .shared = SharedChannelOf(nodes, dir_.path()),
            .version = TENSORBRAID_VERSION,
            .directory = dir_.path()};
  }
};

TEST_F(SharedChannelTest, TasksRunOnTheNodesThatAnswerInTheOrderOfTheirRanks) {
  const auto result = Run("pwd", Options({"gamma", "alpha", "beta"}), {.ps = 1, .workers = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_THAT(err(), AllOf(HasSubstr("asking the stand-in for 3 nodes"),
                           ::testing::ContainsRegex("ps/0 runs on 127.0.0.1:[0-9]+, pid [0-9]+ on gamma"),
                           ::testing::ContainsRegex("worker/0 runs on .* on alpha")));
}

TEST_F(SharedChannelTest, NodesHaveTheirNumbersOfSlots) {
  AgentEngineOptions options = Options({"alpha", "beta"});
  options.shared->slots = {1, 3};
  ASSERT_TRUE(Run("true", options, {.ps = 1, .workers = 3}).ok());
  EXPECT_THAT(err(), AllOf(::testing::ContainsRegex("ps/0 runs on .* on alpha"),
                           ::testing::ContainsRegex("worker/1 runs on .* on beta"),
                           ::testing::ContainsRegex("worker/2 runs on .* on beta")));
}

TEST_F(SharedChannelTest, AJobThatIsTooLargeIsToldWhatToAskFor) {
  AgentEngineOptions options = Options({"alpha", "beta"});
  options.shared->slots = {1};
  options.shared->room_hint = "ask for more";
  const auto result = Run("true", options, {.ps = 1, .workers = 3});
  EXPECT_TRUE(absl::IsInvalidArgument(result.status()));
  EXPECT_THAT(result.status().message(), HasSubstr("has 4 tasks, and the machines have slots for 2: ask for"));
  EXPECT_THAT(result.status().message(), HasSubstr(": ask for more"));
  EXPECT_NE(::access(Path("alpha").c_str(), F_OK), 0) << "agents were started";
}

TEST_F(SharedChannelTest, AnEngineThatRefusesIsQuotedWithWhatToTry) {
  AgentEngineOptions options = Options({});
  options.shared->agents = 1;
  options.shared->command = {"sh", "-c", "echo waiting >&2; echo 'no such thing' >&2; exit 1"};
  options.shared->error_hints = {{"such", "look it up"}, {"other", "never"}};
  const auto result = Run("true", options, {.ps = 0, .workers = 1});
  EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
  EXPECT_THAT(result.status().message(),
              AllOf(HasSubstr("the stand-in: the connection has ended (sh exited with 1: no such thing); look it up"),
                    Not(HasSubstr("never"))));
  EXPECT_THAT(err(), HasSubstr("launch: sh: waiting\n"));
}

TEST_F(SharedChannelTest, ASilentNodeLosesItsTasksForGood) {
  AgentEngineOptions options = Options({"alpha"});
  options.shared->alive = milliseconds(100);
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const auto result = Run(StrCat("kill -STOP $(cat ", Path("alpha"), "); exec sleep 1000"), options,
                          {.ps = 0, .workers = 1, .restart = policy});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 255);
  EXPECT_THAT(result->failure, HasSubstr("worker/0 was lost: alpha: its agent has said nothing for 0.6 s"));
  EXPECT_THAT(err(), HasSubstr("does not come back to this job"));
}

TEST_F(SharedChannelTest, ASilentNodeOfAJobThatIsSuspendedIsNotLost) {
  AgentEngineOptions options = Options({"alpha"});
  options.shared->alive = milliseconds(100);
  options.shared->command.insert(options.shared->command.begin(), {"env", "SLURM_JOB_ID=77"});
  options.shared->state_command = [](const std::string& job) {
    return std::vector<std::string>{"sh", "-c", "[ " + job + " = 77 ] && echo ASLEEP"};
  };
  options.shared->suspended_state = "ASLEEP";
  options.shared->resume_command = "wake";
  // The agent sleeps until the launcher has noticed it.
  const auto result = Run(StrCat("kill -STOP $(cat ", Path("alpha"), "); until grep -q 'suspended the job' ",
                                 Path("err"), "; do sleep 0.05; done; kill -CONT $(cat ", Path("alpha"), ")"),
                          options, {.ps = 0, .workers = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0) << err();
  EXPECT_THAT(err(), AllOf(HasSubstr("launch: the stand-in has suspended the job; 'wake 77' lets it go on"),
                           HasSubstr("launch: the stand-in has resumed the job"), Not(HasSubstr("was lost"))));
}

TEST_F(SharedChannelTest, TheEndOfTheChannelLosesAllTasksForGood) {
  const auto result =
      Run(StrCat("kill -KILL $(cat ", Path("channel"), "); exec sleep 1000"), Options({"alpha", "beta"}),
          {.ps = 1, .workers = 1, .restart = {.max_restarts = -1, .first_delay = milliseconds(1)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 255);
  EXPECT_THAT(result->failure, HasSubstr("the connection has ended"));
}

TEST_F(SharedChannelTest, ASignalOfTheEngineReachesATaskOnce) {
  // Each task sends SIGTERM to its agent and to itself, as Slurm does, when both are there. It goes on for longer than
  // the agent waits before it passes on a signal.
  AgentEngineOptions options = Options({"alpha", "beta"});
  const auto result =
      Run("trap 'echo got one' TERM; echo > \"ready$3\"; until test -e ready--job_name=ps -a -e "
          "ready--job_name=worker; do :; done; kill -TERM $PPID $$; sleep 2; sleep 1",
          options, {.ps = 1, .workers = 1, .stop_grace = std::chrono::seconds(100)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 128 + SIGTERM);
  EXPECT_EQ(result->failure, "stopped by SIGTERM of the stand-in");
  std::vector<std::string> lines = StrSplit(out(), '\n');
  std::sort(lines.begin(), lines.end());
  EXPECT_THAT(lines, ElementsAre("", "[ps/0] got one", "[worker/0] got one"));
}

TEST_F(SharedChannelTest, ASignalThatReachesTheAgentsOnlyIsPassedOn) {
  AgentEngineOptions options = Options({"alpha", "beta"});
  options.shared->signals_agents_only = true;
  const auto result =
      Run("trap 'echo saved; exit 0' TERM; case \"$*\" in *job_name=ps*) until grep -q ready " + Path("out") +
              "; do :; done; kill -TERM $PPID;; esac; echo ready; while :; do sleep 0.01; done",
          options, {.ps = 1, .workers = 1, .stop_grace = std::chrono::seconds(100)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 128 + SIGTERM);
  EXPECT_THAT(out(), AllOf(HasSubstr("[ps/0] saved\n"), HasSubstr("[worker/0] saved\n")));
}

TEST_F(SharedChannelTest, EachNodeHasAKeyAndACertificateOfTheSameAuthority) {
  AgentEngineOptions options = Options({"alpha", "beta"});
  TB_CHECK_OK(AddJobCredentials(&options));
  const auto result =
      Run(StrCat("case \"$*\" in *job_name=ps*) n=ps;; *) n=worker;; esac; for f in KEY CERT CA; do eval cp "
                 "\\$TENSORBRAID_TLS_$f ",
                 dir_.path(), "/$n-$f; done"),
          options, {.ps = 1, .workers = 1});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->exit_code, 0) << err();
  const auto text = [this](const std::string& name) { return TextOf(Path(name)); };
  EXPECT_NE(text("ps-KEY"), text("worker-KEY"));
  EXPECT_EQ(text("ps-CA"), text("worker-CA"));
  for (const char* task : {"ps", "worker"}) {
    const Certificate own{text(StrCat(task, "-CERT")), text(StrCat(task, "-KEY"))};
    EXPECT_EQ(CheckCertificate(own, text("ps-CA")), OkStatus()) << task;
  }
}

TEST(AssignNodesTest, SpreadsTasksOverFreeSlots) {
  EXPECT_THAT(*AssignNodes({{"a", "", 0}, {"b", "", 0}}, 3), ElementsAre(0, 1, 0));
  EXPECT_THAT(*AssignNodes({{"a", "", 4}, {"b", "", 1}}, 4), ElementsAre(0, 1, 0, 0));
  const auto too_many = AssignNodes({{"a", "", 2}, {"b", "", 1}}, 5);
  EXPECT_TRUE(absl::IsInvalidArgument(too_many.status()));
  EXPECT_THAT(too_many.status().message(), HasSubstr("the job has 5 tasks, and the machines have slots for 3"));
}

TEST(AgentMessagesTest, LinesThatAreNoMessagesAreErrors) {
  for (const char* line : {"", "{", "[]", "3", "{\"node\":\"a\"}", "{\"node\":\"a\",\"event\":\"started\"}",
                           "{\"node\":\"a\",\"event\":\"started\",\"task\":-1,\"pid\":\"x\"}",
                           "{\"node\":\"a\",\"event\":\"line\",\"task\":1,\"stream\":\"out\",\"line\":\"%\"}",
                           "{\"node\":\"a\",\"event\":\"refused\",\"why\":{\"code\":0,\"message\":\"\"}}",
                           "{\"node\":\"a\",\"event\":\"stopping\",\"signal\":1000}",
                           "{\"node\":1,\"event\":\"output_ended\",\"task\":1}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseAgentEvent(line).status())) << line;
    EXPECT_TRUE(absl::IsInvalidArgument(ParseAgentRequest(line).status())) << line;
  }
}

TEST(AgentMessagesTest, BytesOfALineAndEnvironmentsArrive) {
  const std::string bytes("a\0\xff\n\"", 5);
  const auto event = ParseAgentEvent(ToLine("n", TaskLine{7, OutputStream::kErr, bytes}));
  ASSERT_TRUE(event.ok()) << event.status();
  const auto& line = std::get<TaskLine>(event->message);
  EXPECT_EQ(event->node, "n");
  EXPECT_EQ(line.line, bytes);
  EXPECT_EQ(line.stream, OutputStream::kErr);
  const auto request = ParseAgentRequest(ToLine("n", StartTask{1, {{"a", "b c"}, {{"X", ""}, {"Y", "z"}}}, false}));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_FALSE(std::get<StartTask>(request->message).knows_flags);
  const auto& call = std::get<StartTask>(request->message).call;
  EXPECT_THAT(call.command, ElementsAre("a", "b c"));
  EXPECT_THAT(call.environment, ElementsAre(::testing::Pair("X", ""), ::testing::Pair("Y", "z")));
}

}  // namespace
}  // namespace tensorbraid
