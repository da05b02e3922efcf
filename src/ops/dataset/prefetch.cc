// The dataset that computes elements ahead of time: its schema.
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetPrefetchOps(OpRegistry& r) {
  AddDataset(r, "PrefetchDataset", {kInputDataset, "buffer_size: int64"},
             {kOutputTypes, kOutputShapes, "slack_period: int = 0", "legacy_autotune: bool = true",
              "buffer_size_min: int = 0", kMetadata});
}

}  // namespace tensorbraid
