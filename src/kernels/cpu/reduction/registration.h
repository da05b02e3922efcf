// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/reduction.
#ifndef TENSORBRAID_KERNELS_CPU_REDUCTION_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_REDUCTION_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterReductionArgMaxKernels(KernelRegistry& r);     // arg_max.cc
void RegisterReductionHistogramKernels(KernelRegistry& r);  // histogram.cc
void RegisterReductionKernels(KernelRegistry& r);           // reduction.cc
void RegisterReductionScanKernels(KernelRegistry& r);       // scan.cc
void RegisterReductionSegmentKernels(KernelRegistry& r);    // segment.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_REDUCTION_REGISTRATION_H_
