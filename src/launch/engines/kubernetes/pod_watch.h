// Hears of each change of the pods of a job.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_WATCH_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_WATCH_H_

#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/clock.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "launch/engines/kubernetes/pod_state.h"

namespace tensorbraid {

// A `kubectl get --watch`, which is started again when it ends. The last state of a pod that is deleted is heard here
// only: it has the exit code and the report of its task, and the pod is gone a moment later. The watch misses changes
// while it is started again, so its user must also ask for the states of the pods. No function blocks. Not thread-safe.
class PodWatch {
 public:
  // `on_event` is called from within Handle. `kubectl` outlives this object.
  PodWatch(const Kubectl& kubectl, std::string selector, std::function<void(const PodEvent&)> on_event);

  void StartCalls();
  void AddEvents(std::vector<pollfd>* events);
  void Handle();
  // Whether a watch runs.
  bool is_alive() const { return call_ != nullptr; }

 private:
  void AddLine(std::string_view line);  // an event

  const Kubectl& kubectl_;
  const std::string selector_;
  const std::function<void(const PodEvent&)> on_event_;
  std::unique_ptr<KubectlCall> call_;
  MonotonicClock::time_point not_before_;  // the next watch
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_WATCH_H_
