// The parts that the larger families are registered in, one per source file.
#ifndef TENSORBRAID_KERNELS_CPU_FAMILIES_H_
#define TENSORBRAID_KERNELS_CPU_FAMILIES_H_

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterBinaryKernels(KernelRegistry& r);         // binary.cc
void RegisterComparisonKernels(KernelRegistry& r);     // comparison.cc
void RegisterMoreBinaryKernels(KernelRegistry& r);     // binary_more.cc
void RegisterComplexBinaryKernels(KernelRegistry& r);  // binary_more.cc
void RegisterBitwiseKernels(KernelRegistry& r);        // binary_more.cc
void RegisterComplexKernels(KernelRegistry& r);        // unary_complex.cc
void RegisterTrigonometricKernels(KernelRegistry& r);  // unary_trigonometric.cc
void RegisterSpecialKernels(KernelRegistry& r);        // special.cc
void RegisterBesselKernels(KernelRegistry& r);         // special_bessel.cc
void RegisterUnaryKernels(KernelRegistry& r);          // unary.cc
void RegisterCastKernels(KernelRegistry& r);           // cast.cc
void RegisterSelectKernels(KernelRegistry& r);         // select.cc
void RegisterMatMulKernels(KernelRegistry& r);         // matmul.cc
void RegisterArgMaxKernels(KernelRegistry& r);         // arg_max.cc
void RegisterSegmentKernels(KernelRegistry& r);        // segment.cc
void RegisterActivationKernels(KernelRegistry& r);     // activation.cc
void RegisterSoftmaxKernels(KernelRegistry& r);        // softmax.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_FAMILIES_H_
