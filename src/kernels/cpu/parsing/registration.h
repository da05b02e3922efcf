// The files of the parsing kernels: each has one function, which registers the kernels of the ops in the file of the
// same name in ops/parsing.
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
