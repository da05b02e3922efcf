// Ops that the runtime inserts where it cuts a graph: at feeds and fetches, and at edges between tasks or devices.
// Users do not create them.
#include "graph/node.h"
#include "ops/control_flow/registration.h"

namespace tensorbraid {
namespace {

Status DeclaredShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

}  // namespace

void RegisterControlFlowSendRecvOps(OpRegistry& r) {
  r.Add(Op("_Arg")
            .Output("output: T")
            .Attr("T: type")
            .Attr("index: int >= 0")
            .Attr("shape: shape = unknown")
            .Stateful()
            .Shape(DeclaredShape)
            .NotDifferentiable());
  r.Add(Op("_Retval")
            .Input("input: T")
            .Attr("T: type")
            .Attr("index: int >= 0")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  // `edge` is the number of the edge in its signature, and `peer` the task at the other end. `peer_number` is the
  // number that the task which runs the node has given to `peer`; that task sets the attribute. `bytes` is the tensor's
  // size in bytes, or -1 if it is unknown.
  r.Add(Op("_Send")
            .Input("tensor: T")
            .Attr("T: type")
            .Attr("edge: int >= 0")
            .Attr("peer: string")
            .Attr("peer_number: int >= 0 = 0")
            .Attr("bytes: int = -1")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  // `may_be_dead`: the sending part has control flow, so it may send a dead value instead of a tensor.
  r.Add(Op("_Recv")
            .Output("tensor: T")
            .Attr("T: type")
            .Attr("edge: int >= 0")
            .Attr("peer: string")
            .Attr("peer_number: int >= 0 = 0")
            .Attr("bytes: int = -1")
            .Attr("shape: shape = unknown")
            .Attr("may_be_dead: bool = false")
            .Stateful()
            .Shape(DeclaredShape)
            .NotDifferentiable());
  // Copies a tensor between host memory and the memory of the node's device.
  r.Add(Op("_Copy")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("to_host: bool")
            .Stateful()
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
