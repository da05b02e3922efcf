// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/string.
#ifndef TENSORBRAID_KERNELS_CPU_STRING_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_STRING_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterStringFormatKernels(KernelRegistry& r);   // format.cc
void RegisterStringHashKernels(KernelRegistry& r);     // hash.cc
void RegisterStringJoinKernels(KernelRegistry& r);     // join.cc
void RegisterStringNumbersKernels(KernelRegistry& r);  // numbers.cc
void RegisterStringRegexKernels(KernelRegistry& r);    // regex.cc
void RegisterStringSplitKernels(KernelRegistry& r);    // split.cc
void RegisterStringKernels(KernelRegistry& r);         // string.cc
void RegisterStringUnicodeKernels(KernelRegistry& r);  // unicode.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_STRING_REGISTRATION_H_
