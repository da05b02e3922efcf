// Datasets that choose, repeat, join or split the elements of other datasets, datasets that set options, and
// DatasetCardinality: schemas.
#include "graph/model/node.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetShapingOps(OpRegistry& r) {
  AddDataset(r, "RepeatDataset", {kInputDataset, "count: int64"}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "SkipDataset", {kInputDataset, "count: int64"}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "TakeDataset", {kInputDataset, "count: int64"}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ZipDataset", {"input_datasets: N * variant"}, {kOutputTypes, kOutputShapes, "N: int >= 1", kMetadata});
  AddDataset(r, "ConcatenateDataset", {kInputDataset, "another_dataset: variant"},
             {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ShardDataset", {kInputDataset, "num_shards: int64", "index: int64"},
             {"require_non_empty: bool = false", kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "OptionsDataset", {kInputDataset},
             {"serialized_options: string", kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ModelDataset", {kInputDataset},
             {"algorithm: int = 0", "cpu_budget: int = 0", "ram_budget: int = 0", kOutputTypes, kOutputShapes});
  AddDataset(r, "OptimizeDataset", {kInputDataset, "optimizations: string"},
             {kOutputTypes, kOutputShapes, "optimization_configs: list(string) = []"});
  AddDataset(r, "RewriteDataset", {kInputDataset, "rewrite_name: string"}, {kOutputTypes, kOutputShapes});
  AddDataset(r, "FinalizeDataset", {kInputDataset}, {"has_captured_ref: bool = false", kOutputTypes, kOutputShapes});
  AddDataset(r, "MaxIntraOpParallelismDataset", {kInputDataset, "max_intra_op_parallelism: int64"},
             {kOutputTypes, kOutputShapes});
  AddDataset(r, "PrivateThreadPoolDataset", {kInputDataset, "num_threads: int64"}, {kOutputTypes, kOutputShapes});
  AddDataset(r, "AssertCardinalityDataset", {kInputDataset, "cardinality: int64"}, {kOutputTypes, kOutputShapes});
  AddDataset(r, "IgnoreErrorsDataset", {kInputDataset}, {kOutputTypes, kOutputShapes, "log_warning: bool = false"});
  AddDataset(r, "UnbatchDataset", {kInputDataset}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "WindowDataset",
             {kInputDataset, "size: int64", "shift: int64", "stride: int64", "drop_remainder: bool"},
             {kOutputTypes, kOutputShapes, kMetadata});
  r.Add(Op("DatasetCardinality")
            .Input("input_dataset: variant")
            .Output("cardinality: int64")
            .Attr("cardinality_options: string = ''")
            .Shape(ScalarShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
