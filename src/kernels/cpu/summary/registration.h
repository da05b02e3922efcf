// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/summary.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARY_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARY_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterSummaryWriterKernels(KernelRegistry& r);  // writer.cc

}  // namespace tensorbraid::cpu

namespace tensorbraid {

void RegisterSummaryKernels(KernelRegistry& r);  // summary.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARY_REGISTRATION_H_
