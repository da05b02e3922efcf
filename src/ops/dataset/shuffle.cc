// Datasets that shuffle the elements of other datasets, and datasets of random numbers: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetShuffleOps(OpRegistry& r) {
  AddDataset(r, "RandomDataset", {"seed: int64", "seed2: int64"}, {kOutputTypes, kOutputShapes, kMetadata},
             /*stateful=*/true);
  AddDataset(r, "RandomDatasetV2", {"seed: int64", "seed2: int64", "seed_generator: resource"},
             {"rerandomize_each_iteration: bool = false", kOutputTypes, kOutputShapes, kMetadata}, /*stateful=*/true);
  AddDataset(r, "ShuffleDatasetV3",
             {kInputDataset, "buffer_size: int64", "seed: int64", "seed2: int64", "seed_generator: resource"},
             {"reshuffle_each_iteration: bool = true", kOutputTypes, kOutputShapes, kMetadata}, /*stateful=*/true);
  AddDataset(r, "ShuffleDataset", {kInputDataset, "buffer_size: int64", "seed: int64", "seed2: int64"},
             {"reshuffle_each_iteration: bool = true", kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "ShuffleAndRepeatDataset",
             {kInputDataset, "buffer_size: int64", "seed: int64", "seed2: int64", "count: int64"},
             {kOutputTypes, kOutputShapes, "reshuffle_each_iteration: bool = true", kMetadata});
  AddDataset(
      r, "ShuffleAndRepeatDatasetV2",
      {kInputDataset, "buffer_size: int64", "seed: int64", "seed2: int64", "count: int64", "seed_generator: resource"},
      {"reshuffle_each_iteration: bool = true", kOutputTypes, kOutputShapes, kMetadata}, /*stateful=*/true);
}

}  // namespace tensorbraid
