// A scheduler that runs one thread at a time, in an order that a seed decides, under a virtual clock.
#ifndef TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_
#define TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "core/env_testutil.h"
#include "core/mutex.h"

namespace tensorbraid {

struct SchedulerOptions {
  // A simulation that needs more virtual time than this has failed: periodic timers hide that everything else waits.
  std::chrono::seconds time_limit{600};
  // Writes a line to standard error for each change of the running thread.
  bool trace = false;
};

// The environment of a simulation. Each simulated thread is a thread of the system, but only one of them runs at any
// time. Another one may run when the running thread
//
// - waits for a condition variable or for a lock that is held, sleeps, joins a thread or ends;
// - takes a free lock, notifies a condition variable or starts a thread: sometimes, as the seed decides.
//
// The seed chooses among the threads that can run. When none can, the clock moves to the earliest deadline. Code that
// takes no lock is never interrupted, so a data race is not found here but by ThreadSanitizer.
//
// The run is a function of the seed as long as the program does not depend on addresses or on real time.
class Scheduler final : public ForwardingEnv, private LockScheduler {
 public:
  // Called when no thread can ever run again, or at the time limit. `report` names each thread and what it waits for.
  // Must not return: the threads cannot be unwound.
  using Failed = std::function<void(const std::string& report)>;

  Scheduler(uint64_t seed, const SchedulerOptions& options, Failed failed);
  ~Scheduler() override;

  // Runs `body` on the calling thread, as the simulated thread "main", and waits for all threads that it has started.
  // REQUIRES: this is the default environment. Call once.
  void Run(const std::function<void()>& body);

  // A hash of all changes of the running thread, with their times. Equal for two runs only if their order was equal.
  uint64_t hash() const { return hash_; }
  uint64_t switches() const { return switches_; }
  std::chrono::nanoseconds elapsed() const { return now_ - kStart; }
  // A random number below `n`, from the seed. For the program's own decisions.
  uint64_t Random(uint64_t n) { return n == 0 ? 0 : random_() % n; }

  MonotonicClock::time_point MonotonicNow() override;
  WallClock::time_point WallNow() override;
  void SleepUntil(MonotonicClock::time_point time) override;
  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location where) override;
  void NotifyOne(std::condition_variable& cv) override;
  void NotifyAll(std::condition_variable& cv) override;
  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override;
  int NumCores() override { return 2; }
  uint64_t RandomSeed() override { return random_(); }

 private:
  struct Actor;
  class ActorHandle;
  static constexpr MonotonicClock::time_point kStart{std::chrono::hours(1)};

  void Lock(bool (*try_lock)(void*), void* lock, std::source_location where) override;
  void TakeLock(bool (*try_lock)(void*), void* lock, std::source_location where);
  void Join(Actor& other);
  Actor& NewActor(const std::string& name);
  // Lets another thread run, sometimes.
  void Preempt();
  // Lets the next thread run, and returns when `self` runs again.
  void Switch(Actor& self, const Actor* avoid = nullptr);
  // Chooses the thread that runs next, and moves the clock if necessary. Chooses `avoid` only if no other can run.
  Actor& Next(const Actor* avoid = nullptr);
  bool CanRun(const Actor& actor) const;
  bool OthersHaveEnded(const Actor& actor) const;
  std::string Report(const std::string& problem) const;

  const uint64_t seed_;
  const SchedulerOptions options_;
  const Failed failed_;
  // Used by the running thread only. Handing over orders the accesses.
  std::mt19937_64 random_;
  uint64_t preempt_one_in_;  // a thread that could go on is interrupted at one in so many points; 0: never
  MonotonicClock::time_point now_ = kStart;
  uint64_t hash_ = 0;
  uint64_t switches_ = 0;
  uint64_t progress_ = 1;  // grows whenever a thread has done something else than failing to take a lock
  std::vector<std::unique_ptr<Actor>> actors_;
  Actor* running_ = nullptr;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_
