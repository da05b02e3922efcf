// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/rnn.
#ifndef TENSORBRAID_KERNELS_CPU_RNN_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_RNN_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterRnnBasicSequenceKernels(KernelRegistry& r);  // basic_sequence.cc
void RegisterRnnGruKernels(KernelRegistry& r);            // gru.cc
void RegisterRnnGruSequenceKernels(KernelRegistry& r);    // gru_sequence.cc
void RegisterRnnLstmKernels(KernelRegistry& r);           // lstm.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RNN_REGISTRATION_H_
