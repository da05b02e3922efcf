// Update rules that scale the step of each element by the history of its gradients. rule_loop.h explains the form of a
// rule, and why some rules distinguish updates of rows and rows of one element.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_ADAPTIVE_RULES_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_ADAPTIVE_RULES_H_

#include <array>
#include <cmath>

#include "core/text/strings.h"
#include "graph/model/attr_or.h"
#include "graph/model/node.h"
#include "kernels/cpu/training/rule_loop.h"

namespace tensorbraid::cpu::update_rules {

using std::abs;
using std::sqrt;

// Source: Zeiler, 2012.
template <typename C>
struct Adadelta {
  static constexpr std::array kVariables = {"var", "accum", "accum_update"};
  static constexpr std::array kScalars = {"lr", "rho", "epsilon"};
  Adadelta(const std::array<C, 3>& s, const Node& node) : lr(s[0]), rho(s[1]), epsilon(s[2]), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& accum, C& accum_update) const {
    accum = accum * rho + grad * grad * (C(1) - rho);
    const C past = sqrt(accum_update + epsilon);
    const C update = rows ? past * (C(1) / sqrt(accum + epsilon)) * grad : past / sqrt(accum + epsilon) * grad;
    var -= lr * update;
    accum_update = accum_update * rho + update * update * (C(1) - rho);
  }
  const C lr, rho, epsilon;
  const bool rows;
};

// Whether an update changes the slots, which is so unless the op has an attribute that says otherwise.
inline bool UpdatesSlots(const Node& node) { return AttrOr(node, "update_slots", true); }

// Source: Duchi et al., 2011.
template <typename C>
struct Adagrad {
  static constexpr std::array kVariables = {"var", "accum"};
  static constexpr std::array kScalars = {"lr"};
  Adagrad(const std::array<C, 1>& s, const Node& node)
      : lr(s[0]), update_slots(UpdatesSlots(node)), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& accum) const {
    if (update_slots) accum += grad * grad;
    var -= rows && !one_column ? grad * lr * (C(1) / sqrt(accum)) : grad * lr / sqrt(accum);
  }
  const C lr;
  const bool update_slots, rows;
  bool one_column = false;
};

// Adagrad with one sum for each row: of the means of the squares of its gradients. Source: exact row-wise Adagrad of
// FBGEMM.
template <typename C>
struct RowwiseAdagrad {
  static constexpr std::array kVariables = {"var", "row_accum"};
  static constexpr std::array kScalars = {"lr"};
  static constexpr bool kOnePerRow = true;
  RowwiseAdagrad(const std::array<C, 1>& s, const Node&) : lr(s[0]) {}
  C Factor(C mean_square, C& accum) const {
    accum += mean_square;
    return lr / sqrt(accum);
  }
  const C lr;
};

// Adagrad whose sums decay by a rate once in each period of the global step, but not below a baseline, so that learning
// does not end. `accum_decay_power` counts how often. Elements that were not updated for several periods make up for
// one of them in each update. Periods are exact up to a global step of 2^24, and then begin some steps early or late.
// Source: DeepRec.
template <typename C>
struct AdagradDecay {
  static constexpr std::array kVariables = {"var", "accum", "accum_decay_power"};
  static constexpr std::array kScalars = {"lr", "accum_decay_step", "accum_decay_rate", "accum_baseline",
                                          "global_step"};
  static Status Check(const std::array<C, 5>& s, const Node&) {
    if (s[1] >= C(1)) return OkStatus();
    return InvalidArgument("accum_decay_step must be positive, got ", static_cast<double>(s[1]));
  }
  AdagradDecay(const std::array<C, 5>& s, const Node&)
      : lr(s[0]), rate(s[2]), baseline(s[3]), periods(std::floor(s[4] / s[1])) {}
  void Step(C grad, C& var, C& accum, C& power) const {
    const bool decays = power < periods;
    const C decayed = accum * rate;
    const C kept = decayed < baseline ? baseline : decayed;
    accum = (decays ? kept : accum) + grad * grad;
    power += decays ? C(1) : C(0);
    var -= grad * lr * (C(1) / sqrt(accum));
  }
  const C lr, rate, baseline, periods;
};

template <typename C>
struct AdagradV2 {
  static constexpr std::array kVariables = {"var", "accum"};
  static constexpr std::array kScalars = {"lr", "epsilon"};
  AdagradV2(const std::array<C, 2>& s, const Node& node)
      : lr(s[0]), epsilon(s[1]), update_slots(node.attr<bool>("update_slots")) {}
  void Step(C grad, C& var, C& accum) const {
    if (update_slots) accum += grad * grad;
    var -= grad * lr / (sqrt(accum) + epsilon);
  }
  const C lr, epsilon;
  const bool update_slots;
};

// Source: Kingma and Ba, 2015. `rate` corrects the bias of running means that start at 0.
template <typename C>
struct Adam {
  static constexpr std::array kVariables = {"var", "m", "v"};
  static constexpr std::array kScalars = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  Adam(const std::array<C, 6>& s, const Node& node)
      : rate(s[2] * sqrt(C(1) - s[1]) / (C(1) - s[0])),
        beta1(s[3]),
        beta2(s[4]),
        epsilon(s[5]),
        of_grad(AttrOr(node, "use_nesterov", false) ? C(1) - beta1 : C(0)),
        of_m(AttrOr(node, "use_nesterov", false) ? beta1 : C(1)) {}
  void Step(C grad, C& var, C& m, C& v) const {
    m += (grad - m) * (C(1) - beta1);
    v += (grad * grad - v) * (C(1) - beta2);
    var -= (of_grad * grad + of_m * m) * rate / (sqrt(v) + epsilon);
  }
  const C rate, beta1, beta2, epsilon;
  // The weights of the gradient and of its mean in the step. They replace a choice between the two, which GCC does not
  // vectorise.
  const C of_grad, of_m;
};

// Adam with decoupled weight decay, for growing tables: a row decays when it has a gradient, by the rate of its step.
// As in DeepRec. Static variables decay by an op of their own, and not by the rate (AdamWOptimizer).
template <typename C>
struct AdamW {
  static constexpr std::array kVariables = {"var", "m", "v"};
  static constexpr std::array kScalars = {"beta1_power", "beta2_power", "lr",          "beta1",
                                          "beta2",       "epsilon",     "weight_decay"};
  AdamW(const std::array<C, 7>& s, const Node&)
      : rate(s[2] * sqrt(C(1) - s[1]) / (C(1) - s[0])), beta1(s[3]), beta2(s[4]), epsilon(s[5]), decay(s[6]) {}
  void Step(C grad, C& var, C& m, C& v) const {
    m += (grad - m) * (C(1) - beta1);
    v += (grad * grad - v) * (C(1) - beta2);
    var -= (m / (sqrt(v) + epsilon) + decay * var) * rate;
  }
  const C rate, beta1, beta2, epsilon, decay;
};

// Adam for workers that do not wait for each other: the powers of the betas belong to the variable, and each update
// multiplies them, except in the form that is RMSProp with momentum. As in DeepRec. This is the rule for rows;
// AdamAsyncOptimizer updates whole variables by the rule Adam.
template <typename C>
struct AdamAsync {
  static constexpr std::array kVariables = {"var", "m", "v"};
  static constexpr std::array kScalars = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  // The scalars that are handles of variables, and the numbers of the scalars by which they are multiplied.
  static constexpr std::array<size_t, 2> kPowersTimes = {3, 4};
  AdamAsync(const std::array<C, 6>& s, const Node& node)
      : rate(s[2] * sqrt(C(1) - s[1]) / (C(1) - s[0])),
        lr(s[2]),
        beta1(s[3]),
        beta2(s[4]),
        epsilon(s[5]),
        rmsprop(AttrOr(node, "apply_sparse_rmsprop", false)) {}
  bool multiplies_powers() const { return !rmsprop; }
  void Step(C grad, C& var, C& m, C& v) const {
    v = beta2 * v + (C(1) - beta2) * grad * grad;
    if (rmsprop) {
      m = beta1 * m + lr * grad * (C(1) / sqrt(v + epsilon));
      var -= m;
    } else {
      m = beta1 * m + (C(1) - beta1) * grad;
      var -= rate * m / (sqrt(v) + epsilon);
    }
  }
  const C rate, lr, beta1, beta2, epsilon;
  const bool rmsprop;
};

// Adam with the maximum of all past values of `v` in place of `v`. Source: Reddi et al., 2018.
template <typename C>
struct AdamWithAmsgrad {
  static constexpr std::array kVariables = {"var", "m", "v", "vhat"};
  static constexpr std::array kScalars = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  AdamWithAmsgrad(const std::array<C, 6>& s, const Node&)
      : rate(s[2] * sqrt(C(1) - s[1]) / (C(1) - s[0])), beta1(s[3]), beta2(s[4]), epsilon(s[5]) {}
  void Step(C grad, C& var, C& m, C& v, C& vhat) const {
    m += (grad - m) * (C(1) - beta1);
    v += (grad * grad - v) * (C(1) - beta2);
    vhat = vhat < v ? v : vhat;
    var -= m * rate / (sqrt(vhat) + epsilon);
  }
  const C rate, beta1, beta2, epsilon;
};

// Source: Kingma and Ba, 2015, section 7.
template <typename C>
struct AdaMax {
  static constexpr std::array kVariables = {"var", "m", "v"};
  static constexpr std::array kScalars = {"beta1_power", "lr", "beta1", "beta2", "epsilon"};
  AdaMax(const std::array<C, 5>& s, const Node&)
      : rate(s[1] / (C(1) - s[0])), beta1(s[2]), beta2(s[3]), epsilon(s[4]) {}
  void Step(C grad, C& var, C& m, C& v) const {
    m += (grad - m) * (C(1) - beta1);
    const C decayed = beta2 * v;
    const C size = abs(grad);
    v = decayed < size ? size : decayed;
    var -= rate * (m / (v + epsilon));
  }
  const C rate, beta1, beta2, epsilon;
};

// RMSProp with momentum. Source: Hinton's lecture 6e, 2012.
template <typename C>
struct RmsProp {
  static constexpr std::array kVariables = {"var", "ms", "mom"};
  static constexpr std::array kScalars = {"lr", "rho", "momentum", "epsilon"};
  RmsProp(const std::array<C, 4>& s, const Node& node)
      : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& ms, C& mom) const {
    if (rows) {
      ms = ms * rho + grad * grad * (C(1) - rho);
      mom = mom * momentum + C(1) / sqrt(ms + epsilon) * lr * grad;
    } else {
      ms += (grad * grad - ms) * (C(1) - rho);
      mom = mom * momentum + grad * lr / sqrt(ms + epsilon);
    }
    var -= mom;
  }
  const C lr, rho, momentum, epsilon;
  const bool rows;
};

// RMSProp that divides by the variance of the gradients instead of their mean square. Source: Graves, 2013.
template <typename C>
struct CenteredRmsProp {
  static constexpr std::array kVariables = {"var", "mg", "ms", "mom"};
  static constexpr std::array kScalars = {"lr", "rho", "momentum", "epsilon"};
  CenteredRmsProp(const std::array<C, 4>& s, const Node& node)
      : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& mg, C& ms, C& mom) const {
    if (rows) {
      ms = ms * rho + grad * grad * (C(1) - rho);
      mg = mg * rho + grad * (C(1) - rho);
      mom = mom * momentum + C(1) / sqrt(ms - mg * mg + epsilon) * lr * grad;
    } else {
      ms += (grad * grad - ms) * (C(1) - rho);
      mg += (grad - mg) * (C(1) - rho);
      mom = mom * momentum + grad * lr / sqrt(ms - mg * mg + epsilon);
    }
    var -= mom;
  }
  const C lr, rho, momentum, epsilon;
  const bool rows;
};

}  // namespace tensorbraid::cpu::update_rules

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_ADAPTIVE_RULES_H_
