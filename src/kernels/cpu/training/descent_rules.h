// Update rules that follow the gradient, with or without momentum. rule_loop.h explains the form of a rule, and why
// some rules distinguish updates of rows.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_DESCENT_RULES_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_DESCENT_RULES_H_

#include <array>
#include <cmath>

#include "graph/model/node.h"
#include "kernels/cpu/training/rule_loop.h"

namespace tensorbraid::cpu::update_rules {

template <typename C>
struct GradientDescent {
  static constexpr std::array kVariables = {"var"};
  static constexpr std::array kScalars = {"alpha"};
  GradientDescent(const std::array<C, 1>& s, const Node&) : alpha(s[0]) {}
  void Step(C grad, C& var) const { var -= alpha * grad; }
  const C alpha;
};

template <typename C>
struct Momentum {
  static constexpr std::array kVariables = {"var", "accum"};
  static constexpr std::array kScalars = {"lr", "momentum"};
  Momentum(const std::array<C, 2>& s, const Node& node)
      : lr(s[0]), momentum(s[1]), nesterov(node.attr<bool>("use_nesterov")), rows(UpdatesRows(node)) {}
  // Nesterov momentum looks ahead: the variable moves as if the same gradient had been accumulated twice.
  void Step(C grad, C& var, C& accum) const {
    accum = accum * momentum + grad;
    if (nesterov && rows) {
      var -= lr * grad + lr * momentum * accum;
    } else {
      var -= lr * (nesterov ? grad + momentum * accum : accum);
    }
  }
  const C lr, momentum;
  const bool nesterov, rows;
};

// Like Momentum, but the accumulated value includes the learning rate, so a change of the rate takes effect gradually.
template <typename C>
struct KerasMomentum {
  static constexpr std::array kVariables = {"var", "accum"};
  static constexpr std::array kScalars = {"lr", "momentum"};
  KerasMomentum(const std::array<C, 2>& s, const Node& node)
      : lr(s[0]), momentum(s[1]), nesterov(node.attr<bool>("use_nesterov")) {}
  void Step(C grad, C& var, C& accum) const {
    accum = accum * momentum - lr * grad;
    var += nesterov ? momentum * accum - lr * grad : accum;
  }
  const C lr, momentum;
  const bool nesterov;
};

// Takes larger steps while the gradient and its running mean have the same sign. Source: Bello et al., 2017.
template <typename C>
struct AddSign {
  static constexpr std::array kVariables = {"var", "m"};
  static constexpr std::array kScalars = {"lr", "alpha", "sign_decay", "beta"};
  AddSign(const std::array<C, 4>& s, const Node&) : lr(s[0]), alpha(s[1]), sign_decay(s[2]), beta(s[3]) {}
  void Step(C grad, C& var, C& m) const {
    m = m * beta + grad * (C(1) - beta);
    var -= lr * (alpha + sign_decay * SignOf(grad) * SignOf(m)) * grad;
  }
  const C lr, alpha, sign_decay, beta;
};

template <typename C>
struct PowerSign {
  static constexpr std::array kVariables = {"var", "m"};
  static constexpr std::array kScalars = {"lr", "logbase", "sign_decay", "beta"};
  // exp(logbase * sign_decay * sign(grad) * sign(m)) can have only three values, so they are computed once.
  PowerSign(const std::array<C, 4>& s, const Node&)
      : lr(s[0]), beta(s[3]), agree(std::exp(s[1] * s[2])), disagree(std::exp(-s[1] * s[2])) {}
  void Step(C grad, C& var, C& m) const {
    m = m * beta + grad * (C(1) - beta);
    const C agreement = SignOf(grad) * SignOf(m);
    const C scale = agreement > C(0) ? agree : agreement < C(0) ? disagree : C(1);
    var -= lr * scale * grad;
  }
  const C lr, beta, agree, disagree;
};

}  // namespace tensorbraid::cpu::update_rules

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_DESCENT_RULES_H_
