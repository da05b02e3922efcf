// Ops that put tensors into one message and take them out again, so that they travel to another task together: schemas
// (docs/design/0037-joined-messages.md). The runtime inserts them at edges between tasks; users do not create them.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status JoinedShape(ShapeContext& c) {
  c.set_output(0, {});
  return OkStatus();
}

Status TakenShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

}  // namespace

void RegisterWireJoinOps(OpRegistry& r) {
  // The output is a scalar that holds a JoinedTensors (core/values/joined_tensors.h).
  r.Add(Op("_JoinTensors")
            .Input("tensors: T")
            .Output("joined: variant")
            .Attr("T: list(type) >= 1")
            .Shape(JoinedShape)
            .NotDifferentiable());
  // Input number `index` of the _JoinTensors. `shape` is the known part of the shape that it must have.
  r.Add(Op("_TakeJoined")
            .Input("joined: variant")
            .Output("tensor: T")
            .Attr("T: type")
            .Attr("index: int >= 0")
            .Attr("shape: shape = unknown")
            .Shape(TakenShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
