// The update rules with regularisation (proximal, dual averaging, FTRL): schemas. AddRule (rule.h) describes the
// lists of inputs.
#include "graph/model/op_registry.h"
#include "ops/training/rule.h"

namespace tensorbraid {

void RegisterTrainingProximalOps(OpRegistry& r) {
  const char* times_lr = "multiply_linear_by_lr: bool = false";
  AddRule(r, "ApplyProximalGradientDescent", "var* alpha l1 l2 delta");
  AddRule(r, "ApplyProximalAdagrad", "var* accum* lr l1 l2 grad");
  AddRule(r, "ApplyAdagradDA", "var* gradient_accumulator* gradient_squared_accumulator* grad lr l1 l2 global_step");
  AddRule(r, "ApplyFtrl", "var* accum* linear* grad lr l1 l2 lr_power", {times_lr});
  AddRule(r, "ApplyFtrlV2", "var* accum* linear* grad lr l1 l2 l2_shrinkage lr_power", {times_lr});
  AddRule(r, "SparseApplyProximalGradientDescent", "var* alpha l1 l2 grad indices");
  AddRule(r, "SparseApplyProximalAdagrad", "var* accum* lr l1 l2 grad indices");
  AddRule(r, "SparseApplyAdagradDA",
          "var* gradient_accumulator* gradient_squared_accumulator* grad indices lr l1 l2 global_step");
  AddRule(r, "SparseApplyFtrl", "var* accum* linear* grad indices lr l1 l2 lr_power", {times_lr});
  AddRule(r, "SparseApplyFtrlV2", "var* accum* linear* grad indices lr l1 l2 l2_shrinkage lr_power", {times_lr});
}

}  // namespace tensorbraid
