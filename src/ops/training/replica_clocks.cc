// The clocks of asynchronous replicas: schemas. AsyncReplicasOptimizer uses these internal ops to drop stale gradients
// and to let fast replicas wait for slow ones. An update clock counts the updates of one variable
// (runtime/replicas/update_clock.h); replica clocks count the steps of each replica
// (runtime/replicas/replica_clocks.h).
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status ScalarsShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
  return OkStatus();
}

Status DecisionShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ScalarsShape(c));
  return c.WithRank(1, 0).status();
}

Status ReplicaShape(ShapeContext& c) { return c.WithRank(1, 0).status(); }

}  // namespace

void RegisterTrainingReplicaClocksOps(OpRegistry& r) {
  r.Add(Op("_UpdateClock")
            .Output("clock: resource")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("_ReadUpdateClock")
            .Input("clock: resource")
            .Output("version: int64")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  // `outcome` is the age of the gradient if the gradient is accepted, and -1 minus its age if it is dropped.
  r.Add(Op("_AdmitGradient")
            .Input("clock: resource")
            .Input("version: int64")
            .Output("accepted: bool")
            .Output("outcome: int64")
            .Output("update: variant")
            .Attr("max_age: int = -1")
            .Stateful()
            .Shape(DecisionShape)
            .NotDifferentiable());
  r.Add(Op("_CompleteUpdate").Input("update: variant").Stateful().Shape(NoOutputs).NotDifferentiable());
  r.Add(Op("_ReplicaClocks")
            .Output("clocks: resource")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("max_lead: int = -1")
            .Attr("warm_up_steps: int >= 0 = 0")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  for (const char* op : {"_JoinReplicas", "_FinishReplicaStep"}) {
    r.Add(Op(op)
              .Input("clocks: resource")
              .Input("global_step: int64")
              .Attr("replica: int >= 0")
              .Stateful()
              .Shape(ReplicaShape)
              .NotDifferentiable());
  }
  r.Add(Op("_LeaveReplicas")
            .Input("clocks: resource")
            .Attr("replica: int >= 0")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  // `wait` is what the replica waits for, a ReplicaClocks::Wait.
  r.Add(Op("_ReplicaHeartbeat")
            .Input("clocks: resource")
            .Output("wait: int64")
            .Output("description: string")
            .Attr("replica: int >= 0")
            .Attr("lost_after_ms: int >= 1")
            .Stateful()
            .Shape(ScalarsShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
