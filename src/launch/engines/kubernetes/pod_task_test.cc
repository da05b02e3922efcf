#include "launch/engines/kubernetes/pod_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace tensorbraid {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class JudgePodTest : public ::testing::Test {
 protected:
  PodVerdict At(int second, const PodState& state) {
    return JudgePod(&state, MonotonicClock::time_point(seconds(1000 + second)), &task_);
  }
  PodVerdict Gone() { return JudgePod(nullptr, MonotonicClock::time_point(seconds(1000)), &task_); }
  static PodState Running() { return {.uid = "1", .node = "node-7", .is_running = true}; }

  PodTask task_{.name = "worker/0", .pod = "train-worker-0", .phase = PodTask::Phase::kRunning, .uid = "1"};
};

TEST_F(JudgePodTest, AProgramThatEndsIsReportedAsItEnded) {
  PodState state = Running();
  EXPECT_TRUE(At(0, state).runs);
  EXPECT_FALSE(At(0, state).end.has_value());
  state.is_running = false;
  state.end = ProcessEnd{.exit_code = 3};
  state.last_message = "report";
  const PodVerdict verdict = At(1, state);
  EXPECT_EQ(verdict.end->ToString(), "exited with 3");
  EXPECT_EQ(verdict.end->report, "report");
  EXPECT_EQ(verdict.end->node, "node-7");
  EXPECT_TRUE(verdict.has_log);
  EXPECT_FALSE(verdict.was_deleted);
}

// Kubernetes marks the pods of a node that does not answer, deletes them, and then waits for the node for ever.
TEST_F(JudgePodTest, ANodeThatDoesNotAnswerIsLostWhenItsPodHadTimeToEnd) {
  PodState state = Running();
  state.disruption = "DeletionByTaintManager: node is unreachable";
  state.is_being_deleted = true;
  state.deletion_grace_s = 40;
  EXPECT_FALSE(At(0, state).end.has_value());
  EXPECT_FALSE(At(50, state).end.has_value());
  const PodVerdict verdict = At(51, state);
  EXPECT_EQ(verdict.end->ToString(),
            "was lost: node node-7 does not answer (DeletionByTaintManager: node is unreachable)");
  EXPECT_FALSE(verdict.has_log);
  EXPECT_TRUE(verdict.was_deleted);
}

TEST_F(JudgePodTest, ANodeThatIsRemovedTakesItsPodWithIt) {
  PodState state = Running();
  state.is_running = false;
  state.has_failed = true;
  state.disruption = "DeletionByPodGC: node no longer exists";
  EXPECT_EQ(At(0, state).end->lost, "DeletionByPodGC: node no longer exists");
  EXPECT_EQ(Gone().end->lost, "DeletionByPodGC: node no longer exists") << "what was heard last is remembered";
  EXPECT_EQ(Gone().end->node, "node-7");
}

TEST_F(JudgePodTest, APodThatVanishesWasDeletedBySomebody) {
  EXPECT_EQ(Gone().end->lost, "its pod train-worker-0 was deleted, and not by this launcher");
  EXPECT_TRUE(Gone().was_deleted);
  task_.signal = SIGTERM;  // by the launcher
  EXPECT_EQ(Gone().end->ToString(), "was killed by SIGTERM");
  EXPECT_FALSE(Gone().was_deleted);
}

TEST_F(JudgePodTest, AProgramThatWasToldToEndIsNotDone) {
  PodState state = Running();
  state.is_being_deleted = true;
  state.deletion_grace_s = 60;
  EXPECT_TRUE(At(0, state).was_deleted);
  state.end = ProcessEnd{};
  EXPECT_EQ(At(1, state).end->lost, "its pod train-worker-0 was deleted, and not by this launcher");
  task_.signal = SIGTERM;
  EXPECT_TRUE(At(1, state).end->ok());
}

TEST_F(JudgePodTest, TooMuchMemoryIsNamed) {
  PodState state = Running();
  state.end = ProcessEnd{.signal = SIGKILL};
  state.out_of_memory = true;
  const PodVerdict verdict = At(0, state);
  EXPECT_EQ(verdict.end->ToString(), "was killed by SIGKILL");
  EXPECT_THAT(verdict.advice, HasSubstr("worker/0 has used more memory than it may: raise --memory"));
}

TEST_F(JudgePodTest, APodThatHasNotStartedIsNotWaitedForInVain) {
  task_.phase = PodTask::Phase::kStarting;
  task_.created = MonotonicClock::time_point(seconds(1000));
  PodState state;
  EXPECT_EQ(At(30, state).advice, "");
  EXPECT_EQ(At(31, state).advice, "worker/0 has not started yet; 'kubectl describe pod train-worker-0' may say why");
  state.waits_for = "0/3 nodes are available";
  EXPECT_EQ(At(31, state).advice, "") << "Kubernetes has said it";
  EXPECT_FALSE(At(31, state).runs || At(31, state).end.has_value());
  state.start_error = "StartError: no file";
  EXPECT_EQ(At(0, state).start_error, "StartError: no file");
}

}  // namespace
}  // namespace tensorbraid
