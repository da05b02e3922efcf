#include "kernels/cpu/register.h"

namespace tensorbraid {

const KernelRegistry& KernelRegistry::Global() {
  static const KernelRegistry* registry = [] {
    auto* r = new KernelRegistry;
    RegisterArrayKernels(*r);
    RegisterCheckpointKernels(*r);
    RegisterControlFlowKernels(*r);
    RegisterDataFlowKernels(*r);
    RegisterLinalgKernels(*r);
    RegisterFileKernels(*r);
    RegisterDatasetKernels(*r);
    RegisterLoggingKernels(*r);
    RegisterMathKernels(*r);
    RegisterNnKernels(*r);
    RegisterParsingKernels(*r);
    RegisterRandomKernels(*r);
    RegisterReaderKernels(*r);
    RegisterReductionKernels(*r);
    RegisterSendRecvKernels(*r);
    RegisterSparseKernels(*r);
    RegisterStateKernels(*r);
    RegisterTensorArrayKernels(*r);
    RegisterStringKernels(*r);
    RegisterSummaryKernels(*r);
    RegisterTrainingKernels(*r);
    RegisterVariantKernels(*r);
    return r;
  }();
  return *registry;
}

}  // namespace tensorbraid
