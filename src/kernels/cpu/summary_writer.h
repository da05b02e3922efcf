// The part of the summary family that writes files.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARY_WRITER_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARY_WRITER_H_

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterSummaryWriterKernels(KernelRegistry& r);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARY_WRITER_H_
