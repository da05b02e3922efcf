// Decides whether threads may poll, by how long the processor is away when they yield it.
#ifndef TENSORBRAID_CORE_THREADS_POLLING_GATE_H_
#define TENSORBRAID_CORE_THREADS_POLLING_GATE_H_

#include <atomic>
#include <chrono>

#include "core/system/clock.h"

namespace tensorbraid {

// A thread that has nothing to do polls for a short time before it sleeps, and yields the processor after each poll. If
// other programs want the processor, a yield gives it away for a whole time slice, so a thread that polls finds its
// message late, although a thread that sleeps would be woken at once. A yield that takes longer than kLongYield
// therefore closes the gate: for kClosed the threads of this process sleep instead of polling. Thread-safe.
class PollingGate {
 public:
  using Clock = MonotonicClock;
  static constexpr std::chrono::milliseconds kLongYield{1};
  static constexpr std::chrono::milliseconds kClosed{10};

  // The gate of this process.
  static PollingGate& OfProcess();

  // For tests: `now` is the clock, and `yield` gives the processor away. Both must be thread-safe.
  PollingGate(Clock::time_point (*now)(), void (*yield)()) : now_(now), yield_(yield) {}

  // Whether a thread may poll at this time.
  bool IsOpen(Clock::time_point now) const {
    return now.time_since_epoch().count() >= closed_until_.load(std::memory_order_relaxed);
  }
  // Lets other threads run. Returns the time after that.
  Clock::time_point Yield();
  // From now on no yield closes the gate. For benchmarks, which measure what the gate brings.
  void StayOpen() { stays_open_.store(true, std::memory_order_relaxed); }

 private:
  Clock::time_point (*const now_)();
  void (*const yield_)();
  std::atomic<bool> stays_open_{false};
  std::atomic<Clock::rep> closed_until_{Clock::time_point::min().time_since_epoch().count()};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_POLLING_GATE_H_
