// What Kubernetes says about the pods of a job.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_STATE_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_STATE_H_

#include <map>
#include <optional>
#include <string>

#include "launch/processes/child_process.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The state of a pod of a job, which is never restarted by Kubernetes. Its container is kTaskContainer.
struct PodState {
  std::string uid;                     // a later pod of the same name has another one
  std::string node;                    // "" if it has none yet
  bool is_running = false;             // its container runs
  std::optional<ProcessEnd> end = {};  // how its container ended
  std::string last_message = "";       // what the container wrote to kLastMessagePath, after what its runtime says
  bool out_of_memory = false;          // that is why it ended
  // Why Kubernetes took the pod from its node, or gave the node up, such as "Evicted: The node was low on memory".
  std::string disruption = "";
  std::string start_error = "";  // why its container can never start
  std::string waits_for = "";    // what a pod that does not run yet waits for, and what helps, if that is known
  bool has_failed = false;       // it does not run and never will
  bool is_being_deleted = false;
  int deletion_grace_s = 0;  // how long it may still run then
};

// A change of a pod.
struct PodEvent {
  std::string pod;       // its name
  PodState state;        // after the change
  bool is_gone = false;  // it has been deleted; `state` is the last one
};

// Reads `kubectl get pods -o json`, and returns the states by the names of the pods. InvalidArgument if it is not that.
StatusOr<std::map<std::string, PodState>> ParsePods(const std::string& json);
// Reads what `kubectl get pods --watch --output-watch-events -o json` prints for a change. InvalidArgument if it is not
// that, or if it is an error of the watch.
StatusOr<PodEvent> ParsePodEvent(const std::string& json);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_STATE_H_
