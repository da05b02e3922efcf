#include "train/replicas/sync_hook.h"

#include <algorithm>
#include <chrono>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

constexpr std::chrono::seconds kDroppedReports{10};
// Short, so that a parameter server that is gone does not delay the end of the session.
constexpr std::chrono::seconds kTokenQueueCloseTimeout{5};

}  // namespace

Status SyncReplicasOptimizer::Hook::Begin(Graph&) {
  if (!state_->train.valid()) {
    return FailedPrecondition("SyncReplicasOptimizer: call Minimize or ApplyGradients before creating the session");
  }
  if (is_chief_) {
    TF_ASSIGN_OR_RETURN(init_tokens_, state_->InitTokens(num_tokens_));
  }
  return OkStatus();
}

Status SyncReplicasOptimizer::Hook::AfterCreateSession(SessionRunContext& context) {
  Session& session = context.session();
  last_report_ = Clock::now();
  if (state_->routes) TF_RETURN_IF_ERROR(StartHostRoutes(*state_->routes, session, context.coordinator()));
  if (!is_chief_) return OkStatus();
  TF_RETURN_IF_ERROR(session.Run({init_tokens_}).status());
  context.coordinator().OnStop([&session, &context, close = state_->close_tokens] {
    const Status why = context.coordinator().status();
    // After a recoverable error, training continues in a new session of this chief. After Aborted, it continues with
    // another chief, which has aborted the steps of this session. In both cases the other workers still need the
    // queue.
    if (context.RecoversFrom(why) || absl::IsAborted(why)) return;
    const Status status = session.Run({close}, {}, {.timeout = kTokenQueueCloseTimeout}).status();
    // Cancelled means that the session is being replaced and training continues.
    if (!status.ok() && !absl::IsCancelled(status)) {
      TB_LOG(Warning, "train") << "cannot close the token queue, so other workers may not stop: " << ToString(status);
    }
  });
  return QueueRunner({state_->sync}).Start(session, context.coordinator());
}

SessionRunArgs SyncReplicasOptimizer::Hook::BeforeRun(SessionRunContext& context) {
  SessionRunArgs args;
  if (!context.Runs(state_->train)) return args;
  args.fetches.push_back(state_->applied);
  for (const Operation& other : ImplOf(context.session().graph()).extension<SyncTrainOps>().ops) {
    if (other == state_->train || !context.Runs(other)) continue;
    // The two optimizers could block each other. For example, one worker takes two tokens of the first optimizer, so
    // that none is left for a second worker. The second worker waits for a new token, which needs gradients of the
    // first worker. But the first worker waits for a token of the other optimizer, which needs gradients of the
    // second worker.
    context.coordinator().RequestStop(
        InvalidArgument("one run trains with two SyncReplicasOptimizers, '", state_->train.name(), "' and '",
                        other.name(), "', and the workers could wait for each other for ever: train with them in ",
                        "runs of their own, or wrap one GroupedOptimizer for all variables"));
  }
  return args;
}

Status SyncReplicasOptimizer::Hook::AfterRun(SessionRunContext&, const SessionRunValues& values) {
  if (values.results.empty()) return OkStatus();
  ++steps_;
  if (!std::ranges::count(values.results[0].data<bool>(), false)) return OkStatus();
  ++dropped_since_report_;
  const int64_t dropped = ++state_->dropped;
  const Clock::time_point now = Clock::now();
  if (now - last_report_ < kDroppedReports) return OkStatus();
  TB_LOG(Info, "train") << "dropped " << dropped_since_report_ << " of this worker's last " << steps_
                        << " steps, in whole or for some variables, because they arrived too late; " << dropped
                        << " dropped since the start";
  last_report_ = now;
  steps_ = dropped_since_report_ = 0;
  return OkStatus();
}

Status SyncReplicasOptimizer::Hook::End(SessionRunContext& context, const Status&) {
  if (state_->routes) EndHostRoutes(*state_->routes, context.session());
  return OkStatus();
}

}  // namespace tensorbraid
