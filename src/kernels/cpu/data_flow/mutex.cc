// Critical sections: kernels that create a mutex, lock it (the lock is a variant tensor) and release the lock.
#include "core/text/strings.h"
#include "runtime/kernel/handle_kernel.h"
#include "runtime/kernel/kernel.h"
#include "runtime/resources/mutex_resource.h"

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
      // This callback may run on the thread that released the mutex, in the middle of other work, so the step continues
      // on the pool.
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

void RegisterDataFlowMutexKernels(KernelRegistry& r) {
  r.Add<MutexKernel>("MutexV2");
  r.Add<MutexLockKernel>("MutexLock");
  r.Add("ConsumeMutexLock", {}, ConsumeMutexLock);
}

}  // namespace tensorbraid::cpu
