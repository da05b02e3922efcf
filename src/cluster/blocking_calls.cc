#include "cluster/blocking_calls.h"

#include <thread>
#include <utility>

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
  std::thread([this] { Loop(); }).detach();
}

void BlockingCalls::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mu_);
      if (queue_.empty()) {
        // Under the lock: the destructor may run as soon as it is free.
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
