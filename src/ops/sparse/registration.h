// Declares the functions that register the sparse ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_SPARSE_REGISTRATION_H_
#define TENSORBRAID_OPS_SPARSE_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterSparseCrossOps(OpRegistry& r);          // cross.cc
void RegisterSparseDenseOps(OpRegistry& r);          // dense.cc
void RegisterSparseMathOps(OpRegistry& r);           // math.cc
void RegisterSparseRaggedOps(OpRegistry& r);         // ragged.cc
void RegisterSparseRaggedVariantOps(OpRegistry& r);  // ragged_variant.cc
void RegisterSparseSegmentOps(OpRegistry& r);        // segment.cc
void RegisterSparseSetsOps(OpRegistry& r);           // sets.cc
void RegisterSparseStorageOps(OpRegistry& r);        // storage.cc
void RegisterSparseStructureOps(OpRegistry& r);      // structure.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SPARSE_REGISTRATION_H_
