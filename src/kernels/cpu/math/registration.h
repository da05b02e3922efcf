// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/math.
#ifndef TENSORBRAID_KERNELS_CPU_MATH_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_MATH_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterMathAddNKernels(KernelRegistry& r);        // add_n.cc
void RegisterMathBesselKernels(KernelRegistry& r);      // bessel.cc
void RegisterMathBinaryKernels(KernelRegistry& r);      // binary.cc
void RegisterMathBitwiseKernels(KernelRegistry& r);     // bitwise.cc
void RegisterMathCastKernels(KernelRegistry& r);        // cast.cc
void RegisterMathClipKernels(KernelRegistry& r);        // clip.cc
void RegisterMathComparisonKernels(KernelRegistry& r);  // comparison.cc
void RegisterMathComplexKernels(KernelRegistry& r);     // complex.cc
void RegisterMathCrossKernels(KernelRegistry& r);       // cross.cc
void RegisterMathLogicalKernels(KernelRegistry& r);     // logical.cc
void RegisterMathMatmulKernels(KernelRegistry& r);      // matmul.cc
void RegisterMathRangeKernels(KernelRegistry& r);       // range.cc
void RegisterMathSelectKernels(KernelRegistry& r);      // select.cc
void RegisterMathSpecialKernels(KernelRegistry& r);     // special.cc
void RegisterMathUnaryKernels(KernelRegistry& r);       // unary.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_MATH_REGISTRATION_H_
