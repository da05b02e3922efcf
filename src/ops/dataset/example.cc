// Datasets of parsed tf.train.Examples: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetExampleOps(OpRegistry& r) {
  for (const auto& [name, order] : {std::pair<const char*, const char*>{"ParseExampleDataset", "sloppy: bool = false"},
                                    {"ParseExampleDatasetV2", "deterministic: string = 'default'"}}) {
    AddDataset(r, name, {kInputDataset, "num_parallel_calls: int64", "dense_defaults: Tdense"},
               {"sparse_keys: list(string) >= 0", "dense_keys: list(string) >= 0",
                "sparse_types: list({float, int64, string}) >= 0", "Tdense: list({float, int64, string}) >= 0",
                "dense_shapes: list(shape) >= 0", kOutputTypes, kOutputShapes, order,
                "ragged_keys: list(string) >= 0 = []", "ragged_value_types: list({float, int64, string}) >= 0 = []",
                "ragged_split_types: list({int32, int64}) >= 0 = []"});
  }
}

}  // namespace tensorbraid
