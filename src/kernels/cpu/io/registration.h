// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/io.
#ifndef TENSORBRAID_KERNELS_CPU_IO_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_IO_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterIoCheckpointKernels(KernelRegistry& r);       // checkpoint.cc
void RegisterIoCheckpointRemapKernels(KernelRegistry& r);  // checkpoint_remap.cc
void RegisterIoCheckpointV1Kernels(KernelRegistry& r);     // checkpoint_v1.cc
void RegisterIoFilesKernels(KernelRegistry& r);            // files.cc
void RegisterIoReadersKernels(KernelRegistry& r);          // readers.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_IO_REGISTRATION_H_
