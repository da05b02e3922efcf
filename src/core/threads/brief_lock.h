// A lock of four bytes, for objects of which there are very many and that are locked for moments.
#ifndef TENSORBRAID_CORE_THREADS_BRIEF_LOCK_H_
#define TENSORBRAID_CORE_THREADS_BRIEF_LOCK_H_

#include <atomic>
#include <cstdint>
#include <source_location>

#include "core/threads/mutex.h"

namespace tensorbraid {

// As Mutex, without condition variables. A thread that does not get the lock tries again some times before it sleeps.
class TB_THREAD_ANNOTATION(capability("mutex")) BriefLock {
 public:
  void Lock(std::source_location where = std::source_location::current()) TB_THREAD_ANNOTATION(acquire_capability()) {
    if (!TryLock()) LockSlowly(where);
  }
  // Returns false at once if another thread holds the lock.
  bool TryLock() TB_THREAD_ANNOTATION(try_acquire_capability(true)) {
    uint32_t free = kFree;
    return state_.compare_exchange_strong(free, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) WakeOne();
  }
  // Unlocks, and locks again after a thread that sleeps until the lock is free has taken it. Without this, the thread
  // that sleeps would wake up too late: after Unlock and Lock, the lock is held again a moment later. Waits for the
  // other thread for a bounded time.
  void LetOthersIn(std::source_location where = std::source_location::current()) TB_REQUIRES(this);

 private:
  enum : uint32_t { kFree, kHeld, kAwaited };  // kAwaited: held, and a thread may sleep until it is free
  void LockSlowly(std::source_location where);
  void WakeOne();

  std::atomic<uint32_t> state_{kFree};
};

class TB_THREAD_ANNOTATION(scoped_lockable) BriefLockHolder {
 public:
  explicit BriefLockHolder(BriefLock& lock, std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_capability(lock))
      : lock_(lock) {
    lock_.Lock(where);
  }
  ~BriefLockHolder() TB_THREAD_ANNOTATION(release_capability()) { lock_.Unlock(); }
  BriefLockHolder(const BriefLockHolder&) = delete;
  BriefLockHolder& operator=(const BriefLockHolder&) = delete;

 private:
  BriefLock& lock_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_BRIEF_LOCK_H_
