// Tests ThreadPool and Timer (core/system/timer.h).
#include "core/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "core/system/env_testutil.h"
#include "core/system/timer.h"

namespace tensorbraid {
namespace {

TEST(ThreadPoolTest, ParallelForCoversEveryIndexOnceEvenFromPoolThreads) {
  ThreadPool pool("test", 3);
  std::atomic<int> finished{0};
  constexpr int kOuter = 8, kInner = 1000;
  std::vector<std::atomic<int>> hits(kOuter * kInner);
  pool.ParallelFor(kOuter, /*cost_ns=*/1e6, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      pool.ParallelFor(kInner, /*cost_ns=*/1e3, [&, i](int64_t bb, int64_t ee) {
        for (int64_t j = bb; j < ee; ++j) ++hits[i * kInner + j];
      });
      ++finished;
    }
  });
  EXPECT_EQ(finished, kOuter);
  for (auto& h : hits) EXPECT_EQ(h, 1);
}

TEST(ThreadPoolTest, ParallelForRethrowsOnItsCallerAfterAllRangesHaveEnded) {
  ThreadPool pool("test", 3);
  std::atomic<int> begun{0};
  const auto throw_all = [&](int64_t b, int64_t e) {
    begun += static_cast<int>(e - b);
    throw std::bad_alloc();
  };
  for (int i = 0; i < 100; ++i) {
    begun = 0;
    EXPECT_THROW(pool.ParallelFor(8, /*cost_ns=*/1e6, throw_all), std::bad_alloc);
    EXPECT_EQ(begun, 8);
  }
}

TEST(ThreadPoolTest, AThreadThatBecomesIdleJoinsALoopThatHasBegun) {
  ThreadPool pool("test", 1);
  Mutex mu;
  CondVar changed;
  bool busy = false, released = false, joined = false;
  std::chrono::milliseconds wait(100);
  pool.Schedule([&] {
    MutexLock lock(mu);
    busy = true;
    changed.NotifyAll();
    changed.Wait(mu, [&] { return released; });
  });
  {
    MutexLock lock(mu);
    changed.Wait(mu, [&] { return busy; });
  }
  const auto caller = std::this_thread::get_id();
  pool.ParallelFor(8, /*cost_ns=*/1e6, [&](int64_t, int64_t) {
    MutexLock lock(mu);
    released = true;
    joined = joined || std::this_thread::get_id() != caller;
    changed.NotifyAll();
    // Until the pool's thread has joined, each range of the caller waits, so that the pool's thread has time to become
    // idle. Each wait is longer than the one before, since a busy machine may let that thread wait.
    changed.WaitFor(mu, wait, [&] { return joined; });
    wait *= 2;
  });
  EXPECT_TRUE(joined);
}

TEST(ThreadPoolTest, AStoppedPoolDestroysWorkAndRunsLoopsOnTheirCaller) {
  ThreadPool pool("test", 2);
  pool.Stop();
  const auto dropped = std::make_shared<int>(0);
  pool.Schedule([dropped] { FAIL() << "a stopped pool has run work"; });
  pool.ScheduleBlocking([dropped] { FAIL() << "a stopped pool has run work"; });
  EXPECT_EQ(dropped.use_count(), 1);
  std::vector<int> hits(1000);
  pool.ParallelFor(1000, /*cost_ns=*/1e6, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++hits[i];
  });
  EXPECT_EQ(hits, std::vector<int>(1000, 1));
}

// Long after Stop has seen that no blocking work is left, closures of the pool's threads schedule some.
TEST(ThreadPoolTest, AStoppingPoolRunsBlockingWorkOfItsLastClosures) {
  for (const int threads : {1, 3}) {
    ThreadPool pool("test", threads);
    std::atomic<bool> stops{false};
    pool.OnStop([&] { stops = true; });
    std::atomic<int> blocking{0};
    int left = 20'000;
    std::function<void()> next = [&] {
      if (!stops || --left > 0) return pool.Schedule(next);
      pool.ScheduleBlocking([&] {
        ++blocking;
        pool.Schedule([&] { pool.ScheduleBlocking([&] { ++blocking; }); });
      });
    };
    pool.Schedule(next);
    pool.Stop();
    EXPECT_EQ(blocking, 2) << threads;
  }
}

TEST(TimerTest, RunsClosuresInTheOrderOfTheirTimesButNotACancelledOne) {
  ManualClockEnv clock;
  const ScopedEnv installed(&clock);
  Timer timer;
  Mutex mu;
  CondVar cv;
  std::vector<int> order;
  const auto add = [&](int i) {
    MutexLock lock(mu);
    order.push_back(i);
    cv.NotifyAll();
  };
  timer.RunAfter(std::chrono::milliseconds(20), [&] { add(2); });
  timer.RunAfter(std::chrono::milliseconds(1), [&] { add(1); });
  EXPECT_TRUE(timer.Cancel(timer.RunAfter(std::chrono::milliseconds(10), [&] { add(3); })));
  clock.Advance(std::chrono::milliseconds(20));
  MutexLock lock(mu);
  cv.Wait(mu, [&] { return order.size() == 2; });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(TimerTest, DropsItsClosuresWhenItStops) {
  Timer timer;
  const auto dropped = std::make_shared<int>(0);
  const Timer::Id pending = timer.RunAfter(std::chrono::hours(1), [dropped] {});
  timer.Stop();
  EXPECT_EQ(dropped.use_count(), 1);
  EXPECT_FALSE(timer.Cancel(pending));
  const Timer::Id later =
      timer.RunAfter(std::chrono::milliseconds(0), [dropped] { FAIL() << "a stopped timer has run a closure"; });
  EXPECT_EQ(dropped.use_count(), 1);
  EXPECT_FALSE(timer.CancelAndWait(later));
}

TEST(TimerTest, CancelAndWaitWithoutATimerReturnsAtOnce) {
  Timer timer;
  EXPECT_FALSE(timer.CancelAndWait(0));
}

}  // namespace
}  // namespace tensorbraid
