#include "train/sessions/run_interrupter.h"

#include <gtest/gtest.h>

#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

class RunInterrupterTest : public testing::Test {
 protected:
  void TearDown() override { WithdrawStopRequest(); }
};

TEST_F(RunInterrupterTest, InterruptsARunUntilItEnds) {
  Mutex mu;
  CondVar changed;
  int interrupts = 0;
  RunInterrupter interrupter(
      [&] {
        MutexLock lock(mu);
        ++interrupts;
        changed.NotifyAll();
      },
      /*grace=*/std::chrono::milliseconds(0));
  interrupter.BeginRun();
  RequestStop("a test");
  {
    MutexLock lock(mu);
    // `interrupt` is called again, because the first call may come before the run has begun its step.
    changed.Wait(mu, [&] { return interrupts >= 2; });
  }
  EXPECT_TRUE(interrupter.interrupted());
  EXPECT_TRUE(interrupter.EndRun());
}

TEST_F(RunInterrupterTest, InterruptsARunThatBeginsAfterTheRequest) {
  Mutex mu;
  CondVar changed;
  bool interrupted = false;
  RunInterrupter interrupter(
      [&] {
        MutexLock lock(mu);
        interrupted = true;
        changed.NotifyAll();
      },
      /*grace=*/std::chrono::milliseconds(0));
  RequestStop("a test");
  interrupter.BeginRun();
  {
    MutexLock lock(mu);
    changed.Wait(mu, [&] { return interrupted; });
  }
  EXPECT_TRUE(interrupter.EndRun());
}

// If `interrupt` still runs when its run has ended, it could end the next run, too.
TEST_F(RunInterrupterTest, EndRunWaitsForTheInterruptInProgress) {
  Mutex mu;
  CondVar changed;
  bool entered = false, released = false, left = false;
  RunInterrupter interrupter(
      [&] {
        MutexLock lock(mu);
        entered = true;
        changed.NotifyAll();
        changed.Wait(mu, [&] { return released; });
        left = true;
      },
      /*grace=*/std::chrono::milliseconds(0));
  interrupter.BeginRun();
  RequestStop("a test");
  {
    MutexLock lock(mu);
    changed.Wait(mu, [&] { return entered; });
  }
  Thread releaser("tb-release", [&] {
    MutexLock lock(mu);
    released = true;
    changed.NotifyAll();
  });
  EXPECT_TRUE(interrupter.EndRun());
  {
    MutexLock lock(mu);
    EXPECT_TRUE(left);
  }
  releaser.Join();
}

TEST_F(RunInterrupterTest, DoesNotInterruptARunThatEndsInTime) {
  int interrupts = 0;
  {
    RunInterrupter interrupter([&] { ++interrupts; }, /*grace=*/std::chrono::hours(1));
    interrupter.BeginRun();
    RequestStop("a test");
    EXPECT_FALSE(interrupter.EndRun());
  }
  EXPECT_EQ(interrupts, 0);
}

TEST_F(RunInterrupterTest, IsDestroyedDuringARunWithoutAStopRequest) {
  RunInterrupter interrupter([] { FAIL() << "no stop was requested"; });
  interrupter.BeginRun();
}

}  // namespace
}  // namespace tensorbraid
