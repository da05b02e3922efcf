// Comparisons: schemas.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

void RegisterMathComparisonOps(OpRegistry& r) {
  for (const char* name : {"Less", "LessEqual", "Greater", "GreaterEqual"}) {
    r.Add(Op(name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: bool")
              .Attr("T: realnumbertype")
              .Shape(BroadcastShape)
              .NotDifferentiable());
  }
  const auto equality_shape = [](ShapeContext& c) -> Status {
    // With incompatible_shape_error = false, the shape of the result is unknown: if the shapes of the operands turn out
    // not to broadcast, the operands compare as unequal and the result is a scalar.
    return c.attr<bool>("incompatible_shape_error") ? BroadcastShape(c) : UnknownShape(c);
  };
  for (const char* name : {"Equal", "NotEqual"}) {
    r.Add(Op(name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: bool")
              .Attr("T: type")
              .Attr("incompatible_shape_error: bool = true")
              .Shape(equality_shape)
              .NotDifferentiable());
  }
  r.Add(Op("ApproximateEqual")
            .Input("x: T")
            .Input("y: T")
            .Output("z: bool")
            .Attr("T: numbertype")
            .Attr("tolerance: float = 1e-05")
            .Shape(SameShapes)
            .NotDifferentiable());
}

}  // namespace tensorbraid
