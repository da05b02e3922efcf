#include "train/run_interrupter.h"

#include <gtest/gtest.h>

#include "core/mutex.h"

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
    changed.Wait(mu, [&] { return interrupts == 2; });  // the first one could have come before the step began
  }
  interrupter.EndRun();
  EXPECT_TRUE(interrupter.interrupted());
}

TEST_F(RunInterrupterTest, LeavesARunAloneThatEndsInTime) {
  int interrupts = 0;
  {
    RunInterrupter interrupter([&] { ++interrupts; }, /*grace=*/std::chrono::hours(1));
    interrupter.BeginRun();
    RequestStop("a test");
    interrupter.EndRun();
    EXPECT_FALSE(interrupter.interrupted());
  }
  EXPECT_EQ(interrupts, 0);
}

TEST_F(RunInterrupterTest, EndsBeforeAnyRequest) {
  RunInterrupter interrupter([] { FAIL() << "nobody asked for a stop"; });
  interrupter.BeginRun();
}

}  // namespace
}  // namespace tensorbraid
