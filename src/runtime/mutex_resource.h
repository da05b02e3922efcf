// The mutex of a critical section: what TensorFlow's CriticalSection keeps its functions apart with.
#ifndef TENSORBRAID_RUNTIME_MUTEX_RESOURCE_H_
#define TENSORBRAID_RUNTIME_MUTEX_RESOURCE_H_

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "core/variant.h"
#include "runtime/waiting_resource.h"

namespace tensorbraid {

class HeldMutex;

// Held by one step at a time. Thread-safe; waiting blocks no thread.
class MutexResource final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "mutex";
  using LockDone = std::function<void(StatusOr<RefPtr<HeldMutex>>)>;
  explicit MutexResource(std::string name) : name_(std::move(name)) {}

  // Calls `done` with the hold once nobody else has it, or with Cancelled. From the thread that gives the hold back:
  // what follows must not take long.
  void Lock(CancellationManager* cancellation, LockDone done);
  std::string DebugString() const override;

 private:
  friend class HeldMutex;
  void Unlock();

  const std::string name_;
  bool held_ TB_GUARDED_BY(mu_) = false;
};

// That somebody has a mutex, which is given back by Release or when the last who holds this is gone: a step that fails
// between the two keeps nobody out. Thread-safe.
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

#endif  // TENSORBRAID_RUNTIME_MUTEX_RESOURCE_H_
