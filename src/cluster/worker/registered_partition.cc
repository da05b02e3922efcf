#include "cluster/worker/registered_partition.h"

#include <utility>

#include "core/text/logging.h"

namespace tensorbraid {

void RegisteredPartition::AppendExecutors(std::vector<std::shared_ptr<Executor>>* all) const {
  MutexLock lock(mu_);
  all->push_back(executor_);
  for (const auto& weak : earlier_) {
    if (auto executor = weak.lock()) all->push_back(std::move(executor));
  }
}

bool RegisteredPartition::BeginReplanning() {
  MutexLock lock(mu_);
  if (is_replanning_ || !executor_->plan().is_outdated()) return false;
  is_replanning_ = true;
  return true;
}

void RegisteredPartition::Replan() {
  auto made = make_();
  if (!made.ok()) {
    if (absl::IsCancelled(made.status())) return;  // the session is closed
    TB_LOG(Warning, "accelerators") << "the host goes on to run whole programs whose operands change too often, since "
                                    << "no other plan could be made: " << made.status();
    return;
  }
  MutexLock lock(mu_);
  std::erase_if(earlier_, [](const auto& weak) { return weak.expired(); });
  earlier_.push_back(executor_);
  executor_.swap(*made);  // `made` releases the old one after the lock
  is_replanning_ = false;
}

}  // namespace tensorbraid
