// A mutex that the thread which holds it may lock again.
//
// A thread may hold a lock of another language when it locks the mutex, such as the interpreter lock of Python. It must
// not wait with that lock: the holder of the mutex may need it. So a binding registers how its lock is given up
// (SetOuterLock), and each thread that has to wait gives it up meanwhile. No thread waits for the outer lock while it
// holds a RecursiveMutex through Lock().
#ifndef TENSORBRAID_CORE_THREADS_RECURSIVE_MUTEX_H_
#define TENSORBRAID_CORE_THREADS_RECURSIVE_MUTEX_H_

#include <atomic>
#include <cstdint>
#include <source_location>

#include "core/threads/mutex.h"

namespace tensorbraid {

// A number that no other thread of the process has, had or will have; never 0.
uint64_t ThreadNumber();

// How threads give up the lock of another language. Both functions must be thread-safe.
struct OuterLock {
  // Gives up the lock if the calling thread holds it, and returns what `take` needs; otherwise returns null.
  void* (*give_up)();
  // Takes the lock again. May block, also for ever if the program is ending.
  void (*take)(void* given_up);
};
// `lock` must live as long as the program.
void SetOuterLock(const OuterLock* lock);

class TB_THREAD_ANNOTATION(capability("mutex")) RecursiveMutex {
 public:
  RecursiveMutex() = default;
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;

  void Lock(std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_capability()) TB_NO_THREAD_SAFETY_ANALYSIS {
    const uint64_t self = ThreadNumber();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    if (!mu_.TryLock()) Wait(where);
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
  }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (--depth_ > 0) return;
    owner_.store(0, std::memory_order_relaxed);
    mu_.Unlock();
  }
  // Unlocks the mutex as often as this thread has locked it, and returns this number: 0 if it does not hold the mutex.
  int UnlockAll() TB_NO_THREAD_SAFETY_ANALYSIS;
  // Locks the mutex as often as UnlockAll unlocked it.
  void LockAgain(int times) TB_NO_THREAD_SAFETY_ANALYSIS;

 private:
  // Returns with mu_ locked.
  void Wait(std::source_location where) TB_NO_THREAD_SAFETY_ANALYSIS;

  Mutex mu_;
  std::atomic<uint64_t> owner_{0};  // ThreadNumber() of the holder; 0: none
  int depth_ = 0;                   // used by the holder only
};

class TB_THREAD_ANNOTATION(scoped_lockable) RecursiveLock {
 public:
  explicit RecursiveLock(RecursiveMutex& mu, std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_capability(mu))
      : mu_(mu) {
    mu_.Lock(where);
  }
  ~RecursiveLock() TB_THREAD_ANNOTATION(release_capability()) { mu_.Unlock(); }
  RecursiveLock(const RecursiveLock&) = delete;
  RecursiveLock& operator=(const RecursiveLock&) = delete;

 private:
  RecursiveMutex& mu_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_RECURSIVE_MUTEX_H_
