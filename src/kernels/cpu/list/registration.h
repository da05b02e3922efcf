// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/list.
#ifndef TENSORBRAID_KERNELS_CPU_LIST_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_LIST_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterListOptionalKernels(KernelRegistry& r);        // optional.cc
void RegisterListTensorListKernels(KernelRegistry& r);      // tensor_list.cc
void RegisterListTensorListBulkKernels(KernelRegistry& r);  // tensor_list_bulk.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_LIST_REGISTRATION_H_
