// Ops that the runtime puts where a graph was cut: at feeds and fetches, and at edges between tasks. No user writes
// them.
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status DeclaredShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

}  // namespace

void RegisterSendRecvOps(OpRegistry& r) {
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
  // `edge` is the number of the edge in its signature, `peer` the task at the other end, `bytes` the size if known.
  r.Add(Op("_Send")
            .Input("tensor: T")
            .Attr("T: type")
            .Attr("edge: int >= 0")
            .Attr("peer: string")
            .Attr("bytes: int = -1")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  // `may_be_dead`: the other part has control flow, and may say that there is no tensor.
  r.Add(Op("_Recv")
            .Output("tensor: T")
            .Attr("T: type")
            .Attr("edge: int >= 0")
            .Attr("peer: string")
            .Attr("bytes: int = -1")
            .Attr("shape: shape = unknown")
            .Attr("may_be_dead: bool = false")
            .Stateful()
            .Shape(DeclaredShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
