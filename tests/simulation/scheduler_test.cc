#include "simulation/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>

#include "core/system/timer.h"
#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "simulation/simulate.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Two threads append to a log, which shows the order in which they have taken its lock.
StatusOr<std::string> TwoWriters(Scheduler&) {
  Mutex mu;
  std::string log;
  const auto write = [&](const char* letter) {
    for (int i = 0; i < 10; ++i) {
      MutexLock lock(mu);
      log += letter;
    }
  };
  Thread a("a", [&] { write("a"); });
  Thread b("b", [&] { write("b"); });
  a.Join();
  b.Join();
  return log;
}

TEST(Scheduler, ASeedRepeatsItsOrderAndSeedsDiffer) {
  std::set<std::string> logs;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SimulationResult first = Simulate(seed, TwoWriters);
    ASSERT_TRUE(first.status.ok()) << first.status;
    const SimulationResult again = Simulate(seed, TwoWriters, {.scheduler = {}, .shift_addresses = true});
    EXPECT_EQ(first.value, again.value);
    EXPECT_EQ(first.schedule, again.schedule);
    logs.insert(first.value);
  }
  EXPECT_GT(logs.size(), 5u);
}

TEST(Scheduler, AStoppedProcessDoesNotRunUntilItIsWoken) {
  const auto program = [](Scheduler& scheduler) -> StatusOr<std::string> {
    const ProcessId process = scheduler.NewProcess();
    Mutex mu;
    int ticks = 0;
    bool done = false;
    Thread thread;
    {
      const Scheduler::ProcessScope scope(scheduler, process);
      thread = Thread("ticker", [&] {
        while (true) {
          {
            MutexLock lock(mu);
            if (done) return;
            ++ticks;
          }
          SleepFor(std::chrono::milliseconds(1));
        }
      });
    }
    const auto ticks_of = [&](std::chrono::milliseconds time) {
      const int before = ticks;
      SleepFor(time);
      return ticks - before;
    };
    const int running = ticks_of(std::chrono::milliseconds(100));
    scheduler.StopProcess(process);
    const int stopped = ticks_of(std::chrono::milliseconds(100));
    scheduler.WakeProcess(process);
    const int woken = ticks_of(std::chrono::milliseconds(100));
    {
      MutexLock lock(mu);
      done = true;
    }
    thread.Join();
    if (running < 50 || stopped != 0 || woken < 50) return Internal(running, ", ", stopped, ", ", woken);
    return "";
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(Simulate(seed, program).status, OkStatus()) << "seed " << seed;
  }
}

TEST(Scheduler, ADeadlockNamesTheThreadsAndWhatTheyWaitFor) {
  const auto program = [](Scheduler&) -> StatusOr<std::string> {
    Mutex mu, one, two;
    CondVar cv;
    bool never = false;
    Thread waiter("waiter", [&] {
      MutexLock lock(mu);
      cv.Wait(mu, [&] { return never; });
    });
    const auto lock_both = [](Mutex& first, Mutex& second) {
      MutexLock outer(first);
      SleepFor(std::chrono::milliseconds(1));
      MutexLock inner(second);
    };
    Thread left("left", [&] { lock_both(one, two); });
    Thread right("right", [&] { lock_both(two, one); });
    left.Join();
    return "";
  };
  const SimulationResult result = Simulate(1, program);
  EXPECT_EQ(result.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status.message()),
              AllOf(HasSubstr("deadlock"), HasSubstr("main#0: joins left#2"),
                    HasSubstr("waiter#1: waits for a notification at "), HasSubstr("left#2: waits for a lock at "),
                    HasSubstr("right#3: waits for a lock at "), HasSubstr("scheduler_test.cc:")));
}

TEST(Scheduler, APeriodicTimerDoesNotHideThatTheProgramWaitsForEver) {
  const auto program = [](Scheduler&) -> StatusOr<std::string> {
    Timer timer;
    std::function<void()> tick = [&] { timer.RunAfter(std::chrono::milliseconds(100), tick); };
    tick();
    Mutex mu;
    CondVar cv;
    MutexLock lock(mu);
    cv.Wait(mu, [] { return false; });
    return "";
  };
  const SimulationResult result = Simulate(1, program);
  EXPECT_THAT(std::string(result.status.message()),
              AllOf(HasSubstr("has not ended after 600 s"), HasSubstr("main#0: waits for a notification at ")));
}

TEST(Scheduler, TimePassesOnlyWhenAllThreadsWait) {
  const auto program = [](Scheduler& scheduler) -> StatusOr<std::string> {
    const auto start = MonotonicClock::now();
    SleepFor(std::chrono::minutes(6));
    const auto slept = MonotonicClock::now() - start;
    Mutex mu;
    CondVar cv;
    MutexLock lock(mu);
    const bool notified = cv.WaitFor(mu, std::chrono::seconds(5), [] { return false; });
    const auto waited = MonotonicClock::now() - start - slept;
    return StrCat(std::chrono::floor<std::chrono::seconds>(slept).count(), " ", notified, " ",
                  std::chrono::floor<std::chrono::seconds>(waited).count(), " ", scheduler.switches() < 200);
  };
  const SimulationResult result = Simulate(3, program);
  EXPECT_EQ(result.value, "360 0 5 1") << result.status;
}

TEST(Scheduler, ThreadPoolsAndTimersRun) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto program = [](Scheduler&) -> StatusOr<std::string> {
      std::atomic<int64_t> sum = 0;
      {
        Timer timer;
        ThreadPool pool("pool", 3);
        for (int i = 0; i < 5; ++i) {
          timer.RunAfter(std::chrono::milliseconds(i), [&] { pool.Schedule([&] { sum += 1000; }); });
          pool.ScheduleBlocking([&] { SleepFor(std::chrono::seconds(1)); });
        }
        pool.ParallelFor(100, 100'000, [&](int64_t begin, int64_t end) { sum += end - begin; });
        SleepFor(std::chrono::milliseconds(10));
      }
      return StrCat(sum.load());
    };
    EXPECT_EQ(Simulate(seed, program).value, "5100") << seed;  // 5 * 1000 + 100
  }
}

// The program has an error that shows only if the running thread changes at one place: between the check and the act.
TEST(Scheduler, SomeSeedsInterruptAThreadBetweenTwoLocks) {
  const auto program = [](Scheduler&) -> StatusOr<std::string> {
    Mutex mu;
    int free = 1, taken = 0;
    const auto take = [&] {
      bool available;
      {
        MutexLock lock(mu);
        available = free > 0;
      }
      if (!available) return;
      MutexLock lock(mu);
      --free;
      ++taken;
    };
    Thread other("other", take);
    take();
    other.Join();
    return StrCat(taken);
  };
  std::set<std::string> taken;
  for (uint64_t seed = 0; seed < 100; ++seed) taken.insert(Simulate(seed, program).value);
  EXPECT_THAT(taken, ::testing::ElementsAre("1", "2"));
}

// The initialisation of `value` takes locks, at which the scheduler could interrupt it.
int SlowStatic() {
  static const int value = [] {
    Mutex mu;
    for (int i = 0; i < 20; ++i) MutexLock lock(mu);
    return 1;
  }();
  return value;
}

TEST(Scheduler, AStaticVariableIsInitialisedWithoutInterruption) {
  const auto program = [](Scheduler&) -> StatusOr<std::string> {
    Thread other("other", [] { SlowStatic(); });
    const int value = SlowStatic();
    other.Join();
    return StrCat(value);
  };
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(Simulate(seed, program).value, "1") << seed;
}

TEST(Simulate, ReturnsErrorsAndReportsCrashes) {
  EXPECT_EQ(Simulate(1, [](Scheduler&) -> StatusOr<std::string> { return InvalidArgument("bad"); }).status,
            InvalidArgument("bad"));
  const Status crash = Simulate(7, [](Scheduler&) -> StatusOr<std::string> { std::_Exit(3); }).status;
  EXPECT_THAT(std::string(crash.message()),
              AllOf(HasSubstr("seed 7"), HasSubstr("exit code 3"), Not(HasSubstr("signal"))));
}

}  // namespace
}  // namespace tensorbraid
