// Hooks that count global steps from the start of this session, or wait for them.
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/train/hooks.h"
#include "train/sessions/train_op.h"

namespace tensorbraid {
namespace {

// Time between two reads of the global step. Each is one small step of the session.
constexpr std::chrono::milliseconds kWaitForStepInterval{100};

StatusOr<int64_t> ReadGlobalStep(Session& session) {
  const Variable step = GetGlobalStep(session.graph());
  if (!step.valid()) return FailedPrecondition("the graph has no global step");
  TF_ASSIGN_OR_RETURN(const auto value, session.Run({step}));
  return value[0].dtype() == kInt64 ? value[0].scalar<int64_t>() : value[0].scalar<int32_t>();
}

class StopAfterStepsHook final : public SessionRunHook {
 public:
  explicit StopAfterStepsHook(int64_t num_steps) : num_steps_(num_steps) {}

  Status Begin(Graph& graph) override {
    if (num_steps_ <= 0) return InvalidArgument("StopAfterSteps: num_steps must be positive, got ", num_steps_);
    return CheckGlobalStep(graph, "StopAfterSteps");
  }
  // A session that replaces another one does not begin to count again.
  Status AfterCreateSession(SessionRunContext& context) override {
    if (last_step_ >= 0) return OkStatus();
    TF_ASSIGN_OR_RETURN(const int64_t step, ReadGlobalStep(context.session()));
    last_step_ = step + num_steps_;
    return OkStatus();
  }
  SessionRunArgs BeforeRun(SessionRunContext&) override { return {.fetches = {}, .feeds = {}, .global_step = true}; }
  Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override {
    if (values.global_step >= last_step_) context.RequestStop();
    return OkStatus();
  }

 private:
  const int64_t num_steps_;
  int64_t last_step_ = -1;  // unknown before the first session
};

class WaitForStepHook final : public SessionRunHook {
 public:
  explicit WaitForStepHook(int64_t step) : step_(step) {}

  Status Begin(Graph& graph) override { return CheckGlobalStep(graph, "WaitForStep"); }
  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    if (reached_ || !context.trains()) return {};
    bool logged = false;
    while (!context.coordinator().ShouldStop()) {
      const auto now = ReadGlobalStep(context.session());
      // The run itself meets an error of the session, and returns it.
      if (!now.ok()) return {};
      if (*now >= step_) break;
      if (!logged) {
        TB_LOG(Info, "train") << "waiting for global step " << step_ << "; it is " << *now;
        logged = true;
      }
      context.coordinator().WaitForStop(kWaitForStepInterval);
    }
    reached_ = true;
    return {};
  }

 private:
  const int64_t step_;
  bool reached_ = false;
};

}  // namespace

std::shared_ptr<SessionRunHook> StopAfterSteps(int64_t num_steps) {
  return std::make_shared<StopAfterStepsHook>(num_steps);
}
std::shared_ptr<SessionRunHook> WaitForStep(int64_t step) { return std::make_shared<WaitForStepHook>(step); }

}  // namespace tensorbraid
