// StringStrip, StringLength, StringLower, StringUpper, Substr, EncodeBase64 and DecodeBase64: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status SubstrShape(ShapeContext& c) {
  const Shape& pos = c.input(1);
  const Shape& len = c.input(2);
  const bool differ = pos.is_fully_defined() && len.is_fully_defined() ? pos != len : !pos.IsCompatibleWith(len);
  if (differ) return InvalidArgument("pos and len must have the same shape, got ", pos, " and ", len);
  TF_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(c.input(0), pos));
  c.set_output(0, std::move(out));
  return OkStatus();
}

}  // namespace

void RegisterStringOps(OpRegistry& r) {
  r.Add(Op("StringStrip").Input("input: string").Output("output: string").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("StringLength")
            .Input("input: string")
            .Output("output: int32")
            .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  for (const char* op : {"StringLower", "StringUpper"}) {
    r.Add(Op(op)
              .Input("input: string")
              .Output("output: string")
              .Attr("encoding: string = ''")
              .Shape(UnchangedShape)
              .NotDifferentiable());
  }
  r.Add(Op("Substr")
            .Input("input: string")
            .Input("pos: T")
            .Input("len: T")
            .Output("output: string")
            .Attr("T: {int32, int64}")
            .Attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
            .Shape(SubstrShape)
            .NotDifferentiable());
  r.Add(Op("EncodeBase64")
            .Input("input: string")
            .Output("output: string")
            .Attr("pad: bool = false")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeBase64").Input("input: string").Output("output: string").Shape(UnchangedShape).NotDifferentiable());
}

}  // namespace tensorbraid
