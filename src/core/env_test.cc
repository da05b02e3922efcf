#include "core/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include "core/env_testutil.h"
#include "core/mutex.h"
#include "core/timer.h"

namespace tensorbraid {
namespace {

using std::chrono::hours;

TEST(EnvTest, AWaitGivesUpWhenTheInstalledClockPassesItsDeadline) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  const auto start = MonotonicClock::now();
  bool held = true;
  Thread waiter("waiter", [&] {
    MutexLock lock(mu);
    held = cv.WaitFor(mu, hours(2), [] { return false; });
  });
  env.WaitForWaiter(start + hours(2));
  env.Advance(hours(1));
  env.WaitForWaiter(start + hours(2));
  env.Advance(hours(1));
  waiter.Join();
  EXPECT_FALSE(held);
  EXPECT_EQ(MonotonicClock::now() - start, hours(2));
}

TEST(EnvTest, ANotifiedWaitEndsWhileTheClockStandsStill) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  bool ready = false;
  bool held = false;
  Thread waiter("waiter", [&] {
    MutexLock lock(mu);
    held = cv.WaitFor(mu, hours(1), [&] { return ready; });
  });
  env.WaitForWaiter(env.MonotonicNow() + hours(1));
  {
    MutexLock lock(mu);
    ready = true;
  }
  cv.NotifyAll();
  waiter.Join();
  EXPECT_TRUE(held);
}

TEST(EnvTest, TimersRunInTheOrderOfTheInstalledClock) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  Mutex mu;
  CondVar cv;
  std::vector<int> ran;
  const auto start = MonotonicClock::now();
  Timer timer;
  const auto record = [&](int number) {
    MutexLock lock(mu);
    ran.push_back(number);
    cv.NotifyAll();
  };
  timer.RunAfter(hours(2), [&] { record(2); });
  timer.RunAfter(hours(1), [&] { record(1); });
  env.WaitForWaiter(start + hours(1));
  env.Advance(hours(1));
  env.WaitForWaiter(start + hours(2));  // the first closure has run
  {
    MutexLock lock(mu);
    EXPECT_THAT(ran, testing::ElementsAre(1));
  }
  env.Advance(hours(1));
  MutexLock lock(mu);
  cv.Wait(mu, [&] { return ran.size() == 2; });
  EXPECT_THAT(ran, testing::ElementsAre(1, 2));
}

TEST(EnvTest, ASleepTakesNoRealTimeUnderAnInstalledClock) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  const auto end = MonotonicClock::now() + hours(24 * 365);
  Thread sleeper("sleeper", [] { SleepFor(hours(24 * 365)); });
  env.WaitForWaiter(end);
  env.Advance(hours(24 * 365));
  sleeper.Join();
}

TEST(EnvTest, SeedsComeFromTheInstalledEnv) {
  class Counting final : public ForwardingEnv {
   public:
    uint64_t RandomSeed() override { return ++last_; }

   private:
    uint64_t last_ = 0;
  };
  Counting env;
  const ScopedEnv scoped(&env);
  EXPECT_EQ(RandomSeed(), 1u);
  EXPECT_EQ(RandomSeed(), 2u);
}

TEST(EnvTest, TheSystemIsRestoredWhenNoEnvIsInstalled) {
  ManualClockEnv env;
  { const ScopedEnv scoped(&env); }
  EXPECT_EQ(&Env::Default(), &Env::System());
  EXPECT_NE(RandomSeed(), RandomSeed());
}

TEST(ThreadTest, HasTheFirstFifteenCharactersOfItsName) {
  char name[32] = "";
  Thread thread("tb-a-name-that-is-long", [&] { pthread_getname_np(pthread_self(), name, sizeof name); });
  thread.Join();
  EXPECT_STREQ(name, "tb-a-name-that-");
  EXPECT_FALSE(thread.joinable());
}

// A task that may use one core must not compute on more threads, which would take turns and empty each other's caches.
TEST(ThreadTest, OnlyCoresThatTheThreadMayUseCount) {
  int cores = 0;
  Thread thread("on-one-core", [&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    if (sched_setaffinity(0, sizeof set, &set) == 0) cores = NumCores();
  });
  thread.Join();
  EXPECT_EQ(cores, 1);
}

}  // namespace
}  // namespace tensorbraid
