#include <gtest/gtest.h>

#include "executor/step_watch.h"

namespace tensorbraid {
namespace {

using std::chrono::nanoseconds;

MonotonicClock::time_point At(int64_t ns) { return MonotonicClock::time_point(nanoseconds(ns)); }

TEST(WorkTimeTest, TimesOfThreadsThatOverlapCountOnceOrForEach) {
  WorkTime work;
  EXPECT_EQ(work.of_any_thread(), nanoseconds(0));
  work.Begin(At(100));
  work.Begin(At(150));
  work.End(At(100), At(180));
  work.End(At(150), At(200));
  work.Begin(At(500));
  work.End(At(500), At(510));
  EXPECT_EQ(work.of_any_thread(), nanoseconds(110));
  EXPECT_EQ(work.of_all_threads(), nanoseconds(80 + 50 + 10));
}

TEST(WorkTimeTest, AThreadThatWorksNowCountsUntilNow) {
  WorkTime work;
  const auto began = MonotonicClock::now() - std::chrono::seconds(5);
  work.Begin(began);
  EXPECT_GE(work.of_any_thread(), std::chrono::seconds(5));
  work.End(began, began + std::chrono::seconds(7));
  EXPECT_EQ(work.of_any_thread(), std::chrono::seconds(7));
}

TEST(WorkTimeTest, AScopeWithinAScopeCountsOnce) {
  WorkTime work;
  {
    const BusyScope outer(&work);
    const BusyScope inner(&work);
  }
  EXPECT_EQ(work.of_any_thread(), work.of_all_threads());
}

}  // namespace
}  // namespace tensorbraid
