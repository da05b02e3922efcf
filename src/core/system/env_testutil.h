// Environments for tests: one whose clock the test moves, and a base for environments whose files fail.
#ifndef TENSORBRAID_CORE_SYSTEM_ENV_TESTUTIL_H_
#define TENSORBRAID_CORE_SYSTEM_ENV_TESTUTIL_H_

#include <list>
#include <string>
#include <thread>
#include <utility>

#include "core/system/env.h"

namespace tensorbraid {

// Passes everything to the operating system. Tests override what they need.
class ForwardingEnv : public Env {
 public:
  MonotonicClock::time_point MonotonicNow() override { return System().MonotonicNow(); }
  WallClock::time_point WallNow() override { return System().WallNow(); }
  void SleepUntil(MonotonicClock::time_point time) override { System().SleepUntil(time); }
  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location where) override {
    System().Wait(cv, lock, deadline, where);
  }
  void NotifyOne(std::condition_variable& cv) override { System().NotifyOne(cv); }
  void NotifyAll(std::condition_variable& cv) override { System().NotifyAll(cv); }
  bool WaitInSystem(const std::function<bool()>& ready, const std::function<void()>& block,
                    MonotonicClock::time_point deadline, std::source_location where) override {
    return System().WaitInSystem(ready, block, deadline, where);
  }
  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override {
    return System().StartThread(name, std::move(body));
  }
  int NumCores() override { return System().NumCores(); }
  uint64_t RandomSeed() override { return System().RandomSeed(); }
  StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) override {
    return System().OpenSequential(path);
  }
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) override {
    return System().OpenRandomAccess(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) override {
    return System().OpenWritable(path, mode);
  }
  Status RenameFile(const std::string& from, const std::string& to) override { return System().RenameFile(from, to); }
  Status RemoveFile(const std::string& path) override { return System().RemoveFile(path); }
  StatusOr<FileInfo> Stat(const std::string& path) override { return System().Stat(path); }
  Status MakeDirectory(const std::string& path) override { return System().MakeDirectory(path); }
  Status RemoveDirectory(const std::string& path) override { return System().RemoveDirectory(path); }
  Status SyncDirectory(const std::string& path) override { return System().SyncDirectory(path); }
  StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) override {
    return System().MatchingPaths(pattern);
  }
  StatusOr<std::string> AbsolutePath(const std::string& path) override { return System().AbsolutePath(path); }
};

// Installs an environment for its lifetime.
class ScopedEnv {
 public:
  explicit ScopedEnv(Env* env) : before_(Env::SetDefault(env)) {}
  ~ScopedEnv() { Env::SetDefault(before_); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  Env* const before_;
};

// An environment whose clocks stand still until the test advances them. Threads that wait for a deadline wait for these
// clocks, so no real time passes.
class ManualClockEnv : public ForwardingEnv {
 public:
  MonotonicClock::time_point MonotonicNow() override {
    std::lock_guard lock(mu_);
    return now_;
  }
  WallClock::time_point WallNow() override {
    std::lock_guard lock(mu_);
    return WallClock::time_point(std::chrono::duration_cast<WallClock::duration>(now_.time_since_epoch()));
  }
  void SleepUntil(MonotonicClock::time_point time) override {
    std::mutex mu;
    std::condition_variable never;
    std::unique_lock lock(mu);
    while (MonotonicNow() < time) Wait(never, lock, time, std::source_location::current());
  }
  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location /*where*/) override {
    std::list<Waiter>::iterator self;
    {
      std::lock_guard own(mu_);
      if (deadline <= now_) return;
      self = waiters_.insert(waiters_.end(), {&cv, lock.mutex(), deadline});
      blocked_.notify_all();
    }
    cv.wait(lock);
    std::lock_guard own(mu_);
    waiters_.erase(self);
  }

  // Moves the clocks, and wakes the threads whose deadlines have passed.
  void Advance(MonotonicClock::duration time) {
    std::unique_lock lock(mu_);
    now_ += time;
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      if (waiter->deadline > now_) {
        ++waiter;
      } else if (waiter->mu->try_lock()) {  // its lock is free, so the thread already waits
        waiter->cv->notify_all();
        waiter->mu->unlock();
        ++waiter;
      } else {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
        waiter = waiters_.begin();
      }
    }
  }
  // Blocks until a thread waits for this time.
  void WaitForWaiter(MonotonicClock::time_point deadline) {
    std::unique_lock lock(mu_);
    blocked_.wait(lock, [&] {
      for (const Waiter& w : waiters_) {
        if (w.deadline == deadline) return true;
      }
      return false;
    });
  }

 private:
  struct Waiter {
    std::condition_variable* cv;
    std::mutex* mu;
    MonotonicClock::time_point deadline;
  };

  std::mutex mu_;
  std::condition_variable blocked_;
  MonotonicClock::time_point now_{std::chrono::hours(1)};
  std::list<Waiter> waiters_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_ENV_TESTUTIL_H_
