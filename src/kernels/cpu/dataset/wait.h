// How iterators wait for their own background work.
#ifndef TENSORBRAID_KERNELS_CPU_DATASET_WAIT_H_
#define TENSORBRAID_KERNELS_CPU_DATASET_WAIT_H_

#include <memory>

#include "core/system/clock.h"
#include "core/threads/mutex.h"
#include "runtime/kernel/cancellation.h"

namespace tensorbraid::cpu {

// Waits on `cv` until pred() is true, or until the deadline. Returns pred(), or false if `cancellation` was already
// cancelled.
template <typename Pred>
bool WaitOrCancelled(const std::shared_ptr<Mutex>& mu, const std::shared_ptr<CondVar>& cv,
                     CancellationManager* cancellation, Pred pred,
                     MonotonicClock::time_point deadline = MonotonicClock::time_point::max()) {
  auto cancelled = std::make_shared<bool>(false);
  CancellationManager::Token token = 0;
  const bool registered = cancellation->Register(
      [mu, cv, cancelled](const Status&) {
        MutexLock lock(*mu);
        *cancelled = true;
        cv->NotifyAll();
      },
      &token);
  if (!registered) return false;
  bool held;
  {
    MutexLock lock(*mu);
    cv->WaitUntil(*mu, deadline, [&] { return *cancelled || pred(); });
    held = pred();
  }
  cancellation->TryDeregister(token);
  return held;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_DATASET_WAIT_H_
