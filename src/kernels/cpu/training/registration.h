// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/training.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterTrainingAdaptiveKernels(KernelRegistry& r);       // adaptive.cc
void RegisterTrainingDescentKernels(KernelRegistry& r);        // descent.cc
void RegisterTrainingHostSumsKernels(KernelRegistry& r);       // host_sums.cc
void RegisterTrainingProximalKernels(KernelRegistry& r);       // proximal.cc
void RegisterTrainingReplicaClocksKernels(KernelRegistry& r);  // replica_clocks.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_REGISTRATION_H_
