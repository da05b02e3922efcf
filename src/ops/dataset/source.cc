// Datasets that make elements, or read them from files or databases: schemas and shape rules.
#include "core/text/strings.h"
#include "ops/dataset/registration.h"
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

void RegisterDatasetSourceOps(OpRegistry& r) {
  AddDataset(r, "TensorSliceDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, "is_files: bool = false", kMetadata,
              "replicate_on_split: bool = false"},
             /*stateful=*/true);
  AddDataset(r, "TensorDataset", {"components: Toutput_types"},
             {"Toutput_types: list(type) >= 1", kOutputShapes, kMetadata}, /*stateful=*/true);
  AddDataset(r, "RangeDataset", {"start: int64", "stop: int64", "step: int64"},
             {kOutputTypes, kOutputShapes, kMetadata, "replicate_on_split: bool = false"}, /*stateful=*/true);
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
