// Isotonic regression: schema and shape rule.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status IsotonicShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
  return OkStatus();
}

}  // namespace

void RegisterNnIsotonicOps(OpRegistry& r) {
  r.Add(Op("IsotonicRegression")
            .Input("input: T")
            .Output("output: output_dtype")
            .Output("segments: int32")
            .Attr("T: realnumbertype")
            .Attr("output_dtype: {half, bfloat16, float, double} = float")
            .Shape(IsotonicShape));
}

}  // namespace tensorbraid
