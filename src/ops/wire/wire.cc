// Ops that convert the float32 tensors that travel between tasks to a smaller dtype, the wire type, and back: schemas
// (docs/design/0017-wire-types.md). The runtime inserts them at edges between tasks; users do not create them.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status EncodedShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(1));
  return OkStatus();
}

Status DecodedWireShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

}  // namespace

void RegisterWireOps(OpRegistry& r) {
  // `wire` is the name of the wire type. `residual` is the name of a resource that keeps the part of the tensor that
  // the bytes do not represent, to be added to the next tensor. If `residual` is '', this part is dropped.
  r.Add(Op("_WireEncode")
            .Input("tensor: float")
            .Output("bytes: uint8")
            .Attr("wire: string")
            .Attr("residual: string = ''")
            .Stateful()
            .Shape(EncodedShape)
            .NotDifferentiable());
  // `shape` is the known part of the shape that the tensor must have.
  r.Add(Op("_WireDecode")
            .Input("bytes: uint8")
            .Output("tensor: float")
            .Attr("shape: shape = unknown")
            .Stateful()
            .Shape(DecodedWireShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
