#include "simulation/scheduler.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

#include "core/text/logging.h"
#include "core/text/source_file.h"
#include "core/text/strings.h"

namespace {

// The number of static variables that this thread is initialising.
constinit thread_local int static_initializers = 0;

// The function of the C++ runtime that the program's function of this name replaces.
template <typename Function>
Function* RuntimeFunction(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The compiler calls these around the initialisation of a static variable of a function. A thread that needs the
// variable meanwhile waits in the runtime, where the scheduler does not see it. So the initialising thread must not be
// interrupted.
namespace __cxxabiv1 {
extern "C" {
int __cxa_guard_acquire(__guard* guard) {
  const int runs = RuntimeFunction<int(__guard*)>("__cxa_guard_acquire")(guard);
  static_initializers += runs;
  return runs;
}
void __cxa_guard_release(__guard* guard) noexcept {
  RuntimeFunction<void(__guard*)>("__cxa_guard_release")(guard);
  --static_initializers;
}
void __cxa_guard_abort(__guard* guard) noexcept {
  RuntimeFunction<void(__guard*)>("__cxa_guard_abort")(guard);
  --static_initializers;
}
}
}  // namespace __cxxabiv1

namespace tensorbraid {
namespace {

constexpr auto kNever = MonotonicClock::time_point::max();

// The processor time that the calling thread has used.
std::chrono::nanoseconds ThreadCpuTime() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string Place(std::source_location where) { return StrCat(std::string(SourceFile(where)), ":", where.line()); }

// A thread's turn to run. std::binary_semaphore would yield the processor some times before it blocks, which only costs
// time here: no turn comes before another thread has run.
class Turn {
 public:
  Turn() { TB_CHECK(::sem_init(&semaphore_, /*pshared=*/0, /*value=*/0) == 0); }
  ~Turn() { ::sem_destroy(&semaphore_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  void Give() { TB_CHECK(::sem_post(&semaphore_) == 0); }
  void Await() {
    while (::sem_wait(&semaphore_) != 0) {  // interrupted by a signal
    }
  }

 private:
  sem_t semaphore_;
};

}  // namespace

// A simulated thread.
struct Scheduler::Actor {
  enum class State { kRunnable, kWaits, kWaitsInSystem, kSleeps, kLocks, kJoins, kJoinsAll, kEnded };

  Actor(const std::string& name, size_t number) : name(StrCat(name, "#", number)), number(number) {}

  const std::string name;  // "tb-pool#3"
  const size_t number;
  ProcessId process = kNoProcess;
  ProcessId cpu_of = kNoProcess;      // the process that this thread works for, if it is another one
  ProcessId counted_in = kNoProcess;  // the process whose threads include this one
  bool is_candidate = false;
  bool is_timed = false;  // in timed_
  State state = State::kRunnable;
  const void* on = nullptr;                      // the condition variable that it waits for
  const std::function<bool()>* ready = nullptr;  // what it waits for in the system
  const Actor* joined = nullptr;                 // the thread that it joins
  Actor* joined_by = nullptr;
  MonotonicClock::time_point deadline = kNever;  // of kWaits, kWaitsInSystem and kSleeps
  uint64_t failed_at = 0;                        // the progress when it last failed to take its lock
  std::source_location where;                    // of its last lock or wait
  Turn turn;
  std::thread thread;
};

class Scheduler::ActorHandle final : public Thread::Handle {
 public:
  ActorHandle(Scheduler& scheduler, Actor& actor) : scheduler_(scheduler), actor_(actor) {}
  void Join() override { scheduler_.Join(actor_); }
  void Detach() override {}  // Run joins it

 private:
  Scheduler& scheduler_;
  Actor& actor_;
};

Scheduler::Scheduler(uint64_t seed, const SchedulerOptions& options, Failed failed)
    : seed_(seed), options_(options), failed_(std::move(failed)), random_(seed) {
  // Seeds with frequent changes of the running thread find other errors than seeds with rare ones.
  constexpr std::array<uint64_t, 5> kOneIn = {0, 200, 30, 8, 3};
  preempt_one_in_ = options.interrupt_one_in.value_or(kOneIn[Random(kOneIn.size())]);
  constexpr std::array<uint64_t, 4> kPauseOneIn = {0, 30, 0, 5};
  pause_one_in_ = kPauseOneIn[seed % kPauseOneIn.size()];
}

Scheduler::~Scheduler() = default;

Scheduler::Actor& Scheduler::NewActor(const std::string& name) {
  actors_.push_back(std::make_unique<Actor>(name, actors_.size()));
  Actor& actor = *actors_.back();
  if (running_ != nullptr) actor.process = running_->process;
  actor.counted_in = actor.process;
  Use& use = use_[actor.process];
  use.most_threads = std::max(use.most_threads, ++use.threads);
  AddCandidate(actor);
  return actor;
}

void Scheduler::AddCandidate(Actor& actor) {
  if (std::exchange(actor.is_candidate, true)) return;
  const auto by_number = [](const Actor* a, const Actor* b) { return a->number < b->number; };
  candidates_.insert(std::lower_bound(candidates_.begin(), candidates_.end(), &actor, by_number), &actor);
}

void Scheduler::RemoveCandidate(Actor& actor) {
  if (!std::exchange(actor.is_candidate, false)) return;
  const auto by_number = [](const Actor* a, const Actor* b) { return a->number < b->number; };
  candidates_.erase(std::lower_bound(candidates_.begin(), candidates_.end(), &actor, by_number));
}

void Scheduler::Suspend(Actor& self) {
  using State = Actor::State;
  const bool timed = self.state == State::kWaits || self.state == State::kSleeps || self.state == State::kWaitsInSystem;
  if (timed && self.deadline != kNever) {
    self.is_timed = true;
    timed_.emplace(self.deadline, self.number);
  }
  if (self.state == State::kWaits) waiters_[self.on].push_back(&self);
  const bool may_run = self.state == State::kRunnable || self.state == State::kLocks ||
                       self.state == State::kWaitsInSystem ||
                       (self.state == State::kJoins && self.joined->state == State::kEnded) ||
                       (self.state == State::kJoinsAll && OthersHaveEnded());
  if (!may_run) RemoveCandidate(self);
}

void Scheduler::Resume(Actor& actor) {
  if (std::exchange(actor.is_timed, false)) timed_.erase({actor.deadline, actor.number});
  if (actor.state == Actor::State::kWaits) {
    const auto it = waiters_.find(actor.on);
    std::erase(it->second, &actor);
    if (it->second.empty()) waiters_.erase(it);
  }
  actor.state = Actor::State::kRunnable;
  AddCandidate(actor);
}

void Scheduler::OnEnd(Actor& self) {
  self.state = Actor::State::kEnded;
  ++ended_;
  --use_[self.counted_in].threads;
  RemoveCandidate(self);
  if (self.joined_by != nullptr) AddCandidate(*self.joined_by);
  if (OthersHaveEnded() && actors_.front()->state == Actor::State::kJoinsAll) AddCandidate(*actors_.front());
}

void Scheduler::CountCpu() {
  if (!options_.measure_cpu) return;
  const std::chrono::nanoseconds used = ThreadCpuTime();
  const ProcessId process = running_->cpu_of != kNoProcess ? running_->cpu_of : running_->process;
  use_[process].cpu += used - counted_;
  counted_ = used;
}

std::chrono::nanoseconds Scheduler::CpuTime(ProcessId process) {
  CountCpu();
  return use_[process].cpu;
}

Scheduler::CpuScope::CpuScope(Scheduler& scheduler, ProcessId process)
    : scheduler_(scheduler), before_(scheduler.running_->cpu_of) {
  scheduler.CountCpu();
  scheduler.running_->cpu_of = process;
}

Scheduler::CpuScope::~CpuScope() {
  scheduler_.CountCpu();
  scheduler_.running_->cpu_of = before_;
}

int Scheduler::MostThreads(ProcessId process) const {
  const auto it = use_.find(process);
  return it == use_.end() ? 0 : it->second.most_threads;
}

void Scheduler::Run(const std::function<void()>& body) {
  TB_CHECK(&Env::Default() == this && actors_.empty());
  Actor& self = NewActor("main");
  running_ = &self;
  counted_ = ThreadCpuTime();
  lock_scheduler = this;
  body();
  self.state = Actor::State::kJoinsAll;
  Suspend(self);
  Switch(self);
  lock_scheduler = nullptr;
  for (const auto& actor : actors_) {
    if (actor->thread.joinable()) actor->thread.join();
  }
}

std::unique_ptr<Thread::Handle> Scheduler::StartThread(const std::string& name, std::function<void()> body) {
  Actor& actor = NewActor(name);
  actor.thread = std::thread([this, &actor, body = std::move(body)]() mutable {
    pthread_setname_np(pthread_self(), actor.name.substr(0, 15).c_str());
    actor.turn.Await();
    counted_ = {};
    lock_scheduler = this;
    body();
    body = nullptr;  // destroyed while this thread is still simulated
    lock_scheduler = nullptr;
    CountCpu();
    OnEnd(actor);
    Next().turn.Give();
  });
  Preempt();
  return std::make_unique<ActorHandle>(*this, actor);
}

void Scheduler::Join(Actor& other) {
  Actor& self = *running_;
  self.state = Actor::State::kJoins;
  self.joined = &other;
  other.joined_by = &self;
  Suspend(self);
  Switch(self);
  other.thread.join();
}

MonotonicClock::time_point Scheduler::MonotonicNow() { return now_ += options_.tick; }

WallClock::time_point Scheduler::WallNow() {
  constexpr std::chrono::seconds kEpoch{1'800'000'000};
  const auto offset = wall_offsets_.find(current_process());
  const auto begin = offset == wall_offsets_.end() ? kEpoch : kEpoch + offset->second;
  return WallClock::time_point(begin + std::chrono::duration_cast<WallClock::duration>(MonotonicNow() - kStart));
}

ProcessId Scheduler::current_process() const { return running_->process; }

Scheduler::ProcessScope::ProcessScope(Scheduler& scheduler, ProcessId process)
    : scheduler_(scheduler), before_(std::exchange(scheduler.running_->process, process)) {}

Scheduler::ProcessScope::~ProcessScope() { scheduler_.running_->process = before_; }

bool Scheduler::IsHeld(const Actor& actor) const {
  if (actor.process == kNoProcess || !stopped_.contains(actor.process)) return false;
  // Real processes share no locks, but simulated processes share one network, one disk, one allocator of each kind, one
  // LoanWatcher (local_lane.cc), one log and one directory of tasks. A thread that took its last lock in one of these
  // files may hold a shared lock.
  constexpr std::array<std::string_view, 11> kShared = {
      "transport/sim/", "transport/inproc/",        "simulation/training.cc", "simulation/simulated_disk",
      "faulty_files.h", "core/memory/allocator.cc", "core/text/logging.cc",   "cluster/server/task",
      "test_cluster.h", "core/shared_mem",          "local/local_lane.cc"};
  const std::string_view file = actor.where.file_name();
  return std::none_of(kShared.begin(), kShared.end(),
                      [&](std::string_view shared) { return file.find(shared) != std::string_view::npos; });
}

void Scheduler::SleepUntil(MonotonicClock::time_point time) {
  Actor& self = *running_;
  self.state = Actor::State::kSleeps;
  self.deadline = time;
  Suspend(self);
  Switch(self);
}

void Scheduler::Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock,
                     MonotonicClock::time_point deadline, std::source_location where) {
  constexpr uint64_t kSpuriousOneIn = 100;  // a real condition variable may wake a thread without a notification, too
  Actor& self = *running_;
  self.state = Random(kSpuriousOneIn) == 0 ? Actor::State::kRunnable : Actor::State::kWaits;
  self.on = &cv;
  self.deadline = deadline;
  self.where = where;
  lock.unlock();
  Suspend(self);
  Switch(self);
  TakeLock([](void* mu) { return static_cast<std::mutex*>(mu)->try_lock(); }, lock.mutex(), where);
  lock = std::unique_lock(*lock.mutex(), std::adopt_lock);
}

void Scheduler::NotifyOne(std::condition_variable& cv) {
  if (const auto it = waiters_.find(&cv); it != waiters_.end()) {
    std::vector<Actor*>& waiting = it->second;
    std::ranges::sort(waiting, {}, [](const Actor* actor) { return actor->number; });
    Resume(*waiting[Random(waiting.size())]);
  }
  Preempt();
}

void Scheduler::NotifyAll(std::condition_variable& cv) {
  if (const auto it = waiters_.find(&cv); it != waiters_.end()) {
    for (Actor* const actor : std::vector<Actor*>(it->second)) Resume(*actor);
  }
  Preempt();
}

// All simulated processes are in this process, so `block` could wait for ever.
bool Scheduler::WaitInSystem(const std::function<bool()>& ready, const std::function<void()>& /*block*/,
                             MonotonicClock::time_point deadline, std::source_location where) {
  Actor& self = *running_;
  self.where = where;
  Preempt();
  if (ready()) return true;
  self.state = Actor::State::kWaitsInSystem;
  self.ready = &ready;
  self.deadline = deadline;
  Suspend(self);
  Switch(self);
  return ready();
}

void Scheduler::Lock(bool (*try_lock)(void*), void* lock, std::source_location where) {
  running_->where = where;
  Preempt();
  TakeLock(try_lock, lock, where);
}

void Scheduler::TakeLock(bool (*try_lock)(void*), void* lock, std::source_location where) {
  Actor& self = *running_;
  while (!try_lock(lock)) {
    self.state = Actor::State::kLocks;
    self.where = where;
    self.failed_at = progress_;
    Switch(self);
  }
  self.state = Actor::State::kRunnable;
  ++progress_;
}

void Scheduler::Preempt() {
  if (static_initializers > 0) return;
  if (preempt_one_in_ == 0 || Random(preempt_one_in_) != 0) return;
  if (pause_one_in_ != 0 && Random(pause_one_in_) == 0) {
    // Up to 4 ms, and short times are as likely as long ones.
    return SleepUntil(now_ + std::chrono::microseconds(Random(uint64_t{1} << Random(13))));
  }
  Switch(*running_, running_);
}

void Scheduler::Switch(Actor& self, const Actor* avoid) {
  CountCpu();
  Actor& next = Next(avoid);
  if (&next != &self) {
    next.turn.Give();
    self.turn.Await();
  }
  if (options_.measure_cpu) counted_ = ThreadCpuTime();
}

bool Scheduler::CanRun(const Actor& actor) const {
  if (IsHeld(actor)) return false;
  switch (actor.state) {
    case Actor::State::kRunnable:
      return true;
    case Actor::State::kWaits:
    case Actor::State::kSleeps:
      return actor.deadline <= now_;
    case Actor::State::kWaitsInSystem:
      return actor.deadline <= now_ || (*actor.ready)();
    case Actor::State::kLocks:
      return actor.failed_at < progress_;  // otherwise the lock is still held
    case Actor::State::kJoins:
      return actor.joined->state == Actor::State::kEnded;
    case Actor::State::kJoinsAll:
      return OthersHaveEnded();
    case Actor::State::kEnded:
      return false;
  }
  return false;
}

Scheduler::Actor& Scheduler::Next(const Actor* avoid) {
  now_ += options_.tick;
  std::vector<Actor*>& runnable = runnable_;
  runnable.clear();
  while (true) {
    while (!timed_.empty() && timed_.begin()->first <= now_) {
      Actor& due = *actors_[timed_.begin()->second];
      due.is_timed = false;
      timed_.erase(timed_.begin());
      AddCandidate(due);
    }
    std::ranges::copy_if(candidates_, std::back_inserter(runnable), [&](const Actor* actor) { return CanRun(*actor); });
    if (!runnable.empty()) break;
    const auto earliest =
        std::ranges::find_if(timed_, [&](const auto& timed) { return !IsHeld(*actors_[timed.second]); });
    if (earliest == timed_.end()) {
      failed_(Report("deadlock: no thread can run, and none waits for a time"));
      TB_CHECK(false);
    }
    now_ = earliest->first;
  }
  if (elapsed() > options_.time_limit) {
    failed_(Report(StrCat("the simulation has not ended after ", options_.time_limit.count(), " s")));
    TB_CHECK(false);
  }
  if (runnable.size() > 1) std::erase(runnable, avoid);
  Actor& next = *runnable[Random(runnable.size())];
  hash_ = (hash_ ^ (next.number + static_cast<uint64_t>(now_.time_since_epoch().count()))) * 0x9E3779B97F4A7C15u;
  hash_ ^= hash_ >> 32;
  ++switches_;
  if (options_.trace) {
    std::fprintf(stderr, "%12.6f %s %s\n", std::chrono::duration<double>(elapsed()).count(), next.name.c_str(),
                 Place(next.where).c_str());
  }
  if (next.state != Actor::State::kLocks) {
    Resume(next);
    ++progress_;
  }
  running_ = &next;
  return next;
}

void Scheduler::Fail(const std::string& problem) {
  failed_(Report(problem));
  TB_CHECK(false);
  std::abort();
}

std::string Scheduler::Report(const std::string& problem) const {
  std::string report = StrCat(problem, " (seed ", seed_, ", ", std::chrono::duration<double>(elapsed()).count(), " s, ",
                              switches_, " switches)");
  for (const auto& actor : actors_) {
    std::string does = actor->process == kNoProcess ? "" : StrCat("(process ", actor->process, ") ");
    if (IsHeld(*actor)) does += "(stopped) ";
    switch (actor->state) {
      case Actor::State::kEnded:
        continue;
      case Actor::State::kRunnable:
        does += StrCat("can run; last seen at ", Place(actor->where));
        break;
      case Actor::State::kWaits:
        does += StrCat("waits for a notification at ", Place(actor->where), " in ", actor->where.function_name());
        if (actor->deadline != kNever) does += ", with a deadline";
        break;
      case Actor::State::kWaitsInSystem:
        does += StrCat("waits in the system at ", Place(actor->where), " in ", actor->where.function_name());
        if (actor->deadline != kNever) does += ", with a deadline";
        break;
      case Actor::State::kSleeps:
        does += "sleeps";
        break;
      case Actor::State::kLocks:
        does += StrCat("waits for a lock at ", Place(actor->where), " in ", actor->where.function_name());
        break;
      case Actor::State::kJoins:
        does += StrCat("joins ", actor->joined->name);
        break;
      case Actor::State::kJoinsAll:
        does += "has ended, and joins the threads that it has left";
        break;
    }
    report += StrCat("\n  ", actor->name, ": ", does);
  }
  return report;
}

}  // namespace tensorbraid
