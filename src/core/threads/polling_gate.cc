#include "core/threads/polling_gate.h"

#include <sched.h>

namespace tensorbraid {

PollingGate& PollingGate::OfProcess() {
  static PollingGate gate(&Clock::now, [] { sched_yield(); });
  return gate;
}

PollingGate::Clock::time_point PollingGate::Yield() {
  const Clock::time_point before = now_();
  yield_();
  const Clock::time_point after = now_();
  if (after - before > kLongYield && !stays_open_.load(std::memory_order_relaxed)) [[unlikely]]
    closed_until_.store((after + kClosed).time_since_epoch().count(), std::memory_order_relaxed);
  return after;
}

}  // namespace tensorbraid
