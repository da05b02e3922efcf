// The mutex behind TensorFlow's CriticalSection.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_MUTEX_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_MUTEX_RESOURCE_H_

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "core/values/variant.h"
#include "runtime/resources/waiting_resource.h"

namespace tensorbraid {

class HeldMutex;

// Has at most one holder at a time. Thread-safe; waiting blocks no thread.
class MutexResource final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "mutex";
  using LockDone = std::function<void(StatusOr<RefPtr<HeldMutex>>)>;
  explicit MutexResource(std::string name) : name_(std::move(name)) {}

  // Calls `done` once: with the held mutex, or with Cancelled. The call may come from the thread that released the
  // mutex, so `done` must not take long.
  void Lock(CancellationManager* cancellation, LockDone done);
  std::string DebugString() const override;

 private:
  friend class HeldMutex;
  void Unlock();

  const std::string name_;
  bool held_ TB_GUARDED_BY(mu_) = false;
};

// Ownership of a locked mutex. Release(), or the destruction of this object, unlocks the mutex; so a step that fails
// while it holds the mutex does not leave it locked. Thread-safe.
class HeldMutex final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "held mutex";
  explicit HeldMutex(RefPtr<MutexResource> mutex) : mutex_(std::move(mutex)) {}
  ~HeldMutex() override { Release(); }

  void Release() {
    if (!released_.exchange(true)) mutex_->Unlock();
  }
  std::string DebugString() const override;

 private:
  const RefPtr<MutexResource> mutex_;
  std::atomic<bool> released_{false};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_MUTEX_RESOURCE_H_
