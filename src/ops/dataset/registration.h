// Declares the functions that register the dataset ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_DATASET_REGISTRATION_H_
#define TENSORBRAID_OPS_DATASET_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterDatasetBatchOps(OpRegistry& r);     // batch.cc
void RegisterDatasetCacheOps(OpRegistry& r);     // cache.cc
void RegisterDatasetExampleOps(OpRegistry& r);   // example.cc
void RegisterDatasetFunctionOps(OpRegistry& r);  // function.cc
void RegisterDatasetIteratorOps(OpRegistry& r);  // iterator.cc
void RegisterDatasetParallelOps(OpRegistry& r);  // parallel.cc
void RegisterDatasetShapingOps(OpRegistry& r);   // shaping.cc
void RegisterDatasetShuffleOps(OpRegistry& r);   // shuffle.cc
void RegisterDatasetSnapshotOps(OpRegistry& r);  // snapshot.cc
void RegisterDatasetSourceOps(OpRegistry& r);    // source.cc
void RegisterDatasetSparseOps(OpRegistry& r);    // sparse.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_DATASET_REGISTRATION_H_
