// Datasets of sparse tensors: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetSparseOps(OpRegistry& r) {
  AddDataset(r, "SparseTensorSliceDataset", {"indices: int64", "values: Tvalues", "dense_shape: int64"},
             {"Tvalues: type"}, /*stateful=*/true);
  AddDataset(r, "DenseToSparseBatchDataset", {kInputDataset, "batch_size: int64", "row_shape: int64"},
             {kOutputTypes, kOutputShapes});
}

}  // namespace tensorbraid
