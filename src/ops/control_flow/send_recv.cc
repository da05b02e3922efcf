// Ops that the runtime inserts where it cuts a graph: at feeds and fetches, and at edges between tasks or devices:
// schemas and shape rules. Users do not create them.
#include "graph/model/node.h"

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
  // `edge` is the number of the edge, which is unique in the graph of one run signature (feeds, fetches and targets).
  // `peer` is the task at the other end. `peer_number` is a number for `peer`, chosen by the task that runs the node;
  // that task sets this attribute. `bytes` is the tensor's size in bytes, or -1 if it is unknown.
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
  // `may_be_dead`: the tensor depends on a control flow op such as Switch, so the sender may say that it is dead, that
  // is, not computed in this step.
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
  // Nodes that run as one program on an accelerator; see executor/clusters. `body` is the number of the list of nodes.
  // `host_inputs` are the numbers of the inputs that are in host memory: handles, and tensors that a program is
  // compiled for. The others are in the memory of the node's device.
  r.Add(Op("_Cluster")
            .Input("inputs: Tin")
            .Output("outputs: Tout")
            .Attr("Tin: list(type)")
            .Attr("Tout: list(type)")
            .Attr("body: int >= 0")
            .Attr("host_inputs: list(int)")
            .Stateful()
            .NotDifferentiable());
}

}  // namespace tensorbraid
