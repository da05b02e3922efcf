// One run of a cluster (cluster_kernel.h).
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_RUN_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "executor/clusters/host_comparison.h"
#include "pjrt/compile_log.h"
#include "runtime/kernel/cancellable_wait.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// It may wait for the compiler, and for an error word; only then can the cancellation of its step end it.
class ClusterRun {
 public:
  ClusterRun(KernelContext& c, AsyncKernel::Done done) : ctx(c), done_(std::move(done)) {}

  KernelContext& ctx;  // until the run ends
  // The variables of the cluster, each once, and for each argument its number among them; -1: not a variable.
  std::vector<RefPtr<VariableResource>> variables;
  std::vector<int> variable_of;
  std::optional<RunRecord> record;  // set if the run is to be compared with the host

  // Ends the run. REQUIRES: it does not wait.
  void End(const Status& status) {
    record.reset();
    variables.clear();  // the caller may hold the run longer than its session exists
    done_(status);
  }
  // The run of this program waits from now on for something that the messages of slow steps name.
  void Tell(const std::string& program, CompileLog::WaitFor what) {
    MutexLock lock(mu_);
    waiting_ = CompileLog::Waiting(program, what);
  }
  // Begins to wait. Returns false if the step has been cancelled: the run has then ended.
  bool Wait(const std::shared_ptr<ClusterRun>& self, const std::string& program, CompileLog::WaitFor what) {
    bool registered = false;
    Tell(program, what);
    {
      MutexLock lock(mu_);
      waits_ = true;
      registered = wait_.emplace().Begin(ctx.env().cancellation, [self](const Status&) {
        if (self->StopWaiting()) self->done_(Cancelled(kCancelledInWait));
      });
    }
    if (!registered && StopWaiting()) done_(Cancelled(kCancelledBeforeWait));
    return registered;
  }
  // Goes on after a wait. Returns false if the run has ended meanwhile.
  bool Resume() {
    if (!StopWaiting()) return false;
    wait_->End();
    return true;
  }

 private:
  bool StopWaiting() {
    MutexLock lock(mu_);
    waiting_ = CompileLog::Waiting();
    return std::exchange(waits_, false);
  }

  const AsyncKernel::Done done_;
  std::optional<CancellableWait> wait_;
  Mutex mu_;
  bool waits_ TB_GUARDED_BY(mu_) = false;
  CompileLog::Waiting waiting_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_RUN_H_
