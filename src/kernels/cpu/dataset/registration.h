// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/dataset.
#ifndef TENSORBRAID_KERNELS_CPU_DATASET_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_DATASET_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

void RegisterDatasetBatchKernels(KernelRegistry& r);     // batch.cc
void RegisterDatasetCacheKernels(KernelRegistry& r);     // cache.cc
void RegisterDatasetExampleKernels(KernelRegistry& r);   // example.cc
void RegisterDatasetFunctionKernels(KernelRegistry& r);  // function.cc
void RegisterDatasetIteratorKernels(KernelRegistry& r);  // iterator.cc
void RegisterDatasetParallelKernels(KernelRegistry& r);  // parallel.cc
void RegisterDatasetShapingKernels(KernelRegistry& r);   // shaping.cc
void RegisterDatasetShuffleKernels(KernelRegistry& r);   // shuffle.cc
void RegisterDatasetSnapshotKernels(KernelRegistry& r);  // snapshot.cc
void RegisterDatasetSourceKernels(KernelRegistry& r);    // source.cc
void RegisterDatasetSparseKernels(KernelRegistry& r);    // sparse.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_DATASET_REGISTRATION_H_
