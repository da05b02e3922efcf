// Runs closures later: heartbeats, deadlines, "still waiting" messages.
#ifndef TENSORBRAID_CORE_TIMER_H_
#define TENSORBRAID_CORE_TIMER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "core/mutex.h"

namespace tensorbraid {

// One thread that runs short closures at their time. Ids are never 0, which may stand for none. Thread-safe. Closures
// must not block; they may add and cancel.
class Timer {
 public:
  using Id = uint64_t;
  using Duration = std::chrono::steady_clock::duration;

  Timer();
  ~Timer();  // Drops what is pending; waits for a closure that is running.
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  Id RunAfter(Duration delay, std::function<void()> closure);
  // True when the closure was pending and will not run. False: it has run, or is running on the timer's thread now.
  bool Cancel(Id id);
  // As Cancel, and waits until a running closure has returned. Not from within that closure.
  bool CancelAndWait(Id id);

 private:
  void Loop();

  using Key = std::pair<std::chrono::steady_clock::time_point, Id>;
  Mutex mu_;
  CondVar cv_;
  std::map<Key, std::function<void()>> pending_ TB_GUARDED_BY(mu_);
  std::map<Id, std::chrono::steady_clock::time_point> times_ TB_GUARDED_BY(mu_);
  Id next_id_ TB_GUARDED_BY(mu_) = 1;
  Id running_ TB_GUARDED_BY(mu_) = 0;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TIMER_H_
