// Datasets that make or read elements: schemas.
#include "ops/dataset/registration.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {

void RegisterDatasetSourceOps(OpRegistry& r) {
  AddDataset(r, "TensorSliceDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, "is_files: bool = false", kMetadata,
              "replicate_on_split: bool = false"},
             true);
  AddDataset(r, "TensorDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, kMetadata}, true);
  AddDataset(r, "RangeDataset", {"start: int64", "stop: int64", "step: int64"},
             {kOutputTypes, kOutputShapes, kMetadata, "replicate_on_split: bool = false"}, true);
  AddDataset(r, "TextLineDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata},
             true);
  AddDataset(r, "TFRecordDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata},
             true);
  AddDataset(r, "TFRecordDatasetV2",
             {"filenames: string", "compression_type: string", "buffer_size: int64", "byte_offsets: int64"},
             {kMetadata}, true);
  AddDataset(
      r, "FixedLengthRecordDataset",
      {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64", "buffer_size: int64"},
      {kMetadata}, true);
  AddDataset(r, "FixedLengthRecordDatasetV2",
             {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64",
              "buffer_size: int64", "compression_type: string"},
             {kMetadata}, true);
}

}  // namespace tensorbraid
