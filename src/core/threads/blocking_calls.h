// Threads for work that may block, such as creating a session, or preparing a step while its tasks are not up yet.
#ifndef TENSORBRAID_CORE_THREADS_BLOCKING_CALLS_H_
#define TENSORBRAID_CORE_THREADS_BLOCKING_CALLS_H_

#include <deque>
#include <functional>

#include "core/threads/mutex.h"

namespace tensorbraid {

// Runs functions on threads that start on demand and end when the queue is empty. Threads are not kept, because a
// client needs one only for a few milliseconds when it first runs a step with certain feeds and fetches. Thread-safe.
class BlockingCalls {
 public:
  // While `max_threads` are busy, further work is queued.
  explicit BlockingCalls(int max_threads) : max_threads_(max_threads) {}
  // Blocks until all work has returned. REQUIRES: Run is no longer called.
  ~BlockingCalls() { WaitUntilIdle(); }
  void WaitUntilIdle();
  void Run(std::function<void()> work);

 private:
  void Loop();

  const int max_threads_;
  Mutex mu_;
  CondVar idle_;
  int threads_ TB_GUARDED_BY(mu_) = 0;
  std::deque<std::function<void()>> queue_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_BLOCKING_CALLS_H_
