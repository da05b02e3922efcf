// LogicalNot, LogicalAnd and LogicalOr: schemas.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

void RegisterMathLogicalOps(OpRegistry& r) {
  r.Add(Op("LogicalNot").Input("x: bool").Output("y: bool").Shape(UnchangedShape).NotDifferentiable());
  for (const char* name : {"LogicalAnd", "LogicalOr"}) {
    r.Add(Op(name).Input("x: bool").Input("y: bool").Output("z: bool").Shape(BroadcastShape).NotDifferentiable());
  }
}

}  // namespace tensorbraid
