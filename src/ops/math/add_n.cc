// AddN and AccumulateNV2: schemas, shape rules, gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status AddNGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (Output& g : *input_grads) g = grads[0];
  return OkStatus();
}

Status AccumulateShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Status AccumulateGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (Output& g : *input_grads) g = grads[0];
  return OkStatus();
}

}  // namespace

void RegisterMathAddNOps(OpRegistry& r) {
  r.Add(Op("AddN")
            .Input("inputs: N * T")
            .Output("sum: T")
            .Attr("N: int >= 1")
            .Attr("T: {numbertype, variant}")
            .Shape(SameShapes)
            .Gradient(AddNGradient));
  r.Add(Op("AccumulateNV2")
            .Input("inputs: N * T")
            .Output("sum: T")
            .Attr("N: int >= 1")
            .Attr("T: numbertype")
            .Attr("shape: shape")
            .Shape(AccumulateShape)
            .Gradient(AccumulateGradient));
}

}  // namespace tensorbraid
