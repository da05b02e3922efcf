// Ops that convert between strings and numbers: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {

void RegisterStringNumbersOps(OpRegistry& r) {
  r.Add(Op("AsString")
            .Input("input: T")
            .Output("output: string")
            .Attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
                  "complex64, complex128, bool, variant, string}")
            .Attr("precision: int = -1")
            .Attr("scientific: bool = false")
            .Attr("shortest: bool = false")
            .Attr("width: int = -1")
            .Attr("fill: string = ''")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToNumber")
            .Input("string_tensor: string")
            .Output("output: out_type")
            .Attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
