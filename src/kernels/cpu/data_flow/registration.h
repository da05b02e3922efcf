// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/data_flow.
#ifndef TENSORBRAID_KERNELS_CPU_DATA_FLOW_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_DATA_FLOW_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterDataFlowAccumulatorKernels(KernelRegistry& r);       // accumulator.cc
void RegisterDataFlowBarrierKernels(KernelRegistry& r);           // barrier.cc
void RegisterDataFlowDynamicPartitionKernels(KernelRegistry& r);  // dynamic_partition.cc
void RegisterDataFlowLookupKernels(KernelRegistry& r);            // lookup.cc
void RegisterDataFlowMutexKernels(KernelRegistry& r);             // mutex.cc
void RegisterDataFlowQueueKernels(KernelRegistry& r);             // queue.cc
void RegisterDataFlowSessionTensorKernels(KernelRegistry& r);     // session_tensor.cc
void RegisterDataFlowStagingKernels(KernelRegistry& r);           // staging.cc

}  // namespace tensorbraid::cpu

// tensor_array.cc is outside of namespace cpu.
namespace tensorbraid {

void RegisterDataFlowTensorArrayKernels(KernelRegistry& r);  // tensor_array.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_DATA_FLOW_REGISTRATION_H_
