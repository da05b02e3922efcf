// Ends a job on Kubernetes whose launcher is gone.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_LIFELINE_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_LIFELINE_H_

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// All objects of a job belong to an object of the kind Job (batch/v1), the lifeline (LifelineManifest). It starts no
// pod and has a deadline, activeDeadlineSeconds, which the launcher renews regularly. When the launcher stops renewing
// it, Kubernetes ends and deletes the Job and all objects that belong to it: the pods have their time to save and
// leave. The same happens when a user deletes the Job. No function blocks. Not thread-safe.
class Lifeline {
 public:
  // `job` is the name of the Job, and `patience` how long it lives without its launcher. `tell` gets what the user
  // should know. `kubectl` outlives this object. REQUIRES: the Job has not been created yet.
  Lifeline(const Kubectl& kubectl, std::string job, std::chrono::seconds patience,
           std::function<void(const std::string&)> tell);

  // Moves the deadline on, or finds out that the Job is gone, without waiting until it is time.
  void RenewSoon() { next_ = {}; }

  // REQUIRES of these: the Job has been created.
  void StartCalls();
  void AddEvents(std::vector<pollfd>* events);
  // FailedPrecondition if the Job is gone: Kubernetes ends the tasks.
  Status Handle();

 private:
  // Since this object was made, at least. A machine that sleeps stops one of the two clocks.
  std::chrono::seconds Age() const;
  void Retry(const Status& why);

  const Kubectl& kubectl_;
  const std::string job_;
  const std::chrono::seconds patience_;
  const std::function<void(const std::string&)> tell_;
  const MonotonicClock::time_point began_;
  const WallClock::time_point began_wall_;
  MonotonicClock::time_point next_;  // renewal
  std::unique_ptr<KubectlCall> call_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_LIFELINE_H_
