#include "train/replicas/async_hook.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "runtime/replicas/replica_clocks.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;
using Wait = ReplicaClocks::Wait;

constexpr std::chrono::seconds kStalenessReports{10};  // the shortest time between two reports in the log
constexpr std::chrono::milliseconds kMaxHeartbeatInterval{2'000};
// Short, so that a parameter server that is gone does not delay the end of the session.
constexpr std::chrono::seconds kLeaveTimeout{5};

}  // namespace

Status AsyncReplicasOptimizer::Hook::Begin(Graph&) {
  if (state_->train.valid()) return OkStatus();
  return FailedPrecondition("AsyncReplicasOptimizer: call Minimize or ApplyGradients before creating the session");
}

Status AsyncReplicasOptimizer::Hook::AfterCreateSession(SessionRunContext& context) {
  last_report_ = Clock::now();
  // First, because other workers of the host may need this one while it waits for its turn to join.
  if (state_->routes) TF_RETURN_IF_ERROR(StartHostRoutes(*state_->routes, context.session(), context.coordinator()));
  if (!state_->join.valid()) return OkStatus();
  context.coordinator().StartThread(
      [state = state_, &session = context.session(), &coordinator = context.coordinator()] {
        SendHeartbeats(*state, session, coordinator);
        return OkStatus();
      });
  return context.session().Run({state_->join}).status();
}

SessionRunArgs AsyncReplicasOptimizer::Hook::BeforeRun(SessionRunContext& context) {
  SessionRunArgs args;
  if (context.Runs(state_->train)) args.fetches.push_back(state_->outcomes);
  return args;
}

Status AsyncReplicasOptimizer::Hook::AfterRun(SessionRunContext&, const SessionRunValues& values) {
  if (values.results.empty()) return OkStatus();
  const auto outcomes = values.results[0].data<int64_t>();
  if (!outcomes.empty()) Count(outcomes);
  return OkStatus();
}

Status AsyncReplicasOptimizer::Hook::End(SessionRunContext& context, const Status&) {
  if (state_->routes) EndHostRoutes(*state_->routes, context.session());
  if (!state_->leave.valid()) return OkStatus();
  const Status left = context.session().Run({state_->leave}, {}, {.timeout = kLeaveTimeout}).status();
  if (!left.ok() && !absl::IsCancelled(left)) {
    TB_LOG(Warning, "train") << "replica " << state_->options.replica
                             << " cannot leave, so others may wait for it: " << ToString(left);
  }
  return OkStatus();
}

void AsyncReplicasOptimizer::Hook::SendHeartbeats(const State& state, Session& session,
                                                  const Coordinator& coordinator) {
  const StalenessPolicy& policy = state.options.staleness;
  const auto interval = std::clamp(policy.lost_after / 4, std::chrono::milliseconds(1), kMaxHeartbeatInterval);
  bool waited = false;
  auto log_after = Clock::duration(0);
  Clock::time_point since;
  do {
    const auto beat = session.Run({state.heartbeat.output(0), state.heartbeat.output(1)});
    const auto wait = beat.ok() ? static_cast<Wait>((*beat)[0].scalar<int64_t>()) : Wait::kNone;
    const auto now = Clock::now();
    if (wait != Wait::kNone && !waited) {
      since = now;
      // A wait for the end of the warm-up is long, so it is logged at once.
      log_after = wait == Wait::kEndOfWarmUp ? Clock::duration(0) : Clock::duration(kStalenessReports);
    }
    waited = wait != Wait::kNone;
    if (waited && now - since >= log_after) {
      TB_LOG(Info, "train") << "replica " << state.options.replica << " has waited for "
                            << std::chrono::duration<double>(now - since).count() << " s for "
                            << (*beat)[1].scalar<std::string>();
      // The time until the next report grows with the wait.
      log_after = 2 * (now - since) + Clock::duration(kStalenessReports);
    }
  } while (!coordinator.WaitForStop(interval));
}

void AsyncReplicasOptimizer::Hook::Count(std::span<const int64_t> outcomes) {
  const StalenessPolicy& policy = state_->options.staleness;
  const bool scales = policy.gradient_decay > 0 || policy.rate_decay > 0;
  StalenessCounts all;
  {
    MutexLock lock(state_->mu);
    StalenessCounts& c = state_->counts;
    ++c.pushes;
    for (const int64_t outcome : outcomes) {
      const bool dropped = outcome < 0;
      const int64_t age = dropped ? -1 - outcome : outcome;
      (dropped ? c.dropped : c.applied) += 1;
      if (!dropped && age > 0 && scales) ++c.scaled;
      c.max_age = std::max(c.max_age, age);
      c.total_age += age;
    }
    all = c;
  }
  const Clock::time_point now = Clock::now();
  if (now - last_report_ < kStalenessReports) return;
  last_report_ = now;
  if (all.dropped + all.scaled == reported_) return;
  reported_ = all.dropped + all.scaled;
  TB_LOG(Info, "train") << "of the " << all.applied + all.dropped << " gradients that this worker has pushed in "
                        << all.pushes << " steps, " << all.dropped << " were dropped and " << all.scaled
                        << " scaled because of their age, which was " << all.mean_age() << " on average and "
                        << all.max_age << " at most";
}

}  // namespace tensorbraid
