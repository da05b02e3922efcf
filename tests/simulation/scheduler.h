// A scheduler that runs one thread at a time, in an order that a seed decides, under a virtual clock.
#ifndef TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_
#define TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <source_location>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/system/env_testutil.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

struct SchedulerOptions {
  // A simulation that needs more virtual time than this has failed. The limit is needed because periodic timers run on
  // even if everything else waits for ever.
  std::chrono::seconds time_limit{600};
  // Writes a line to standard error for each change of the running thread.
  bool trace = false;
  // A thread that could go on is interrupted at one in so many points; 0: never. Without a value the seed decides.
  std::optional<uint64_t> interrupt_one_in = std::nullopt;
  // Reading the clock and changing threads take this virtual time, so that a loop that polls the clock ends. If many
  // tasks share the simulation's one processor, less is closer to tasks that have one each.
  std::chrono::nanoseconds tick{1000};
  // With one core, no thread polls for a message for some time before it sleeps.
  int num_cores = 2;
  // Measures the processor time of each process (Scheduler::CpuTime).
  bool measure_cpu = false;
};

// A simulated process: its number. Threads belong to the process of the thread that has started them.
using ProcessId = int;
constexpr ProcessId kNoProcess = 0;  // the simulation itself, which is never stopped

// The environment of a simulation. Each simulated thread is a thread of the system, but only one of them runs at any
// time. Another one may run when the running thread
//
// - waits for a condition variable, for a lock that is held or for the system, sleeps, joins a thread or ends;
// - takes a free lock, notifies a condition variable or starts a thread: sometimes, as the seed decides. In half of the
//   seeds, such a thread sometimes does not run for up to some milliseconds, like a thread for which a machine has no
//   free core. Messages then arrive, and links break, between any two of its lines.
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

  // Ends the simulation, which has failed because of `problem`, and reports what all threads do.
  [[noreturn]] void Fail(const std::string& problem);

  // A hash of all changes of the running thread, with their times. Equal for two runs only if their order was equal.
  uint64_t hash() const { return hash_; }
  uint64_t switches() const { return switches_; }
  std::chrono::nanoseconds elapsed() const { return now_ - kStart; }
  // A random number below `n`, from the seed. For the program's own decisions.
  uint64_t Random(uint64_t n) { return n == 0 ? 0 : random_() % n; }

  // Processes. A thread of a stopped process does not run until the process is woken, except for the short time in
  // which it may hold a lock that it shares with other processes. Deadlines pass meanwhile, as for a process after
  // SIGSTOP.
  ProcessId NewProcess() { return ++last_process_; }
  ProcessId current_process() const;
  void StopProcess(ProcessId process) { stopped_.insert(process); }
  void WakeProcess(ProcessId process) { stopped_.erase(process); }
  // Moves the wall clock of a process.
  void JumpWallClock(ProcessId process, std::chrono::seconds by) { wall_offsets_[process] += by; }

  // While an object of this class exists, the running thread, and threads that it starts, belong to `process`.
  class ProcessScope {
   public:
    ProcessScope(Scheduler& scheduler, ProcessId process);
    ~ProcessScope();
    ProcessScope(const ProcessScope&) = delete;
    ProcessScope& operator=(const ProcessScope&) = delete;

   private:
    Scheduler& scheduler_;
    const ProcessId before_;
  };

  // The processor time that the threads of a process have used. Includes none of the scheduler's own work, except for
  // the lock and unlock of uncontended mutexes. REQUIRES: SchedulerOptions::measure_cpu.
  std::chrono::nanoseconds CpuTime(ProcessId process);
  // While an object of this class exists, the running thread's processor time counts as that of `process`.
  class CpuScope {
   public:
    CpuScope(Scheduler& scheduler, ProcessId process);
    ~CpuScope();
    CpuScope(const CpuScope&) = delete;
    CpuScope& operator=(const CpuScope&) = delete;

   private:
    Scheduler& scheduler_;
    const ProcessId before_;
  };
  // The most threads that the process has had at one time.
  int MostThreads(ProcessId process) const;

  // Sets the files that the simulation uses. `files` must outlive their use. By default they are the system's files.
  void set_files(Env* files) { files_ = files; }

  MonotonicClock::time_point MonotonicNow() override;
  WallClock::time_point WallNow() override;
  void SleepUntil(MonotonicClock::time_point time) override;
  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location where) override;
  void NotifyOne(std::condition_variable& cv) override;
  void NotifyAll(std::condition_variable& cv) override;
  bool WaitInSystem(const std::function<bool()>& ready, const std::function<void()>& block,
                    MonotonicClock::time_point deadline, std::source_location where) override;
  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override;
  int NumCores() override { return options_.num_cores; }
  uint64_t RandomSeed() override { return random_(); }
  StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) override {
    return files_->OpenSequential(path);
  }
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) override {
    return files_->OpenRandomAccess(path);
  }
  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) override {
    return files_->OpenWritable(path, mode);
  }
  Status RenameFile(const std::string& from, const std::string& to) override { return files_->RenameFile(from, to); }
  Status RemoveFile(const std::string& path) override { return files_->RemoveFile(path); }
  StatusOr<FileInfo> Stat(const std::string& path) override { return files_->Stat(path); }
  Status MakeDirectory(const std::string& path) override { return files_->MakeDirectory(path); }
  Status RemoveDirectory(const std::string& path) override { return files_->RemoveDirectory(path); }
  Status SyncDirectory(const std::string& path) override { return files_->SyncDirectory(path); }
  StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) override {
    return files_->MatchingPaths(pattern);
  }

 private:
  struct Actor;
  class ActorHandle;
  static constexpr MonotonicClock::time_point kStart{std::chrono::hours(1)};

  void Lock(bool (*try_lock)(void*), void* lock, std::source_location where) override;
  void TakeLock(bool (*try_lock)(void*), void* lock, std::source_location where);
  void Join(Actor& other);
  Actor& NewActor(const std::string& name);
  // The running thread begins to wait, or ends.
  void Suspend(Actor& self);
  // Ends a thread's wait.
  void Resume(Actor& actor);
  void OnEnd(Actor& self);
  void AddCandidate(Actor& actor);
  void RemoveCandidate(Actor& actor);
  // Counts the processor time that the running thread has used since the last call.
  void CountCpu();
  // Sometimes lets another thread run, and sometimes lets the running thread pause for up to some milliseconds.
  void Preempt();
  // Lets the next thread run, and returns when `self` runs again.
  void Switch(Actor& self, const Actor* avoid = nullptr);
  // Chooses the thread that runs next, and moves the clock if necessary. Chooses `avoid` only if no other can run.
  Actor& Next(const Actor* avoid = nullptr);
  bool CanRun(const Actor& actor) const;
  // Whether the thread belongs to a stopped process and can be held.
  bool IsHeld(const Actor& actor) const;
  bool OthersHaveEnded() const { return ended_ + 1 == actors_.size(); }
  std::string Report(const std::string& problem) const;

  const uint64_t seed_;
  const SchedulerOptions options_;
  const Failed failed_;
  // The members from here on are used by the running thread only. The hand-over to the next thread orders the accesses.
  std::mt19937_64 random_;
  uint64_t preempt_one_in_;  // a thread that could go on is interrupted at one in so many points; 0: never
  uint64_t pause_one_in_;    // one in so many interruptions takes time; 0: none
  MonotonicClock::time_point now_ = kStart;
  uint64_t hash_ = 0;
  uint64_t switches_ = 0;
  uint64_t progress_ = 1;  // grows whenever a thread has done anything but fail to take a lock
  std::vector<std::unique_ptr<Actor>> actors_;
  size_t ended_ = 0;  // of actors_
  // So that a change of the running thread takes the same time however many threads wait: the threads that may be able
  // to run, in the order of their numbers; those that wait for a time that has not come; and those that wait for a
  // notification, by condition variable.
  std::vector<Actor*> candidates_;
  std::set<std::pair<MonotonicClock::time_point, size_t>> timed_;
  std::unordered_map<const void*, std::vector<Actor*>> waiters_;
  std::vector<Actor*> runnable_;  // used by Next only
  Actor* running_ = nullptr;
  ProcessId last_process_ = kNoProcess;
  std::set<ProcessId> stopped_;
  std::map<ProcessId, std::chrono::seconds> wall_offsets_;
  struct Use {
    std::chrono::nanoseconds cpu{};
    int threads = 0, most_threads = 0;
  };
  std::unordered_map<ProcessId, Use> use_;
  std::chrono::nanoseconds counted_{};  // the processor time of the running thread that use_ contains
  Env* files_ = &System();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_SCHEDULER_H_
