#include "cluster/master/master_step.h"

#include <algorithm>

#include "cluster/trace/step_stats.h"
#include "core/errors/error_rank.h"
#include "core/errors/interruption.h"
#include "core/system/clock.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/polling_gate.h"
#include "graph/model/node_status.h"

namespace tensorbraid {

Status LateStep() {
  return DeadlineExceeded("the step has not ended by its deadline: Timed out waiting for notification");
}

MasterStep::MasterStep(MasterEnv* env, SessionId session, std::shared_ptr<Executor> local,
                       std::vector<std::shared_ptr<RemoteWorker>> workers, StepOptions options)
    : session(session),
      id{env->incarnation, env->steps.NewNumber()},
      begun(MonotonicClock::now()),
      env_(env),
      local_(std::move(local)),
      owner_(env->owner.lock()),
      workers_(std::move(workers)),
      client_(std::move(options.client)),
      lasts_with_session_(options.lasts_with_session),
      tracer_(options.trace ? std::make_unique<StepTracer>() : nullptr),
      worker_done_(workers_.size(), false),
      remaining_(static_cast<int>(workers_.size()) + 1) {}

void MasterStep::Run(uint64_t handle, std::vector<Tensor> feeds) {
  Executor::Done done = [self = shared_from_this()](const Status& status, std::vector<Tensor> values) {
    self->OnLocalDone(status, std::move(values));
  };
  if (is_local()) {
    if (client_ != nullptr) client_->Begin(nullptr, &cancellation_);
    return local_->Run(std::move(feeds), client_.get(), &cancellation_, std::move(done), tracer_.get());
  }
  // Begins the step here before any other task hears of it, because another task's error may arrive before the master's
  // own part runs.
  env_->exchange->Begin(id);
  for (const auto& worker : workers_) worker->RunGraph(id, session, handle, tracer_ != nullptr, shared_from_this());
  Status aborted;
  {
    MutexLock lock(mu_);
    if (others_told_) aborted = status_;
  }
  if (!aborted.ok()) TellParts(aborted);  // also tells the parts that have been started since the abort
  env_->worker->RunStep(id, local_, std::move(feeds), std::move(done), tracer_.get(), client_.get());
}

bool MasterStep::NoteError(const Status& error) {
  if (error.ok()) return false;
  if (others_told_ && !NodeNameOf(error).empty()) interrupted_.push_back(error);
  if (!aborted_by_client_) KeepCause(error, &status_);
  return !std::exchange(others_told_, true);
}

void MasterStep::OnLocalDone(const Status& error, std::vector<Tensor> retvals) {
  bool tell, ended;
  std::string trace;
  if (tracer_ != nullptr) trace = EncodeStepStats(tracer_->TakeRecords());
  {
    MutexLock lock(mu_);
    if (tracer_ != nullptr) traces_.push_back(std::move(trace));
    tell = NoteError(error.ok() || !others_told_ ? error : Annotate(error, ShortTaskName(env_->task)));
    values_ = std::move(retvals);
    local_done_ = true;
    ended = --remaining_ == 0;
  }
  PartDone(tell, error, ended);
}

void MasterStep::OnPartDone(const RemoteWorker& worker, const Status& error, const std::string& stats) {
  bool tell = false, ended = false;
  {
    MutexLock lock(mu_);
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (workers_[i].get() != &worker) continue;
      // Even if the part is done, tensors that it has sent may have been lost.
      if (remaining_ > 0) tell = NoteError(error);
      if (worker_done_[i]) continue;
      worker_done_[i] = true;
      if (tracer_ != nullptr && !stats.empty()) traces_.push_back(stats);
      ended = --remaining_ == 0;
    }
  }
  PartDone(tell, error, ended);
}

void MasterStep::Abort(const Status& why) {
  bool tell;
  {
    MutexLock lock(mu_);
    if (remaining_ > 0 && status_.ok()) {
      status_ = why;
      aborted_by_client_ = true;  // the errors that the abort causes in the parts must not replace `why`
    }
    tell = remaining_ > 0 && !std::exchange(others_told_, true);
  }
  PartDone(tell, why, false);
}

void MasterStep::PartDone(bool tell_others, const Status& error, bool ended) {
  if (tell_others) TellParts(error);
  if (ended) Ended();
}

std::vector<std::shared_ptr<RemoteWorker>> MasterStep::RunningWorkers() const {
  std::vector<std::shared_ptr<RemoteWorker>> running;
  for (size_t i = 0; i < workers_.size(); ++i) {
    if (!worker_done_[i]) running.push_back(workers_[i]);
  }
  return running;
}

void MasterStep::TellParts(const Status& why) {
  std::vector<std::shared_ptr<RemoteWorker>> running;
  {
    MutexLock lock(mu_);
    running = RunningWorkers();
  }
  const Status reason = AsReason(why);
  for (const auto& worker : running) worker->AbortStep(id, reason);
  if (is_local()) {
    cancellation_.Cancel(reason);
  } else if (const auto exchange = env_->exchange->Find(id)) {
    exchange->Fail(reason);
  }
}

void MasterStep::Ended() {
  if (!is_local()) env_->exchange->End(id);
  // No task waits for EndStep, so it is sent along with the next step or heartbeat.
  for (const auto& worker : workers_) worker->EndStep(id);
  env_->steps.Remove(*this, local_.get());
  // Notifies after releasing the lock, because a client that wakes up takes the lock at once. This is safe, because the
  // thread that ends the step holds a reference to the step.
  std::function<void()> callback;
  {
    MutexLock lock(mu_);
    remaining_ = -1;
    has_ended_.store(true, std::memory_order_release);
    callback = std::exchange(on_end_, nullptr);
  }
  cv_.NotifyAll();
  if (callback != nullptr) callback();
}

void MasterStep::WhenEnded(std::function<void()> callback) {
  {
    MutexLock lock(mu_);
    if (remaining_ >= 0) {
      on_end_ = std::move(callback);
      return;
    }
  }
  callback();
}

StatusOr<std::vector<Tensor>> MasterStep::TakeResult() {
  MutexLock lock(mu_);
  if (status_ == LateStep()) return LateStatusLocked();
  if (!status_.ok()) return status_;
  return std::move(values_);
}

Status MasterStep::LateStatus() {
  MutexLock lock(mu_);
  return LateStatusLocked();
}

Status MasterStep::LateStatusLocked() const {
  // Leaves out _Recv nodes if other nodes wait, because a _Recv only waits for a node of another part.
  std::vector<std::string> waiting, receiving;
  for (const Status& node : interrupted_) {
    (OpTypeOf(node) == "_Recv" ? receiving : waiting).push_back(WithoutReason(node));
  }
  if (waiting.empty()) waiting = std::move(receiving);
  const bool were_waiting = !waiting.empty();
  if (!were_waiting) {
    if (!local_done_) waiting.push_back(ShortTaskName(env_->task));
    for (const auto& worker : RunningWorkers()) waiting.push_back(ShortTaskName(worker->task()));
  }
  if (waiting.empty()) return LateStep();
  return Annotate(LateStep(), StrCat(were_waiting ? "waiting in " : "still running on ", StrJoin(waiting, ", ")));
}

std::vector<std::string> MasterStep::TakeTraces() {
  MutexLock lock(mu_);
  return std::move(traces_);
}

bool MasterStep::WaitUntil(Deadline deadline) {
  if (!is_local()) {
    PollingGate& gate = PollingGate::OfProcess();
    auto now = MonotonicClock::now();
    const auto sleep_at = std::min(deadline, now + env_->stay_awake);
    while (!has_ended_.load(std::memory_order_acquire) && now < sleep_at && gate.IsOpen(now)) now = gate.Yield();
  }
  auto log_at = begun + env_->slow_wait;
  while (true) {
    {
      MutexLock lock(mu_);
      const auto until = std::min(deadline, log_at);
      const auto ended = [this]() TB_REQUIRES(mu_) { return remaining_ < 0; };
      if (until == Deadline::max()) {
        cv_.Wait(mu_, ended);
        return true;
      }
      if (cv_.WaitUntil(mu_, until, ended)) return true;
    }
    const auto now = MonotonicClock::now();
    if (now >= deadline) return false;
    log_at = now + env_->slow_wait;
    LogWait(now - begun);
  }
}

MasterStep::Progress MasterStep::progress() {
  Progress progress;
  bool here = false;
  {
    MutexLock lock(mu_);
    if (remaining_ < 0 || lasts_with_session_) return progress;
    for (const auto& worker : RunningWorkers()) progress.tasks.push_back(worker->task());
    here = !local_done_;
  }
  if (!here) return progress;
  progress.tasks.push_back(env_->task);
  progress.cancellation = &cancellation_;
  if (!is_local()) {
    const auto exchange = env_->exchange->Find(id);
    progress.cancellation = exchange == nullptr ? nullptr : &exchange->cancellation();
  }
  return progress;
}

void MasterStep::LogWait(std::chrono::steady_clock::duration waited) {
  const Progress unfinished = progress();
  if (unfinished.tasks.empty()) return;
  std::vector<std::string> waiting;
  for (const std::string& task : unfinished.tasks) {
    if (task != env_->task) {
      waiting.push_back(ShortTaskName(task));
      continue;
    }
    std::vector<std::string> operations;
    for (const WaitingOperation& wait : local_->WaitsOf(unfinished.cancellation)) operations.push_back(wait.text);
    waiting.push_back(operations.empty() ? "this task" : StrCat("this task (", StrJoin(operations, ", "), ")"));
  }
  TB_LOG(Info, "cluster") << "a step is still waiting for " << StrJoin(waiting, ", ") << " after "
                          << std::chrono::duration_cast<std::chrono::seconds>(waited).count() << " s";
}

}  // namespace tensorbraid
