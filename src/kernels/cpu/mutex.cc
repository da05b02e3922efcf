// Critical sections: a mutex, a hold on it as a variant, and giving the hold back.
#include "core/strings.h"
#include "kernels/cpu/data_flow_families.h"
#include "runtime/handle_kernel.h"
#include "runtime/mutex_resource.h"

namespace tensorbraid::cpu {
namespace {

class MutexKernel final : public HandleKernel<MutexResource> {
 public:
  using HandleKernel::HandleKernel;

 private:
  RefPtr<MutexResource> Create() const override { return MakeRef<MutexResource>(name()); }
  Status Check(const MutexResource&) const override { return OkStatus(); }
};

class MutexLockKernel final : public AsyncKernel {
 public:
  explicit MutexLockKernel(const KernelConstruction&) {}

  void ComputeAsync(KernelContext& ctx, Done done) override {
    const auto mutex = ctx.LookupResource<MutexResource>(0);
    if (!mutex.ok()) return done(mutex.status());
    (*mutex)->Lock(ctx.env().cancellation, [&ctx, done = std::move(done)](StatusOr<RefPtr<HeldMutex>> hold) {
      if (!hold.ok()) return done(hold.status());
      ctx.set_output(0, MakeVariantTensor(*std::move(hold)));
      // Whoever gave the mutex back may be in the middle of something: the step goes on elsewhere.
      ctx.pool().Schedule([done] { done(OkStatus()); });
    });
  }
};

Status ConsumeMutexLock(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(HeldMutex * hold, VariantAs<HeldMutex>(ctx.input(0)));
  hold->Release();
  return OkStatus();
}

}  // namespace

void RegisterMutexKernels(KernelRegistry& r) {
  r.Add<MutexKernel>("MutexV2");
  r.Add<MutexLockKernel>("MutexLock");
  r.Add("ConsumeMutexLock", {}, ConsumeMutexLock);
}

}  // namespace tensorbraid::cpu
