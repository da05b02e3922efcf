#include "planner/model/wake_up.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "core/system/clock.h"
#include "core/system/cpu_time.h"
#include "core/threads/thread.h"

namespace tensorbraid::planner {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kPollFor{100};

double Ns(MonotonicClock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

// Counts messages for one thread that waits for them.
class Mailbox {
 public:
  void Post() {
    count_.fetch_add(1);
    if (sleeps_.load()) Futex(FUTEX_WAKE, 1);
  }
  // Waits for one more message than the last call. May return without one once `stop` is set.
  void Await(const std::atomic<bool>& stop) {
    const uint32_t seen = seen_++;
    const auto until = MonotonicClock::now() + kPollFor;
    while (count_.load() == seen && MonotonicClock::now() < until) sched_yield();
    while (count_.load() == seen && !stop.load()) {
      sleeps_.store(true);
      if (!stop.load()) Futex(FUTEX_WAIT, seen);
      sleeps_.store(false);
    }
  }

 private:
  void Futex(int op, uint32_t value) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count_), op | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
  }
  std::atomic<uint32_t> count_{0};
  std::atomic<bool> sleeps_{false};
  uint32_t seen_ = 0;
};

// The work that a message causes: about as much as a short step has.
class Work {
 public:
  // Keeps the shortest of all times. Other programs make a core slower for a while, so this is called several times.
  void Measure() {
    for (int i = 0; i < 20; ++i) {
      const auto start = MonotonicClock::now();
      Do();
      ns_ = std::min(ns_, Ns(MonotonicClock::now() - start));
    }
  }
  void Do() const {
    volatile uint64_t x = 1;
    for (int i = 0; i < kTurns; ++i) x = x * 6364136223846793005 + 1442695040888963407;
  }
  double ns() const { return ns_; }

 private:
  static constexpr int kTurns = 4000;
  double ns_ = std::numeric_limits<double>::infinity();
};

// The time of the cores per message, including its work, if `pairs` pairs of threads exchange messages.
double MessageNs(int pairs, const Work& work) {
  struct Pair {
    Mailbox there, back;
    int64_t messages = 0;
  };
  std::deque<Pair> all(pairs);
  std::atomic<bool> stop = false;
  std::vector<Thread> threads;
  const auto before = ProcessCpuTime();
  for (Pair& pair : all) {
    threads.emplace_back("wake_up", [&pair, &work, &stop] {
      while (!stop.load()) {
        work.Do();
        pair.there.Post();
        pair.back.Await(stop);
        pair.messages += 2;
      }
      pair.there.Post();
    });
    threads.emplace_back("wake_up", [&pair, &work, &stop] {
      while (!stop.load()) {
        pair.there.Await(stop);
        work.Do();
        pair.back.Post();
      }
      pair.back.Post();
    });
  }
  SleepFor(milliseconds(40));
  stop.store(true);
  for (Pair& pair : all) {
    pair.there.Post();
    pair.back.Post();
  }
  for (Thread& thread : threads) thread.Join();
  const double ns = std::chrono::duration<double, std::nano>(ProcessCpuTime() - before).count();
  double messages = 0;
  for (const Pair& pair : all) messages += static_cast<double>(pair.messages);
  return messages > 0 ? ns / messages : 0;
}

// The delay from a message until the sleeping thread runs: the first quartile.
double IdleNs() {
  std::vector<double> delays;
  Mailbox box;
  std::atomic<bool> stop = false;
  std::atomic<MonotonicClock::rep> sent{0};
  constexpr int kTimes = 40;
  Thread sleeper("wake_up", [&] {
    for (int i = 0; i < kTimes; ++i) {
      box.Await(stop);
      delays.push_back(Ns(MonotonicClock::now().time_since_epoch() - MonotonicClock::duration(sent.load())));
    }
  });
  for (int i = 0; i < kTimes; ++i) {
    SleepFor(3 * kPollFor);
    sent.store(MonotonicClock::now().time_since_epoch().count());
    box.Post();
  }
  sleeper.Join();
  // Other programs make some of the delays longer.
  std::nth_element(delays.begin(), delays.begin() + kTimes / 4, delays.end());
  return delays[kTimes / 4];
}

}  // namespace

WakeUpCost MeasureWakeUp() {
  constexpr int kRepeats = 5;
  Work work;
  std::vector<double> busy;
  for (int i = 0; i < kRepeats; ++i) {
    work.Measure();
    busy.push_back(MessageNs(2 * NumCores(), work));
  }
  work.Measure();
  for (double& ns : busy) ns = std::max(0.0, ns - work.ns());
  std::sort(busy.begin(), busy.end());
  WakeUpCost cost = {.idle_ns = IdleNs()};
  if (busy[kRepeats / 2] == 0) return cost;
  cost.busy_ns = busy[kRepeats / 2];
  cost.lowest_busy_ns = busy.front();
  cost.highest_busy_ns = busy.back();
  cost.measured = true;
  return cost;
}

}  // namespace tensorbraid::planner
