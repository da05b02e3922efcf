// Counts objects that still exist, such as threads or streams, so that a shutdown can wait until none is left.
#ifndef TENSORBRAID_CORE_THREADS_LIVE_COUNT_H_
#define TENSORBRAID_CORE_THREADS_LIVE_COUNT_H_

#include "core/threads/mutex.h"

namespace tensorbraid {

// Thread-safe.
class LiveCount {
 public:
  void Add() {
    MutexLock lock(mu_);
    ++count_;
  }
  void Remove() {
    MutexLock lock(mu_);
    if (--count_ == 0) cv_.NotifyAll();
  }
  // Blocks until no object is left. The caller makes sure that none is added meanwhile.
  void WaitForNone() {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return count_ == 0; });
  }

 private:
  Mutex mu_;
  CondVar cv_;
  int count_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_LIVE_COUNT_H_
