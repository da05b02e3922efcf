// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/sparse.
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterSparseCrossKernels(KernelRegistry& r);          // cross.cc
void RegisterSparseDenseKernels(KernelRegistry& r);          // dense.cc
void RegisterSparseMathKernels(KernelRegistry& r);           // math.cc
void RegisterSparseRaggedKernels(KernelRegistry& r);         // ragged.cc
void RegisterSparseRaggedVariantKernels(KernelRegistry& r);  // ragged_variant.cc
void RegisterSparseSegmentKernels(KernelRegistry& r);        // segment.cc
void RegisterSparseSetsKernels(KernelRegistry& r);           // sets.cc
void RegisterSparseStorageKernels(KernelRegistry& r);        // storage.cc
void RegisterSparseStructureKernels(KernelRegistry& r);      // structure.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_REGISTRATION_H_
