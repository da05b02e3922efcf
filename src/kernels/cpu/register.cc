#include "kernels/cpu/register.h"

namespace tensorbraid {

const KernelRegistry& KernelRegistry::Global() {
  static const KernelRegistry* registry = [] {
    auto* r = new KernelRegistry;
    RegisterArrayKernels(*r);
    RegisterCheckpointKernels(*r);
    RegisterDataFlowKernels(*r);
    RegisterLoggingKernels(*r);
    RegisterMathKernels(*r);
    RegisterNnKernels(*r);
    RegisterRandomKernels(*r);
    RegisterReductionKernels(*r);
    RegisterSendRecvKernels(*r);
    RegisterSparseKernels(*r);
    RegisterStateKernels(*r);
    RegisterTrainingKernels(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
