#include "core/threads/brief_lock.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

TEST(BriefLockTest, OneThreadHoldsTheLock) {
  BriefLock lock;
  int counter = 0;  // guarded by the lock
  constexpr int kThreads = 4, kTurns = 20'000;
  {
    std::vector<Thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back("counts", [&] {
        for (int turn = 0; turn < kTurns; ++turn) {
          BriefLockHolder holder(lock);
          ++counter;
        }
      });
    }
    for (Thread& thread : threads) thread.Join();
  }
  EXPECT_EQ(counter, kThreads * kTurns);
}

TEST(BriefLockTest, AThreadSleepsUntilTheLockIsFree) {
  BriefLock lock;
  lock.Lock();
  EXPECT_FALSE(lock.TryLock());
  std::atomic<bool> got_it{false};
  Thread waiter("waits", [&]() TB_NO_THREAD_SAFETY_ANALYSIS {
    lock.Lock();
    got_it = true;
    lock.Unlock();
  });
  EXPECT_FALSE(got_it);
  lock.Unlock();
  waiter.Join();
  EXPECT_TRUE(got_it);
  const bool locked = lock.TryLock();
  EXPECT_TRUE(locked);
  if (locked) lock.Unlock();
}

TEST(BriefLockTest, AThreadThatSleepsIsLetIn) {
  BriefLock lock;
  int64_t let_in = 0;  // guarded by the lock
  std::atomic<bool> ends{false};
  Thread others("others", [&] {
    while (!ends) {
      BriefLockHolder holder(lock);
      ++let_in;
    }
  });
  {
    BriefLockHolder holder(lock);
    while (let_in < 1000) lock.LetOthersIn();
  }
  ends = true;
  others.Join();
}

}  // namespace
}  // namespace tensorbraid
