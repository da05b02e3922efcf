// Datasets whose elements come from tensors, ranges, generators or databases: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetSourceOps(OpRegistry& r) {
  AddDataset(r, "TensorSliceDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, "is_files: bool = false", kMetadata,
              "replicate_on_split: bool = false"},
             /*stateful=*/true);
  AddDataset(r, "TensorDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, kMetadata}, /*stateful=*/true);
  AddDataset(r, "RangeDataset", {"start: int64", "stop: int64", "step: int64"},
             {kOutputTypes, kOutputShapes, kMetadata, "replicate_on_split: bool = false"}, /*stateful=*/true);
  AddDataset(r, "GeneratorDataset",
             {"init_func_other_args: Tinit_func_args", "next_func_other_args: Tnext_func_args",
              "finalize_func_other_args: Tfinalize_func_args"},
             {"init_func: func", "next_func: func", "finalize_func: func", "Tinit_func_args: list(type) >= 0",
              "Tnext_func_args: list(type) >= 0", "Tfinalize_func_args: list(type) >= 0", kOutputTypes, kOutputShapes,
              kMetadata},
             /*stateful=*/true);
  AddDataset(r, "SqlDataset", {"driver_name: string", "data_source_name: string", "query: string"},
             {kOutputTypes, kOutputShapes}, /*stateful=*/true);
}

}  // namespace tensorbraid
