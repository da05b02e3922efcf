// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/parsing.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterParsingDecodeKernels(KernelRegistry& r);           // decode.cc
void RegisterParsingExampleKernels(KernelRegistry& r);          // example.cc
void RegisterParsingSequenceExampleKernels(KernelRegistry& r);  // sequence_example.cc
void RegisterParsingTensorKernels(KernelRegistry& r);           // tensor.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_REGISTRATION_H_
