// Internal ops that read and set the states of random generators: schemas and shape rules. Saver adds them to the graph
// to keep these states in checkpoints (docs/design/0020-state-of-random-ops.md).
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status VectorOutput(ShapeContext& c) {
  c.set_output(0, Shape({-1}));
  return OkStatus();
}

Status VectorInput(ShapeContext& c) { return c.WithRank(0, 1).status(); }

}  // namespace

void RegisterRandomStateOps(OpRegistry& r) {
  // `node` is the name of a node on the same task that has a generator.
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
