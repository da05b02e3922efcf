// Runs closures later: heartbeats, deadlines, "still waiting" messages.
#ifndef TENSORBRAID_CORE_SYSTEM_TIMER_H_
#define TENSORBRAID_CORE_SYSTEM_TIMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {

// Runs short closures at their time, on one thread. Ids are never 0, so that callers can use 0 for "no timer".
// Thread-safe. Closures must not block; they may call RunAfter and Cancel.
class Timer {
 public:
  using Id = uint64_t;
  using Duration = MonotonicClock::duration;

  Timer();
  ~Timer();  // Calls Stop.
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  Id RunAfter(Duration delay, std::function<void()> closure);
  // Returns true if the closure was pending; it will not run. Returns false if it has run, or is running on the timer's
  // thread now.
  bool Cancel(Id id);
  // Like Cancel, but if the closure is running, also waits until it has returned. Must not be called from within that
  // closure.
  bool CancelAndWait(Id id);
  // Drops pending closures, waits for a running one and ends the thread. Later calls are still allowed, but a closure
  // that is given to RunAfter later never runs: it is destroyed at once. Idempotent, but not thread-safe: two threads
  // must not call Stop at the same time. Must not be called from within a closure.
  void Stop();

 private:
  void Loop();

  using Key = std::pair<MonotonicClock::time_point, Id>;
  Mutex mu_;
  CondVar cv_;
  std::map<Key, std::function<void()>> pending_ TB_GUARDED_BY(mu_);
  std::map<Id, MonotonicClock::time_point> times_ TB_GUARDED_BY(mu_);
  Id next_id_ TB_GUARDED_BY(mu_) = 1;
  Id running_ TB_GUARDED_BY(mu_) = 0;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_TIMER_H_
