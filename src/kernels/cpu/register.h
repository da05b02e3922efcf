// The explicit list of kernel families of the CPU, one file each, named as their ops in src/ops.
#ifndef TENSORBRAID_KERNELS_CPU_REGISTER_H_
#define TENSORBRAID_KERNELS_CPU_REGISTER_H_

#include "runtime/kernel.h"

namespace tensorbraid {

void RegisterArrayKernels(KernelRegistry& r);
void RegisterCheckpointKernels(KernelRegistry& r);
void RegisterControlFlowKernels(KernelRegistry& r);
void RegisterDataFlowKernels(KernelRegistry& r);
void RegisterLinalgKernels(KernelRegistry& r);
void RegisterFileKernels(KernelRegistry& r);
void RegisterDatasetKernels(KernelRegistry& r);
void RegisterLoggingKernels(KernelRegistry& r);
void RegisterMathKernels(KernelRegistry& r);
void RegisterNnKernels(KernelRegistry& r);
void RegisterParsingKernels(KernelRegistry& r);
void RegisterRandomKernels(KernelRegistry& r);
void RegisterReaderKernels(KernelRegistry& r);
void RegisterReductionKernels(KernelRegistry& r);
void RegisterSendRecvKernels(KernelRegistry& r);
void RegisterSparseKernels(KernelRegistry& r);
void RegisterStateKernels(KernelRegistry& r);
void RegisterTensorArrayKernels(KernelRegistry& r);
void RegisterStringKernels(KernelRegistry& r);
void RegisterSummaryKernels(KernelRegistry& r);
void RegisterTrainingKernels(KernelRegistry& r);
void RegisterVariantKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_REGISTER_H_
