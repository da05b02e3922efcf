// The clocks of asynchronous replicas. The kernels only look up the resources, in runtime/replicas: an UpdateClock
// decides whether a gradient is too stale, and ReplicaClocks let replicas wait for each other.
#include "runtime/replicas/replica_clocks.h"

#include "kernels/cpu/scalar_input.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/replicas/update_clock.h"

namespace tensorbraid::cpu {
namespace {

class UpdateClockKernel final : public HandleKernel<UpdateClock> {
 public:
  explicit UpdateClockKernel(const KernelConstruction& c) : HandleKernel(c) {}

 protected:
  RefPtr<UpdateClock> Create() const override { return MakeRef<UpdateClock>(name()); }
  Status Check(const UpdateClock&) const override { return OkStatus(); }
};

Status ReadUpdateClock(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto clock, ctx.LookupResource<UpdateClock>(0));
  ctx.set_output(0, Tensor::Scalar(clock->version()));
  return OkStatus();
}

Status AdmitGradient(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto clock, ctx.LookupResource<UpdateClock>(0));
  TF_ASSIGN_OR_RETURN(const int64_t version, ScalarInput<int64_t>(ctx, 1, "version"));
  TF_ASSIGN_OR_RETURN(auto decision, clock->Admit(version, ctx.node().attr<int64_t>("max_age")));
  const auto accepted = static_cast<bool>(decision.update);
  ctx.set_output(0, Tensor::Scalar(accepted));
  // The outcome is the age of the gradient. It is encoded as -1 - age if the gradient was refused.
  ctx.set_output(1, Tensor::Scalar(accepted ? decision.age : -1 - decision.age));
  ctx.set_output(2, MakeVariantTensor(std::move(decision.update)));
  return OkStatus();
}

Status CompleteUpdate(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(PendingUpdate * update, VariantAs<PendingUpdate>(ctx.input(0)));
  update->Complete();
  return OkStatus();
}

class ReplicaClocksKernel final : public HandleKernel<ReplicaClocks> {
 public:
  explicit ReplicaClocksKernel(const KernelConstruction& c)
      : HandleKernel(c), max_lead_(c.attr<int64_t>("max_lead")), warm_up_steps_(c.attr<int64_t>("warm_up_steps")) {}

 protected:
  RefPtr<ReplicaClocks> Create() const override { return MakeRef<ReplicaClocks>(name(), max_lead_, warm_up_steps_); }
  Status Check(const ReplicaClocks&) const override { return OkStatus(); }

 private:
  const int64_t max_lead_;
  const int64_t warm_up_steps_;
};

// _JoinReplicas and _FinishReplicaStep.
template <auto wait>
class AwaitClocksKernel final : public AsyncKernel {
 public:
  explicit AwaitClocksKernel(const KernelConstruction& c) : replica_(c.attr<int64_t>("replica")) {}
  void ComputeAsync(KernelContext& ctx, Done done) override {
    const auto clocks = ctx.LookupResource<ReplicaClocks>(0);
    if (!clocks.ok()) return done(clocks.status());
    const auto step = ScalarInput<int64_t>(ctx, 1, "global_step");
    if (!step.ok()) return done(step.status());
    // The callback may run on the thread of another replica's step, so this step continues on the pool.
    (**clocks.*wait)(replica_, *step, ctx.env().cancellation, [&ctx, done = std::move(done)](const Status& status) {
      ctx.pool().Schedule([done, status] { done(status); });
    });
  }

 private:
  const int64_t replica_;
};

Status LeaveReplicas(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto clocks, ctx.LookupResource<ReplicaClocks>(0));
  clocks->Leave(ctx.node().attr<int64_t>("replica"));
  return OkStatus();
}

Status ReplicaHeartbeat(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto clocks, ctx.LookupResource<ReplicaClocks>(0));
  const std::chrono::milliseconds lost_after(ctx.node().attr<int64_t>("lost_after_ms"));
  auto state = clocks->Heartbeat(ctx.node().attr<int64_t>("replica"), lost_after);
  ctx.set_output(0, Tensor::Scalar(static_cast<int64_t>(state.wait)));
  ctx.set_output(1, Tensor::Scalar(std::move(state.description)));
  return OkStatus();
}

}  // namespace

void RegisterTrainingReplicaClocksKernels(KernelRegistry& r) {
  r.Add<UpdateClockKernel>("_UpdateClock");
  r.Add("_ReadUpdateClock", {}, ReadUpdateClock);
  r.Add("_AdmitGradient", {}, AdmitGradient);
  r.Add("_CompleteUpdate", {}, CompleteUpdate);
  r.Add<ReplicaClocksKernel>("_ReplicaClocks");
  r.Add<AwaitClocksKernel<&ReplicaClocks::Join>>("_JoinReplicas");
  r.Add<AwaitClocksKernel<&ReplicaClocks::FinishStep>>("_FinishReplicaStep");
  r.Add("_LeaveReplicas", {}, LeaveReplicas);
  r.Add("_ReplicaHeartbeat", {}, ReplicaHeartbeat);
}

}  // namespace tensorbraid::cpu
