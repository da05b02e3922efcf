// Threads for work that waits: making a session, preparing a signature whose tasks are not there yet.
#ifndef TENSORBRAID_CLUSTER_BLOCKING_CALLS_H_
#define TENSORBRAID_CLUSTER_BLOCKING_CALLS_H_

#include <deque>
#include <functional>

#include "core/mutex.h"

namespace tensorbraid {

// Starts threads as they are needed, which end when there is nothing to do: a client needs one for the time of a few
// milliseconds per signature. Thread-safe.
class BlockingCalls {
 public:
  // What comes while so many are busy waits for one of them.
  explicit BlockingCalls(int max_threads) : max_threads_(max_threads) {}
  // Waits until everything has returned. Nothing may be added by then.
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

#endif  // TENSORBRAID_CLUSTER_BLOCKING_CALLS_H_
