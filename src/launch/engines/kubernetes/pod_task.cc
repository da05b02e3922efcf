#include "launch/engines/kubernetes/pod_task.h"

#include <chrono>

#include "core/text/strings.h"

namespace tensorbraid {

PodVerdict JudgePod(const PodState* state, MonotonicClock::time_point now, PodTask* task) {
  PodVerdict verdict;
  TaskEnd end;
  end.process.signal = task->signal;
  if (state != nullptr) {
    if (!state->node.empty()) task->node = state->node;
    if (!state->disruption.empty()) task->disruption = state->disruption;
    if (state->is_being_deleted && !task->deleted_since.has_value()) task->deleted_since = now;
  }
  end.node = task->node;
  const bool is_ours = task->signal != 0;  // the launcher itself deletes the pod
  const std::string taken_away = !task->disruption.empty()
                                     ? task->disruption
                                     : StrCat("its pod ", task->pod, " was deleted, and not by this launcher");
  verdict.was_deleted = !is_ours && (state == nullptr || task->deleted_since.has_value());
  if (state == nullptr) {
    if (!is_ours) end.lost = taken_away;
    verdict.end = end;
    return verdict;
  }
  if (task->phase == PodTask::Phase::kStarting) verdict.start_error = state->start_error;
  verdict.runs = state->is_running || state->end.has_value();
  if (state->end.has_value()) {
    end.process = *state->end;
    end.report = state->last_message;
    // A program that Kubernetes has told to end may have saved its work and left with 0. Its task is not done.
    if (!is_ours && (!task->disruption.empty() || state->is_being_deleted)) end.lost = taken_away;
    if (state->out_of_memory) {
      verdict.advice =
          StrCat(task->name, " has used more memory than it may: raise --memory, or the limit of the namespace");
    }
    verdict.end = end;
    verdict.has_log = true;
    return verdict;
  }
  const bool is_silent = task->deleted_since.has_value() &&
                         now > *task->deleted_since + std::chrono::seconds(state->deletion_grace_s) + kNodeSilence;
  if (!state->has_failed && !is_silent) {
    // For example, a volume that cannot be mounted is only told in an event.
    const bool waits = task->phase == PodTask::Phase::kStarting && !verdict.runs && state->waits_for.empty();
    if (waits && now > task->created + kSilentStart) {
      verdict.advice = StrCat(task->name, " has not started yet; 'kubectl describe pod ", task->pod, "' may say why");
    }
    return verdict;
  }
  if (!is_ours) end.lost = is_silent ? StrCat("node ", state->node, " does not answer (", taken_away, ")") : taken_away;
  verdict.end = end;
  verdict.has_log = !is_silent;
  return verdict;
}

}  // namespace tensorbraid
