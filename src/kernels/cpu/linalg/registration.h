// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/linalg.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterLinalgBandedKernels(KernelRegistry& r);     // banded.cc
void RegisterLinalgDecomposeKernels(KernelRegistry& r);  // decompose.cc
void RegisterLinalgDiagonalKernels(KernelRegistry& r);   // diagonal.cc
void RegisterLinalgEigenKernels(KernelRegistry& r);      // eigen.cc
void RegisterLinalgEinsumKernels(KernelRegistry& r);     // einsum.cc
void RegisterLinalgFourierKernels(KernelRegistry& r);    // fourier.cc
void RegisterLinalgFunctionsKernels(KernelRegistry& r);  // functions.cc
void RegisterLinalgSolveKernels(KernelRegistry& r);      // solve.cc
void RegisterLinalgSvdKernels(KernelRegistry& r);        // svd.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_REGISTRATION_H_
