// The objects of a job on Kubernetes besides its pods, and the end of all its objects.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_JOB_OBJECTS_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_JOB_OBJECTS_H_

#include <poll.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "launch/engines/kubernetes/lifeline.h"
#include "launch/engines/kubernetes/manifests.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The command that creates the objects on its standard input, and prints what CreatedUids reads.
std::vector<std::string> CreateCommand(const Kubectl& kubectl);
// The uids of the objects that were created, by "Pod/train-worker-0".
std::map<std::string, std::string> CreatedUids(const std::string& output);
// The command that deletes all objects of this run of the launcher. The pods have their time to end.
std::vector<std::string> DeleteRunCommand(const Kubectl& kubectl, const KubernetesJob& job);

// Creates the lifeline of a job, then its service and its secret, and keeps the lifeline. Only DeleteAll blocks. Not
// thread-safe.
class JobObjects {
 public:
  // `job` gets the uid of the lifeline. `tell` gets what the user should know. `kubectl` and `job` outlive this object.
  JobObjects(const Kubectl& kubectl, KubernetesJob* job, std::function<void(const std::string&)> tell);

  Status Create();
  // All objects have been created.
  bool are_there() const { return are_there_; }
  // Finds out soon whether the lifeline is still there.
  void CheckLifeline();
  // Deletes everything, also pods, at once, and blocks until Kubernetes has accepted that. Whether it has before the
  // deadline. REQUIRES: nothing else is being created.
  bool DeleteAll(MonotonicClock::time_point deadline);

  void StartCalls();
  void AddEvents(std::vector<pollfd>* events);
  // The cluster's error if an object cannot be created, with the object's name. FailedPrecondition if the lifeline was
  // there and is gone.
  Status Handle();

 private:
  Status Create(const std::string& manifest);
  Status CreateServiceAndSecret();

  const Kubectl& kubectl_;
  KubernetesJob* const job_;
  const std::function<void(const std::string&)> tell_;
  std::unique_ptr<Lifeline> lifeline_;
  std::unique_ptr<KubectlCall> call_;
  bool are_there_ = false;
  bool may_be_there_ = false;  // some of them
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_JOB_OBJECTS_H_
