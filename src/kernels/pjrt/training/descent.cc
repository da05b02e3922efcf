// Update rules that follow the gradient, with or without momentum.
#include "kernels/pjrt/training/rule.h"

namespace tensorbraid::pjrt {
namespace {

void GradientDescent(RuleStep& s) { s.variables[0] = s.variables[0] - s.scalars[0] * s.grad; }

// Nesterov momentum looks ahead: the variable moves as if the same gradient had been accumulated twice.
void Momentum(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1];
  const Expr &lr = s.scalars[0], &momentum = s.scalars[1];
  accum = accum * momentum + s.grad;
  var = var - lr * (s.attr<bool>("use_nesterov") ? s.grad + momentum * accum : accum);
}

// Like Momentum, but the accumulated value includes the learning rate.
void KerasMomentum(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1];
  const Expr &lr = s.scalars[0], &momentum = s.scalars[1];
  accum = accum * momentum - lr * s.grad;
  var = var + (s.attr<bool>("use_nesterov") ? momentum * accum - lr * s.grad : accum);
}

// The running mean of the gradients, and how the signs of the mean and of the gradient agree: 1, 0 or -1.
Expr Agreement(RuleStep& s, const Expr& beta) {
  Expr& m = s.variables[1];
  m = m * beta + s.grad * (1 - beta);
  return Sign(s.grad) * Sign(m);
}

void AddSign(RuleStep& s) {
  const Expr agreement = Agreement(s, s.scalars[3]);
  s.variables[0] = s.variables[0] - s.scalars[0] * (s.scalars[1] + s.scalars[2] * agreement) * s.grad;
}

void PowerSign(RuleStep& s) {
  const Expr agreement = Agreement(s, s.scalars[3]);
  s.variables[0] = s.variables[0] - s.scalars[0] * Exp(s.scalars[1] * s.scalars[2] * agreement) * s.grad;
}

}  // namespace

void RegisterTrainingDescentEmitters(EmitterRegistry& r) {
  AddRule(r, {"ApplyGradientDescent", {"var"}, {"alpha"}, GradientDescent}, kNumbers);
  AddRule(r, {"ApplyMomentum", {"var", "accum"}, {"lr", "momentum"}, Momentum});
  AddRule(r, {"ApplyKerasMomentum", {"var", "accum"}, {"lr", "momentum"}, KerasMomentum});
  AddRule(r, {"ApplyAddSign", {"var", "m"}, {"lr", "alpha", "sign_decay", "beta"}, AddSign});
  AddRule(r, {"ApplyPowerSign", {"var", "m"}, {"lr", "logbase", "sign_decay", "beta"}, PowerSign});
}

}  // namespace tensorbraid::pjrt
