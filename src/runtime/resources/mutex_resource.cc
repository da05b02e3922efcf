#include "runtime/resources/mutex_resource.h"

#include "core/text/strings.h"

namespace tensorbraid {

void MutexResource::Lock(CancellationManager* cancellation, LockDone done) {
  Attempt attempt = [this, done]() TB_REQUIRES(mu_) -> std::function<void()> {
    if (held_) return nullptr;
    held_ = true;
    return [done, hold = MakeRef<HeldMutex>(RefPtr<MutexResource>::Share(this))]() mutable { done(std::move(hold)); };
  };
  Await(std::move(attempt), cancellation, [done](const Status& why) { done(why); });
}

void MutexResource::Unlock() {
  {
    MutexLock lock(mu_);
    held_ = false;
  }
  Changed();
}

std::string MutexResource::DebugString() const { return StrCat("mutex '", name_, "'"); }

std::string HeldMutex::DebugString() const { return StrCat("a hold on ", mutex_->DebugString()); }

}  // namespace tensorbraid
