#include "cluster/worker/worker_cache.h"

#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {

std::shared_ptr<LinkWorker> WorkerCache::WorkerOf(const Link& link) {
  MutexLock lock(mu_);
  const auto it = workers_.find(&link);
  return it == workers_.end() ? nullptr : it->second;
}

std::shared_ptr<RemoteWorker> WorkerCache::Find(const std::string& task) {
  const auto link = membership_->Find(task);
  return link == nullptr ? nullptr : WorkerOf(*link);
}

StatusOr<std::shared_ptr<RemoteWorker>> WorkerCache::WaitFor(const std::string& task,
                                                             std::chrono::steady_clock::time_point deadline,
                                                             const StillWanted& still_wanted) {
  while (true) {
    TF_ASSIGN_OR_RETURN(const auto link, membership_->WaitFor(task, deadline, still_wanted));
    if (auto worker = WorkerOf(*link)) return worker;
    // The link has broken again.
    TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
  }
}

StatusOr<std::shared_ptr<RemoteWorker>> WorkerCache::Current(const std::shared_ptr<RemoteWorker>& known) {
  if (known->state().ok()) return known;
  const std::string& task = known->task();
  auto worker = Find(task);
  if (worker == nullptr) {
    TF_RETURN_IF_ERROR(membership_->SessionEnded(task));
    return Unavailable(ShortTaskName(task), " (", membership_->AddressOf(task), ") is not connected");
  }
  if (worker->incarnation() != known->incarnation()) {
    return Aborted(ShortTaskName(task), " has been restarted and has lost its state; create a new session");
  }
  return worker;
}

void WorkerCache::OnLinkUp(const std::shared_ptr<Link>& link) {
  std::vector<std::shared_ptr<LinkWorker>> outdated;
  {
    MutexLock lock(mu_);
    for (const auto& [other, worker] : workers_) {
      if (worker->task() == link->peer().task && worker->incarnation() != link->peer().incarnation) {
        outdated.push_back(worker);
      }
    }
    workers_[link.get()] = std::make_shared<LinkWorker>(link);
  }
  // The links to the old incarnation are about to be closed.
  for (const auto& worker : outdated) {
    worker->OnLinkDown(Unavailable(ShortTaskName(worker->task()), " has been restarted"));
  }
}

void WorkerCache::OnReply(const Link& link, const Reply& m) {
  if (const auto worker = WorkerOf(link)) worker->OnReply(m);
}

void WorkerCache::OnStepDone(const Link& link, const StepDone& m) {
  if (const auto worker = WorkerOf(link)) worker->OnStepDone(m);
}

void WorkerCache::OnLinkDown(const Link& link, const Status& why) {
  std::shared_ptr<LinkWorker> worker;
  {
    MutexLock lock(mu_);
    const auto it = workers_.find(&link);
    if (it == workers_.end()) return;
    worker = std::move(it->second);
    workers_.erase(it);
  }
  worker->OnLinkDown(why);
}

}  // namespace tensorbraid
