#include "launch/launcher/launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>

#include "cluster/protobuf/report.pb.h"
#include "cluster/spec/tf_config.h"
#include "cluster/status/report_text.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/shared_channel_testutil.h"
#include "launch/engines/local/local_engine.h"
#include "launch/launcher/task_call.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The engines that can be tried on one machine. All tests of LaunchTest hold for each of them.
enum class EngineKind { kLocal, kAgents, kSharedChannel };

// Runs shell scripts as tasks, with their output in files.
class LaunchTest : public ::testing::TestWithParam<EngineKind> {
 protected:
  // In the script, $* is the list of arguments that launch adds.
  LaunchResult Run(const std::string& script, LaunchOptions options = {}) {
    options.command = {"sh", "-c", script, "program"};
    const Fd out(::open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Fd err(::open(Path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    options.out_fd = out.get();
    options.err_fd = err.get();
    auto result = Launch(options, NewEngine());
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : LaunchResult{};
  }
  std::unique_ptr<Engine> NewEngine() const {
    if (GetParam() == EngineKind::kLocal) return std::make_unique<LocalEngine>();
    if (GetParam() == EngineKind::kSharedChannel) {
      return std::make_unique<AgentEngine>(AgentEngineOptions{.nodes = {},
                                                              .command = nullptr,
                                                              .shared = SharedChannelOf({"alpha", "beta"}, dir_.path()),
                                                              .version = TENSORBRAID_VERSION,
                                                              .directory = ""});
    }
    return std::make_unique<AgentEngine>(
        AgentEngineOptions{.nodes = {{"alpha", "127.0.0.1", 0}, {"beta", "127.0.0.1", 0}},
                           .command =
                               [](const AgentNode& node) {
                                 return std::vector<std::string>{TENSORBRAID_PROGRAM, "agent", "--node=" + node.name};
                               },
                           .version = TENSORBRAID_VERSION,
                           .directory = ""});
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string out() const { return TextOf(Path("out")); }
  std::string err() const { return TextOf(Path("err")); }

  TempDir dir_;
};

INSTANTIATE_TEST_SUITE_P(Engines, LaunchTest,
                         ::testing::Values(EngineKind::kLocal, EngineKind::kAgents, EngineKind::kSharedChannel),
                         [](const auto& info) {
                           if (info.param == EngineKind::kLocal) return "Local";
                           return info.param == EngineKind::kAgents ? "Agents" : "SharedChannel";
                         });

TEST_P(LaunchTest, SucceedsWhenAllTasksDo) {
  const LaunchResult result = Run("true");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.failure, "");
}

TEST_P(LaunchTest, PrefixesLinesExceptJsonAndWritesLogs) {
  Run("echo hello; echo '{\"a\":1}'; echo trouble >&2; printf unfinished",
      {.ps = 1, .workers = 2, .log_dir = Path("a/b")});
  for (const char* line : {"[ps/0] hello\n", "[worker/1] hello\n", "\n{\"a\":1}\n", "[worker/0] unfinished\n"}) {
    EXPECT_THAT(out(), HasSubstr(line));
  }
  EXPECT_THAT(out(), Not(HasSubstr("trouble")));
  EXPECT_THAT(err(), AllOf(HasSubstr("[worker/1] trouble\n"), HasSubstr("logs are in")));
  const std::string log = TextOf(Path("a/b/worker-1.log"));
  EXPECT_THAT(log, AllOf(HasSubstr("hello\n{\"a\":1}\n"), HasSubstr("trouble\n"), Not(HasSubstr("[worker/1]"))));
}

TEST_P(LaunchTest, ALogThatCannotBeWrittenIsSaid) {
  std::filesystem::create_symlink("/dev/full", Path("worker-0.log"));
  const LaunchResult result = Run("echo hello", {.ps = 0, .workers = 2, .log_dir = dir_.path()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(err(), AllOf(HasSubstr("/worker-0.log': No space left on device; what worker/0 writes from now on"),
                           HasSubstr("logs are in " + dir_.path() + ", but could not be written to the end")));
  EXPECT_THAT(out(), HasSubstr("[worker/0] hello\n"));
  EXPECT_THAT(TextOf(Path("worker-1.log")), ::testing::MatchesRegex("launch: worker/1 starts, [-0-9 :]+\nhello\n"));
}

TEST_P(LaunchTest, LogsAreAppendedToWithALineForEachStart) {
  dir_.Write("worker-0.log", "of an earlier job\n");
  const RestartPolicy policy{.max_restarts = 1, .first_delay = milliseconds(1)};
  Run("echo hello; exit 3", {.ps = 0, .workers = 1, .log_dir = dir_.path(), .restart = policy});
  const std::string start = "launch: worker/0 starts, [-0-9]+ [:0-9]+\n";
  EXPECT_THAT(TextOf(Path("worker-0.log")),
              ::testing::MatchesRegex("of an earlier job\n" + start + "hello\n" + start + "hello\n"));
}

TEST_P(LaunchTest, AReportThatCannotBeWrittenDoesNotHideAFailure) {
  const LaunchResult result = Run("exit 3", {.ps = 0, .workers = 1, .report_file = "/dev/full"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(err(), HasSubstr("--report: cannot write /dev/full: No space left on device"));
}

TEST_P(LaunchTest, ATaskThatWasKilledByOthersMayHaveHadNoMemory) {
  Run("kill -KILL $$", {.ps = 0, .workers = 1});
  EXPECT_THAT(err(), HasSubstr("the launcher has not killed worker/0; the kernel kills"));
}

TEST_P(LaunchTest, LosesNoOutput) {
  Run("seq 100000", {.ps = 0, .workers = 1});
  const std::string text = out();
  EXPECT_THAT(text, AllOf(HasSubstr("[worker/0] 1\n"), HasSubstr("[worker/0] 100000\n")));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 100000);
}

TEST_P(LaunchTest, LinesAppearWhenTheyAreWritten) {
  // The last grep would write to a pipe only when its input ends. The script looks for its first line before that.
  const LaunchResult result = Run("(echo early; for i in $(seq 2000); do if grep -q early " + Path("out") +
                                      "; then echo late; break; fi; done) | grep .",
                                  {.ps = 0, .workers = 1});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(out(), "[worker/0] early\n[worker/0] late\n");
}

TEST_P(LaunchTest, BytesOfALineAreUnchanged) {
  Run("printf 'a\\tb\\001\\004\\rc\\n'", {.ps = 0, .workers = 1});
  EXPECT_EQ(out(), "[worker/0] a\tb\001\004\rc\n");
}

TEST_P(LaunchTest, FlagsTellATaskItsClusterAndItself) {
  Run("echo $*", {.ps = 2, .workers = 1});
  EXPECT_THAT(out(), ::testing::ContainsRegex("\\[ps/1\\] --ps_hosts=127.0.0.1:[0-9]+,127.0.0.1:[0-9]+ "
                                              "--worker_hosts=127.0.0.1:[0-9]+ --job_name=ps --task_index=1\n"));
  EXPECT_THAT(out(), HasSubstr("--job_name=worker --task_index=0\n"));
}

TEST_P(LaunchTest, OnlyTheFirstTaskServesTheMetrics) {
  Run("echo $*", {.ps = 1, .workers = 1, .metrics_port = 9090});
  EXPECT_THAT(out(), ::testing::ContainsRegex("\\[ps/0\\][^\n]* --metrics_port=9090\n"));
  EXPECT_THAT(out(), Not(::testing::ContainsRegex("\\[worker/0\\][^\n]* --metrics_port")));
}

TEST_P(LaunchTest, TheChiefServesTheMetricsIfItIsTheFirstTask) {
  Run("echo $*", {.ps = 0, .workers = 2, .style = TaskStyle::kTfConfig, .metrics_port = 9090});
  EXPECT_THAT(out(), ::testing::MatchesRegex("(.worker/0. \n)?.chief/0. --metrics_port=9090\n(.worker/0. \n)?"));
}

TEST_P(LaunchTest, TfConfigTellsATaskItsClusterAndItself) {
  Run("echo \"$TF_CONFIG\" $*", {.ps = 1, .workers = 1, .style = TaskStyle::kTfConfig});
  for (const std::string& line : StrSplit(out(), '\n')) {
    if (line.empty()) continue;
    auto config = ParseTfConfig(line);
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_TRUE(config->cluster.Validate().ok());
    EXPECT_TRUE(config->cluster.task_address(config->task_type, config->task_index).ok());
  }
}

// "chief/0 of chief/0, ps/0, ps/1, ..."
std::string DescriptionOf(const TfConfig& config) {
  std::vector<std::string> tasks;
  for (const std::string& job : config.cluster.jobs()) {
    for (const int index : config.cluster.task_indices(job)) tasks.push_back(StrCat(job, "/", index));
  }
  return StrCat(config.task_type, "/", config.task_index, " of ", StrJoin(tasks, ", "));
}

TEST_P(LaunchTest, TfConfigHasAChiefAndNoEvaluatorInTheCluster) {
  Run("echo \"$TF_CONFIG\"", {.ps = 1, .workers = 3, .evaluator = true, .style = TaskStyle::kTfConfig});
  std::vector<std::string> tasks;
  for (const std::string& line : StrSplit(out(), '\n')) {
    if (line.empty()) continue;
    const auto config = ParseTfConfig(line);
    ASSERT_TRUE(config.ok()) << config.status();
    tasks.push_back(DescriptionOf(*config));
  }
  const std::string cluster = " of chief/0, ps/0, worker/0, worker/1";
  EXPECT_THAT(tasks, ::testing::UnorderedElementsAre("ps/0" + cluster, "chief/0" + cluster, "worker/0" + cluster,
                                                     "worker/1" + cluster, "evaluator/0" + cluster));
  EXPECT_THAT(err(), HasSubstr("evaluator/0 is done"));
}

TEST_P(LaunchTest, AnEvaluatorIsStartedAgainAfterTheEndOfTheTraining) {
  // It fails once after the others have ended.
  const std::string script = "case \"$TF_CONFIG\" in *evaluator*) ;; *) exit 0;; esac; cd " + dir_.path() +
                             "; mkdir first || exit 0; until grep -q '1 of 3 tasks' err; do :; done; exit 3";
  const RestartPolicy policy{.max_restarts = 1, .first_delay = milliseconds(1)};
  const LaunchResult result =
      Run(script, {.ps = 1, .workers = 1, .evaluator = true, .style = TaskStyle::kTfConfig, .restart = policy});
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(err(), AllOf(HasSubstr("evaluator/0 is started again"), HasSubstr("evaluator/0 is done")));
}

TEST_P(LaunchTest, AParameterServerIsStartedAgainWhileTheChiefTrains) {
  const std::string script =
      "cd " + dir_.path() +
      "; case \"$TF_CONFIG\" in *'\"type\":\"ps\"'*) mkdir first && exit 3; mkdir second; exit 0;;"
      "esac; until [ -e second ]; do :; done";
  const RestartPolicy policy{.max_restarts = 1, .first_delay = milliseconds(1)};
  const LaunchResult result = Run(script, {.ps = 1, .workers = 1, .style = TaskStyle::kTfConfig, .restart = policy});
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(err(), HasSubstr("ps/0 is started again"));
}

TEST_P(LaunchTest, AProgramWithoutAClusterGetsNoFlags) {
  Run("echo \"program [$TF_CONFIG] [$*]\"", {.ps = 0, .workers = 1, .style = TaskStyle::kNone});
  EXPECT_THAT(out(), HasSubstr("program [] []\n"));
}

TEST_P(LaunchTest, FirstFailureIsNamedAndTheOthersAreStopped) {
  const LaunchResult result = Run("case \"$*\" in *job_name=worker*task_index=1) exit 3;; esac; exec sleep 100000",
                                  {.grace = std::chrono::milliseconds(10)});
  EXPECT_EQ(result.failure, "worker/1 exited with 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/1 exited with 3"), HasSubstr("the other tasks have 0.01 s"),
                           HasSubstr("stopping the other tasks")));
  for (const char* other : {"ps/0", "worker/0"}) EXPECT_THAT(err(), HasSubstr(StrCat(other, " was killed by SIG")));
}

TEST_P(LaunchTest, ParameterServersWithoutWorkersHaveTwoSecondsToEnd) {
  Run("case \"$*\" in *job_name=worker*) exit 3;; esac; exec sleep 1000", {.ps = 1, .workers = 1});
  EXPECT_THAT(err(), AllOf(HasSubstr("the other tasks have 2 s to end"), Not(HasSubstr("have 30 s"))));
}

TEST_P(LaunchTest, VariablesAreSetInEachTask) {
  ::setenv("TENSORBRAID_TEST_VARIABLE", "of the launcher", 1);
  LaunchOptions options{.ps = 0, .workers = 2};
  for (const char* text : {"A_B=c=d e", "TENSORBRAID_TEST_VARIABLE", "HOME=", "TERM=vt100"}) {
    options.environment.push_back(*ParseEnvironment(text));
  }
  Run("echo \"$A_B, $TENSORBRAID_TEST_VARIABLE, ${HOME-none}, $TERM\"", options);
  for (const char* task : {"[worker/0]", "[worker/1]"}) {
    EXPECT_THAT(out(), HasSubstr(StrCat(task, " c=d e, of the launcher, none, vt100\n")));
  }
}

// Each machine's GPUs are divided among its tasks: local tasks share one machine, agents have two.
TEST_P(LaunchTest, WorkersGetGpusOfTheirMachine) {
  ::setenv("CUDA_VISIBLE_DEVICES", "7,3,GPU-1,GPU-2", 1);
  EXPECT_EQ(Run("echo \"$4: $CUDA_VISIBLE_DEVICES\"", {.ps = 1, .workers = 2, .gpus_per_worker = 2}).exit_code, 0);
  EXPECT_THAT(out(), AllOf(HasSubstr("[ps/0] --task_index=0: -1"), HasSubstr("[worker/0] --task_index=0: 7,3"),
                           HasSubstr(GetParam() == EngineKind::kLocal ? "[worker/1] --task_index=1: GPU-1,GPU-2"
                                                                      : "[worker/1] --task_index=1: 7,3")));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

// Each of two machines has too few GPUs for its worker: the launch ends with the answer that comes first.
TEST_P(LaunchTest, AMachineWithTooFewGpusIsNamedWithItsTask) {
  ::setenv("CUDA_VISIBLE_DEVICES", "7,3,GPU-1,GPU-2", 1);
  const auto launched = Launch({.workers = 2, .command = {"true"}, .gpus_per_worker = 5}, NewEngine());
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_THAT(std::string(launched.status().message()),
              ContainsRegex("--gpus_per_worker=5: worker/[01] needs GPU 5 of its machine, which has 4"));
}

TEST_P(LaunchTest, ProgramsOfPythonGetAccessByTheEnvironmentAlone) {
  dir_.Write("python3", "#!/bin/sh\necho \"$* in $TENSORBRAID_TOKEN_FILE $TENSORBRAID_INSECURE\"\n");
  ::chmod(Path("python3").c_str(), 0700);
  LaunchOptions options{
      .ps = 0, .workers = 1, .command = {Path("python3"), "train.py"}, .token_file = "a/token", .insecure = true};
  const Fd out(::open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  options.out_fd = out.get();
  options.err_fd = -1;
  ASSERT_TRUE(Launch(options, NewEngine()).ok());
  EXPECT_THAT(TextOf(Path("out")),
              ::testing::MatchesRegex(".worker/0. train.py --ps_hosts= --worker_hosts=127.0.0.1:[0-9]+ "
                                      "--job_name=worker --task_index=0 in a/token 1\n"));
}

TEST_P(LaunchTest, OtherProgramsGetAccessByFlagsToo) {
  Run("echo $*", {.ps = 0, .workers = 1, .token_file = "a/token", .insecure = true});
  EXPECT_THAT(out(), HasSubstr("--insecure --token_file=a/token\n"));
}

TEST(ParseEnvironmentTest, NamesWhatIsWrong) {
  ::unsetenv("TENSORBRAID_TEST_VARIABLE");
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "no name"},
      {"=x", "no name"},
      {"1A=x", "'1A' is no name"},
      {"A-B=x", "'A-B' is no name"},
      {"TENSORBRAID_TEST_VARIABLE", "is not set here"},
      {"TF_CONFIG={}", "is set by the launcher itself"},
      {"TENSORBRAID_TLS_KEY=x", "is set by the launcher itself"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ParseEnvironment(text).status().message(), HasSubstr(message)) << text;
  }
}

// A script that fails, as `how` says, until it is started for the nth time. It counts its starts in a file.
std::string FailsUntilStart(int n, const std::string& directory, const std::string& how = "exit 3") {
  return StrCat("echo start >> ", directory, "/starts; test $(wc -l < ", directory, "/starts) -ge ", n, " || ", how);
}

TEST_P(LaunchTest, FailedTasksAreStartedAgain) {
  const RestartPolicy policy{.max_restarts = 5, .first_delay = milliseconds(1), .max_delay = milliseconds(4)};
  const LaunchResult result = Run(FailsUntilStart(4, Path(".")), {.ps = 0, .workers = 1, .restart = policy});
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(TextOf(Path("starts")), "start\nstart\nstart\nstart\n");
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/0 is started again in 0.0 s (restart 3 of 5)"), HasSubstr("is done")));
}

TEST_P(LaunchTest, TasksKilledBySignalsAreStartedAgainOnTheSamePort) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const LaunchResult result =
      Run("echo $1; " + FailsUntilStart(2, Path("."), "kill -KILL $$"), {.ps = 0, .workers = 1, .restart = policy});
  EXPECT_EQ(result.exit_code, 0);
  const auto lines = StrSplit(out(), '\n');
  ASSERT_EQ(lines.size(), 3u) << out();
  EXPECT_THAT(lines[0], HasSubstr("--ps_hosts="));
  EXPECT_EQ(lines[0], lines[1]);
}

TEST_P(LaunchTest, RestartsEndAtTheirLimit) {
  const RestartPolicy policy{.max_restarts = 2, .first_delay = milliseconds(1)};
  const LaunchResult result = Run("echo again; exit 3", {.ps = 0, .workers = 1, .restart = policy});
  EXPECT_EQ(result.failure, "worker/0 exited with 3");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(out(), "[worker/0] again\n[worker/0] again\n[worker/0] again\n");
  EXPECT_THAT(err(), HasSubstr("it has been started again 2 times, which is the limit"));
}

TEST_P(LaunchTest, ATaskThatExitsWith2IsNotStartedAgain) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const LaunchResult result = Run("echo once; exit 2", {.ps = 0, .workers = 1, .restart = policy});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(out(), "[worker/0] once\n");
  EXPECT_THAT(err(), HasSubstr("exit code 2 means an error"));
}

TEST_P(LaunchTest, AParameterServerIsNotStartedAgainWithoutWorkers) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  // The parameter server fails after the worker has been reported as done.
  const LaunchResult result = Run("case \"$*\" in *job_name=worker*) exit 0;; esac; until grep -q 'worker/0 is done' " +
                                      Path("err") + "; do :; done; exit 5",
                                  {.ps = 1, .workers = 1, .restart = policy});
  EXPECT_EQ(result.failure, "ps/0 exited with 5");
  EXPECT_THAT(err(), HasSubstr("no worker is left"));
}

TEST_P(LaunchTest, NoTaskIsStartedAgainAfterTheEndOfAParameterServer) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const LaunchResult result = Run("case \"$*\" in *job_name=ps*) exit 0;; esac; until grep -q 'ps/0 is done' " +
                                      Path("err") + "; do :; done; echo fails; exit 7",
                                  {.ps = 1, .workers = 1, .restart = policy});
  EXPECT_EQ(result.failure, "worker/0 exited with 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(out(), "[worker/0] fails\n");
  EXPECT_THAT(err(), HasSubstr("worker/0 exited with 7: ps/0 has ended with 0, which ends the training, so no task is "
                               "started again"));
}

// Before it ends, the parameter server says that a worker joined it so long ago. The worker that was started again may
// end after the failure of the job was said.
LaunchResult EndAfterARestart(double joined_seconds, const TempDir& dir,
                              const std::function<LaunchResult(const std::string&)>& run) {
  proto::TaskReport report;
  report.set_state("up");
  report.set_joined_seconds(joined_seconds);
  dir.Write("report", ReportToText(report));
  const std::string path = dir.path();
  return run("case \"$*\" in *job_name=ps*) until test -e " + path + "/again; do :; done; cp " + path +
             "/report \"$TENSORBRAID_REPORT_FILE\"; exit 0;; esac; test -e " + path + "/failed || { touch " + path +
             "/failed; exit 7; }; touch " + path + "/again; until grep -q 'ps/0 is done' " + path + "/err; do :; done");
}

TEST_P(LaunchTest, ATaskThatComesTooLateForAParameterServerHasFailed) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const auto run = [&](const std::string& script) { return Run(script, {.ps = 1, .workers = 1, .restart = policy}); };
  const LaunchResult result = EndAfterARestart(/*joined_seconds=*/1000, dir_, run);
  EXPECT_EQ(result.failure, "worker/0 exited with 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(err(), AllOf(HasSubstr("ps/0 has ended with 0"), HasSubstr("the other tasks have")));
}

TEST_P(LaunchTest, ATaskThatHasReachedTheParameterServerAgainMayGoOn) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = milliseconds(1)};
  const auto run = [&](const std::string& script) { return Run(script, {.ps = 1, .workers = 1, .restart = policy}); };
  const LaunchResult result = EndAfterARestart(/*joined_seconds=*/0, dir_, run);
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.exit_code, 0);
}

TEST_P(LaunchTest, ATaskThatWaitsForItsRestartIsNotStartedAgainAfterTheEndOfAParameterServer) {
  const RestartPolicy policy{.max_restarts = -1, .first_delay = std::chrono::hours(1)};
  const LaunchResult result = Run("case \"$*\" in *job_name=worker*) exit 7;; esac; until grep -q 'is started again' " +
                                      Path("err") + "; do :; done",
                                  {.ps = 1, .workers = 1, .restart = policy});
  EXPECT_EQ(result.failure, "worker/0 exited with 7");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_THAT(err(), HasSubstr("ps/0 has ended with 0"));
}

// The text of the report of a worker that made 100 steps in 20 s.
std::string ReportOfWorker() {
  proto::TaskReport report;
  report.set_state("up");
  report.set_steps(100);
  report.set_stepping_seconds(20);
  return ReportToText(report);
}

TEST_P(LaunchTest, ATableAtTheEndSaysWhatTheServersOfTheTasksReported) {
  dir_.Write("report", ReportOfWorker());
  const RestartPolicy policy{.max_restarts = 1, .first_delay = milliseconds(1)};
  // Each run of the worker leaves a report, also the one that is killed. The parameter server ends last.
  const LaunchResult result =
      Run("case \"$*\" in *job_name=ps*) until grep -q 'worker/0 is done' " + Path("err") +
              "; do :; done; exit 0;; esac; cp " + Path("report") + " \"$TENSORBRAID_REPORT_FILE\"; " +
              FailsUntilStart(2, Path("."), "kill -KILL $$"),
          {.ps = 1, .workers = 1, .restart = policy, .report_file = Path("table.json")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(err(), AllOf(HasSubstr("steps/s"), ::testing::ContainsRegex("worker/0 .* 200 +5\\.0 .* 1\n")));
  EXPECT_THAT(TextOf(Path("table.json")), HasSubstr("\"steps\": 200"));
}

TEST_P(LaunchTest, AProgramWithoutAServerGetsNoTable) {
  Run("echo nonsense > \"$TENSORBRAID_REPORT_FILE\"", {.report_file = Path("table.json")});
  EXPECT_THAT(err(), Not(HasSubstr("steps/s")));
  EXPECT_THAT(TextOf(Path("table.json")), HasSubstr("\"has_report\": false"));
  EXPECT_FALSE(Launch({.command = {"true"}, .report_file = Path("none/"), .out_fd = -1, .err_fd = -1}).ok());
}

TEST_P(LaunchTest, DeathBySignalIsNamed) {
  const LaunchResult result = Run("kill -KILL $$", {.ps = 0, .workers = 1});
  EXPECT_EQ(result.failure, "worker/0 was killed by SIGKILL");
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
}

TEST_P(LaunchTest, OthersMayEndByThemselvesWithinTheGrace) {
  // The parameter server runs until the worker's failure has been reported.
  const LaunchResult result = Run("case \"$*\" in *job_name=worker*) exit 4;; esac; until grep -q 'exited with 4' " +
                                      Path("err") + "; do :; done; echo ended by itself",
                                  {.ps = 1, .workers = 1});
  EXPECT_EQ(result.failure, "worker/0 exited with 4");
  EXPECT_THAT(out(), HasSubstr("[ps/0] ended by itself"));
}

TEST_P(LaunchTest, TasksThatIgnoreSignalsAreKilled) {
  const LaunchResult result =
      Run("case \"$*\" in *job_name=ps*) trap '' TERM; while :; do sleep 1000; done;; esac; "
          "until grep -q 'ps/0 runs' " +
              Path("err") + "; do :; done; exit 5",
          {.ps = 1, .workers = 1, .grace = std::chrono::milliseconds(0)});
  EXPECT_EQ(result.failure, "worker/0 exited with 5");
}

TEST_P(LaunchTest, ServersAreNotWaitedForWhenAllWorkersHaveFailed) {
  // With the whole grace, the test would take longer than it may.
  const LaunchResult result = Run("case \"$*\" in *job_name=ps*) exec sleep 100000;; esac; exit 5",
                                  {.ps = 1, .workers = 2, .grace = std::chrono::seconds(100000)});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(err(), AllOf(HasSubstr("stopping the other tasks"), HasSubstr("ps/0 was killed by SIG")));
}

TEST_P(LaunchTest, ProcessThatLeftItsGroupDoesNotHoldUpTheLaunch) {
  // A process in another session (setsid) keeps the task's output open as long as the file "left" exists, at most until
  // the test's directory is removed.
  const LaunchResult result = Run("setsid sh -c '>" + Path("left") + "; while test -e " + Path("left") +
                                      "; do sleep 0.01; done' & until test -e " + Path("left") + "; do :; done",
                                  {.ps = 0, .workers = 1});
  EXPECT_EQ(result.exit_code, 0);
}

TEST_P(LaunchTest, BadOptionsAreRefused) {
  EXPECT_EQ(Launch({.workers = 0, .command = {"true"}}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Launch({.ps = -1, .command = {"true"}}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Launch({.command = {}}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Launch({.command = {"/nonexistent/program"}}, NewEngine()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Launch({.command = {"true"}, .report_file = dir_.path()}, NewEngine()).status().message(),
              HasSubstr("is a directory; give the name of a file"));
  dir_.Write("file", "");
  EXPECT_FALSE(Launch({.command = {"true"}, .log_dir = Path("file")}).ok());
}

TEST_P(LaunchTest, ADryRunOnlySaysWhatWouldRun) {
  const auto text = DescribeLaunch({.ps = 1, .workers = 2, .command = {"touch", Path("a file")}}, *NewEngine());
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr(" touch '"), HasSubstr("a file'"),
                           HasSubstr(" --worker_hosts=worker-0:PORT,worker-1:PORT "),
                           HasSubstr(GetParam() == EngineKind::kLocal    ? "processes of this machine"
                                     : GetParam() == EngineKind::kAgents ? "alpha (127.0.0.1): ps/0, worker/1,"
                                                                         : "node 1 of 2 (any): ps/0, worker/1,")));
  EXPECT_NE(::access(Path("a file").c_str(), F_OK), 0);
  EXPECT_FALSE(DescribeLaunch({.workers = 0, .command = {"true"}}, *NewEngine()).ok());
}

// Tests of the program itself: signals, errors on the command line, help.
class LaunchProgramTest : public ::testing::Test {
 protected:
  // Two workers that ignore SIGINT and SIGTERM, and have a long time after SIGTERM. Each prints "pid N" for a child
  // process and for itself.
  static StatusOr<ChildProcess> StartStubborn() {
    return ChildProcess::Start(
        {TENSORBRAID_PROGRAM, "launch", "--ps=0", "--workers=2", "--stop_grace_s=100000", "--", "sh", "-c",
         "trap '' INT TERM; sleep 100000 & echo pid $!; echo pid $$; while :; do sleep 100000; done"},
        {});
  }
  // Reads the four lines "[worker/N] pid ...".
  static std::vector<pid_t> ReadPids(const Fd& out) {
    std::vector<pid_t> pids;
    std::string line;
    while (pids.size() < 4 && !(line = AwaitLine(out, "[worker/")).empty()) {
      pids.push_back(std::stoi(line.substr(line.find("pid ") + 4)));
    }
    EXPECT_EQ(pids.size(), 4u);
    return pids;
  }
};

TEST_F(LaunchProgramTest, AClosedTerminalLetsTheTasksSave) {
  auto launch = ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", "--ps=0", "--workers=1", "--", "sh", "-c",
                                     "trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.01; done"},
                                    {});
  ASSERT_TRUE(launch.ok()) << launch.status();
  AwaitLine(launch->out(), "[worker/0] ready");
  ::kill(launch->pid(), SIGHUP);
  EXPECT_EQ(AwaitLine(launch->out(), "[worker/0] sav"), "ed");
  EXPECT_EQ(launch->Reap().ToString(), "exited with 129");  // 128 + SIGHUP
}

TEST_F(LaunchProgramTest, CtrlCEndsEverythingWithinTwoSeconds) {
  auto launch = StartStubborn();
  ASSERT_TRUE(launch.ok()) << launch.status();
  const std::vector<pid_t> pids = ReadPids(launch->out());
  ::kill(launch->pid(), SIGINT);
  // The limit as the launcher keeps it. This machine may be too busy to end everything in the rest of the two seconds.
  EXPECT_THAT(AwaitLine(launch->err(), "launch: SIGINT: "), HasSubstr("the tasks have 1.5 s to save and leave"));
  EXPECT_EQ(launch->Reap().ToString(), "exited with 130");  // 128 + SIGINT
  for (pid_t pid : pids) EXPECT_TRUE(Ends(pid));
}

TEST_F(LaunchProgramTest, SecondSignalKillsAtOnce) {
  auto launch = StartStubborn();
  ASSERT_TRUE(launch.ok()) << launch.status();
  const std::vector<pid_t> pids = ReadPids(launch->out());
  ::kill(launch->pid(), SIGTERM);
  // After this signal alone, the tasks would outlive the test.
  EXPECT_THAT(AwaitLine(launch->err(), "launch: SIGTERM: "), HasSubstr("the tasks have 100000.0 s to save and leave"));
  pollfd end = {launch->end_event().get(), POLLIN, 0};
  while (::poll(&end, 1, 10) == 0) ::kill(launch->pid(), SIGINT);  // within a second, it is the same request
  EXPECT_FALSE(launch->Reap().ok());
  for (pid_t pid : pids) EXPECT_TRUE(Ends(pid));
}

TEST_F(LaunchProgramTest, TwoSignalsAtTheSameMomentAreOneRequest) {
  auto launch = ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", "--ps=0", "--workers=1", "--", "sh", "-c",
                                     "trap 'echo saving; sleep 0.2; echo saved; exit 0' TERM; echo ready; "
                                     "while :; do sleep 0.01; done"},
                                    {});
  ASSERT_TRUE(launch.ok()) << launch.status();
  AwaitLine(launch->out(), "[worker/0] ready");
  ::kill(launch->pid(), SIGSTOP);  // so that both wait for it
  ::kill(launch->pid(), SIGTERM);
  ::kill(launch->pid(), SIGHUP);
  ::kill(launch->pid(), SIGCONT);
  EXPECT_EQ(AwaitLine(launch->out(), "[worker/0] save"), "d");
  EXPECT_THAT(launch->Reap().exit_code, ::testing::AnyOf(128 + SIGTERM, 128 + SIGHUP));
}

TEST_F(LaunchProgramTest, TasksDieWithAKilledLauncher) {
  // Each worker prints its pid twice, because ReadPids expects two lines from each.
  auto launch = ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", "--ps=0", "--workers=2", "--", "sh", "-c",
                                     "trap '' INT TERM; echo pid $$; echo pid $$; exec sleep 1000"},
                                    {});
  ASSERT_TRUE(launch.ok()) << launch.status();
  const std::vector<pid_t> pids = ReadPids(launch->out());
  ::kill(launch->pid(), SIGKILL);
  for (pid_t pid : pids) EXPECT_TRUE(Ends(pid));
}

TEST_F(LaunchProgramTest, ProcessesOfTasksDieWithAKilledLauncher) {
  auto launch = StartStubborn();
  ASSERT_TRUE(launch.ok()) << launch.status();
  const std::vector<pid_t> pids = ReadPids(launch->out());
  ::kill(launch->pid(), SIGKILL);
  for (pid_t pid : pids) EXPECT_TRUE(Ends(pid));
}

TEST_F(LaunchProgramTest, ErrorsOnTheCommandLineAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"lunch"}, "unknown command lunch; did you mean launch?"},
      {{"launch", "--worker=2", "--", "true"}, "unknown option --worker; did you mean --workers?"},
      {{"launch", "--workers=many", "--", "true"}, "--workers: 'many' is not a number, or is too large; see "},
      {{"launch", "--ps=99999999999", "--", "true"}, "--ps: '99999999999' is not a number, or is too large; see "},
      {{"help", "launch"}, "unknown command help; see tensorbraid launch --help"},
      {{"launch", "true"}, "unexpected argument true"},
      {{"launch", "--env-style=xml", "--", "true"}, "tf_config; see tensorbraid launch --help"},
      {{"launch", "--env-style=flag", "--", "true"}, "did you mean flags?"},
      {{"status", "localhost"}, "the port is missing; write host:port"},
      {{"bench", "lennet"},
       "'lennet' is none of step, softmax, lenet, lstm, crnn, push, pull, allpairs, nullstep, sparse, save; did you "
       "mean lenet?"},
      {{"bench", "softmax", "--mode=asink"}, "did you mean async?"},
  };
  for (const auto& [arguments, message] : cases) {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto program = ChildProcess::Start(command, {});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_THAT(AwaitLine(program->err(), "tensorbraid: "), HasSubstr(message));
    EXPECT_EQ(program->Reap().exit_code, 2);
  }
}

TEST_F(LaunchProgramTest, AGraceMayBeLongerThanClocksCount) {
  // A grace that is over at once ends the worker with SIGTERM.
  const std::string script = "case \"$*\" in *index=1) exit 3;; esac; sleep 0.5; echo ended by itself";
  for (const char* grace : {"--grace_s=1e10", "--grace_s=1e300"}) {
    auto launch = ChildProcess::Start(
        {TENSORBRAID_PROGRAM, "launch", "--ps=0", "--workers=2", grace, "--", "sh", "-c", script, "program"}, {});
    ASSERT_TRUE(launch.ok()) << launch.status();
    EXPECT_EQ(AwaitLine(launch->out(), "[worker/0] "), "ended by itself") << grace;
    EXPECT_EQ(launch->Reap().exit_code, 3);
  }
}

TEST_F(LaunchProgramTest, OptionsWithoutEffectAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases = {
      {{"--sync=."}, "--sync is for --on=ssh, and this job is on local, the default"},
      {{"--image=train"}, "--image is for --on=kubernetes, and this job is on local, the default"},
      {{"--on=ssh", "--hosts=alpha", "--tasks_per_node=2"},
       "--tasks_per_node is for --on=slurm, and this job is on ssh"},
      {{"--batch"}, "--batch is for --on=slurm"},
      {{"--evaluator"}, "--evaluator needs --env-style=tf_config"},
      {{"--directory=/data"}, "--directory is for jobs on other machines"},
      {{"--on=slurm", "--sync=."}, "--hosts, --hostfile and --sync are for --on=ssh"},
  };
  for (const auto& [options, message] : cases) {
    std::vector<std::string> command = {TENSORBRAID_PROGRAM, "launch", "--dry-run"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", "true"});
    auto program = ChildProcess::Start(command, {});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_THAT(AwaitLine(program->err(), "INVALID_ARGUMENT: tensorbraid launch: "), HasSubstr(message));
    EXPECT_EQ(program->Reap().exit_code, 2);
  }
}

TEST_F(LaunchProgramTest, ATakenMetricsPortIsSaidBeforeTheStart) {
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string option = StrCat("--metrics_port=", ntohs(address.sin_port));
  auto program = ChildProcess::Start({TENSORBRAID_PROGRAM, "launch", option, "--", "true"}, {});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(AwaitLine(program->err(), ""), HasSubstr(option));  // the first line
  EXPECT_EQ(program->Reap().exit_code, 1);
}

TEST_F(LaunchProgramTest, AClosedStandardOutputIsNotMistakenForALog) {
  const TempDir dir;
  auto program = ChildProcess::Start(
      {"sh", "-c", "exec \"$0\" launch --ps=0 --workers=1 --log_dir=\"$1\" -- sh -c 'echo hello' >&- 2>&-",
       TENSORBRAID_PROGRAM, dir.path()},
      {});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->Reap().exit_code, 0);
  EXPECT_THAT(TextOf(dir.path() + "/worker-0.log"),
              ::testing::MatchesRegex("launch: worker/0 starts, [-0-9 :]+\nhello\n"));
}

TEST_F(LaunchProgramTest, HelpAndVersionAreNoErrors) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{TENSORBRAID_PROGRAM},
                                                  {TENSORBRAID_PROGRAM, "--help"},
                                                  {TENSORBRAID_PROGRAM, "launch", "--help"},
                                                  {TENSORBRAID_PROGRAM, "--version"}}) {
    EXPECT_TRUE(ChildProcess::Start(command, {})->Reap().ok());
  }
}

}  // namespace
}  // namespace tensorbraid
