// Runs the tasks of a job as pods of a Kubernetes cluster.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBERNETES_ENGINE_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBERNETES_ENGINE_H_

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "core/system/fd.h"
#include "launch/engines/engine.h"
#include "launch/engines/kubernetes/job_objects.h"
#include "launch/engines/kubernetes/kubectl.h"
#include "launch/engines/kubernetes/manifests.h"
#include "launch/engines/kubernetes/pod_deletion.h"
#include "launch/engines/kubernetes/pod_state.h"
#include "launch/engines/kubernetes/pod_task.h"
#include "launch/engines/kubernetes/pod_watch.h"

namespace tensorbraid {

// Each task is a pod that Kubernetes does not restart, found by the others through a headless service. Everything is
// done by kubectl, in child processes, with the user's rights. A watch tells of changes of the pods, and their states
// are asked for every few seconds, in case it has missed one.
//
// A task that is started again gets a new pod of the same name, when its old pod is gone. A signal deletes the pod:
// SIGKILL at once, every other one with job.grace_s to end. What a task writes to standard output and standard error
// arrives as one stream, kOut. When the launcher is killed, Kubernetes ends the pods after job.lost_launcher_s, unless
// that is 0.
class KubernetesEngine final : public Engine {
 public:
  // `kubectl` is the program and its first arguments. REQUIRES: `job` has passed CheckJob.
  KubernetesEngine(KubernetesJob job, std::vector<std::string> kubectl);
  // Deletes all objects of the job. Blocks until Kubernetes has accepted that, for 10 s at most.
  ~KubernetesEngine() override;

  StatusOr<std::string> Describe(const std::vector<std::string>& tasks) const override;
  std::vector<std::string> KnownAddresses(const std::vector<std::string>& tasks) const override;
  std::string DescribeStart(const std::string& task, const ProgramCall& call, bool knows_flags) const override;
  void Place(const std::vector<std::string>& tasks, EngineListener* listener) override;
  void Start(size_t task, const ProgramCall& call, bool knows_flags) override;
  void Signal(size_t task, int signal) override;
  void CloseOutput(size_t task) override;
  void AddEvents(std::vector<pollfd>* events) override;
  void Handle() override;
  std::vector<std::string> CleanUpCommand() const override;

 private:
  std::unique_ptr<KubectlCall> Call(const std::vector<std::string>& command, std::string input = "",
                                    std::function<void(std::string_view)> on_line = nullptr);
  // Tells the user, once for each text.
  void Tell(const std::string& text);

  // Start the calls that are due.
  void StartCalls();
  void StartCreation();
  void StartLog(size_t number, bool follow);

  void HandlePlacing();
  void HandleCreation();
  void HandlePoll();
  void HandleLog(size_t number);
  void HandleEvent(const PodEvent& event);
  // `state` is that of a pod of the task's name, or null if there is none.
  void HandleState(size_t number, const PodState* state);
  // Whether the pod of a task is gone, by this state of a pod of its name, but its last state may still be heard.
  bool AwaitsLastState(PodTask* task, const PodState* state) const;
  void TellWhatTasksWaitFor(const std::map<std::string, PodState>& pods);
  // The task's container has ended, or is gone. Reported when the rest of the log has been read.
  void SetEnd(size_t number, const TaskEnd& end, bool has_log);
  void ReportEnd(size_t number);
  // The end of a task that was never seen running.
  void FailStart(size_t number, const Status& why);
  void EndOutput(size_t number);
  // Asks for the states of the pods soon.
  void PollSoon();
  bool AnyChanging() const;

  KubernetesJob job_;
  const Kubectl kubectl_;
  EngineListener* listener_ = nullptr;
  std::deque<PodTask> tasks_;
  std::set<std::string> told_;

  Fd ticks_;  // a timer
  MonotonicClock::time_point next_poll_;
  int polls_ = 0;  // that have been started
  std::unique_ptr<KubectlCall> creation_, poll_;
  JobObjects objects_;
  PodDeletion soft_deletion_;  // with time to end
  PodDeletion hard_deletion_;  // at once
  PodWatch watch_;
  bool is_placed_ = false;
  bool poll_failed_ = false;  // the last one
  bool was_polled_ = false;   // at least once, with success
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_KUBERNETES_ENGINE_H_
