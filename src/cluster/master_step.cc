#include "cluster/master_step.h"

#include <algorithm>

#include "cluster/step_stats.h"
#include "core/device_name.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

// Errors that follow from another part's failure tell less than the failure itself.
int Rank(const Status& s) {
  switch (s.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kCancelled:
      return 1;
    case absl::StatusCode::kAborted:
      return 2;
    case absl::StatusCode::kUnavailable:
      return 3;
    default:
      return 4;
  }
}

}  // namespace

bool MasterSession::Step::NoteError(const Status& error) {
  if (error.ok()) return false;
  // An abort by the client (deadline, close) stands whatever the parts say of it.
  if (status.ok() || (!aborted && Rank(error) > Rank(status))) status = error;
  return !std::exchange(aborted, true);
}

void MasterSession::Step::OnLocalDone(const Status& error, std::vector<Tensor> retvals) {
  bool tell, ended;
  std::string trace;
  if (tracer != nullptr) trace = EncodeStepStats(tracer->TakeRecords());
  {
    MutexLock lock(mu);
    if (tracer != nullptr) traces.push_back(std::move(trace));
    tell = NoteError(error);
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
      // Even a part that is done may have sent tensors over this link that never came.
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
    tell = remaining > 0 && NoteError(why);
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
  // Nobody waits for it: it leaves with the next step, or with the next heartbeat.
  for (const auto& link : links) link->SendLater(EndStep{.step = id});
  {
    MutexLock lock(master->mu_);
    master->steps_.erase(id.counter);
  }
  // Who ends the step holds it, and the client that wakes takes the lock at once: so it is free by then.
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
  if (!status.ok()) return status;
  return std::move(values);
}

std::vector<std::string> MasterSession::Step::TakeTraces() {
  MutexLock lock(mu);
  return std::move(traces);
}

bool MasterSession::Step::WaitUntil(MasterSession::Deadline deadline) {
  MutexLock lock(mu);
  const auto started = std::chrono::steady_clock::now();
  auto log_at = started + master->slow_wait_;
  while (true) {
    const auto until = std::min(deadline, log_at);
    const auto ended = [this]() TB_REQUIRES(mu) { return remaining < 0; };
    if (until == MasterSession::Deadline::max()) {
      cv.Wait(mu, ended);
      return true;
    }
    if (cv.WaitUntil(mu, until, ended)) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    log_at = now + master->slow_wait_;
    std::vector<std::string> waiting;
    for (size_t i = 0; i < links.size(); ++i) {
      if (!link_done[i]) waiting.push_back(ShortTaskName(links[i]->peer().task));
    }
    if (!local_done) waiting.push_back("this task");
    TB_LOG(Info, "cluster") << "a step is waiting for " << StrJoin(waiting, ", ") << " since "
                            << std::chrono::duration_cast<std::chrono::seconds>(now - started).count() << " s";
  }
}

}  // namespace tensorbraid
