#include "core/threads/brief_lock.h"

#include <thread>

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

void BriefLock::LetOthersIn(std::source_location where) TB_NO_THREAD_SAFETY_ANALYSIS {
  constexpr int kTurns = 200;  // of about a microsecond
  const bool is_awaited = state_.exchange(kFree, std::memory_order_release) == kAwaited;
  if (is_awaited) {
    WakeOne();
    for (int i = 0; i < kTurns && state_.load(std::memory_order_relaxed) == kFree; ++i) std::this_thread::yield();
  }
  Lock(where);
}

// Not inline: libstdc++ counts the threads that sleep, and each library that has the code has counts of its own. A
// program that unlocked would not see that a thread sleeps in LockSlowly of this library.
void BriefLock::WakeOne() { state_.notify_one(); }

}  // namespace tensorbraid
