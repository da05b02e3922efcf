#include "launch/engines/kubernetes/pod_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/strings.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "launch/engines/kubernetes/pod_log.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// The state of a pod with this "status", and with this in its "metadata" after the name.
PodState StateOf(const std::string& status, const std::string& metadata = "") {
  const auto pods = ParsePods(StrCat(R"({"items": [{"metadata": {"name": "a")", metadata,
                                     R"(}, "spec": {"nodeName": "n"}, "status": {)", status, "}}]}"));
  EXPECT_TRUE(pods.ok()) << pods.status();
  return pods.ok() && pods->contains("a") ? pods->at("a") : PodState{};
}
std::string Containers(const std::string& state) {
  return StrCat(R"("containerStatuses": [{"name": "proxy", "state": {"running": {}}}, {"name": "task", "state": {)",
                state, "}}]");
}

TEST(PodStateTest, APodThatWaitsSaysForWhat) {
  EXPECT_EQ(StateOf(R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                       "message": "0/3 nodes are available"}])")
                .waits_for,
            "0/3 nodes are available");
  const PodState pull = StateOf(Containers(R"("waiting": {"reason": "ImagePullBackOff", "message": "no such image"})"));
  EXPECT_THAT(pull.waits_for, ::testing::StartsWith("ImagePullBackOff: no such image; --image must"));
  EXPECT_FALSE(pull.is_running);
  EXPECT_EQ(StateOf(Containers(R"("waiting": {"reason": "ContainerCreating"})")).waits_for, "");
  EXPECT_FALSE(StateOf(R"("containerStatuses": [{"name": "proxy", "state": {"running": {}}}])").is_running);
  EXPECT_EQ(StateOf("").node, "n");
}

TEST(PodStateTest, AContainerRunsAndEnds) {
  EXPECT_TRUE(StateOf(Containers(R"("running": {"startedAt": "x"})")).is_running);
  const PodState done = StateOf(R"("phase": "Succeeded", )" + Containers(R"("terminated": {"exitCode": 0})"));
  EXPECT_TRUE(done.end.has_value() && done.end->ok());
  const PodState failed = StateOf(R"("phase": "Failed", )" + Containers(R"("terminated": {"exitCode": 3})"));
  EXPECT_EQ(failed.end->ToString(), "exited with 3");
  EXPECT_EQ(failed.disruption, "");
  EXPECT_EQ(failed.last_message, "");
  EXPECT_EQ(StateOf(Containers(R"("terminated": {"exitCode": 0, "message": "done"})")).last_message, "done");
  const PodState killed =
      StateOf(R"("phase": "Failed", )" + Containers(R"("terminated": {"exitCode": 137, "reason": "OOMKilled"})"));
  EXPECT_EQ(killed.end->ToString(), "was killed by SIGKILL");
  EXPECT_TRUE(killed.out_of_memory);
  EXPECT_EQ(StateOf(Containers(R"("terminated": {"exitCode": 255})")).end->ToString(), "exited with 255");
}

TEST(PodStateTest, AProgramThatCannotBeStartedIsNamed) {
  EXPECT_EQ(StateOf(Containers(R"("terminated": {"exitCode": 128, "reason": "StartError", "message": "no file"})"))
                .start_error,
            "StartError: no file");
  EXPECT_EQ(StateOf(Containers(R"("waiting": {"reason": "InvalidImageName", "message": "A b"})")).start_error,
            "InvalidImageName: A b");
}

TEST(PodStateTest, WhatKubernetesTakesAwayIsNoFailureOfTheProgram) {
  const PodState evicted = StateOf(R"("phase": "Failed", "reason": "Evicted", "message": "low on memory", )" +
                                   Containers(R"("terminated": {"exitCode": 137})"));
  EXPECT_EQ(evicted.disruption, "Evicted: low on memory");
  const PodState without_container = StateOf(R"("phase": "Failed")");
  EXPECT_TRUE(without_container.has_failed);
  EXPECT_NE(without_container.disruption, "");
  const PodState drained = StateOf(R"("conditions": [{"type": "DisruptionTarget", "status": "True",
                                      "reason": "EvictionByEvictionAPI", "message": "drained"}], )" +
                                       Containers(R"("running": {})"),
                                   R"(, "deletionTimestamp": "x", "deletionGracePeriodSeconds": 60)");
  EXPECT_EQ(drained.disruption, "EvictionByEvictionAPI: drained");
  EXPECT_TRUE(drained.is_running && drained.is_being_deleted);
  EXPECT_EQ(drained.deletion_grace_s, 60);
}

TEST(PodStateTest, ANodeThatWasLostIsNoFailureOfTheProgram) {
  EXPECT_EQ(StateOf(R"("phase": "Running", "reason": "NodeLost", "message": "node n is unresponsive")").disruption,
            "NodeLost: node n is unresponsive");
  const PodState forgotten = StateOf(
      R"("phase": "Failed", )" +
      Containers(R"("terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": "not located"})"));
  EXPECT_EQ(forgotten.disruption, "ContainerStatusUnknown: not located");
  EXPECT_EQ(StateOf(Containers(R"("terminated": {"exitCode": 255, "reason": "Unknown"})")).disruption, "Unknown");
  EXPECT_EQ(StateOf(Containers(R"("terminated": {"exitCode": 255, "reason": "Error"})")).disruption, "");
}

TEST(PodStateTest, AChangeOfAPodIsRead) {
  const auto gone = ParsePodEvent(
      R"({"type": "DELETED", "object": {"metadata": {"name": "a", "uid": "u"}, "status": {"phase": "Failed"}}})");
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_EQ(gone->pod + gone->state.uid, "au");
  EXPECT_TRUE(gone->is_gone && gone->state.has_failed);
  EXPECT_FALSE(ParsePodEvent(R"({"type": "MODIFIED", "object": {"metadata": {"name": "a"}}})")->is_gone);
  for (const char* text : {"", "{}", R"({"type": "ERROR", "object": {"kind": "Status", "metadata": {}}})"}) {
    EXPECT_THAT(std::string(ParsePodEvent(text).status().message()), HasSubstr("no change of a pod")) << text;
  }
}

TEST(PodStateTest, WhatIsNoListOfPodsIsAnError) {
  for (const char* text : {"", "error", "{}", "[]", R"({"items": 3})", R"({"items": [{"spec": {}}]})",
                           R"({"items": [{"metadata": {"name": 3}}]})",
                           R"({"items": [{"metadata": {"name": "a"}, "status": {"phase": []}}]})"}) {
    EXPECT_THAT(std::string(ParsePods(text).status().message()), HasSubstr("no list of pods")) << text;
  }
  EXPECT_TRUE(ParsePods(R"({"items": []})")->empty());
}

std::string Read(PodLog* log, const std::vector<std::string>& lines) {
  std::string text;
  log->BeginReading();
  for (const std::string& line : lines) log->Add(line, [&text](std::string_view l) { text += StrCat(l, "|"); });
  return text;
}

TEST(PodLogTest, EachLineIsPassedOnOnce) {
  PodLog log;
  EXPECT_EQ(log.since(), "");
  EXPECT_EQ(Read(&log, {"2026-11-27T01:00:01.5Z a", "2026-11-27T01:00:02.100000001Z b\r"}), "a|b|");
  EXPECT_EQ(log.since(), "2026-11-27T01:00:02.100000001Z");
  // Again from the same second on, in another time zone. The second line with the last time is new.
  EXPECT_EQ(Read(&log, {"2026-11-27T02:00:02.0+01:00 a2", "2026-11-27T02:00:02.100000001+01:00 b",
                        "2026-11-27T02:00:02.100000001+01:00 c", "2026-11-27T02:00:02.1001+01:00 ",
                        "2026-11-27T02:00:02.1002+01:00 d e"}),
            "c||d e|");
}

TEST(PodLogTest, LinesWithoutATimeBelongToTheLineBefore) {
  PodLog log;
  EXPECT_EQ(Read(&log, {"2026-11-27T01:00:01Z a", "the rest", "2026-11-27 no time"}), "a|the rest|2026-11-27 no time|");
  EXPECT_EQ(Read(&log, {"2026-11-27T01:00:01Z a", "the rest", "2026-11-27T01:00:03Z b"}), "b|");
}

TEST(KubectlErrorTest, IsReadFromWhatKubectlPrints) {
  EXPECT_TRUE(absl::IsPermissionDenied(KubectlError("Error from server (Forbidden): pods is forbidden\n")));
  EXPECT_TRUE(absl::IsPermissionDenied(KubectlError("error: You must be logged in to the server (Unauthorized)\n")));
  EXPECT_TRUE(absl::IsAlreadyExists(KubectlError("Error from server (AlreadyExists): services \"a\" already exists")));
  EXPECT_TRUE(absl::IsNotFound(KubectlError("Error from server (NotFound): pods \"a\" not found")));
  const Status status = KubectlError(
      "E1127 01:45:15.123456    8731 memcache.go:265] couldn't get current server API group list\n"
      "Warning: something\nThe connection to the server alpha:6443 was refused\n");
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "The connection to the server alpha:6443 was refused");
}

TEST(KubectlErrorTest, SaysWhatTheUserCanDo) {
  const Kubectl kubectl{{"kubectl", "--context=a b"}, "lab", "train", "pods,services,secrets"};
  EXPECT_EQ(kubectl.DeleteCommand(),
            "kubectl '--context=a b' --namespace=lab delete pods,services,secrets -l app.kubernetes.io/instance=train");
  EXPECT_THAT(std::string(kubectl.Explained(absl::AlreadyExistsError("x")).message()), HasSubstr("another --name"));
  EXPECT_THAT(std::string(kubectl.Explained(absl::PermissionDeniedError("u cannot create")).message()),
              HasSubstr("a role in namespace lab"));
  EXPECT_THAT(std::string(kubectl.Explained(absl::UnavailableError("x")).message()), HasSubstr("must work"));
}

TEST(KubectlErrorTest, EachObjectHasItsOwn) {
  const std::string quota =
      R"(Error from server (Forbidden): error when creating "STDIN": pods "train-worker-1" is forbidden: )"
      "exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2";
  const std::string hook =
      R"(Error from server: error when creating "STDIN": admission webhook "policy" denied the request: )"
      "\"train-ps-0\" has no owner; ask the admins";
  const Status all = KubectlError(StrCat(hook, "\n", quota, "\n"));
  const Status of_worker = ErrorOf("train-worker-1", all);
  EXPECT_TRUE(absl::IsResourceExhausted(of_worker));
  EXPECT_EQ(of_worker.message(), quota);
  const Status of_ps = ErrorOf("train-ps-0", all);
  EXPECT_TRUE(absl::IsFailedPrecondition(of_ps));
  EXPECT_EQ(of_ps.message(), hook);
  EXPECT_EQ(ErrorOf("another", all).message(), hook);
  const Kubectl kubectl{{"kubectl"}, "lab", "train", "pods"};
  EXPECT_THAT(std::string(kubectl.Explained(of_worker).message()), HasSubstr("describe resourcequota"));
  EXPECT_THAT(std::string(kubectl.Explained(of_ps).message()), HasSubstr("a rule of the cluster"));
  EXPECT_TRUE(HasReachedServer(absl::UnavailableError("net/http: request canceled (Client.Timeout exceeded)")));
  EXPECT_FALSE(HasReachedServer(absl::UnavailableError("dial tcp 10.0.0.1:6443: i/o timeout")));
}

}  // namespace
}  // namespace tensorbraid
