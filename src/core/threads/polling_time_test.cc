#include "core/threads/polling_time.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

void UseProcessor(std::chrono::nanoseconds time) {
  const auto end = ThreadCpuTime() + time;
  while (ThreadCpuTime() < end) {
  }
}

TEST(PollingTimeTest, CountsThePeriodsOfPollingAndNotTheWorkBetweenThem) {
  constexpr std::chrono::microseconds kPeriod(50);
  constexpr int kPeriods = 6000;
  const auto before = PollingTime::OfProcess();
  PollingTime polling;
  const auto start = ThreadCpuTime();
  for (int i = 0; i < kPeriods; ++i) {
    polling.FoundNothing();
    UseProcessor(kPeriod / 2);
    polling.FoundNothing();
    UseProcessor(kPeriod / 2);
    polling.FoundNothing();
    UseProcessor(kPeriod);  // the look that finds something
    polling.End();
  }
  const auto used = ThreadCpuTime() - start;
  const auto counted = PollingTime::OfProcess() - before;
  // A quarter of the periods of polling is seven standard deviations of the number of samples.
  EXPECT_GT(counted, kPeriods * kPeriod * 3 / 4);
  EXPECT_LT(counted, used * 3 / 4);
}

TEST(PollingTimeTest, ALookThatFindsSomethingAtOnceCountsNothing) {
  const auto before = PollingTime::OfProcess();
  PollingTime polling;
  for (int i = 0; i < 100; ++i) {
    polling.FoundNothing();
    UseProcessor(std::chrono::microseconds(1));
    polling.End();
    polling.End();
  }
  EXPECT_EQ(PollingTime::OfProcess(), before);
}

}  // namespace
}  // namespace tensorbraid
