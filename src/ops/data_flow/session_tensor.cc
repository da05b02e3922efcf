// Ops on tensors that a session keeps on the server between steps: schemas and shape rules.
#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterDataFlowSessionTensorOps(OpRegistry& r) {
  r.Add(Op("GetSessionHandle")
            .Input("value: T")
            .Output("handle: string")
            .Attr("T: type")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("GetSessionTensor")
            .Input("handle: string")
            .Output("value: dtype")
            .Attr("dtype: type")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("DeleteSessionTensor").Input("handle: string").Stateful().Shape(NoOutputs).NotDifferentiable());
}

}  // namespace tensorbraid
