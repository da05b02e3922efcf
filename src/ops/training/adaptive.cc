// The update rules of Adadelta, Adagrad, Adam and RMSProp: schemas. AddRule (rule.h) describes the lists of inputs.
// Those of AdagradDecay and AdamAsync are DeepRec's, and those of RowwiseAdagrad our own.
#include "graph/model/op_registry.h"
#include "ops/training/rule.h"

namespace tensorbraid {

void RegisterTrainingAdaptiveOps(OpRegistry& r) {
  const char* nesterov = "use_nesterov: bool = false";
  const char* update_slots = "update_slots: bool = true";
  AddRule(r, "ApplyAdadelta", "var* accum* accum_update* lr rho epsilon grad");
  AddRule(r, "ApplyAdagrad", "var* accum* lr grad", {update_slots});
  AddRule(r, "ApplyAdagradV2", "var* accum* lr epsilon grad", {update_slots});
  AddRule(r, "ApplyAdam", "var* m* v* beta1_power beta2_power lr beta1 beta2 epsilon grad", {nesterov});
  AddRule(r, "ApplyAdamWithAmsgrad", "var* m* v* vhat* beta1_power beta2_power lr beta1 beta2 epsilon grad", {},
          kResourceOnly);
  AddRule(r, "ApplyAdaMax", "var* m* v* beta1_power lr beta1 beta2 epsilon grad");
  AddRule(r, "ApplyRMSProp", "var* ms* mom* lr rho momentum epsilon grad");
  AddRule(r, "ApplyCenteredRMSProp", "var* mg* ms* mom* lr rho momentum epsilon grad");
  AddRule(r, "SparseApplyAdadelta", "var* accum* accum_update* lr rho epsilon grad indices");
  AddRule(r, "SparseApplyAdagrad", "var* accum* lr grad indices", {update_slots});
  AddRule(r, "SparseApplyAdagradV2", "var* accum* lr epsilon grad indices", {update_slots});
  AddRule(r, "_ApplyRowwiseAdagrad", "var* row_accum* lr grad");
  AddRule(r, "_SparseApplyRowwiseAdagrad", "var* row_accum* lr grad indices");
  const std::string decay =
      "var* accum* accum_decay_power* lr accum_decay_step accum_decay_rate accum_baseline global_step grad";
  AddRule(r, "ApplyAdagradDecay", decay);
  AddRule(r, "SparseApplyAdagradDecay", decay + " indices");
  AddRule(r, "SparseApplyAdamAsync", "var* m* v* beta1_power* beta2_power* lr beta1 beta2 epsilon grad indices",
          {"apply_sparse_rmsprop: bool = false"});
  AddRule(r, "SparseApplyRMSProp", "var* ms* mom* lr rho momentum epsilon grad indices");
  AddRule(r, "SparseApplyCenteredRMSProp", "var* mg* ms* mom* lr rho momentum epsilon grad indices");
}

}  // namespace tensorbraid
