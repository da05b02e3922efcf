// A function for each op of src/ops/training; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_TRAINING_H_
#define TENSORBRAID_RAW_OPS_TRAINING_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct ApplyAdaMaxOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyAdaMax.
// Inputs: var (a reference to T), m (a reference to T), v (a reference to T), beta1_power (T), lr (T), beta1 (T), beta2
//   (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyAdaMax(const Output& var, const Output& m, const Output& v, const Operand& beta1_power,
    const Operand& lr, const Operand& beta1, const Operand& beta2, const Operand& epsilon, const Operand& grad,
    const ApplyAdaMaxOptions& options = {}) {
  return internal::Call("ApplyAdaMax", options.name, {var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyAdadeltaOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyAdadelta.
// Inputs: var (a reference to T), accum (a reference to T), accum_update (a reference to T), lr (T), rho (T), epsilon
//   (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyAdadelta(const Output& var, const Output& accum, const Output& accum_update, const Operand& lr,
    const Operand& rho, const Operand& epsilon, const Operand& grad, const ApplyAdadeltaOptions& options = {}) {
  return internal::Call("ApplyAdadelta", options.name, {var, accum, accum_update, lr, rho, epsilon, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyAdagradOptions {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ApplyAdagrad.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), grad (T).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyAdagrad(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const ApplyAdagradOptions& options = {}) {
  return internal::Call("ApplyAdagrad", options.name, {var, accum, lr, grad}).Attr("use_locking", options.use_locking)
      .Attr("update_slots", options.update_slots).One();
}

struct ApplyAdagradDAOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyAdagradDA.
// Inputs: var (a reference to T), gradient_accumulator (a reference to T), gradient_squared_accumulator (a reference to
//   T), grad (T), lr (T), l1 (T), l2 (T), global_step (int64).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyAdagradDA(const Output& var, const Output& gradient_accumulator,
    const Output& gradient_squared_accumulator, const Operand& grad, const Operand& lr, const Operand& l1,
    const Operand& l2, const Operand& global_step, const ApplyAdagradDAOptions& options = {}) {
  return internal::Call("ApplyAdagradDA", options.name, {var, gradient_accumulator, gradient_squared_accumulator, grad,
      lr, l1, l2, global_step}).Attr("use_locking", options.use_locking).One();
}

struct ApplyAdagradDecayOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyAdagradDecay.
// Inputs: var (a reference to T), accum (a reference to T), accum_decay_power (a reference to T), lr (T),
//   accum_decay_step (int64), accum_decay_rate (T), accum_baseline (T), global_step (int64), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyAdagradDecay(const Output& var, const Output& accum, const Output& accum_decay_power,
    const Operand& lr, const Operand& accum_decay_step, const Operand& accum_decay_rate, const Operand& accum_baseline,
    const Operand& global_step, const Operand& grad, const ApplyAdagradDecayOptions& options = {}) {
  return internal::Call("ApplyAdagradDecay", options.name, {var, accum, accum_decay_power, lr, accum_decay_step,
      accum_decay_rate, accum_baseline, global_step, grad}).Attr("use_locking", options.use_locking).One();
}

struct ApplyAdagradV2Options {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ApplyAdagradV2.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyAdagradV2(const Output& var, const Output& accum, const Operand& lr, const Operand& epsilon,
    const Operand& grad, const ApplyAdagradV2Options& options = {}) {
  return internal::Call("ApplyAdagradV2", options.name, {var, accum, lr, epsilon, grad})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).One();
}

struct ApplyAdamOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ApplyAdam.
// Inputs: var (a reference to T), m (a reference to T), v (a reference to T), beta1_power (T), beta2_power (T), lr (T),
//   beta1 (T), beta2 (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyAdam(const Output& var, const Output& m, const Output& v, const Operand& beta1_power,
    const Operand& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2, const Operand& epsilon,
    const Operand& grad, const ApplyAdamOptions& options = {}) {
  return internal::Call("ApplyAdam", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon,
      grad}).Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).One();
}

struct ApplyAddSignOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyAddSign.
// Inputs: var (a reference to T), m (a reference to T), lr (T), alpha (T), sign_decay (T), beta (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyAddSign(const Output& var, const Output& m, const Operand& lr, const Operand& alpha,
    const Operand& sign_decay, const Operand& beta, const Operand& grad, const ApplyAddSignOptions& options = {}) {
  return internal::Call("ApplyAddSign", options.name, {var, m, lr, alpha, sign_decay, beta, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyCenteredRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyCenteredRMSProp.
// Inputs: var (a reference to T), mg (a reference to T), ms (a reference to T), mom (a reference to T), lr (T), rho
//   (T), momentum (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyCenteredRMSProp(const Output& var, const Output& mg, const Output& ms, const Output& mom,
    const Operand& lr, const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad,
    const ApplyCenteredRMSPropOptions& options = {}) {
  return internal::Call("ApplyCenteredRMSProp", options.name, {var, mg, ms, mom, lr, rho, momentum, epsilon, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyFtrlOptions {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ApplyFtrl.
// Inputs: var (a reference to T), accum (a reference to T), linear (a reference to T), grad (T), lr (T), l1 (T), l2
//   (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyFtrl(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& lr, const Operand& l1, const Operand& l2, const Operand& lr_power,
    const ApplyFtrlOptions& options = {}) {
  return internal::Call("ApplyFtrl", options.name, {var, accum, linear, grad, lr, l1, l2, lr_power})
      .Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr).One();
}

struct ApplyFtrlV2Options {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ApplyFtrlV2.
// Inputs: var (a reference to T), accum (a reference to T), linear (a reference to T), grad (T), lr (T), l1 (T), l2
//   (T), l2_shrinkage (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyFtrlV2(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& lr, const Operand& l1, const Operand& l2, const Operand& l2_shrinkage, const Operand& lr_power,
    const ApplyFtrlV2Options& options = {}) {
  return internal::Call("ApplyFtrlV2", options.name, {var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power})
      .Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr).One();
}

struct ApplyGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyGradientDescent.
// Inputs: var (a reference to T), alpha (T), delta (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: numbers.
inline Output ApplyGradientDescent(const Output& var, const Operand& alpha, const Operand& delta,
    const ApplyGradientDescentOptions& options = {}) {
  return internal::Call("ApplyGradientDescent", options.name, {var, alpha, delta})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ApplyMomentum.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), grad (T), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyMomentum(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const Operand& momentum, const ApplyMomentumOptions& options = {}) {
  return internal::Call("ApplyMomentum", options.name, {var, accum, lr, grad, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).One();
}

struct ApplyPowerSignOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyPowerSign.
// Inputs: var (a reference to T), m (a reference to T), lr (T), logbase (T), sign_decay (T), beta (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyPowerSign(const Output& var, const Output& m, const Operand& lr, const Operand& logbase,
    const Operand& sign_decay, const Operand& beta, const Operand& grad, const ApplyPowerSignOptions& options = {}) {
  return internal::Call("ApplyPowerSign", options.name, {var, m, lr, logbase, sign_decay, beta, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyProximalAdagradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyProximalAdagrad.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), l1 (T), l2 (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyProximalAdagrad(const Output& var, const Output& accum, const Operand& lr, const Operand& l1,
    const Operand& l2, const Operand& grad, const ApplyProximalAdagradOptions& options = {}) {
  return internal::Call("ApplyProximalAdagrad", options.name, {var, accum, lr, l1, l2, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyProximalGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyProximalGradientDescent.
// Inputs: var (a reference to T), alpha (T), l1 (T), l2 (T), delta (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats.
inline Output ApplyProximalGradientDescent(const Output& var, const Operand& alpha, const Operand& l1,
    const Operand& l2, const Operand& delta, const ApplyProximalGradientDescentOptions& options = {}) {
  return internal::Call("ApplyProximalGradientDescent", options.name, {var, alpha, l1, l2, delta})
      .Attr("use_locking", options.use_locking).One();
}

struct ApplyRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ApplyRMSProp.
// Inputs: var (a reference to T), ms (a reference to T), mom (a reference to T), lr (T), rho (T), momentum (T), epsilon
//   (T), grad (T).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex.
inline Output ApplyRMSProp(const Output& var, const Output& ms, const Output& mom, const Operand& lr,
    const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad,
    const ApplyRMSPropOptions& options = {}) {
  return internal::Call("ApplyRMSProp", options.name, {var, ms, mom, lr, rho, momentum, epsilon, grad})
      .Attr("use_locking", options.use_locking).One();
}

struct ResourceApplyAdaMaxOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdaMax.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), lr (T), beta1 (T), beta2 (T), epsilon (T), grad
//   (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyAdaMax(const Output& var, const Output& m, const Output& v, const Operand& beta1_power,
    const Operand& lr, const Operand& beta1, const Operand& beta2, const Operand& epsilon, const Operand& grad,
    const ResourceApplyAdaMaxOptions& options = {}) {
  return internal::Call("ResourceApplyAdaMax", options.name, {var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyAdadeltaOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdadelta.
// Inputs: var (resource), accum (resource), accum_update (resource), lr (T), rho (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats complex.
inline Operation ResourceApplyAdadelta(const Output& var, const Output& accum, const Output& accum_update,
    const Operand& lr, const Operand& rho, const Operand& epsilon, const Operand& grad,
    const ResourceApplyAdadeltaOptions& options = {}) {
  return internal::Call("ResourceApplyAdadelta", options.name, {var, accum, accum_update, lr, rho, epsilon, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyAdagradOptions {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdagrad.
// Inputs: var (resource), accum (resource), lr (T), grad (T).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// T: floats complex.
inline Operation ResourceApplyAdagrad(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const ResourceApplyAdagradOptions& options = {}) {
  return internal::Call("ResourceApplyAdagrad", options.name, {var, accum, lr, grad})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).Finish();
}

struct ResourceApplyAdagradDAOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdagradDA.
// Inputs: var (resource), gradient_accumulator (resource), gradient_squared_accumulator (resource), grad (T), lr (T),
//   l1 (T), l2 (T), global_step (int64).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyAdagradDA(const Output& var, const Output& gradient_accumulator,
    const Output& gradient_squared_accumulator, const Operand& grad, const Operand& lr, const Operand& l1,
    const Operand& l2, const Operand& global_step, const ResourceApplyAdagradDAOptions& options = {}) {
  return internal::Call("ResourceApplyAdagradDA", options.name, {var, gradient_accumulator,
      gradient_squared_accumulator, grad, lr, l1, l2, global_step}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyAdagradDecayOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdagradDecay.
// Inputs: var (resource), accum (resource), accum_decay_power (resource), lr (T), accum_decay_step (int64),
//   accum_decay_rate (T), accum_baseline (T), global_step (int64), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyAdagradDecay(const Output& var, const Output& accum, const Output& accum_decay_power,
    const Operand& lr, const Operand& accum_decay_step, const Operand& accum_decay_rate, const Operand& accum_baseline,
    const Operand& global_step, const Operand& grad, const ResourceApplyAdagradDecayOptions& options = {}) {
  return internal::Call("ResourceApplyAdagradDecay", options.name, {var, accum, accum_decay_power, lr, accum_decay_step,
      accum_decay_rate, accum_baseline, global_step, grad}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyAdagradV2Options {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdagradV2.
// Inputs: var (resource), accum (resource), lr (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// T: floats complex.
inline Operation ResourceApplyAdagradV2(const Output& var, const Output& accum, const Operand& lr,
    const Operand& epsilon, const Operand& grad, const ResourceApplyAdagradV2Options& options = {}) {
  return internal::Call("ResourceApplyAdagradV2", options.name, {var, accum, lr, epsilon, grad})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).Finish();
}

struct ResourceApplyAdamOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdam.
// Inputs: var (resource), m (resource), v (resource), beta1_power (T), beta2_power (T), lr (T), beta1 (T), beta2 (T),
//   epsilon (T), grad (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// T: floats complex.
inline Operation ResourceApplyAdam(const Output& var, const Output& m, const Output& v, const Operand& beta1_power,
    const Operand& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2, const Operand& epsilon,
    const Operand& grad, const ResourceApplyAdamOptions& options = {}) {
  return internal::Call("ResourceApplyAdam", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1, beta2,
      epsilon, grad}).Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).Finish();
}

struct ResourceApplyAdamWithAmsgradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAdamWithAmsgrad.
// Inputs: var (resource), m (resource), v (resource), vhat (resource), beta1_power (T), beta2_power (T), lr (T), beta1
//   (T), beta2 (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyAdamWithAmsgrad(const Output& var, const Output& m, const Output& v, const Output& vhat,
    const Operand& beta1_power, const Operand& beta2_power, const Operand& lr, const Operand& beta1,
    const Operand& beta2, const Operand& epsilon, const Operand& grad,
    const ResourceApplyAdamWithAmsgradOptions& options = {}) {
  return internal::Call("ResourceApplyAdamWithAmsgrad", options.name, {var, m, v, vhat, beta1_power, beta2_power, lr,
      beta1, beta2, epsilon, grad}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyAddSignOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyAddSign.
// Inputs: var (resource), m (resource), lr (T), alpha (T), sign_decay (T), beta (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyAddSign(const Output& var, const Output& m, const Operand& lr, const Operand& alpha,
    const Operand& sign_decay, const Operand& beta, const Operand& grad,
    const ResourceApplyAddSignOptions& options = {}) {
  return internal::Call("ResourceApplyAddSign", options.name, {var, m, lr, alpha, sign_decay, beta, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyCenteredRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyCenteredRMSProp.
// Inputs: var (resource), mg (resource), ms (resource), mom (resource), lr (T), rho (T), momentum (T), epsilon (T),
//   grad (T).
// Attributes: use_locking (bool; default false).
// T: floats complex.
inline Operation ResourceApplyCenteredRMSProp(const Output& var, const Output& mg, const Output& ms, const Output& mom,
    const Operand& lr, const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad,
    const ResourceApplyCenteredRMSPropOptions& options = {}) {
  return internal::Call("ResourceApplyCenteredRMSProp", options.name, {var, mg, ms, mom, lr, rho, momentum, epsilon,
      grad}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyFtrlOptions {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyFtrl.
// Inputs: var (resource), accum (resource), linear (resource), grad (T), lr (T), l1 (T), l2 (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// T: floats.
inline Operation ResourceApplyFtrl(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& lr, const Operand& l1, const Operand& l2, const Operand& lr_power,
    const ResourceApplyFtrlOptions& options = {}) {
  return internal::Call("ResourceApplyFtrl", options.name, {var, accum, linear, grad, lr, l1, l2, lr_power})
      .Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr).Finish();
}

struct ResourceApplyFtrlV2Options {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyFtrlV2.
// Inputs: var (resource), accum (resource), linear (resource), grad (T), lr (T), l1 (T), l2 (T), l2_shrinkage (T),
//   lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// T: floats.
inline Operation ResourceApplyFtrlV2(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& lr, const Operand& l1, const Operand& l2, const Operand& l2_shrinkage, const Operand& lr_power,
    const ResourceApplyFtrlV2Options& options = {}) {
  return internal::Call("ResourceApplyFtrlV2", options.name, {var, accum, linear, grad, lr, l1, l2, l2_shrinkage,
      lr_power}).Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr)
      .Finish();
}

struct ResourceApplyGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyGradientDescent.
// Inputs: var (resource), alpha (T), delta (T).
// Attributes: use_locking (bool; default false).
// T: numbers.
inline Operation ResourceApplyGradientDescent(const Output& var, const Operand& alpha, const Operand& delta,
    const ResourceApplyGradientDescentOptions& options = {}) {
  return internal::Call("ResourceApplyGradientDescent", options.name, {var, alpha, delta})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyKerasMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyKerasMomentum.
// Inputs: var (resource), accum (resource), lr (T), grad (T), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// T: floats complex.
inline Operation ResourceApplyKerasMomentum(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& momentum, const ResourceApplyKerasMomentumOptions& options = {}) {
  return internal::Call("ResourceApplyKerasMomentum", options.name, {var, accum, lr, grad, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).Finish();
}

struct ResourceApplyMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyMomentum.
// Inputs: var (resource), accum (resource), lr (T), grad (T), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// T: floats complex.
inline Operation ResourceApplyMomentum(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const Operand& momentum, const ResourceApplyMomentumOptions& options = {}) {
  return internal::Call("ResourceApplyMomentum", options.name, {var, accum, lr, grad, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).Finish();
}

struct ResourceApplyPowerSignOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyPowerSign.
// Inputs: var (resource), m (resource), lr (T), logbase (T), sign_decay (T), beta (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyPowerSign(const Output& var, const Output& m, const Operand& lr, const Operand& logbase,
    const Operand& sign_decay, const Operand& beta, const Operand& grad,
    const ResourceApplyPowerSignOptions& options = {}) {
  return internal::Call("ResourceApplyPowerSign", options.name, {var, m, lr, logbase, sign_decay, beta, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyProximalAdagradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyProximalAdagrad.
// Inputs: var (resource), accum (resource), lr (T), l1 (T), l2 (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyProximalAdagrad(const Output& var, const Output& accum, const Operand& lr,
    const Operand& l1, const Operand& l2, const Operand& grad,
    const ResourceApplyProximalAdagradOptions& options = {}) {
  return internal::Call("ResourceApplyProximalAdagrad", options.name, {var, accum, lr, l1, l2, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyProximalGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyProximalGradientDescent.
// Inputs: var (resource), alpha (T), l1 (T), l2 (T), delta (T).
// Attributes: use_locking (bool; default false).
// T: floats.
inline Operation ResourceApplyProximalGradientDescent(const Output& var, const Operand& alpha, const Operand& l1,
    const Operand& l2, const Operand& delta, const ResourceApplyProximalGradientDescentOptions& options = {}) {
  return internal::Call("ResourceApplyProximalGradientDescent", options.name, {var, alpha, l1, l2, delta})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceApplyRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceApplyRMSProp.
// Inputs: var (resource), ms (resource), mom (resource), lr (T), rho (T), momentum (T), epsilon (T), grad (T).
// Attributes: use_locking (bool; default false).
// T: floats complex.
inline Operation ResourceApplyRMSProp(const Output& var, const Output& ms, const Output& mom, const Operand& lr,
    const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad,
    const ResourceApplyRMSPropOptions& options = {}) {
  return internal::Call("ResourceApplyRMSProp", options.name, {var, ms, mom, lr, rho, momentum, epsilon, grad})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyAdadeltaOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdadelta.
// Inputs: var (resource), accum (resource), accum_update (resource), lr (T), rho (T), epsilon (T), grad (T), indices
//   (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdadelta(const Output& var, const Output& accum, const Output& accum_update,
    const Operand& lr, const Operand& rho, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyAdadeltaOptions& options = {}) {
  return internal::Call("ResourceSparseApplyAdadelta", options.name, {var, accum, accum_update, lr, rho, epsilon, grad,
      indices}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyAdagradOptions {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdagrad.
// Inputs: var (resource), accum (resource), lr (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdagrad(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& indices, const ResourceSparseApplyAdagradOptions& options = {}) {
  return internal::Call("ResourceSparseApplyAdagrad", options.name, {var, accum, lr, grad, indices})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).Finish();
}

struct ResourceSparseApplyAdagradDAOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdagradDA.
// Inputs: var (resource), gradient_accumulator (resource), gradient_squared_accumulator (resource), grad (T), indices
//   (Tindices), lr (T), l1 (T), l2 (T), global_step (int64).
// Attributes: use_locking (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdagradDA(const Output& var, const Output& gradient_accumulator,
    const Output& gradient_squared_accumulator, const Operand& grad, const Operand& indices, const Operand& lr,
    const Operand& l1, const Operand& l2, const Operand& global_step,
    const ResourceSparseApplyAdagradDAOptions& options = {}) {
  return internal::Call("ResourceSparseApplyAdagradDA", options.name, {var, gradient_accumulator,
      gradient_squared_accumulator, grad, indices, lr, l1, l2, global_step}).Attr("use_locking", options.use_locking)
      .Finish();
}

struct ResourceSparseApplyAdagradDecayOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdagradDecay.
// Inputs: var (resource), accum (resource), accum_decay_power (resource), lr (T), accum_decay_step (int64),
//   accum_decay_rate (T), accum_baseline (T), global_step (int64), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdagradDecay(const Output& var, const Output& accum,
    const Output& accum_decay_power, const Operand& lr, const Operand& accum_decay_step,
    const Operand& accum_decay_rate, const Operand& accum_baseline, const Operand& global_step, const Operand& grad,
    const Operand& indices, const ResourceSparseApplyAdagradDecayOptions& options = {}) {
  return internal::Call("ResourceSparseApplyAdagradDecay", options.name, {var, accum, accum_decay_power, lr,
      accum_decay_step, accum_decay_rate, accum_baseline, global_step, grad, indices})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyAdagradV2Options {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdagradV2.
// Inputs: var (resource), accum (resource), lr (T), epsilon (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdagradV2(const Output& var, const Output& accum, const Operand& lr,
    const Operand& epsilon, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyAdagradV2Options& options = {}) {
  return internal::Call("ResourceSparseApplyAdagradV2", options.name, {var, accum, lr, epsilon, grad, indices})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).Finish();
}

struct ResourceSparseApplyAdamAsyncOptions {
  bool use_locking = false;
  bool apply_sparse_rmsprop = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyAdamAsync.
// Inputs: var (resource), m (resource), v (resource), beta1_power (resource), beta2_power (resource), lr (T), beta1
//   (T), beta2 (T), epsilon (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), apply_sparse_rmsprop (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyAdamAsync(const Output& var, const Output& m, const Output& v,
    const Output& beta1_power, const Output& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2,
    const Operand& epsilon, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyAdamAsyncOptions& options = {}) {
  return internal::Call("ResourceSparseApplyAdamAsync", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1,
      beta2, epsilon, grad, indices}).Attr("use_locking", options.use_locking)
      .Attr("apply_sparse_rmsprop", options.apply_sparse_rmsprop).Finish();
}

struct ResourceSparseApplyCenteredRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyCenteredRMSProp.
// Inputs: var (resource), mg (resource), ms (resource), mom (resource), lr (T), rho (T), momentum (T), epsilon (T),
//   grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyCenteredRMSProp(const Output& var, const Output& mg, const Output& ms,
    const Output& mom, const Operand& lr, const Operand& rho, const Operand& momentum, const Operand& epsilon,
    const Operand& grad, const Operand& indices, const ResourceSparseApplyCenteredRMSPropOptions& options = {}) {
  return internal::Call("ResourceSparseApplyCenteredRMSProp", options.name, {var, mg, ms, mom, lr, rho, momentum,
      epsilon, grad, indices}).Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyFtrlOptions {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyFtrl.
// Inputs: var (resource), accum (resource), linear (resource), grad (T), indices (Tindices), lr (T), l1 (T), l2 (T),
//   lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyFtrl(const Output& var, const Output& accum, const Output& linear,
    const Operand& grad, const Operand& indices, const Operand& lr, const Operand& l1, const Operand& l2,
    const Operand& lr_power, const ResourceSparseApplyFtrlOptions& options = {}) {
  return internal::Call("ResourceSparseApplyFtrl", options.name, {var, accum, linear, grad, indices, lr, l1, l2,
      lr_power}).Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr)
      .Finish();
}

struct ResourceSparseApplyFtrlV2Options {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyFtrlV2.
// Inputs: var (resource), accum (resource), linear (resource), grad (T), indices (Tindices), lr (T), l1 (T), l2 (T),
//   l2_shrinkage (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyFtrlV2(const Output& var, const Output& accum, const Output& linear,
    const Operand& grad, const Operand& indices, const Operand& lr, const Operand& l1, const Operand& l2,
    const Operand& l2_shrinkage, const Operand& lr_power, const ResourceSparseApplyFtrlV2Options& options = {}) {
  return internal::Call("ResourceSparseApplyFtrlV2", options.name, {var, accum, linear, grad, indices, lr, l1, l2,
      l2_shrinkage, lr_power}).Attr("use_locking", options.use_locking)
      .Attr("multiply_linear_by_lr", options.multiply_linear_by_lr).Finish();
}

struct ResourceSparseApplyKerasMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyKerasMomentum.
// Inputs: var (resource), accum (resource), lr (T), grad (T), indices (Tindices), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyKerasMomentum(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& indices, const Operand& momentum,
    const ResourceSparseApplyKerasMomentumOptions& options = {}) {
  return internal::Call("ResourceSparseApplyKerasMomentum", options.name, {var, accum, lr, grad, indices, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).Finish();
}

struct ResourceSparseApplyMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyMomentum.
// Inputs: var (resource), accum (resource), lr (T), grad (T), indices (Tindices), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyMomentum(const Output& var, const Output& accum, const Operand& lr,
    const Operand& grad, const Operand& indices, const Operand& momentum,
    const ResourceSparseApplyMomentumOptions& options = {}) {
  return internal::Call("ResourceSparseApplyMomentum", options.name, {var, accum, lr, grad, indices, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).Finish();
}

struct ResourceSparseApplyProximalAdagradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyProximalAdagrad.
// Inputs: var (resource), accum (resource), lr (T), l1 (T), l2 (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyProximalAdagrad(const Output& var, const Output& accum, const Operand& lr,
    const Operand& l1, const Operand& l2, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyProximalAdagradOptions& options = {}) {
  return internal::Call("ResourceSparseApplyProximalAdagrad", options.name, {var, accum, lr, l1, l2, grad, indices})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyProximalGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyProximalGradientDescent.
// Inputs: var (resource), alpha (T), l1 (T), l2 (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats; Tindices: int32 int64.
inline Operation ResourceSparseApplyProximalGradientDescent(const Output& var, const Operand& alpha, const Operand& l1,
    const Operand& l2, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyProximalGradientDescentOptions& options = {}) {
  return internal::Call("ResourceSparseApplyProximalGradientDescent", options.name, {var, alpha, l1, l2, grad, indices})
      .Attr("use_locking", options.use_locking).Finish();
}

struct ResourceSparseApplyRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op ResourceSparseApplyRMSProp.
// Inputs: var (resource), ms (resource), mom (resource), lr (T), rho (T), momentum (T), epsilon (T), grad (T), indices
//   (Tindices).
// Attributes: use_locking (bool; default false).
// T: floats complex; Tindices: int32 int64.
inline Operation ResourceSparseApplyRMSProp(const Output& var, const Output& ms, const Output& mom, const Operand& lr,
    const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const ResourceSparseApplyRMSPropOptions& options = {}) {
  return internal::Call("ResourceSparseApplyRMSProp", options.name, {var, ms, mom, lr, rho, momentum, epsilon, grad,
      indices}).Attr("use_locking", options.use_locking).Finish();
}

struct SparseApplyAdadeltaOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdadelta.
// Inputs: var (a reference to T), accum (a reference to T), accum_update (a reference to T), lr (T), rho (T), epsilon
//   (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyAdadelta(const Output& var, const Output& accum, const Output& accum_update, const Operand& lr,
    const Operand& rho, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const SparseApplyAdadeltaOptions& options = {}) {
  return internal::Call("SparseApplyAdadelta", options.name, {var, accum, accum_update, lr, rho, epsilon, grad,
      indices}).Attr("use_locking", options.use_locking).One();
}

struct SparseApplyAdagradOptions {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdagrad.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyAdagrad(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const Operand& indices, const SparseApplyAdagradOptions& options = {}) {
  return internal::Call("SparseApplyAdagrad", options.name, {var, accum, lr, grad, indices})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).One();
}

struct SparseApplyAdagradDAOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdagradDA.
// Inputs: var (a reference to T), gradient_accumulator (a reference to T), gradient_squared_accumulator (a reference to
//   T), grad (T), indices (Tindices), lr (T), l1 (T), l2 (T), global_step (int64).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyAdagradDA(const Output& var, const Output& gradient_accumulator,
    const Output& gradient_squared_accumulator, const Operand& grad, const Operand& indices, const Operand& lr,
    const Operand& l1, const Operand& l2, const Operand& global_step, const SparseApplyAdagradDAOptions& options = {}) {
  return internal::Call("SparseApplyAdagradDA", options.name, {var, gradient_accumulator, gradient_squared_accumulator,
      grad, indices, lr, l1, l2, global_step}).Attr("use_locking", options.use_locking).One();
}

struct SparseApplyAdagradDecayOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdagradDecay.
// Inputs: var (a reference to T), accum (a reference to T), accum_decay_power (a reference to T), lr (T),
//   accum_decay_step (int64), accum_decay_rate (T), accum_baseline (T), global_step (int64), grad (T), indices
//   (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyAdagradDecay(const Output& var, const Output& accum, const Output& accum_decay_power,
    const Operand& lr, const Operand& accum_decay_step, const Operand& accum_decay_rate, const Operand& accum_baseline,
    const Operand& global_step, const Operand& grad, const Operand& indices,
    const SparseApplyAdagradDecayOptions& options = {}) {
  return internal::Call("SparseApplyAdagradDecay", options.name, {var, accum, accum_decay_power, lr, accum_decay_step,
      accum_decay_rate, accum_baseline, global_step, grad, indices}).Attr("use_locking", options.use_locking).One();
}

struct SparseApplyAdagradV2Options {
  bool use_locking = false;
  bool update_slots = true;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdagradV2.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), epsilon (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), update_slots (bool; default true).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyAdagradV2(const Output& var, const Output& accum, const Operand& lr, const Operand& epsilon,
    const Operand& grad, const Operand& indices, const SparseApplyAdagradV2Options& options = {}) {
  return internal::Call("SparseApplyAdagradV2", options.name, {var, accum, lr, epsilon, grad, indices})
      .Attr("use_locking", options.use_locking).Attr("update_slots", options.update_slots).One();
}

struct SparseApplyAdamAsyncOptions {
  bool use_locking = false;
  bool apply_sparse_rmsprop = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyAdamAsync.
// Inputs: var (a reference to T), m (a reference to T), v (a reference to T), beta1_power (a reference to T),
//   beta2_power (a reference to T), lr (T), beta1 (T), beta2 (T), epsilon (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false), apply_sparse_rmsprop (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyAdamAsync(const Output& var, const Output& m, const Output& v, const Output& beta1_power,
    const Output& beta2_power, const Operand& lr, const Operand& beta1, const Operand& beta2, const Operand& epsilon,
    const Operand& grad, const Operand& indices, const SparseApplyAdamAsyncOptions& options = {}) {
  return internal::Call("SparseApplyAdamAsync", options.name, {var, m, v, beta1_power, beta2_power, lr, beta1, beta2,
      epsilon, grad, indices}).Attr("use_locking", options.use_locking)
      .Attr("apply_sparse_rmsprop", options.apply_sparse_rmsprop).One();
}

struct SparseApplyCenteredRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyCenteredRMSProp.
// Inputs: var (a reference to T), mg (a reference to T), ms (a reference to T), mom (a reference to T), lr (T), rho
//   (T), momentum (T), epsilon (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyCenteredRMSProp(const Output& var, const Output& mg, const Output& ms, const Output& mom,
    const Operand& lr, const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad,
    const Operand& indices, const SparseApplyCenteredRMSPropOptions& options = {}) {
  return internal::Call("SparseApplyCenteredRMSProp", options.name, {var, mg, ms, mom, lr, rho, momentum, epsilon, grad,
      indices}).Attr("use_locking", options.use_locking).One();
}

struct SparseApplyFtrlOptions {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyFtrl.
// Inputs: var (a reference to T), accum (a reference to T), linear (a reference to T), grad (T), indices (Tindices), lr
//   (T), l1 (T), l2 (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyFtrl(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& indices, const Operand& lr, const Operand& l1, const Operand& l2, const Operand& lr_power,
    const SparseApplyFtrlOptions& options = {}) {
  return internal::Call("SparseApplyFtrl", options.name, {var, accum, linear, grad, indices, lr, l1, l2, lr_power})
      .Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr).One();
}

struct SparseApplyFtrlV2Options {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyFtrlV2.
// Inputs: var (a reference to T), accum (a reference to T), linear (a reference to T), grad (T), indices (Tindices), lr
//   (T), l1 (T), l2 (T), l2_shrinkage (T), lr_power (T).
// Attributes: use_locking (bool; default false), multiply_linear_by_lr (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyFtrlV2(const Output& var, const Output& accum, const Output& linear, const Operand& grad,
    const Operand& indices, const Operand& lr, const Operand& l1, const Operand& l2, const Operand& l2_shrinkage,
    const Operand& lr_power, const SparseApplyFtrlV2Options& options = {}) {
  return internal::Call("SparseApplyFtrlV2", options.name, {var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage,
      lr_power}).Attr("use_locking", options.use_locking).Attr("multiply_linear_by_lr", options.multiply_linear_by_lr)
      .One();
}

struct SparseApplyMomentumOptions {
  bool use_locking = false;
  bool use_nesterov = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyMomentum.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), grad (T), indices (Tindices), momentum (T).
// Attributes: use_locking (bool; default false), use_nesterov (bool; default false).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyMomentum(const Output& var, const Output& accum, const Operand& lr, const Operand& grad,
    const Operand& indices, const Operand& momentum, const SparseApplyMomentumOptions& options = {}) {
  return internal::Call("SparseApplyMomentum", options.name, {var, accum, lr, grad, indices, momentum})
      .Attr("use_locking", options.use_locking).Attr("use_nesterov", options.use_nesterov).One();
}

struct SparseApplyProximalAdagradOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyProximalAdagrad.
// Inputs: var (a reference to T), accum (a reference to T), lr (T), l1 (T), l2 (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyProximalAdagrad(const Output& var, const Output& accum, const Operand& lr, const Operand& l1,
    const Operand& l2, const Operand& grad, const Operand& indices,
    const SparseApplyProximalAdagradOptions& options = {}) {
  return internal::Call("SparseApplyProximalAdagrad", options.name, {var, accum, lr, l1, l2, grad, indices})
      .Attr("use_locking", options.use_locking).One();
}

struct SparseApplyProximalGradientDescentOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyProximalGradientDescent.
// Inputs: var (a reference to T), alpha (T), l1 (T), l2 (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats; Tindices: int32 int64.
inline Output SparseApplyProximalGradientDescent(const Output& var, const Operand& alpha, const Operand& l1,
    const Operand& l2, const Operand& grad, const Operand& indices,
    const SparseApplyProximalGradientDescentOptions& options = {}) {
  return internal::Call("SparseApplyProximalGradientDescent", options.name, {var, alpha, l1, l2, grad, indices})
      .Attr("use_locking", options.use_locking).One();
}

struct SparseApplyRMSPropOptions {
  bool use_locking = false;
  std::string name = {};
};
// Adds a node of the op SparseApplyRMSProp.
// Inputs: var (a reference to T), ms (a reference to T), mom (a reference to T), lr (T), rho (T), momentum (T), epsilon
//   (T), grad (T), indices (Tindices).
// Attributes: use_locking (bool; default false).
// Output: out (a reference to T).
// T: floats complex; Tindices: int32 int64.
inline Output SparseApplyRMSProp(const Output& var, const Output& ms, const Output& mom, const Operand& lr,
    const Operand& rho, const Operand& momentum, const Operand& epsilon, const Operand& grad, const Operand& indices,
    const SparseApplyRMSPropOptions& options = {}) {
  return internal::Call("SparseApplyRMSProp", options.name, {var, ms, mom, lr, rho, momentum, epsilon, grad, indices})
      .Attr("use_locking", options.use_locking).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_TRAINING_H_
