// std::mutex with thread-safety annotations that Clang checks (-Wthread-safety). absl::Mutex is not used because
// ThreadSanitizer cannot see into Debian's build of it.
#ifndef TENSORBRAID_CORE_THREADS_MUTEX_H_
#define TENSORBRAID_CORE_THREADS_MUTEX_H_

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <source_location>

#include "core/system/clock.h"

#if defined(__clang__)
#define TB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TB_THREAD_ANNOTATION(x)
#endif
#define TB_GUARDED_BY(x) TB_THREAD_ANNOTATION(guarded_by(x))
#define TB_REQUIRES(...) TB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define TB_REQUIRES_SHARED(...) TB_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define TB_EXCLUDES(...) TB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define TB_NO_THREAD_SAFETY_ANALYSIS TB_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace tensorbraid {

// Takes locks for the threads of a simulation, in which only one thread runs at a time (tests/simulation/).
class LockScheduler {
 public:
  // Calls `try_lock(lock)` until it returns true. Other threads may run in between. `where` is the caller's line.
  virtual void Lock(bool (*try_lock)(void*), void* lock, std::source_location where) = 0;

 protected:
  ~LockScheduler() = default;
};
// Set on the threads of a simulation only. On other threads it is null, and they wait for locks in the usual way.
extern constinit thread_local LockScheduler* lock_scheduler __attribute__((tls_model("initial-exec")));

// All functions that may block take the caller's line, which a simulation reports.

class TB_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void Lock(std::source_location where = std::source_location::current()) TB_THREAD_ANNOTATION(acquire_capability()) {
    if (lock_scheduler == nullptr) [[likely]] {
      mu_.lock();
    } else {
      lock_scheduler->Lock([](void* mu) { return static_cast<std::mutex*>(mu)->try_lock(); }, &mu_, where);
    }
  }
  // Returns false at once if another thread holds the mutex.
  bool TryLock() TB_THREAD_ANNOTATION(try_acquire_capability(true)) { return mu_.try_lock(); }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu, std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_capability(mu))
      : mu_(mu) {
    mu_.Lock(where);
  }
  ~MutexLock() TB_THREAD_ANNOTATION(release_capability()) { mu_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// A lock for many readers or one writer. A waiting writer goes ahead of later readers, so a thread that holds the lock
// as a reader must not lock it again: it would deadlock with a waiting writer.
class TB_THREAD_ANNOTATION(capability("mutex")) SharedMutex {
 public:
  SharedMutex() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~SharedMutex() { pthread_rwlock_destroy(&lock_); }
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  void Lock(std::source_location where = std::source_location::current()) TB_THREAD_ANNOTATION(acquire_capability()) {
    if (lock_scheduler == nullptr) [[likely]] {
      pthread_rwlock_wrlock(&lock_);
    } else {
      const auto try_lock = [](void* lock) {
        return pthread_rwlock_trywrlock(static_cast<pthread_rwlock_t*>(lock)) == 0;
      };
      lock_scheduler->Lock(try_lock, &lock_, where);
    }
  }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) { pthread_rwlock_unlock(&lock_); }
  void LockShared(std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_shared_capability()) {
    if (lock_scheduler == nullptr) [[likely]] {
      pthread_rwlock_rdlock(&lock_);
    } else {
      const auto try_lock = [](void* lock) {
        return pthread_rwlock_tryrdlock(static_cast<pthread_rwlock_t*>(lock)) == 0;
      };
      lock_scheduler->Lock(try_lock, &lock_, where);
    }
  }
  void UnlockShared() TB_THREAD_ANNOTATION(release_shared_capability()) { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mu, std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_capability(mu))
      : mu_(mu) {
    mu_.Lock(where);
  }
  ~WriterLock() TB_THREAD_ANNOTATION(release_capability()) { mu_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mu_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mu, std::source_location where = std::source_location::current())
      TB_THREAD_ANNOTATION(acquire_shared_capability(mu))
      : mu_(mu) {
    mu_.LockShared(where);
  }
  ~ReaderLock() TB_THREAD_ANNOTATION(release_generic_capability()) { mu_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mu_;
};

class CondVar {
 public:
  // All waits release `mu` while they wait, and hold it again when they evaluate `pred` and on return. The analysis
  // does not see that `mu` is held when the lambda `pred`, which requires it, is called.
  template <typename Pred>
  void Wait(Mutex& mu, Pred pred, std::source_location where = std::source_location::current())
      TB_REQUIRES(mu) TB_NO_THREAD_SAFETY_ANALYSIS {
    WaitUntil(mu, MonotonicClock::time_point::max(), pred, where);
  }
  // Returns false if `deadline` passes and `pred` still does not hold.
  template <typename Pred>
  bool WaitUntil(Mutex& mu, MonotonicClock::time_point deadline, Pred pred,
                 std::source_location where = std::source_location::current())
      TB_REQUIRES(mu) TB_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    bool holds = pred();
    while (!holds) {
      WaitOnce(lock, deadline, where);
      holds = pred();
      if (!holds && deadline != MonotonicClock::time_point::max() && MonotonicClock::now() >= deadline) break;
    }
    lock.release();
    return holds;
  }
  template <typename Pred>
  bool WaitFor(Mutex& mu, MonotonicClock::duration timeout, Pred pred,
               std::source_location where = std::source_location::current())
      TB_REQUIRES(mu) TB_NO_THREAD_SAFETY_ANALYSIS {
    return WaitUntil(mu, MonotonicClock::now() + timeout, pred, where);
  }
  void NotifyOne();
  void NotifyAll();

 private:
  // Blocks until notified or until `deadline` passes. May return earlier for no reason.
  void WaitOnce(std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline, std::source_location where);

  std::condition_variable cv_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_MUTEX_H_
