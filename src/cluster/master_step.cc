#include "cluster/master_step.h"

#include <algorithm>

#include "cluster/step_stats.h"
#include "core/clock.h"
#include "core/device_name.h"
#include "core/error_rank.h"
#include "core/logging.h"
#include "core/strings.h"
#include "graph/node_status.h"

namespace tensorbraid {
namespace {

// The beginning of an error by which a kernel was interrupted: the task, the node and what the node was waiting for,
// without the reason of the interruption.
std::string WithoutReason(const std::string& text) {
  std::string_view message = text;
  for (const std::string_view reason : {": the step was cancelled", ": the step ended", ": the step has not ended"}) {
    message = message.substr(0, message.find(reason));
  }
  return std::string(message);
}

}  // namespace

Status LateStep() {
  return DeadlineExceeded("the step has not ended by its deadline: Timed out waiting for notification");
}

bool MasterSession::Step::NoteError(const Status& error) {
  if (error.ok()) return false;
  if (others_told && !NodeNameOf(error).empty()) interrupted.push_back(WithoutReason(std::string(error.message())));
  if (!aborted_by_client) KeepCause(error, &status);
  return !std::exchange(others_told, true);
}

void MasterSession::Step::OnLocalDone(const Status& error, std::vector<Tensor> retvals) {
  bool tell, ended;
  std::string trace;
  if (tracer != nullptr) trace = EncodeStepStats(tracer->TakeRecords());
  {
    MutexLock lock(mu);
    if (tracer != nullptr) traces.push_back(std::move(trace));
    tell = NoteError(error.ok() || !others_told ? error : Annotate(error, ShortTaskName(master->task_)));
    values = std::move(retvals);
    local_done = true;
    ended = --remaining == 0;
  }
  PartDone(tell, error, ended);
}

void MasterSession::Step::OnRemoteDone(const std::shared_ptr<Link>& link, const Status& error,
                                       const std::string& trace) {
  bool tell, ended = false;
  {
    MutexLock lock(mu);
    tell = NoteError(error);
    for (size_t i = 0; i < links.size(); ++i) {
      if (links[i]->peer().task != link->peer().task || link_done[i]) continue;
      link_done[i] = true;
      if (tracer != nullptr) traces.push_back(trace);
      ended = --remaining == 0;
    }
  }
  PartDone(tell, error, ended);
}

void MasterSession::Step::OnLinkDown(const std::shared_ptr<Link>& link, const Status& why) {
  bool tell = false, ended = false;
  {
    MutexLock lock(mu);
    for (size_t i = 0; i < links.size(); ++i) {
      if (links[i] != link) continue;
      // Even if the part is done, tensors that it sent over this link may have been lost.
      if (remaining > 0) tell = NoteError(why);
      if (link_done[i]) continue;
      link_done[i] = true;
      ended = --remaining == 0;
    }
  }
  PartDone(tell, why, ended);
}

void MasterSession::Step::Abort(const Status& why) {
  bool tell;
  {
    MutexLock lock(mu);
    if (remaining > 0 && status.ok()) {
      status = why;
      aborted_by_client = true;  // the errors that the abort causes in the parts must not replace `why`
    }
    tell = remaining > 0 && !std::exchange(others_told, true);
  }
  PartDone(tell, why, false);
}

void MasterSession::Step::PartDone(bool tell_others, const Status& error, bool ended) {
  if (tell_others) {
    std::vector<std::shared_ptr<Link>> running;
    {
      MutexLock lock(mu);
      for (size_t i = 0; i < links.size(); ++i) {
        if (!link_done[i]) running.push_back(links[i]);
      }
    }
    for (const auto& link : running) link->Send(AbortStep{.step = id, .reason = error});
    if (is_local()) {
      cancellation.Cancel(error);
    } else if (auto local = master->exchange_->Find(id)) {
      local->Fail(error);
    }
  }
  if (ended) Ended();
}

void MasterSession::Step::Ended() {
  if (!is_local()) master->exchange_->End(id);
  // No task waits for EndStep, so it is sent along with the next step or heartbeat.
  for (const auto& link : links) link->SendLater(EndStep{.step = id});
  {
    MutexLock lock(master->mu_);
    master->steps_.erase(id.counter);
  }
  // Notifies after releasing the lock, because a client that wakes up takes the lock at once. This is safe: the thread
  // that ends the step holds a reference to it.
  std::function<void()> callback;
  {
    MutexLock lock(mu);
    remaining = -1;
    callback = std::exchange(on_end, nullptr);
  }
  cv.NotifyAll();
  if (callback != nullptr) callback();
}

void MasterSession::Step::WhenEnded(std::function<void()> callback) {
  {
    MutexLock lock(mu);
    if (remaining >= 0) {
      on_end = std::move(callback);
      return;
    }
  }
  callback();
}

StatusOr<std::vector<Tensor>> MasterSession::Step::TakeResult() {
  MutexLock lock(mu);
  if (status == LateStep()) return LateStatusLocked();
  if (!status.ok()) return status;
  return std::move(values);
}

Status MasterSession::Step::LateStatus() {
  MutexLock lock(mu);
  return LateStatusLocked();
}

Status MasterSession::Step::LateStatusLocked() const {
  // A _Recv waits for a node of another part, which says more.
  std::vector<std::string> waiting;
  for (const std::string& node : interrupted) {
    if (node.find(": _Recv '") == std::string::npos) waiting.push_back(node);
  }
  if (waiting.empty()) waiting = interrupted;
  const bool were_waiting = !waiting.empty();
  if (!were_waiting) {
    if (!local_done) waiting.push_back(ShortTaskName(master->task_));
    for (size_t i = 0; i < links.size(); ++i) {
      if (!link_done[i]) waiting.push_back(ShortTaskName(links[i]->peer().task));
    }
  }
  if (waiting.empty()) return LateStep();
  return Annotate(LateStep(), StrCat(were_waiting ? "waiting in " : "still running on ", StrJoin(waiting, ", ")));
}

std::vector<std::string> MasterSession::Step::TakeTraces() {
  MutexLock lock(mu);
  return std::move(traces);
}

bool MasterSession::Step::WaitUntil(MasterSession::Deadline deadline) {
  const auto started = MonotonicClock::now();
  auto log_at = started + master->slow_wait_;
  while (true) {
    {
      MutexLock lock(mu);
      const auto until = std::min(deadline, log_at);
      const auto ended = [this]() TB_REQUIRES(mu) { return remaining < 0; };
      if (until == MasterSession::Deadline::max()) {
        cv.Wait(mu, ended);
        return true;
      }
      if (cv.WaitUntil(mu, until, ended)) return true;
    }
    const auto now = MonotonicClock::now();
    if (now >= deadline) return false;
    log_at = now + master->slow_wait_;
    LogWait(now - started);
  }
}

void MasterSession::Step::LogWait(std::chrono::steady_clock::duration waited) {
  std::vector<std::string> waiting;
  bool here = false;
  {
    MutexLock lock(mu);
    for (size_t i = 0; i < links.size(); ++i) {
      if (!link_done[i]) waiting.push_back(ShortTaskName(links[i]->peer().task));
    }
    here = !local_done;
  }
  if (here) {
    const CancellationManager* own = &cancellation;
    std::shared_ptr<StepExchange> exchange;
    if (!is_local()) {
      exchange = master->exchange_->Find(id);
      own = exchange == nullptr ? nullptr : &exchange->cancellation();
    }
    const std::vector<std::string> operations = local->WaitingOperations(own);
    waiting.push_back(operations.empty() ? "this task" : StrCat("this task (", StrJoin(operations, ", "), ")"));
  }
  TB_LOG(Info, "cluster") << "a step is still waiting for " << StrJoin(waiting, ", ") << " after "
                          << std::chrono::duration_cast<std::chrono::seconds>(waited).count() << " s";
}

}  // namespace tensorbraid
