// Tests the hooks that count global steps from the start of a session, or wait for them.
#include <gtest/gtest.h>

#include "core/threads/thread.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/sessions/session_testutil.h"

namespace tensorbraid {
namespace {

// Trains until the session stops. Returns the number of runs.
int TrainToTheEnd(DescentModel& m, MonitoredSession& session) {
  int runs = 0;
  while (!session.ShouldStop() && session.Run({m.train}, m.Feeds()).ok()) ++runs;
  return runs;
}

TEST(StopAfterSteps, CountsFromTheStepAtWhichTheSessionBegins) {
  TempDir dir;
  for (const int64_t last : {3, 6}) {
    DescentModel m;
    auto session = MonitoredTrainingSession(m.g, {.hooks = {StopAfterSteps(3)}, .checkpoint_dir = dir.path()});
    ASSERT_TRUE(session.ok()) << session.status();
    EXPECT_EQ(TrainToTheEnd(m, **session), 3);
    const auto step = (*session)->session().Run({m.global_step});
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_EQ((*step)[0].scalar<int64_t>(), last);
    EXPECT_TRUE((*session)->Close().ok());
  }
}

TEST(StopAfterSteps, NeedsAPositiveNumberAndAGlobalStep) {
  DescentModel m;
  EXPECT_TRUE(absl::IsInvalidArgument(m.Start({StopAfterSteps(0)}).status()));
  Graph g;
  Variable v(g, {}, Zeros());
  const auto session = MonitoredTrainingSession(g, {.hooks = {StopAfterSteps(1)}});
  EXPECT_TRUE(absl::IsFailedPrecondition(session.status())) << session.status();
}

TEST(WaitForStep, DelaysTheFirstRunThatTrains) {
  DescentModel m;
  auto session = m.Start({WaitForStep(4)});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({m.weight}).ok()) << "a run that does not train need not wait";
  Session& other = (*session)->session();
  Thread others("others", [&] {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(other.Run({m.train}, m.Feeds()).ok());
  });
  const auto step = (*session)->Run({m.train, m.global_step}, m.Feeds());
  others.Join();
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_GE((*step)[1].scalar<int64_t>(), 4);
}

TEST(WaitForStep, EndsWhenAStopIsRequested) {
  DescentModel m;
  auto session = m.Start({WaitForStep(1000)});
  ASSERT_TRUE(session.ok()) << session.status();
  (*session)->coordinator().RequestStop();
  EXPECT_TRUE((*session)->Run({m.train}, m.Feeds()).ok());
}

}  // namespace
}  // namespace tensorbraid
