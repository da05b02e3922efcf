// Ops that put tensors into one tensor and take them out again, so that they travel to another task together: schemas
// (docs/design/0037-joined-messages.md). The runtime inserts them at edges between tasks; users do not create them.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status JoinedShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(1));
  return OkStatus();
}

Status TakenShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

}  // namespace

void RegisterWireJoinOps(OpRegistry& r) {
  // The output holds bytes. Its dtype is float because tensors of floats may stay in the memory of their sender.
  r.Add(Op("_JoinTensors")
            .Input("tensors: T")
            .Output("joined: float")
            .Attr("T: list(type) >= 1")
            .Shape(JoinedShape)
            .NotDifferentiable());
  // Input number `index` of the _JoinTensors. `shape` is the known part of the shape that it must have.
  r.Add(Op("_TakeJoined")
            .Input("joined: float")
            .Output("tensor: T")
            .Attr("T: type")
            .Attr("index: int >= 0")
            .Attr("shape: shape = unknown")
            .Shape(TakenShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
