// The parts that the larger families are registered in, one per source file.
#ifndef TENSORBRAID_KERNELS_CPU_FAMILIES_H_
#define TENSORBRAID_KERNELS_CPU_FAMILIES_H_

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterBinaryKernels(KernelRegistry& r);             // binary.cc
void RegisterComparisonKernels(KernelRegistry& r);         // comparison.cc
void RegisterMoreBinaryKernels(KernelRegistry& r);         // binary_more.cc
void RegisterComplexBinaryKernels(KernelRegistry& r);      // binary_more.cc
void RegisterBitwiseKernels(KernelRegistry& r);            // binary_more.cc
void RegisterComplexKernels(KernelRegistry& r);            // unary_complex.cc
void RegisterTrigonometricKernels(KernelRegistry& r);      // unary_trigonometric.cc
void RegisterSpecialKernels(KernelRegistry& r);            // special.cc
void RegisterBesselKernels(KernelRegistry& r);             // special_bessel.cc
void RegisterUnaryKernels(KernelRegistry& r);              // unary.cc
void RegisterCastKernels(KernelRegistry& r);               // cast.cc
void RegisterSelectKernels(KernelRegistry& r);             // select.cc
void RegisterMatMulKernels(KernelRegistry& r);             // matmul.cc
void RegisterArgMaxKernels(KernelRegistry& r);             // arg_max.cc
void RegisterSegmentKernels(KernelRegistry& r);            // segment.cc
void RegisterSparseSegmentKernels(KernelRegistry& r);      // sparse_segment.cc
void RegisterProductKernels(KernelRegistry& r);            // reduction_product.cc
void RegisterExtremeKernels(KernelRegistry& r);            // reduction_extreme.cc
void RegisterNormKernels(KernelRegistry& r);               // reduction_norm.cc
void RegisterScanKernels(KernelRegistry& r);               // scan.cc
void RegisterHistogramKernels(KernelRegistry& r);          // histogram.cc
void RegisterSequenceKernels(KernelRegistry& r);           // sequence.cc
void RegisterMixedMatMulKernels(KernelRegistry& r);        // matmul_mixed.cc
void RegisterEinsumKernels(KernelRegistry& r);             // einsum.cc
void RegisterDecompositionKernels(KernelRegistry& r);      // linalg_decompose.cc
void RegisterEigenKernels(KernelRegistry& r);              // linalg_eigen.cc
void RegisterSolveKernels(KernelRegistry& r);              // linalg_solve.cc
void RegisterBandedKernels(KernelRegistry& r);             // linalg_banded.cc
void RegisterMatrixFunctionKernels(KernelRegistry& r);     // linalg_functions.cc
void RegisterDiagonalKernels(KernelRegistry& r);           // linalg_diagonal.cc
void RegisterFourierKernels(KernelRegistry& r);            // linalg_fourier.cc
void RegisterActivationKernels(KernelRegistry& r);         // activation.cc
void RegisterSoftmaxKernels(KernelRegistry& r);            // softmax.cc
void RegisterStatelessRandomKernels(KernelRegistry& r);    // random_stateless.cc
void RegisterRandomSamplingKernels(KernelRegistry& r);     // random_sampling.cc
void RegisterCandidateSamplingKernels(KernelRegistry& r);  // candidate_sampling.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_FAMILIES_H_
