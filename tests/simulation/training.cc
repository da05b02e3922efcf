#include "simulation/training.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "cluster/membership/join.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "simulation/replica.h"
#include "simulation/simulated_disk.h"
#include "tensorbraid/tensorbraid.h"
#include "transport/local/local_kind.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

std::string NameOf(const FaultyTask& task) { return StrCat(task.job, "/", task.index); }

// The step in the name of the latest checkpoint, or -1.
int64_t LatestCheckpointStep() {
  const auto latest = LatestCheckpoint(kCheckpoints);
  int64_t step = -1;
  return latest.ok() && absl::SimpleAtoi(latest->substr(latest->rfind('-') + 1), &step) ? step : -1;
}

// A lock whose waiters wait for a notification. The scheduler lets a thread that waits for a Mutex try again whenever
// another thread has run. That takes long if hundreds of workers end while one of them holds the lock, so this lock is
// used there. Thread-safe.
class ClusterChanges {
 public:
  void Begin() {
    MutexLock lock(mu_);
    none_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !changing_; });
    changing_ = true;
  }
  void End() {
    MutexLock lock(mu_);
    changing_ = false;
    none_.NotifyOne();
  }

 private:
  Mutex mu_;
  CondVar none_;
  bool changing_ TB_GUARDED_BY(mu_) = false;
};
class ChangeScope {
 public:
  explicit ChangeScope(ClusterChanges& changes) : changes_(changes) { changes_.Begin(); }
  ~ChangeScope() { changes_.End(); }
  ChangeScope(const ChangeScope&) = delete;
  ChangeScope& operator=(const ChangeScope&) = delete;

 private:
  ClusterChanges& changes_;
};

// A training run in progress, with its cluster, faults and clients.
class Training {
 public:
  Training(Scheduler& scheduler, const TrainingOptions& options)
      : scheduler_(scheduler),
        options_(options),
        disk_(scheduler),
        cluster_(TestCluster::NotStarted{}, options.num_ps, options.num_workers,
                 {.inter_op_threads = 2,
                  .membership = {.heartbeat_interval = options.heartbeat_interval,
                                 .heartbeat_timeout = 10 * options.heartbeat_interval,
                                 // Longer than any fault, because the end of training does not wait for a lost task.
                                 .lost_after = milliseconds(60'000)}},
                 options.network != Network::kInproc
                     ? std::make_unique<SimNetwork>(
                           static_cast<uint32_t>(scheduler.Random(uint64_t{1} << 32)),
                           SimOptions{.follow_clock = true,
                                      .before_delivery = [this](const std::string& to) { return CpuScopeOf(to); }})
                     : nullptr),
        runs_(static_cast<size_t>(options.num_workers)) {
    if (options.network == Network::kLocal) {
      // With these small sizes (see LocalLaneOptions), rings are often full, and nearly all tensors are lent.
      cluster_.ShareMemory({.ring_bytes = 1024, .inline_bytes = 4}, {.stay_awake = {}});
    }
    scheduler.set_files(&disk_);
  }
  ~Training() { scheduler_.set_files(&Env::System()); }

  StatusOr<Trained> Run() {
    for (int i = 0; i < options_.num_ps; ++i) Start({"ps", i});
    for (int i = 0; i < options_.num_workers; ++i) Start({"worker", i});
    std::vector<Thread> threads;
    for (size_t i = 0; i < options_.faults.size(); ++i) {
      threads.emplace_back(StrCat("fault ", i), [this, i] { Cause(options_.faults[i]); });
    }
    for (int i = 0; i < options_.clients; ++i) {
      threads.emplace_back(StrCat("client ", i), [this] { UseSessions(); });
    }
    {
      MutexLock lock(mu_);
      changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return AllWorkersEnded(); });
    }
    for (Thread& thread : threads) thread.Join();
    if (options_.may_lose_ps && ps_kills_ > 0) {
      StopAll();
      return Trained{.weights = ""};
    }
    auto result = Result();
    if (!result.ok()) scheduler_.Fail(ToString(result.status()));
    if (const Status leaks = CheckNothingLeaks(); !leaks.ok()) scheduler_.Fail(ToString(leaks));
    StopAll();
    return result;
  }

 private:
  // A process that runs a task, until it ends or is killed.
  struct Process {
    FaultyTask task;
    ProcessId id = kNoProcess;
    std::shared_ptr<Task> running;
    Thread thread;
    bool killed = false;
    bool stopped = false;
    bool ended = false;  // its thread has done its work
  };

  void Start(const FaultyTask& task) {
    auto process = std::make_unique<Process>();
    Process* const self = process.get();
    self->task = task;
    self->id = scheduler_.NewProcess();
    process_at_[AddressOf(task)] = self->id;
    {
      const ChangeScope changing(cluster_changes_);
      {
        const Scheduler::ProcessScope scope(scheduler_, self->id);
        self->running = cluster_.Start(task.job, task.index);
      }
      MutexLock state(mu_);
      if (task.job == "ps") acknowledged_at_ps_start_ = Acknowledged();
      current_[task] = self;
      processes_.push_back(std::move(process));
    }
    const Scheduler::ProcessScope scope(scheduler_, self->id);
    // A kill resets `running` while the thread still uses the task, so the thread holds the task, too.
    self->thread = Thread(NameOf(task), [this, self, held = self->running]() mutable {
      const Status status = self->task.job == "ps" ? JoinCluster(&held->membership()) : Work(self->task.index);
      held = nullptr;
      Ended(*self, status);
    });
  }

  Status Work(int index) {
    Replica replica(cluster_, index, options_);
    const bool knows_saves = index == 0 && std::ranges::any_of(options_.faults, [](const Fault& fault) {
                               return fault.kind == Fault::Kind::kPowerLoss;
                             });
    int64_t latest_at_start = -1;  // a loss of power may still remove this checkpoint
    const auto ready = [&] {
      if (knows_saves) latest_at_start = LatestCheckpointStep();
      OnReady();
    };
    const auto reached = [&](int64_t step) {
      OnStep(step);
      // Only this chief saves, and its saves have returned.
      const int64_t latest = knows_saves ? LatestCheckpointStep() : -1;
      if (latest <= latest_at_start) return;
      MutexLock lock(mu_);
      saved_ = std::max(saved_, latest);
    };
    return replica.Train(
        runs_[static_cast<size_t>(index)], ready, [this] { OnWarm(); }, reached);
  }

  // The process has done its work. A worker's process ends; a parameter server serves until its values have been read.
  void Ended(Process& process, const Status& status) {
    bool killed;
    {
      MutexLock lock(mu_);
      killed = process.killed;
      TB_LOG(Info, "simulation") << NameOf(process.task) << " (process " << process.id << ") has ended"
                                 << (killed ? ", killed: " : ": ") << ToString(status);
    }
    if (!killed) CheckEnd(process, status);
    if (!killed && process.task.job == "worker") {
      const ChangeScope changing(cluster_changes_);
      {
        MutexLock state(mu_);
        killed = process.killed;
        if (!killed) current_.erase(process.task);
      }
      if (!killed) {
        process.running = nullptr;
        cluster_.Stop(process.task.job, process.task.index, status);
      }
    }
    MutexLock lock(mu_);
    process.ended = true;
    changed_.NotifyAll();
  }

  void CheckEnd(const Process& process, const Status& status) {
    MutexLock lock(mu_);
    if (process.task.job == "ps") {
      if (!WorkIsDone() && !stopping_) {
        scheduler_.Fail(StrCat(NameOf(process.task), " has ended by itself: ", ToString(status)));
      }
      return;
    }
    if (status.ok()) {
      ++ended_well_[process.task];
      return;
    }
    if (options_.may_lose_ps && ps_kills_ > 0 && (absl::IsUnavailable(status) || absl::IsAborted(status)) &&
        std::string(status.message()).find(killed_ps_) != std::string::npos) {
      ++ended_well_[process.task];  // the error names the cause
      return;
    }
    scheduler_.Fail(StrCat(NameOf(process.task), " has failed: ", ToString(status)));
  }

  bool WorkIsDone() TB_REQUIRES(mu_) { return ended_well_.size() == static_cast<size_t>(options_.num_workers); }
  bool AllWorkersEnded() TB_REQUIRES(mu_) {
    if (!WorkIsDone() || restarting_ > 0) return false;
    return std::all_of(processes_.begin(), processes_.end(),
                       [](const auto& p) { return p->task.job == "ps" || p->ended; });
  }

  // Without faults, waits until all workers are ready, so that each of them takes part in training. With faults it does
  // not wait, because the others may need the chief.
  void OnReady() {
    MutexLock lock(mu_);
    ++ready_;
    if (options_.measure && ready_ == options_.num_workers) costs_when_ready_ = Costs();
    if (!options_.faults.empty()) return changed_.NotifyAll();
    // Wakes them only once: if hundreds of workers woke for each that is ready, they would mostly wait for mu_.
    if (ready_ >= options_.num_workers) all_ready_.NotifyAll();
    all_ready_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return ready_ >= options_.num_workers; });
  }
  // For measurements, waits until all workers have made a first step, in which signatures are compiled.
  void OnWarm() {
    if (!options_.measure) return;
    MutexLock lock(mu_);
    if (++warm_ >= options_.num_workers) {
      costs_when_warm_ = Costs();
      all_warm_.NotifyAll();
    }
    all_warm_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return warm_ >= options_.num_workers; });
  }
  void OnStep(int64_t step) {
    MutexLock lock(mu_);
    const int64_t measured = options_.last_step * 3 / 4;
    const bool is_first_there = reached_ < measured && step >= measured;
    reached_ = std::max(reached_, step);
    if (options_.measure && is_first_there) costs_when_reached_ = Costs();
    if (IsOver()) changed_.NotifyAll();
  }

  // --- Costs.

  ClusterCosts Costs() TB_REQUIRES(mu_) {
    ClusterCosts costs{.at = MonotonicClock::now() - begun_, .global_step = reached_, .tasks = {}};
    for (const auto& [task, process] : current_) {
      costs.tasks[task] = {.traffic = cluster_.network().TrafficOf(AddressOf(task)),
                           .cpu = scheduler_.CpuTime(process->id),
                           .most_threads = scheduler_.MostThreads(process->id),
                           .runs = task.job == "ps" ? 0 : runs_[static_cast<size_t>(task.index)].acknowledged.load()};
    }
    return costs;
  }
  // While what it returns exists, the running thread works for the task that listens at this address.
  std::shared_ptr<void> CpuScopeOf(const std::string& address) {
    if (!options_.measure) return nullptr;
    const auto process = process_at_.find(address);
    if (process == process_at_.end()) return nullptr;
    return std::make_shared<Scheduler::CpuScope>(scheduler_, process->second);
  }

  // Whether no further fault may begin.
  bool IsOver() TB_REQUIRES(mu_) { return reached_ >= options_.last_step / 2 || !ended_well_.empty(); }

  int64_t Acknowledged() const {
    int64_t sum = 0;
    for (const Runs& runs : runs_) sum += runs.acknowledged;
    return sum;
  }

  // --- Faults.

  std::string AddressOf(const FaultyTask& task) const { return *cluster_.spec().task_address(task.job, task.index); }

  void Cause(const Fault& fault) {
    using Kind = Fault::Kind;
    SleepFor(fault.at);
    {
      MutexLock lock(mu_);
      // A worker without a session would wait for ever for a lost parameter server, which is not started again. So all
      // workers must have sessions before the fault.
      if (options_.may_lose_ps) {
        changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return ready_ >= options_.num_workers || IsOver(); });
      }
      if (IsOver()) return;
      TB_LOG(Info, "simulation") << fault.ToString();
    }
    SimNetwork& network = cluster_.network();
    const std::string address = AddressOf(fault.task), other = AddressOf(fault.other);
    switch (fault.kind) {
      case Kind::kKill:
        return Kill(fault);
      case Kind::kKillAtMessage:
        return KillAt(fault, [&](std::function<void()> event) { network.AtMessage(fault.n, std::move(event)); });
      case Kind::kKillAtChange:
        return KillAt(fault, [&](std::function<void()> event) { disk_.AtChange(fault.n, std::move(event)); });
      case Kind::kStop:
        return Stop(fault);
      case Kind::kCut:
        network.Partition(address, other);
        SleepFor(fault.lasts);
        return network.Heal(address, other);
      case Kind::kCutOneWay:
        network.PartitionOneWay(address, other);
        SleepFor(fault.lasts);
        return network.Heal(address, other);
      case Kind::kSlow:
        network.SetExtraDelay(address, other, milliseconds(50));
        SleepFor(fault.lasts);
        return network.SetExtraDelay(address, other, {});
      case Kind::kLoseLinks:
        network.SetLinkLoss(0.02);
        SleepFor(fault.lasts);
        return network.SetLinkLoss(0);
      case Kind::kConnects:
        network.SetConnectFaults({.late = 0.3, .duplicate = 0.3});
        SleepFor(fault.lasts);
        return network.SetConnectFaults({});
      case Kind::kClockJump: {
        MutexLock lock(mu_);
        const auto it = current_.find(fault.task);
        if (it == current_.end()) return;
        scheduler_.JumpWallClock(it->second->id, std::chrono::seconds(static_cast<int64_t>(fault.n) - 500));
        return;
      }
      case Kind::kDiskFails:
      case Kind::kDiskFull:
        if (LatestCheckpointStep() < 0) return;  // training that cannot save its first checkpoint ends
        disk_.SetState(fault.kind == Kind::kDiskFails ? SimulatedDisk::State::kFails : SimulatedDisk::State::kFull);
        {
          // Training whose last checkpoint cannot be saved ends with an error, as it should. So the fault ends before.
          MutexLock lock(mu_);
          changed_.WaitFor(mu_, fault.lasts, [this]() TB_REQUIRES(mu_) { return IsOver(); });
        }
        return disk_.SetState(SimulatedDisk::State::kWorks);
      case Kind::kDiskSlow:
        disk_.SetDelay(milliseconds(50));
        SleepFor(fault.lasts);
        return disk_.SetDelay({});
      case Kind::kPowerLoss:
        return LosePower(fault);
    }
  }

  // Marks a task's process as killed and returns it. Returns null if no further fault may begin (IsOver), or if the
  // task is not running or must not be killed.
  Process* Condemn(const FaultyTask& task) {
    MutexLock lock(mu_);
    return CondemnLocked(task);
  }
  Process* CondemnLocked(const FaultyTask& task) TB_REQUIRES(mu_) {
    if (task.job == "ps" && !options_.checkpoints && !options_.may_lose_ps) return nullptr;
    const auto it = current_.find(task);
    if (IsOver() || it == current_.end() || it->second->killed || ended_well_.contains(task)) return nullptr;
    Process* const process = it->second;
    process->killed = true;
    ++restarting_;
    ++kills_;
    if (task.job == "ps") {
      ++ps_kills_;
      killed_ps_ = NameOf(task);
    }
    return process;
  }

  // Ends a process: from now on it can change neither its files nor the other tasks.
  void End(Process& process) {
    if (process.task.job == "ps") latest_at_ps_kill_ = LatestCheckpointStep();
    disk_.EndProcess(process.id);
    scheduler_.WakeProcess(process.id);
    cluster_.network().KillTask(AddressOf(process.task));
  }

  void Kill(const Fault& fault) {
    if (Process* const process = Condemn(fault.task)) {
      End(*process);
      Restart(*process, fault.lasts);
    }
  }

  // Kills all tasks. The disk keeps the checkpoint of the last save that has returned, whatever else it loses.
  void LosePower(const Fault& fault) {
    std::vector<Process*> victims;
    {
      MutexLock lock(mu_);
      if (IsOver()) return;
      std::vector<FaultyTask> running;
      for (const auto& [task, process] : current_) running.push_back(task);
      for (const FaultyTask& task : running) {
        if (Process* const process = CondemnLocked(task)) victims.push_back(process);
      }
      for (const auto& [task, process] : current_) disk_.EndProcess(process->id);
      disk_.LosePower();
    }
    for (Process* const process : victims) End(*process);
    {
      MutexLock lock(mu_);
      const int64_t kept = LatestCheckpointStep();
      TB_LOG(Info, "simulation") << "the power fails; the latest checkpoint is of step " << kept;
      if (kept < saved_) {
        scheduler_.Fail(StrCat("the checkpoint of step ", saved_, " was lost with the power, though its save had ",
                               "returned; the latest checkpoint is that of step ", kept));
      }
    }
    std::vector<Thread> threads;
    for (Process* const process : victims) {
      threads.emplace_back(StrCat("restart of ", NameOf(process->task)),
                           [this, process, &fault] { Restart(*process, fault.lasts); });
    }
    for (Thread& thread : threads) thread.Join();
  }

  // Kills a task at a message or at a change of a file: `at` gets the event that kills it, and has it called then.
  void KillAt(const Fault& fault, const std::function<void(std::function<void()>)>& at) {
    struct Trap {
      bool armed = true;
      Process* victim = nullptr;
    };
    const auto trap = std::make_shared<Trap>();  // guarded by mu_
    at([this, trap, task = fault.task, by_thread = fault.kind == Fault::Kind::kKillAtChange] {
      FaultyTask victim = task;
      {
        MutexLock lock(mu_);
        if (!std::exchange(trap->armed, false)) return;
        const ProcessId process = scheduler_.current_process();
        for (const auto& [task_of, current] : current_) {
          if (by_thread && current->id == process) victim = task_of;
        }
      }
      Process* const process = Condemn(victim);
      if (process != nullptr) End(*process);
      MutexLock lock(mu_);
      trap->victim = process;
      changed_.NotifyAll();
    });
    Process* victim;
    {
      MutexLock lock(mu_);
      changed_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return trap->victim != nullptr || IsOver(); });
      trap->armed = false;
      victim = trap->victim;
    }
    if (victim != nullptr) Restart(*victim, fault.lasts);
  }

  // Ends the threads of a killed process, and starts its task again later.
  void Restart(Process& process, MonotonicClock::duration later) {
    {
      const ChangeScope changing(cluster_changes_);
      process.running = nullptr;
      cluster_.Kill(process.task.job, process.task.index);
    }
    SleepFor(later);
    if (!(options_.may_lose_ps && process.task.job == "ps")) Start(process.task);
    MutexLock lock(mu_);
    --restarting_;
    changed_.NotifyAll();
  }

  void Stop(const Fault& fault) {
    Process* process = nullptr;
    {
      MutexLock lock(mu_);
      const auto it = current_.find(fault.task);
      if (it == current_.end() || it->second->killed || std::exchange(it->second->stopped, true)) return;
      process = it->second;
    }
    cluster_.network().PauseTask(AddressOf(fault.task));
    scheduler_.StopProcess(process->id);
    SleepFor(fault.lasts);
    {
      MutexLock lock(mu_);
      process->stopped = false;
      if (process->killed) return;
    }
    scheduler_.WakeProcess(process->id);
    cluster_.network().ResumeTask(AddressOf(fault.task));
  }

  // --- Clients.

  // Opens sessions on any task, reads the variables, and leaves, until no further fault may begin.
  void UseSessions() {
    for (int i = 0; i < 30; ++i) {
      SleepFor(std::chrono::microseconds(scheduler_.Random(20'000)));
      {
        MutexLock lock(mu_);
        if (IsOver() || AllWorkersEnded()) return;
      }
      const auto n = static_cast<uint64_t>(options_.num_ps + options_.num_workers);
      const int task = static_cast<int>(scheduler_.Random(n));
      const std::string target =
          task < options_.num_ps ? cluster_.target("ps", task) : cluster_.worker_target(task - options_.num_ps);
      Replica reader(cluster_, 0, options_);
      auto session = Session::Create(reader.g, {.target = target});
      if (!session.ok()) {
        if (absl::IsInvalidArgument(session.status())) continue;  // no task of this process has the target now
        Expect("a client's Session::Create", session.status());
        continue;
      }
      for (uint64_t run = scheduler_.Random(4); run > 0; --run) {
        const auto values = (*session)->Run({reader.step, reader.count}, {}, {.timeout = milliseconds(300)});
        if (!values.ok()) Expect("a client's run", values.status());
      }
      if (scheduler_.Random(2) == 0) (void)(*session)->Close();
    }
  }
  // Fails if a client gets an error that the faults do not explain.
  void Expect(const char* what, const Status& status) {
    using absl::StatusCode;
    static constexpr StatusCode kExpected[] = {
        StatusCode::kUnavailable,       StatusCode::kAborted,  // a task was lost
        StatusCode::kDeadlineExceeded,  StatusCode::kNotFound, StatusCode::kCancelled,
        StatusCode::kFailedPrecondition  // a variable is not initialised yet
    };
    if (std::ranges::count(kExpected, status.code()) == 0) scheduler_.Fail(StrCat(what, ": ", ToString(status)));
  }

  // --- The end.

  StatusOr<Trained> Result() {
    Replica reader(cluster_, 0, options_);
    TF_RETURN_IF_ERROR(reader.g.status());
    TF_ASSIGN_OR_RETURN(const auto session, Session::Create(reader.g, {.target = cluster_.target("ps", 0)}));
    std::vector<Fetch> fetches = {reader.step, reader.count, reader.weights};
    fetches.insert(fetches.end(), reader.rows.begin(), reader.rows.end());
    fetches.insert(fetches.end(), reader.shapes.begin(), reader.shapes.end());
    TF_ASSIGN_OR_RETURN(const auto values, session->Run(fetches));
    TF_RETURN_IF_ERROR(session->Close());
    MutexLock lock(mu_);
    Trained result{.global_step = values[0].scalar<int64_t>(),
                   .acknowledged = Acknowledged(),
                   .kills = kills_,
                   .weights = "",
                   .ready = costs_when_ready_,
                   .warm = costs_when_warm_,
                   .reached = costs_when_reached_};
    std::vector<double> counts;
    for (const float c : values[1].data<float>()) counts.push_back(c);
    for (const double c : counts) result.count += c;
    for (const Runs& runs : runs_) result.dropped += runs.dropped;
    for (const float w : values[2].data<float>()) {
      char text[32];
      std::snprintf(text, sizeof text, "%a ", w);
      result.weights += text;
    }
    TF_RETURN_IF_ERROR(Annotate(CheckResult(result, counts),
                                StrCat("step ", result.global_step, ", counts [", absl::StrJoin(counts, ", "),
                                       "], acknowledged ", result.acknowledged, ", kills ", kills_)));
    TF_RETURN_IF_ERROR(CheckTables(std::span(values).subspan(3)));
    return result;
  }

  // `values` are Replica::rows and Replica::shapes.
  Status CheckTables(std::span<const Tensor> values) TB_REQUIRES(mu_) {
    constexpr double kRounding = 1e-3;
    const auto tables = static_cast<size_t>(options_.tables);
    const size_t parts = tables == 0 ? 0 : (values.size() - tables) / tables;
    for (size_t t = 0; t < tables; ++t) {
      int64_t known = 0, nonzero = 0;
      for (size_t p = 0; p < parts; ++p) known += values[tables + t * parts + p].data<int64_t>()[0];
      for (size_t k = 0; k < kTableKeys.size(); ++k) {
        const auto row = values[t].data<float>().subspan(k * runs_.size(), runs_.size());
        double sum = 0;
        for (size_t w = 0; w < runs_.size(); ++w) {
          const double applied = row[w];
          const int64_t begun = runs_[w].begun_of_key[k], acknowledged = runs_[w].acknowledged_of_key[k];
          const std::string where =
              StrCat("row ", kTableKeys[k], " of table ", t, " has ", applied, " gradients of worker/", w,
                     ", which has computed ", begun, " and got ", acknowledged, " acknowledged");
          if (applied > static_cast<double>(begun) + kRounding) return Internal(where);
          sum += applied;
          if (options_.sync) continue;
          if (std::abs(applied - std::round(applied)) > kRounding) return Internal(where);
          const bool lost = applied < static_cast<double>(acknowledged) - kRounding;
          if (ps_kills_ == 0 && lost) return Internal(where);
          if (options_.faults.empty() && std::llround(applied) != acknowledged) return Internal(where);
        }
        nonzero += sum > kRounding;
        if (std::abs(sum - std::round(sum)) <= kRounding) continue;
        return Internal("row ", kTableKeys[k], " of table ", t, " has ", sum, " gradients, not averages of them");
      }
      if (known != nonzero) return Internal("table ", t, " has ", known, " rows, but ", nonzero, " keys were trained");
    }
    return OkStatus();
  }

  Status CheckResult(const Trained& result, const std::vector<double>& counts) TB_REQUIRES(mu_) {
    constexpr double kRounding = 1e-3;
    const int needed = options_.sync ? options_.num_workers - options_.spares : 1;
    if (result.global_step < options_.last_step) return Internal("the training has ended before its last step");
    for (size_t i = 0; i < counts.size(); ++i) {
      const double applied = counts[i] * needed;
      if (applied > static_cast<double>(runs_[i].begun) + kRounding) {
        return Internal(applied, " gradients of worker/", i, " were applied, but it has computed ",
                        runs_[i].begun.load());
      }
      // A synchronous step takes the average of the gradients that have arrived, which may be more than it needs.
      if (!options_.sync && std::abs(applied - std::round(applied)) > kRounding) {
        return Internal("a part of a gradient of worker/", i, " was applied: ", applied);
      }
    }
    if (options_.sync) {
      if (std::abs(result.count - std::round(result.count)) > kRounding) {
        return Internal("a step has applied something else than an average of gradients");
      }
      return OkStatus();
    }
    const auto applied = static_cast<int64_t>(std::llround(result.count)) + result.dropped;
    if (ps_kills_ == 0) {
      if (applied < result.acknowledged) return Internal("gradients of acknowledged steps were lost");
      return OkStatus();
    }
    // Acknowledgements of steps before the loss may come after it, one for each worker.
    const int64_t since = result.acknowledged - acknowledged_at_ps_start_ - options_.num_workers;
    const int64_t least = std::max<int64_t>(latest_at_ps_kill_, 0) + since;
    if (applied < least) {
      return Internal("gradients of acknowledged steps were lost: at least ", least, " should have been applied, from ",
                      latest_at_ps_kill_, " of the latest checkpoint on");
    }
    return OkStatus();
  }

  // Checks that no parameter server holds a session or a step. All sessions have been closed, but the messages that say
  // so may still be under way.
  Status CheckNothingLeaks() {
    const auto deadline = MonotonicClock::now() + std::chrono::seconds(30);
    while (true) {
      std::string leaks;
      for (int i = 0; i < options_.num_ps; ++i) {
        const TaskUse use = cluster_.task("ps", i).use();
        if (use.sessions + use.steps + use.own_steps > 0) {
          leaks += StrCat("ps/", i, " holds ", use.sessions, " sessions, ", use.steps, " steps of any master and ",
                          use.own_steps, " of its own; ");
        }
      }
      if (leaks.empty()) return OkStatus();
      if (MonotonicClock::now() > deadline) return Internal("at the end, ", leaks);
      SleepFor(milliseconds(100));
    }
  }

  void StopAll() {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    {
      const ChangeScope changing(cluster_changes_);
      for (const auto& [task, process] : current_) {
        if (process->running != nullptr) process->running->Stop(OkStatus());
      }
    }
    for (const auto& process : processes_) {
      process->thread.Join();
      process->running = nullptr;
    }
  }

  Scheduler& scheduler_;
  const TrainingOptions options_;
  const MonotonicClock::time_point begun_ = MonotonicClock::now();
  std::map<std::string, ProcessId> process_at_;  // the latest process of the task at each address
  SimulatedDisk disk_;
  ClusterChanges cluster_changes_;  // tasks are started and ended one by one; acquired before mu_
  TestCluster cluster_;
  std::vector<Runs> runs_;  // one element for each worker
  Mutex mu_;
  CondVar changed_, all_ready_, all_warm_;
  std::vector<std::unique_ptr<Process>> processes_;  // in the order of their start
  std::map<FaultyTask, Process*> current_;           // the running processes
  std::map<FaultyTask, int> ended_well_ TB_GUARDED_BY(mu_);
  int ready_ TB_GUARDED_BY(mu_) = 0;  // workers that have had a session, including those that were killed
  int warm_ TB_GUARDED_BY(mu_) = 0;
  int64_t reached_ TB_GUARDED_BY(mu_) = 0;
  int restarting_ TB_GUARDED_BY(mu_) = 0;  // tasks that have been killed and not started again
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  int64_t kills_ TB_GUARDED_BY(mu_) = 0;
  ClusterCosts costs_when_ready_ TB_GUARDED_BY(mu_), costs_when_warm_ TB_GUARDED_BY(mu_),
      costs_when_reached_ TB_GUARDED_BY(mu_);
  int64_t ps_kills_ = 0;
  std::string killed_ps_;
  int64_t acknowledged_at_ps_start_ = 0;
  int64_t latest_at_ps_kill_ = -1;
  int64_t saved_ TB_GUARDED_BY(mu_) = -1;  // the step of the last save that has returned, if the power may fail
};

}  // namespace

StatusOr<Trained> Train(Scheduler& scheduler, const TrainingOptions& options) {
  return Training(scheduler, options).Run();
}

}  // namespace tensorbraid
