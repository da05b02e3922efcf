// Ops that make random tensors, and RandomShuffle: schemas and shape rules.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/random/shapes.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

Status ShapeFromInput(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_ASSIGN_OR_RETURN(Shape shape, c.input_as_shape(0));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

void RegisterRandomOps(OpRegistry& r) {
  for (const char* name : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    r.Add(Op(name)
              .Input("shape: T")
              .Output("output: dtype")
              .Attr("seed: int = 0")
              .Attr("seed2: int = 0")
              .Attr("dtype: {half, bfloat16, float, double}")
              .Attr("T: {int32, int64}")
              .Stateful()
              .Shape(ShapeFromInput)
              .NotDifferentiable());
  }
  r.Add(Op("RandomUniformInt")
            .Input("shape: T")
            .Input("minval: Tout")
            .Input("maxval: Tout")
            .Output("output: Tout")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("Tout: {int32, int64}")
            .Attr("T: {int32, int64}")
            .Stateful()
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("RandomShuffle")
            .Input("value: T")
            .Output("output: T")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Attr("T: type")
            .Stateful()
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
