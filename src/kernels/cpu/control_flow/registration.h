// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/control_flow.
#ifndef TENSORBRAID_KERNELS_CPU_CONTROL_FLOW_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_CONTROL_FLOW_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterControlFlowKernels(KernelRegistry& r);              // control_flow.cc
void RegisterControlFlowFunctionalKernels(KernelRegistry& r);    // functional.cc
void RegisterControlFlowHostFunctionKernels(KernelRegistry& r);  // host_function.cc
void RegisterControlFlowSendRecvKernels(KernelRegistry& r);      // send_recv.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_CONTROL_FLOW_REGISTRATION_H_
