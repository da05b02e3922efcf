// Datasets of batches: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetBatchOps(OpRegistry& r) {
  AddDataset(r, "BatchDataset", {kInputDataset, "batch_size: int64"}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "BatchDatasetV2", {kInputDataset, "batch_size: int64", "drop_remainder: bool"},
             {"parallel_copy: bool = false", kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(
      r, "ParallelBatchDataset",
      {kInputDataset, "batch_size: int64", "num_parallel_calls: int64", "drop_remainder: bool"},
      {"parallel_copy: bool = false", kOutputTypes, kOutputShapes, "deterministic: string = 'default'", kMetadata});
  AddDataset(r, "RebatchDataset", {kInputDataset, "num_replicas: int64"},
             {kOutputTypes, kOutputShapes, "use_fallback: bool = true"});
  AddDataset(r, "RebatchDatasetV2", {kInputDataset, "batch_sizes: int64", "drop_remainder: bool"},
             {kOutputTypes, kOutputShapes});
  AddDataset(r, "PaddedBatchDataset",
             {kInputDataset, "batch_size: int64", "padded_shapes: N * int64", "padding_values: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, "N: int >= 1", kMetadata});
  AddDataset(
      r, "PaddedBatchDatasetV2",
      {kInputDataset, "batch_size: int64", "padded_shapes: N * int64", "padding_values: Toutput_types",
       "drop_remainder: bool"},
      {"parallel_copy: bool = false", "Toutput_types: list(type) >= 1", kOutputShapes, "N: int >= 1", kMetadata});
}

}  // namespace tensorbraid
