#include "launch/engines/kubernetes/kubernetes_engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/strings/str_replace.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_text.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/launcher/launcher.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Takes the place of kubectl: a cluster in which one pod goes through given states. `get` prints the file PODS.POLL of
// the directory, where PODS counts the pods that were created and POLL what was asked for each, or PODS.last. A watch
// prints what `logs` writes to the pipe `events`, if there is one, and is refused otherwise.
constexpr const char* kFakeKubectl = R"(
dir=DIRECTORY
count() { n=$(($(cat $dir/$1 2>/dev/null || echo 0) + 1)); echo $n > $dir/$1; }
shift  # the namespace
case $1 in
  create)
    text=$(cat)
    if [ -e $dir/refusal ]; then cat $dir/refusal >&2; exit 1; fi
    case $text in
      *'"Pod"'*) count created; rm -f $dir/deleted $dir/polls; echo Pod/train-worker-0 uid-$n;;
      *'"Service"'*) printf %s "$text" > $dir/service; echo Service/train uid-of-service;;
      *) echo Job/train uid-of-job;;
    esac;;
  patch) echo "$@" >> $dir/patches; if [ -e $dir/gone ]; then cat $dir/gone >&2; exit 1; fi;;
  get)
    case "$*" in *--watch-only*)
      if [ -e $dir/events ]; then exec cat $dir/events; fi
      echo 'Error from server (Forbidden): you cannot watch' >&2; exit 1;;
    esac
    if [ -e $dir/deleted ]; then echo '{"items": []}'; exit; fi
    count polls; file=$dir/$(cat $dir/created).$n; [ -e $file ] || file=$dir/$(cat $dir/created).last; cat $file;;
  logs) cat $dir/log; if [ -e $dir/event ]; then mv $dir/event $dir/seen; cat $dir/seen > $dir/events; fi;;
  delete) echo "$@" >> $dir/calls; case "$*" in *pods,*) ;; *) touch $dir/deleted;; esac;;
esac
)";

class KubernetesEngineTest : public ::testing::Test {
 protected:
  KubernetesEngineTest() {
    const std::string script = kFakeKubectl;
    const size_t at = script.find("DIRECTORY");
    dir_.Write("kubectl", script.substr(0, at) + dir_.path() + script.substr(at + 9));
    dir_.Write("log", "2026-11-27T01:00:01Z hello\n");
    job_.name = "train";
    job_.name_space = "lab";
    job_.run = "0123abcd";
    job_.image = "image";
  }
  std::unique_ptr<Engine> NewEngine() {
    return std::make_unique<KubernetesEngine>(job_, std::vector<std::string>{"sh", Path("kubectl")});
  }
  StatusOr<LaunchResult> Run() {
    const Fd err(::open(Path("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const Fd out(::open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const RestartPolicy restart{.max_restarts = 1, .first_delay = std::chrono::milliseconds(1)};
    return Launch(
        {.ps = 0, .workers = 1, .command = {"train"}, .restart = restart, .out_fd = out.get(), .err_fd = err.get()},
        NewEngine());
  }
  void WriteState(const std::string& name, const std::string& status, const std::string& node = "node-1") {
    dir_.Write(name, StrCat(R"({"items": [)", PodJson(name.substr(0, 1), status, node), "]}"));
  }
  // The pod that is created as the first, second, ... one.
  static std::string PodJson(const std::string& number, const std::string& status, const std::string& node) {
    return StrCat(R"({"metadata": {"name": "train-worker-0", "uid": "uid-)", number, R"("}, "spec": {"nodeName": ")",
                  node, R"("}, "status": {)", status, "}}");
  }
  // A container that has ended with 0, and a report of 100 steps.
  static std::string EndWithReport() {
    proto::TaskReport report;
    report.set_state("up");
    report.set_steps(100);
    report.set_stepping_seconds(20);
    return StrCat(R"("containerStatuses": [{"name": "task", "state": {"terminated": {"exitCode": 0, "message": ")",
                  absl::StrReplaceAll(ReportToText(report), {{"\n", "\\n"}}), R"("}}}])");
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  std::string err() const { return TextOf(Path("err")); }

  TempDir dir_;
  KubernetesJob job_;
};

TEST_F(KubernetesEngineTest, APodThatIsEvictedIsCreatedAgain) {
  WriteState("1.1", R"("conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}])");
  dir_.Write("1.2", "no JSON");
  WriteState("1.3", R"("containerStatuses": [{"name": "task", "state": {"running": {}}}])");
  WriteState("1.last", R"("phase": "Failed", "reason": "Evicted", "message": "low on memory")");
  WriteState("2.last", StrCat(R"("phase": "Succeeded", )", EndWithReport()), "node-2");
  const auto result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_THAT(err(), ::testing::ContainsRegex("worker/0 +node-2 +100 +5\\.0 .* 1\n"));
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/0 cannot start yet: 0/3 nodes"), HasSubstr("unknown, trying again"),
                           HasSubstr("known again"), HasSubstr("worker/0 was lost: Evicted: low on memory"),
                           HasSubstr("worker/0 is done")));
  // Each pod's log is passed on once, although it is read while the pod runs and again at its end.
  EXPECT_EQ(TextOf(Path("out")), "[worker/0] hello\n[worker/0] hello\n");
  EXPECT_THAT(TextOf(Path("calls")),
              AllOf(HasSubstr("--force train-worker-0"), HasSubstr("--selector=tensorbraid/run=")));
}

TEST_F(KubernetesEngineTest, TheLastStateOfAPodThatIsGoneIsHeardByTheWatch) {
  ASSERT_EQ(::mkfifo(Path("events").c_str(), 0600), 0);
  const Fd pipe(::open(Path("events").c_str(), O_RDWR | O_CLOEXEC));  // so that the pipe does not end
  WriteState("1.last", R"("containerStatuses": [{"name": "task", "state": {"running": {}}}])");
  dir_.Write("event", StrCat(R"({"type": "DELETED", "object": )",
                             PodJson("1",
                                     StrCat(R"("conditions": [{"type": "DisruptionTarget", "status": "True", )",
                                            R"("reason": "Preemption"}], )", EndWithReport()),
                                     "node-1"),
                             "}\n"));
  WriteState("2.last", StrCat(R"("phase": "Succeeded", )", EndWithReport()));
  const auto result = Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_THAT(err(), AllOf(HasSubstr("worker/0 was lost: Preemption"),
                           ::testing::ContainsRegex("worker/0 +node-1 +200 +5\\.0 .* 1\n")));
}

TEST_F(KubernetesEngineTest, ALauncherThatLivesMovesTheDeadlineOfItsJobOn) {
  job_.lost_launcher_s = 4;
  WriteState("1.last", R"("containerStatuses": [{"name": "task", "state": {"running": {}}}])");
  dir_.Write("gone", "Error from server (NotFound): jobs.batch \"train\" not found\n");
  const auto result = Run();
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("the job train is gone"));
  EXPECT_THAT(TextOf(Path("patches")),
              ::testing::ContainsRegex("patch jobs.batch train .*\"activeDeadlineSeconds\": ([5-9]|[1-9][0-9])"));
  EXPECT_THAT(TextOf(Path("service")), HasSubstr("uid-of-job"));
  EXPECT_THAT(TextOf(Path("calls")), HasSubstr("jobs.batch"));
}

TEST_F(KubernetesEngineTest, AProgramThatIsNotInTheImageEndsTheLaunch) {
  WriteState("1.last",
             R"("containerStatuses": [{"name": "task", "state": {"terminated": {"exitCode": 128, "reason": "StartError",
                          "message": "no file train"}}}])");
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("worker/0: StartError: no file train"));
  EXPECT_THAT(TextOf(Path("calls")), HasSubstr("--selector=tensorbraid/run="));
}

TEST_F(KubernetesEngineTest, WhatSomebodyElseHasMadeIsNotDeleted) {
  dir_.Write("refusal", "Error from server (AlreadyExists): services \"train\" already exists\n");
  dir_.Write("calls", "");
  EXPECT_THAT(std::string(Run().status().message()), HasSubstr("give another --name"));
  EXPECT_EQ(TextOf(Path("calls")), "");
}

TEST_F(KubernetesEngineTest, ADescriptionHasTheManifestsWithoutKeys) {
  job_.files = {{"token_file", "the token"}};
  const auto text = DescribeLaunch({.ps = 1, .workers = 2, .command = {"train", "--x"}}, *NewEngine());
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("\"kind\": \"Service\""), HasSubstr("\"kind\": \"Secret\""), HasSubstr("\"--x\""),
                           HasSubstr("train-worker-0.train.lab.svc:2222,train-worker-1.train.lab.svc:2222"),
                           HasSubstr("\"token_file\": \"\""), Not(HasSubstr("dGhl"))));
}

}  // namespace
}  // namespace tensorbraid
