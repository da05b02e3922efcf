// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/random.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterRandomCandidateSamplingKernels(KernelRegistry& r);  // candidate_sampling.cc
void RegisterRandomSamplingKernels(KernelRegistry& r);           // sampling.cc
void RegisterRandomStateKernels(KernelRegistry& r);              // state.cc
void RegisterRandomStatelessKernels(KernelRegistry& r);          // stateless.cc

}  // namespace tensorbraid::cpu

namespace tensorbraid {

void RegisterRandomKernels(KernelRegistry& r);  // random.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_REGISTRATION_H_
