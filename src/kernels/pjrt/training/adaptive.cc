// Update rules that scale the step of each element by the history of its gradients.
#include "kernels/pjrt/training/rule.h"

namespace tensorbraid::pjrt {
namespace {

void Adadelta(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1], &accum_update = s.variables[2];
  const Expr &lr = s.scalars[0], &rho = s.scalars[1], &epsilon = s.scalars[2];
  accum = accum * rho + s.grad * s.grad * (1 - rho);
  const Expr update = Sqrt(accum_update + epsilon) / Sqrt(accum + epsilon) * s.grad;
  var = var - lr * update;
  accum_update = accum_update * rho + update * update * (1 - rho);
}

void Adagrad(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1];
  if (s.attr<bool>("update_slots")) accum = accum + s.grad * s.grad;
  var = var - s.grad * s.scalars[0] / Sqrt(accum);
}

void AdagradV2(RuleStep& s) {
  Expr &var = s.variables[0], &accum = s.variables[1];
  if (s.attr<bool>("update_slots")) accum = accum + s.grad * s.grad;
  var = var - s.grad * s.scalars[0] / (Sqrt(accum) + s.scalars[1]);
}

// The scalars of Adam, whose rate corrects the bias of running means that start at 0.
struct AdamScalars {
  explicit AdamScalars(const RuleStep& s)
      : rate(s.scalars[2] * Sqrt(1 - s.scalars[1]) / (1 - s.scalars[0])),
        beta1(s.scalars[3]),
        beta2(s.scalars[4]),
        epsilon(s.scalars[5]) {}
  Expr rate, beta1, beta2, epsilon;
};

void Adam(RuleStep& s) {
  Expr &var = s.variables[0], &m = s.variables[1], &v = s.variables[2];
  const AdamScalars a(s);
  m = m + (s.grad - m) * (1 - a.beta1);
  v = v + (s.grad * s.grad - v) * (1 - a.beta2);
  const Expr step = s.attr<bool>("use_nesterov") ? (1 - a.beta1) * s.grad + a.beta1 * m : m;
  var = var - step * a.rate / (Sqrt(v) + a.epsilon);
}

// Adam with the maximum of all past values of `v` in place of `v`.
void AdamWithAmsgrad(RuleStep& s) {
  Expr &var = s.variables[0], &m = s.variables[1], &v = s.variables[2], &vhat = s.variables[3];
  const AdamScalars a(s);
  m = m + (s.grad - m) * (1 - a.beta1);
  v = v + (s.grad * s.grad - v) * (1 - a.beta2);
  vhat = Select(vhat < v, v, vhat);
  var = var - m * a.rate / (Sqrt(vhat) + a.epsilon);
}

void AdaMax(RuleStep& s) {
  Expr &var = s.variables[0], &m = s.variables[1], &v = s.variables[2];
  const Expr rate = s.scalars[1] / (1 - s.scalars[0]);
  m = m + (s.grad - m) * (1 - s.scalars[2]);
  const Expr decayed = s.scalars[3] * v, size = Abs(s.grad);
  v = Select(decayed < size, size, decayed);
  var = var - rate * (m / (v + s.scalars[4]));
}

void RmsProp(RuleStep& s) {
  Expr &var = s.variables[0], &ms = s.variables[1], &mom = s.variables[2];
  ms = ms + (s.grad * s.grad - ms) * (1 - s.scalars[1]);
  mom = mom * s.scalars[2] + s.grad * s.scalars[0] / Sqrt(ms + s.scalars[3]);
  var = var - mom;
}

// RMSProp that divides by the variance of the gradients instead of their mean square.
void CenteredRmsProp(RuleStep& s) {
  Expr &var = s.variables[0], &mg = s.variables[1], &ms = s.variables[2], &mom = s.variables[3];
  ms = ms + (s.grad * s.grad - ms) * (1 - s.scalars[1]);
  mg = mg + (s.grad - mg) * (1 - s.scalars[1]);
  mom = mom * s.scalars[2] + s.grad * s.scalars[0] / Sqrt(ms - mg * mg + s.scalars[3]);
  var = var - mom;
}

}  // namespace

void RegisterTrainingAdaptiveEmitters(EmitterRegistry& r) {
  const std::vector<std::string> adam = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  const std::vector<std::string> rms_prop = {"lr", "rho", "momentum", "epsilon"};
  AddRule(r, {"ApplyAdadelta", {"var", "accum", "accum_update"}, {"lr", "rho", "epsilon"}, Adadelta});
  AddRule(r, {"ApplyAdagrad", {"var", "accum"}, {"lr"}, Adagrad});
  AddRule(r, {"ApplyAdagradV2", {"var", "accum"}, {"lr", "epsilon"}, AdagradV2});
  AddRule(r, {"ApplyAdam", {"var", "m", "v"}, adam, Adam});
  AddRule(r, {"ApplyAdamWithAmsgrad", {"var", "m", "v", "vhat"}, adam, AdamWithAmsgrad});
  AddRule(r, {"ApplyAdaMax", {"var", "m", "v"}, {"beta1_power", "lr", "beta1", "beta2", "epsilon"}, AdaMax});
  AddRule(r, {"ApplyRMSProp", {"var", "ms", "mom"}, rms_prop, RmsProp});
  AddRule(r, {"ApplyCenteredRMSProp", {"var", "mg", "ms", "mom"}, rms_prop, CenteredRmsProp});
}

}  // namespace tensorbraid::pjrt
