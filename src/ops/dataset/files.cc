// Datasets that read files, and the dataset of the names of files: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "ops/dataset/schema.h"

namespace tensorbraid {
namespace {

Status MatchingFilesShape(ShapeContext& c) {
  const Shape& patterns = c.input(0);
  if (patterns.has_rank() && patterns.rank() > 1) {
    return InvalidArgument("patterns must be a scalar or a vector, got shape ", patterns);
  }
  return ScalarShape(c);
}

}  // namespace

void RegisterDatasetFilesOps(OpRegistry& r) {
  AddDataset(r, "TextLineDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata},
             /*stateful=*/true);
  const auto add_csv = [&](const char* name, std::initializer_list<const char*> more) {
    Op op(name);
    for (const char* input :
         {"filenames: string", "compression_type: string", "buffer_size: int64", "header: bool", "field_delim: string",
          "use_quote_delim: bool", "na_value: string", "select_cols: int64", "record_defaults: output_types"}) {
      op.Input(input);
    }
    for (const char* input : more) op.Input(input);
    r.Add(op.Output("handle: variant")
              .Attr("output_types: list({float, double, int32, int64, string}) >= 1")
              .Attr(kOutputShapes)
              .Stateful()
              .Shape(ScalarShape)
              .NotDifferentiable());
  };
  add_csv("CSVDataset", {});
  add_csv("CSVDatasetV2", {"exclude_cols: int64"});
  AddDataset(r, "TFRecordDataset", {"filenames: string", "compression_type: string", "buffer_size: int64"}, {kMetadata},
             /*stateful=*/true);
  AddDataset(r, "TFRecordDatasetV2",
             {"filenames: string", "compression_type: string", "buffer_size: int64", "byte_offsets: int64"},
             {kMetadata}, /*stateful=*/true);
  AddDataset(
      r, "FixedLengthRecordDataset",
      {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64", "buffer_size: int64"},
      {kMetadata}, /*stateful=*/true);
  AddDataset(r, "FixedLengthRecordDatasetV2",
             {"filenames: string", "header_bytes: int64", "record_bytes: int64", "footer_bytes: int64",
              "buffer_size: int64", "compression_type: string"},
             {kMetadata}, /*stateful=*/true);
  r.Add(Op("MatchingFilesDataset")
            .Input("patterns: string")
            .Output("handle: variant")
            .Stateful()
            .Shape(MatchingFilesShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
