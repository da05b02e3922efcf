#include "runtime/replicas/replica_clocks.h"

#include <optional>

#include "core/system/env_testutil.h"
#include "gtest/gtest.h"

namespace tensorbraid {
namespace {

using Wait = ReplicaClocks::Wait;
using std::chrono::seconds;

// The result of a call that may wait.
struct Call {
  std::optional<Status> result;
  ReplicaClocks::Done done() {
    return [this](const Status& status) { result = status; };
  }
  bool ok() const { return result && result->ok(); }
};

struct Clocks {
  explicit Clocks(int64_t max_lead, int64_t warm_up_steps = 0)
      : clocks(MakeRef<ReplicaClocks>("clocks", max_lead, warm_up_steps)) {}
  void Join(int64_t replica) {
    Call join;
    clocks->Join(replica, 0, nullptr, join.done());
    EXPECT_TRUE(join.ok());
  }
  void Finish(int64_t replica, Call* call, CancellationManager* cancellation = nullptr) {
    clocks->FinishStep(replica, 0, cancellation, call->done());
  }
  // A step after which the replica need not wait.
  void Step(int64_t replica) {
    Call step;
    Finish(replica, &step);
    EXPECT_TRUE(step.ok());
  }
  const RefPtr<ReplicaClocks> clocks;
};

TEST(ReplicaClocks, AReplicaMayBeMaxLeadStepsAheadOfTheSlowestAndNoMore) {
  Clocks c(/*max_lead=*/2);
  c.Join(0);
  c.Join(1);
  c.Step(0);
  c.Step(0);
  Call third;
  c.Finish(0, &third);
  EXPECT_FALSE(third.result);
  const ReplicaClocks::WaitState state = c.clocks->Heartbeat(0, seconds(10));
  EXPECT_EQ(state.wait, Wait::kSlowerReplica);
  EXPECT_EQ(state.description, "replica 1, which has finished 0 steps; this one has finished 3 and may be 2 ahead");
  EXPECT_EQ(c.clocks->Heartbeat(1, seconds(10)).wait, Wait::kNone);
  c.Step(1);
  EXPECT_TRUE(third.ok());
  EXPECT_EQ(c.clocks->Heartbeat(0, seconds(10)).wait, Wait::kNone);
}

TEST(ReplicaClocks, WithALeadOfZeroAllTakeTheSameStep) {
  Clocks c(/*max_lead=*/0);
  for (int i = 0; i < 3; ++i) c.Join(i);
  Call first, second;
  c.Finish(0, &first);
  c.Finish(1, &second);
  EXPECT_FALSE(first.result || second.result);
  c.Step(2);
  EXPECT_TRUE(first.ok() && second.ok());
}

TEST(ReplicaClocks, AReplicaThatLeavesHoldsNobodyBack) {
  Clocks c(/*max_lead=*/0);
  c.Join(0);
  c.Join(1);
  Call wait;
  c.Finish(0, &wait);
  EXPECT_FALSE(wait.result);
  c.clocks->Leave(1);
  EXPECT_TRUE(wait.ok());
}

TEST(ReplicaClocks, AReplicaWithoutHeartbeatHoldsTheOthersBackOnlyUntilItIsLost) {
  ManualClockEnv env;
  const ScopedEnv use(&env);
  Clocks c(/*max_lead=*/0);
  c.Join(0);
  c.Join(1);
  Call wait;
  c.Finish(0, &wait);
  env.Advance(seconds(9));
  EXPECT_NE(c.clocks->Heartbeat(0, seconds(10)).wait, Wait::kNone);
  EXPECT_FALSE(wait.result);
  env.Advance(seconds(1));
  EXPECT_EQ(c.clocks->Heartbeat(0, seconds(10)).wait, Wait::kNone);
  EXPECT_TRUE(wait.ok());
  // If replica 1 was only slow, it continues with the others.
  c.Finish(0, &wait);
  Call back;
  c.Finish(1, &back);
  EXPECT_FALSE(back.result)
      << "replica 1 has joined again at the clock of replica 0 and is one step ahead, so it must wait";
  c.Step(0);
  EXPECT_TRUE(back.ok());
}

TEST(ReplicaClocks, AReplicaThatJoinsLaterStartsWithTheSlowest) {
  Clocks c(/*max_lead=*/1);
  c.Join(0);
  c.Step(0);
  c.Step(0);
  c.Join(1);
  c.Step(0);
  Call ahead;
  c.Finish(0, &ahead);
  EXPECT_FALSE(ahead.result);
  c.Step(1);
  EXPECT_TRUE(ahead.ok());
}

TEST(ReplicaClocks, ACancelledWaitEndsAndItsStepIsCounted) {
  Clocks c(/*max_lead=*/0);
  c.Join(0);
  c.Join(1);
  CancellationManager cancellation;
  Call wait;
  c.Finish(0, &wait, &cancellation);
  cancellation.Cancel(absl::CancelledError("stop"));
  ASSERT_TRUE(wait.result);
  EXPECT_TRUE(absl::IsCancelled(*wait.result));
  EXPECT_EQ(c.clocks->Heartbeat(0, seconds(10)).wait, Wait::kNone);
  c.Step(1);
}

TEST(ReplicaClocks, UntilTheWarmUpIsOverOnlyReplicaZeroJoins) {
  Clocks c(/*max_lead=*/-1, /*warm_up_steps=*/2);
  c.Join(0);
  Call join;
  c.clocks->Join(1, 0, nullptr, join.done());
  Call step;
  c.clocks->FinishStep(0, 1, nullptr, step.done());
  EXPECT_FALSE(join.result);
  const ReplicaClocks::WaitState state = c.clocks->Heartbeat(1, seconds(10));
  EXPECT_EQ(state.wait, Wait::kEndOfWarmUp);
  EXPECT_EQ(state.description, "the end of the warm-up: replica 0 trains alone until global step 2, and is at 1");
  c.clocks->FinishStep(0, 2, nullptr, step.done());
  EXPECT_TRUE(join.ok());
}

TEST(ReplicaClocks, TheWarmUpEndsWhenReplicaZeroLeaves) {
  Clocks c(/*max_lead=*/-1, /*warm_up_steps=*/100);
  c.Join(0);
  Call join;
  c.clocks->Join(1, 0, nullptr, join.done());
  EXPECT_FALSE(join.result);
  c.clocks->Leave(0);
  EXPECT_TRUE(join.ok());
}

}  // namespace
}  // namespace tensorbraid
