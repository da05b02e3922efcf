// ParseTensor and SerializeTensor: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status ScalarInputUnknownOutput(ShapeContext& c) { return c.WithRank(0, 0).status(); }

}  // namespace

void RegisterParsingTensorOps(OpRegistry& r) {
  r.Add(Op("ParseTensor")
            .Input("serialized: string")
            .Output("output: out_type")
            .Attr("out_type: type")
            .Shape(ScalarInputUnknownOutput)
            .NotDifferentiable());
  r.Add(Op("SerializeTensor")
            .Input("tensor: T")
            .Output("serialized: string")
            .Attr("T: type")
            .Shape(ScalarShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
