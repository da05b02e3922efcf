// Ops that decode strings with numbers, compressed bytes, JSON or CSV: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/parsing/shapes.h"

namespace tensorbraid {
namespace {

// Adds a dimension of unknown size for the elements that each string decodes to.
Status DecodedNumbersShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return OkStatus();
  Shape shape = c.input(0);
  shape.AddDim(Shape::kUnknownDim);
  c.set_output(0, shape);
  return OkStatus();
}

Status DecodeCsvShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(CheckAtMostVector(c, i));
    if (c.input(i).has_rank() && c.input(i).rank() == 1 && c.input(i).dim(0) > 1) {
      return InvalidArgument("record_defaults[", i - 1, "] must have at most one element, got shape ", c.input(i));
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return OkStatus();
}

}  // namespace

void RegisterParsingDecodeOps(OpRegistry& r) {
  r.Add(Op("DecodeRaw")
            .Input("bytes: string")
            .Output("output: out_type")
            .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, "
                  "bool, bfloat16}")
            .Attr("little_endian: bool = true")
            .Shape(DecodedNumbersShape)
            .NotDifferentiable());
  r.Add(Op("DecodePaddedRaw")
            .Input("input_bytes: string")
            .Input("fixed_length: int32")
            .Output("output: out_type")
            .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
            .Attr("little_endian: bool = true")
            .Shape(DecodedNumbersShape)
            .NotDifferentiable());
  r.Add(Op("DecodeCompressed")
            .Input("bytes: string")
            .Output("output: string")
            .Attr("compression_type: string = ''")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeJSONExample")
            .Input("json_examples: string")
            .Output("binary_examples: string")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeCSV")
            .Input("records: string")
            .Input("record_defaults: OUT_TYPE")
            .Output("output: OUT_TYPE")
            .Attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1")
            .Attr("field_delim: string = ','")
            .Attr("use_quote_delim: bool = true")
            .Attr("na_value: string = ''")
            .Attr("select_cols: list(int) = []")
            .Shape(DecodeCsvShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
