#include "core/threads/blocking_calls.h"

#include <utility>

#include "core/threads/thread.h"

namespace tensorbraid {

void BlockingCalls::WaitUntilIdle() {
  MutexLock lock(mu_);
  idle_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return threads_ == 0; });
}

void BlockingCalls::Run(std::function<void()> work) {
  MutexLock lock(mu_);
  queue_.push_back(std::move(work));
  if (threads_ == max_threads_) return;
  ++threads_;
  Thread("tb-calls", [this] { Loop(); }).Detach();
}

void BlockingCalls::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mu_);
      if (queue_.empty()) {
        // Notifies under the lock, because this object may be destroyed as soon as the lock is released.
        if (--threads_ == 0) idle_.NotifyAll();
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace tensorbraid
