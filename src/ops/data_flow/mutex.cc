// Mutexes for critical sections: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {

void RegisterDataFlowMutexOps(OpRegistry& r) {
  r.Add(Op("MutexV2")
            .Output("resource: resource")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("MutexLock")
            .Input("mutex: resource")
            .Output("mutex_lock: variant")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("ConsumeMutexLock").Input("mutex_lock: variant").Stateful().Shape(NoOutputs).NotDifferentiable());
}

}  // namespace tensorbraid
