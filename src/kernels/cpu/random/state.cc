// Ops that read and set the state of another node's random generator, for checkpoints.
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_state.h"

namespace tensorbraid::cpu {
namespace {

class RandomStateKernel : public Kernel, public KernelStatesUser {
 public:
  explicit RandomStateKernel(const KernelConstruction& c) : node_(c.attr<std::string>("node")) {}
  void UseStates(KernelStates* states) override { states_ = states; }

 protected:
  const std::string node_;
  KernelStates* states_ = nullptr;
};

class ReadRandomStateKernel final : public RandomStateKernel {
 public:
  using RandomStateKernel::RandomStateKernel;
  Status Compute(KernelContext& ctx) override {
    if (states_ == nullptr) return FailedPrecondition("there is no session with random ops");
    ctx.set_output(0, states_->Save(node_));
    return OkStatus();
  }
};

class SetRandomStateKernel final : public RandomStateKernel {
 public:
  using RandomStateKernel::RandomStateKernel;
  Status Compute(KernelContext& ctx) override {
    if (states_ == nullptr) return FailedPrecondition("there is no session with random ops");
    return states_->Restore(node_, ctx.input(0));
  }
};

}  // namespace

void RegisterRandomStateKernels(KernelRegistry& r) {
  r.Add<ReadRandomStateKernel>("_ReadRandomState");
  r.Add<SetRandomStateKernel>("_SetRandomState");
}

}  // namespace tensorbraid::cpu
