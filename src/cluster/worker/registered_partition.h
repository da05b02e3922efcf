// A partition that a task has been given, and what runs its steps.
#ifndef TENSORBRAID_CLUSTER_WORKER_REGISTERED_PARTITION_H_
#define TENSORBRAID_CLUSTER_WORKER_REGISTERED_PARTITION_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "executor/executor.h"

namespace tensorbraid {

// Has the executor of a plan. If the plan becomes outdated (Plan::is_outdated), the executor of a new plan takes its
// place for steps that begin later; steps that run keep theirs. Thread-safe.
class RegisteredPartition {
 public:
  // Makes a plan of the partition and an executor for it.
  using MakeExecutor = std::function<StatusOr<std::shared_ptr<Executor>>()>;
  RegisteredPartition(std::shared_ptr<Executor> executor, MakeExecutor make)
      : make_(std::move(make)), executor_(std::move(executor)) {}

  // For a step that begins.
  std::shared_ptr<Executor> executor() const {
    MutexLock lock(mu_);
    return executor_;
  }
  // Adds the executor, and those of earlier plans that still have steps.
  void AppendExecutors(std::vector<std::shared_ptr<Executor>>* all) const;

  // Whether Replan must be called: the plan is outdated. Later calls return false until that has been done.
  bool BeginReplanning();
  // Makes the new plan. If there is none, the log says why, and the old plan stays for good.
  void Replan();

 private:
  const MakeExecutor make_;
  mutable Mutex mu_;
  std::shared_ptr<Executor> executor_ TB_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<Executor>> earlier_ TB_GUARDED_BY(mu_);  // gone when their last steps have ended
  bool is_replanning_ TB_GUARDED_BY(mu_) = false;                    // stays true if there is no new plan
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_REGISTERED_PARTITION_H_
