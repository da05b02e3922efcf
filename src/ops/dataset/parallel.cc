// Datasets that compute several elements at a time, and SleepDataset: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetParallelOps(OpRegistry& r) {
  AddDataset(r, "SleepDataset", {kInputDataset, "sleep_microseconds: int64"}, {kOutputTypes, kOutputShapes});
  AddDataset(r, "ParallelMapDataset", {kInputDataset, kOtherArguments, "num_parallel_calls: int32"},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, "use_inter_op_parallelism: bool = true",
              "sloppy: bool = false", "preserve_cardinality: bool = false", kMetadata});
  AddDataset(r, "ParallelMapDatasetV2", {kInputDataset, kOtherArguments, "num_parallel_calls: int64"},
             {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, "use_inter_op_parallelism: bool = true",
              "deterministic: string = 'default'", "preserve_cardinality: bool = false",
              "use_unbounded_threadpool: bool = false", kMetadata});
  AddDataset(
      r, "MapAndBatchDataset",
      {kInputDataset, kOtherArguments, "batch_size: int64", "num_parallel_calls: int64", "drop_remainder: bool"},
      {"f: func", kOtherArgumentTypes, kOutputTypes, kOutputShapes, "preserve_cardinality: bool = false", kMetadata});
}

}  // namespace tensorbraid
