#include "tensorbraid/train/coordinator.h"

#include <gtest/gtest.h>

#include <atomic>

namespace tensorbraid {
namespace {

TEST(Coordinator, ThreadsRunUntilAStopIsRequested) {
  Coordinator c;
  std::atomic<int> running{0};
  for (int i = 0; i < 3; ++i) {
    c.StartThread([&] {
      ++running;
      c.WaitForStop();
      return OkStatus();
    });
  }
  EXPECT_FALSE(c.ShouldStop());
  c.RequestStop();
  EXPECT_TRUE(c.Join().ok());
  EXPECT_EQ(running, 3);
  EXPECT_TRUE(c.ShouldStop());
}

TEST(Coordinator, AnErrorOfOneThreadStopsAllAndJoinReturnsIt) {
  Coordinator c;
  c.StartThread([&] {
    c.WaitForStop();
    return absl::CancelledError("because of the stop");
  });
  c.StartThread([] { return absl::InvalidArgumentError("the reason"); });
  EXPECT_EQ(c.Join(), absl::InvalidArgumentError("the reason"));
}

TEST(Coordinator, TheFirstErrorStays) {
  Coordinator c;
  c.RequestStop(absl::DataLossError("first"));
  c.RequestStop(absl::InternalError("second"));
  EXPECT_EQ(c.Join(), absl::DataLossError("first"));
}

TEST(Coordinator, TheEndOfTheInputIsNoError) {
  Coordinator c;
  c.RequestStop(absl::OutOfRangeError("queue closed"));
  EXPECT_TRUE(c.ShouldStop());
  EXPECT_TRUE(c.Join().ok());
}

TEST(Coordinator, ACancellationBeforeAnyStopIsAnError) {
  Coordinator c;
  c.RequestStop(absl::CancelledError("cancelled elsewhere"));
  EXPECT_TRUE(absl::IsCancelled(c.Join()));
}

TEST(Coordinator, OnStopRunsOnceEvenIfRegisteredAfterTheStop) {
  Coordinator c;
  int woken = 0;
  c.OnStop([&] { ++woken; });
  c.RequestStop();
  c.RequestStop();
  EXPECT_EQ(woken, 1);
  c.OnStop([&] { woken += 10; });
  EXPECT_EQ(woken, 11);
}

TEST(Coordinator, WaitForStopReturnsAfterItsTimeout) {
  Coordinator c;
  EXPECT_FALSE(c.WaitForStop(std::chrono::milliseconds(1)));
  c.RequestStop();
  EXPECT_TRUE(c.WaitForStop(std::chrono::hours(1)));
}

}  // namespace
}  // namespace tensorbraid
