// For callbacks that may come before the function that takes them returns.
#ifndef TENSORBRAID_CORE_THREADS_AT_ONCE_OR_POOL_H_
#define TENSORBRAID_CORE_THREADS_AT_ONCE_OR_POOL_H_

#include <pthread.h>

#include <utility>

#include "core/threads/thread_pool.h"

namespace tensorbraid {

// A callback that comes at once, on the thread that waits for nothing else, can do the work that follows. One that
// comes later is on a thread of others, such as a plugin's, and leaves the work to a pool. So work that is done at once
// costs no change of threads. Made by the thread that makes the call; shared with the callback.
class AtOnceOrPool {
 public:
  explicit AtOnceOrPool(ThreadPool& pool) : pool_(pool), caller_(pthread_self()) {}

  // The function that takes the callback has returned. Called by the thread that has called it. The pool need not exist
  // any longer if the callback has come.
  void CallHasReturned() { returned_ = true; }
  // Called by the callback: runs `work`, here or on the pool.
  template <typename Work>
  void Run(Work work) {
    // Only the caller's thread looks at `returned_`.
    if (pthread_equal(pthread_self(), caller_) != 0 && !returned_) return work();
    pool_.Schedule(std::move(work));
  }

 private:
  ThreadPool& pool_;
  const pthread_t caller_;
  bool returned_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_AT_ONCE_OR_POOL_H_
