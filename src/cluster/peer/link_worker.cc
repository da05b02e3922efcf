#include "cluster/peer/link_worker.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cluster/peer/graph_parts.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {

Status LinkWorker::state() const {
  MutexLock lock(mu_);
  return down_;
}

template <typename M>
void LinkWorker::Ask(M request, Replied done) {
  Status down;
  {
    MutexLock lock(mu_);
    down = down_;
    if (down.ok()) {
      request.request = ++last_request_;
      calls_[request.request] = std::exchange(done, nullptr);
    }
  }
  if (!down.ok()) return done(down, "");
  if constexpr (std::is_same_v<M, tensorbraid::RegisterGraph>) {
    SendInParts(std::move(request), link_.get());
  } else {
    link_->Send(std::move(request));
  }
}

void LinkWorker::RegisterGraph(SessionId session, uint64_t handle, const std::string& partition, bool isolated_state,
                               bool limited_files, Done done) {
  Ask(tensorbraid::RegisterGraph{.request = 0,
                                 .session = session,
                                 .handle = handle,
                                 .partition = partition,
                                 .isolated_state = isolated_state,
                                 .limited_files = limited_files},
      WithoutBody(std::move(done)));
}

void LinkWorker::DeregisterGraph(SessionId session, uint64_t handle) {
  link_->Send(tensorbraid::DeregisterGraph{.session = session, .handle = handle});
}

void LinkWorker::CloseSession(SessionId session) { link_->Send(tensorbraid::CloseSession{.session = session}); }

void LinkWorker::ResetContainers(const std::vector<std::string>& containers, Done done) {
  Ask(tensorbraid::ResetContainers{.request = 0, .containers = containers}, WithoutBody(std::move(done)));
}

void LinkWorker::GetReport(tensorbraid::GetReport question, ReportDone done) { Ask(question, std::move(done)); }

void LinkWorker::RunGraph(StepId step, SessionId session, uint64_t handle, bool trace,
                          std::shared_ptr<StepListener> listener) {
  Status down;
  {
    MutexLock lock(mu_);
    down = down_;
    if (down.ok()) steps_[step] = std::exchange(listener, nullptr);
  }
  if (!down.ok()) return listener->OnPartDone(*this, down, "");
  link_->Send(tensorbraid::RunGraph{.step = step, .session = session, .handle = handle, .trace = trace});
}

void LinkWorker::AbortStep(StepId step, const Status& why) {
  link_->Send(tensorbraid::AbortStep{.step = step, .reason = why});
}

void LinkWorker::EndStep(StepId step) {
  std::shared_ptr<StepListener> dropped;  // destroyed after the lock is released
  {
    MutexLock lock(mu_);
    const auto it = steps_.find(step);
    if (it != steps_.end()) {
      dropped = std::move(it->second);
      steps_.erase(it);
    }
  }
  link_->SendLater(tensorbraid::EndStep{.step = step});
}

void LinkWorker::OnReply(const Reply& m) {
  Replied done;
  {
    MutexLock lock(mu_);
    const auto it = calls_.find(m.request);
    if (it == calls_.end()) return;
    done = std::move(it->second);
    calls_.erase(it);
  }
  done(Annotate(m.status, ShortTaskName(task())), m.body);
}

void LinkWorker::OnStepDone(const StepDone& m) {
  std::shared_ptr<StepListener> listener;
  {
    MutexLock lock(mu_);
    const auto it = steps_.find(m.step);
    if (it == steps_.end()) return;
    listener = it->second;
  }
  listener->OnPartDone(*this, m.status.ok() ? m.status : Annotate(m.status, ShortTaskName(task())), m.stats);
}

void LinkWorker::OnLinkDown(const Status& why) {
  std::map<uint64_t, Replied> calls;
  std::vector<std::pair<StepId, std::shared_ptr<StepListener>>> steps;
  {
    MutexLock lock(mu_);
    if (!down_.ok()) return;
    down_ = why;
    calls.swap(calls_);
    steps.assign(steps_.begin(), steps_.end());
    steps_.clear();
  }
  // In the order in which they began, so that a simulation repeats.
  std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first.counter < b.first.counter; });
  for (const auto& [number, done] : calls) done(why, "");
  for (const auto& [id, listener] : steps) listener->OnPartDone(*this, why, "");
}

}  // namespace tensorbraid
