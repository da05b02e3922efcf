// A task of a job on Kubernetes, and what is known of its pod.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_TASK_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_TASK_H_

#include <memory>
#include <optional>
#include <string>

#include "core/system/clock.h"
#include "launch/engines/engine.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "launch/engines/kubernetes/pod_log.h"
#include "launch/engines/kubernetes/pod_state.h"

namespace tensorbraid {

// Not thread-safe.
struct PodTask {
  std::string name;  // "worker/0"
  std::string pod;   // the name of its pod
  // kIdle -> kQueued (to be created) -> kCreating -> kStarting (the pod is there) -> kRunning -> kIdle
  enum class Phase { kIdle, kQueued, kCreating, kStarting, kRunning };
  Phase phase = Phase::kIdle;
  std::string manifest = "";
  bool had_pod = false;
  bool must_vanish = false;  // the pod of an earlier run, before this one is created
  // What is known of this run.
  std::string uid = "";  // of its pod
  int first_poll = 0;    // the first one that knows its pod
  MonotonicClock::time_point created = {};
  int signal = 0;  // the last one that was sent
  std::string node = "";
  std::string disruption = "";
  std::optional<MonotonicClock::time_point> deleted_since = {};
  std::optional<MonotonicClock::time_point> missing_since = {};  // its pod is not in the list of pods
  std::optional<MonotonicClock::time_point> give_up_at = {};
  std::optional<TaskEnd> end = {};  // seen, and reported when the rest of the log has been read
  bool needs_rest = false;
  MonotonicClock::time_point report_at = {};
  bool has_output = false;
  bool log_follows = false;
  PodLog log_lines = {};
  std::unique_ptr<KubectlCall> log = nullptr;

  bool has_pod() const { return phase == Phase::kStarting || phase == Phase::kRunning; }
};

// What the state of its pod says about a task.
struct PodVerdict {
  bool runs = false;                // its container runs, or has run
  std::string start_error = "";     // why it can never start
  std::optional<TaskEnd> end = {};  // it has ended
  bool has_log = false;             // the log of a task that has ended can still be read
  bool was_deleted = false;         // its pod is being deleted or gone, but not by this launcher
  std::string advice = "";          // for the user
};

// How long a pod that is being deleted may stay after its time to end, until its node counts as lost.
inline constexpr std::chrono::seconds kNodeSilence{10};
// How long a pod may be about to start without a word of Kubernetes, until the user is told where to look.
inline constexpr std::chrono::seconds kSilentStart{30};

// Judges a state of the pod of a task, or that the pod is gone (null), and remembers in `task` what later states may no
// longer say. A task whose pod was taken away counts as lost, also if its program has ended well: it was told to end.
// REQUIRES: task->has_pod(), and the state is that of the pod with task->uid.
PodVerdict JudgePod(const PodState* state, MonotonicClock::time_point now, PodTask* task);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_POD_TASK_H_
