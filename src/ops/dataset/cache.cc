// Datasets that keep the elements of their input in memory or in files: schemas.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetCacheOps(OpRegistry& r) {
  AddDataset(r, "CacheDataset", {kInputDataset, "filename: string"}, {kOutputTypes, kOutputShapes, kMetadata});
  AddDataset(r, "CacheDatasetV2", {kInputDataset, "filename: string", "cache: resource"},
             {kOutputTypes, kOutputShapes, kMetadata}, /*stateful=*/true);
}

}  // namespace tensorbraid
