// Lets the cancellation of a step end a call that waits in a resource.
#ifndef TENSORBRAID_RUNTIME_KERNEL_CANCELLABLE_WAIT_H_
#define TENSORBRAID_RUNTIME_KERNEL_CANCELLABLE_WAIT_H_

#include <string_view>
#include <utility>

#include "runtime/kernel/cancellation.h"

namespace tensorbraid {

// The reasons for which a call ends without having been served (core/errors/interruption.h).
inline constexpr std::string_view kCancelledInWait = "the step was cancelled while it waited";
inline constexpr std::string_view kCancelledBeforeWait = "the step was cancelled before it could wait";

// The registration of a waiting call with the cancellation of its step. Either the resource serves the call or the
// cancellation ends it, whichever comes first. The resource records, under its lock, which of the two happened.
class CancellableWait {
 public:
  // Registers `cancel`, which should keep the resource and the call alive. Returns false if the step has been cancelled
  // already; `cancel` is then dropped. Without a cancellation manager (null) there is nothing to do. Call this with the
  // resource's lock held, so that Begin returns before the call is served and End is called. That is safe: callbacks
  // run without the manager's lock, so the resource's lock is always taken before the manager's.
  bool Begin(CancellationManager* cancellation, CancellationManager::Callback cancel) {
    if (cancellation == nullptr) return true;
    if (!cancellation->Register(std::move(cancel), &token_)) return false;
    cancellation_ = cancellation;
    return true;
  }
  // Call this before completing a call that has been served, without the resource's lock. The callback of the
  // cancellation may be running now, even on this thread; it then finds that the call has been served.
  void End() {
    if (cancellation_ != nullptr) cancellation_->TryDeregister(token_);
  }

 private:
  CancellationManager* cancellation_ = nullptr;  // null: not registered
  CancellationManager::Token token_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_CANCELLABLE_WAIT_H_
