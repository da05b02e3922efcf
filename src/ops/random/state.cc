// The states of random generators, for checkpoints: schemas. Internal ops, which Saver adds beside the random ops.
#include "graph/node.h"
#include "ops/random/registration.h"

namespace tensorbraid {
namespace {

Status VectorOutput(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  return OkStatus();
}

Status VectorInput(ShapeContext& c) { return c.WithRank(0, 1).status(); }

}  // namespace

void RegisterRandomStateOps(OpRegistry& r) {
  // `node` is the name of a node with a generator on the same task.
  r.Add(Op("_ReadRandomState")
            .Output("state: int64")
            .Attr("node: string")
            .Stateful()
            .Shape(VectorOutput)
            .NotDifferentiable());
  r.Add(Op("_SetRandomState")
            .Input("state: int64")
            .Attr("node: string")
            .Stateful()
            .Shape(VectorInput)
            .NotDifferentiable());
}

}  // namespace tensorbraid
