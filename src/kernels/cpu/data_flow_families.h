// The parts that the data flow family is registered in, one per source file.
#ifndef TENSORBRAID_KERNELS_CPU_DATA_FLOW_FAMILIES_H_
#define TENSORBRAID_KERNELS_CPU_DATA_FLOW_FAMILIES_H_

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterQueueKernels(KernelRegistry& r);          // queue.cc
void RegisterPartitionKernels(KernelRegistry& r);      // dynamic_partition.cc
void RegisterLookupKernels(KernelRegistry& r);         // lookup.cc
void RegisterAccumulatorKernels(KernelRegistry& r);    // accumulator.cc
void RegisterBarrierKernels(KernelRegistry& r);        // barrier.cc
void RegisterStagingKernels(KernelRegistry& r);        // staging.cc
void RegisterSessionTensorKernels(KernelRegistry& r);  // session_tensor.cc
void RegisterMutexKernels(KernelRegistry& r);          // mutex.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_DATA_FLOW_FAMILIES_H_
