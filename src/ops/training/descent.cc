// The update rules of gradient descent, momentum, AddSign and PowerSign: schemas. AddRule (rule.h) describes the lists
// of inputs.
#include "graph/model/op_registry.h"
#include "ops/training/rule.h"

namespace tensorbraid {

void RegisterTrainingDescentOps(OpRegistry& r) {
  const char* nesterov = "use_nesterov: bool = false";
  AddRule(r, "ApplyGradientDescent", "var* alpha delta");
  AddRule(r, "ApplyMomentum", "var* accum* lr grad momentum", {nesterov});
  AddRule(r, "ApplyKerasMomentum", "var* accum* lr grad momentum", {nesterov}, kResourceOnly);
  AddRule(r, "ApplyAddSign", "var* m* lr alpha sign_decay beta grad");
  AddRule(r, "ApplyPowerSign", "var* m* lr logbase sign_decay beta grad");
  AddRule(r, "SparseApplyMomentum", "var* accum* lr grad indices momentum", {nesterov});
  AddRule(r, "SparseApplyKerasMomentum", "var* accum* lr grad indices momentum", {nesterov}, kResourceOnly);
}

}  // namespace tensorbraid
