#include "core/threads/brief_lock.h"

namespace tensorbraid {

void BriefLock::LockSlowly(std::source_location where) TB_NO_THREAD_SAFETY_ANALYSIS {
  if (lock_scheduler != nullptr) {
    return lock_scheduler->Lock([](void* lock) { return static_cast<BriefLock*>(lock)->TryLock(); }, this, where);
  }
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (state_.load(std::memory_order_relaxed) == kFree && TryLock()) return;
  }
  // A thread that has slept marks the lock as awaited when it takes it, since others may still sleep.
  while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree) state_.wait(kAwaited);
}

// Not inline: libstdc++ counts the threads that sleep, and each library that has the code has counts of its own. A
// program that unlocked would not see that a thread sleeps in LockSlowly of this library.
void BriefLock::WakeOne() { state_.notify_one(); }

}  // namespace tensorbraid
