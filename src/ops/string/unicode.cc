// Ops that decode and encode Unicode strings, and UnicodeScript: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status UnicodeEncodeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape splits, c.WithRank(1, 1));
  if (splits.dim(0) == 0) return InvalidArgument("input_splits must not be empty");
  c.set_output(0, Shape({splits.dim(0) < 0 ? Shape::kUnknownDim : splits.dim(0) - 1}));
  return OkStatus();
}

Status UnicodeDecodeShape(ShapeContext& c) {
  const int64_t strings = c.input(0).has_rank() ? c.input(0).num_elements() : -1;
  c.set_output(0, Shape({strings < 0 ? Shape::kUnknownDim : strings + 1}));
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, Shape({-1}));
  return OkStatus();
}

}  // namespace

void RegisterStringUnicodeOps(OpRegistry& r) {
  r.Add(Op("UnicodeScript").Input("input: int32").Output("output: int32").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("UnicodeEncode")
            .Input("input_values: int32")
            .Input("input_splits: Tsplits")
            .Output("output: string")
            .Attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
            .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
            .Attr("replacement_char: int = 65533")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeEncodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeDecode")
            .Input("input: string")
            .Output("row_splits: Tsplits")
            .Output("char_values: int32")
            .Attr("input_encoding: string")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeDecodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeDecodeWithOffsets")
            .Input("input: string")
            .Output("row_splits: Tsplits")
            .Output("char_values: int32")
            .Output("char_to_byte_starts: int64")
            .Attr("input_encoding: string")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(UnicodeDecodeShape)
            .NotDifferentiable());
  r.Add(Op("UnicodeTranscode")
            .Input("input: string")
            .Output("output: string")
            .Attr("input_encoding: string")
            .Attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
            .Attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
            .Attr("replacement_char: int = 65533")
            .Attr("replace_control_characters: bool = false")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
