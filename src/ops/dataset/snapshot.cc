// Datasets that save elements to files or load them: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetSnapshotOps(OpRegistry& r) {
  AddDataset(
      r, "SnapshotDatasetV2",
      {kInputDataset, "path: string", "reader_func_other_args: Treader_func_args",
       "shard_func_other_args: Tshard_func_args"},
      {kOutputTypes, kOutputShapes, "compression: string = ''", "reader_prefix: string = ''",
       "writer_prefix: string = ''", "hash_valid: bool = false", "hash: int = 0", "reader_func: func",
       "shard_func: func", "Treader_func_args: list(type) >= 0", "Tshard_func_args: list(type) >= 0", kMetadata});
  r.Add(Op("SaveDataset")
            .Input(kInputDataset)
            .Input("path: string")
            .Input("shard_func_other_args: Tshard_func_args")
            .Attr("compression: string = ''")
            .Attr("shard_func: func")
            .Attr("use_shard_func: bool = true")
            .Attr("Tshard_func_args: list(type) >= 0")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  AddDataset(r, "SaveDatasetV2", {kInputDataset, "path: string", "shard_func_other_args: Tshard_func_args"},
             {"compression: string = ''", "shard_func: func", "use_shard_func: bool = true",
              "Tshard_func_args: list(type) >= 0", kOutputTypes, kOutputShapes},
             /*stateful=*/true);
  AddDataset(r, "LoadDataset", {"path: string", "reader_func_other_args: Treader_func_args"},
             {kOutputTypes, kOutputShapes, "compression: string = ''", "reader_func: func",
              "Treader_func_args: list(type) >= 0"},
             /*stateful=*/true);
}

}  // namespace tensorbraid
