// Deletes pods of a job.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_DELETION_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_DELETION_H_

#include <poll.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "launch/engines/kubernetes/kubectl.h"

namespace tensorbraid {

// Pods that are to be deleted in one way: with time to end, or at once. One call of kubectl deletes all that wait, and
// a deletion that fails is tried again. No function blocks. Not thread-safe.
class PodDeletion {
 public:
  // `options` are those of kubectl, such as "--grace-period=30". `tell` gets what the user should know. `kubectl`
  // outlives this object.
  PodDeletion(const Kubectl& kubectl, std::vector<std::string> options, std::function<void(const std::string&)> tell);

  void Add(const std::string& pod) { pods_.insert(pod); }
  // The pod is gone, or is no longer to be deleted.
  void Remove(const std::string& pod) { pods_.erase(pod); }
  // Whether a call runs that deletes the pod of this name.
  bool IsInCall(const std::string& pod) const { return call_ != nullptr && in_call_.contains(pod); }

  void StartCalls();
  void AddEvents(std::vector<pollfd>* events);
  // Whether a call has ended.
  bool Handle();

 private:
  void Retry(const Status& why);

  const Kubectl& kubectl_;
  const std::vector<std::string> options_;
  const std::function<void(const std::string&)> tell_;
  std::set<std::string> pods_;     // still to be deleted
  std::set<std::string> in_call_;  // by the call that runs
  std::unique_ptr<KubectlCall> call_;
  MonotonicClock::time_point not_before_;  // after a call that failed
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_DELETION_H_
