// std::mutex with thread-safety annotations that Clang checks (-Wthread-safety). Not absl::Mutex: Debian's build of it
// is opaque to ThreadSanitizer.
#ifndef TENSORBRAID_CORE_MUTEX_H_
#define TENSORBRAID_CORE_MUTEX_H_

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TB_THREAD_ANNOTATION(x)
#endif
#define TB_GUARDED_BY(x) TB_THREAD_ANNOTATION(guarded_by(x))
#define TB_REQUIRES(...) TB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define TB_EXCLUDES(...) TB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace tensorbraid {

class TB_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void Lock() TB_THREAD_ANNOTATION(acquire_capability()) { mu_.lock(); }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu) TB_THREAD_ANNOTATION(acquire_capability(mu)) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() TB_THREAD_ANNOTATION(release_capability()) { mu_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// Many readers or one writer. A writer that waits goes before later readers; a reader must not lock it again.
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
  void Lock() TB_THREAD_ANNOTATION(acquire_capability()) { pthread_rwlock_wrlock(&lock_); }
  void Unlock() TB_THREAD_ANNOTATION(release_capability()) { pthread_rwlock_unlock(&lock_); }
  void LockShared() TB_THREAD_ANNOTATION(acquire_shared_capability()) { pthread_rwlock_rdlock(&lock_); }
  void UnlockShared() TB_THREAD_ANNOTATION(release_shared_capability()) { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mu) TB_THREAD_ANNOTATION(acquire_capability(mu)) : mu_(mu) { mu_.Lock(); }
  ~WriterLock() TB_THREAD_ANNOTATION(release_capability()) { mu_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mu_;
};

class TB_THREAD_ANNOTATION(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mu) TB_THREAD_ANNOTATION(acquire_shared_capability(mu)) : mu_(mu) {
    mu_.LockShared();
  }
  ~ReaderLock() TB_THREAD_ANNOTATION(release_generic_capability()) { mu_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mu_;
};

class CondVar {
 public:
  // REQUIRES (all waits): `mu` held; it is released while waiting and held again on return.
  template <typename Pred>
  void Wait(Mutex& mu, Pred pred) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    cv_.wait(lock, pred);
    lock.release();
  }
  // False when the time passed and `pred` still does not hold.
  template <typename Pred>
  bool WaitUntil(Mutex& mu, std::chrono::steady_clock::time_point deadline, Pred pred) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    const bool held = cv_.wait_until(lock, deadline, pred);
    lock.release();
    return held;
  }
  template <typename Pred>
  bool WaitFor(Mutex& mu, std::chrono::steady_clock::duration timeout, Pred pred) {
    return WaitUntil(mu, std::chrono::steady_clock::now() + timeout, pred);
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MUTEX_H_
