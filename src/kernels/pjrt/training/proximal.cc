// Update rules with built-in L1 and L2 regularisation.
#include "kernels/pjrt/training/rule.h"

namespace tensorbraid::pjrt {
namespace {

// Soft thresholding: x moved towards 0 by `by`, or 0 if its magnitude is at most `by`.
Expr Shrunk(const Expr& x, const Expr& by) {
  const Expr rest = Abs(x) - by;
  return Select(rest > 0, Select(x < 0, -rest, rest), 0);
}

// The proximal operator of the regularisation, applied to `x`, the value after a gradient step.
Expr Proximal(const Expr& x, const Expr& rate, const Expr& l1, const Expr& l2) {
  return Select(l1 > 0, Shrunk(x, rate * l1), x) / (1 + l2 * rate);
}

void ProximalGradientDescent(RuleStep& s) {
  const Expr& alpha = s.scalars[0];
  s.variables[0] = Proximal(s.variables[0] - alpha * s.grad, alpha, s.scalars[1], s.scalars[2]);
}

void ProximalAdagrad(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1];
  accum = accum + s.grad * s.grad;
  const Expr rate = s.scalars[0] / Sqrt(accum);
  var = Proximal(var - rate * s.grad, rate, s.scalars[1], s.scalars[2]);
}

void AdagradDa(RuleStep& s) {
  Expr &var = s.variables[0], &sum = s.variables[1], &squares = s.variables[2];
  const Expr &lr = s.scalars[0], &l1 = s.scalars[1], &l2 = s.scalars[2], &step = s.scalars[3];
  sum = sum + s.grad;
  squares = squares + s.grad * s.grad;
  var = -lr * Select(l1 > 0, Shrunk(sum, l1 * step), sum) / (step * lr * l2 + Sqrt(squares));
}

// If the attribute multiply_linear_by_lr is set, `linear` is stored multiplied by the learning rate.
void FtrlStep(RuleStep& s, const Expr& shrinkage, const Expr& lr_power) {
  Expr &var = s.variables[0], &accum = s.variables[1], &linear = s.variables[2];
  const Expr &lr = s.scalars[0], &l1 = s.scalars[1], &l2 = s.scalars[2];
  const auto power = [&](const Expr& x) { return Select(lr_power == -0.5, Sqrt(x), Pow(x, -lr_power)); };
  const Expr shrunk = s.grad + 2 * shrinkage * var;
  const Expr next = accum + s.grad * s.grad;
  const Expr curve = power(next), turn = curve - power(accum);
  const bool times_lr = s.attr<bool>("multiply_linear_by_lr");
  linear = linear + (times_lr ? shrunk * lr - turn * var : shrunk - turn / lr * var);
  const Expr quadratic = times_lr ? curve + 2 * l2 * lr : curve / lr + 2 * l2;
  const Expr threshold = times_lr ? l1 * lr : l1;
  var = Select(Abs(linear) > threshold, (threshold * Sign(linear) - linear) / quadratic, 0);
  accum = next;
}

void Ftrl(RuleStep& s) { FtrlStep(s, s.grad.Number(0), s.scalars[3]); }
void FtrlV2(RuleStep& s) { FtrlStep(s, s.scalars[3], s.scalars[4]); }

}  // namespace

void RegisterTrainingProximalEmitters(EmitterRegistry& r) {
  AddRule(r, {"ApplyProximalGradientDescent", {"var"}, {"alpha", "l1", "l2"}, ProximalGradientDescent});
  AddRule(r, {"ApplyProximalAdagrad", {"var", "accum"}, {"lr", "l1", "l2"}, ProximalAdagrad});
  AddRule(r, {"ApplyAdagradDA",
              {"var", "gradient_accumulator", "gradient_squared_accumulator"},
              {"lr", "l1", "l2", "global_step"},
              AdagradDa});
  AddRule(r, {"ApplyFtrl", {"var", "accum", "linear"}, {"lr", "l1", "l2", "lr_power"}, Ftrl});
  AddRule(r, {"ApplyFtrlV2", {"var", "accum", "linear"}, {"lr", "l1", "l2", "l2_shrinkage", "lr_power"}, FtrlV2});
}

}  // namespace tensorbraid::pjrt
