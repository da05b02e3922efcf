// The update rules of FTRL, and the checks of strengths of regularisation. rule_loop.h explains the form of a rule, and
// why some rules distinguish updates of rows and rows of one element.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_FTRL_RULES_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_FTRL_RULES_H_

#include <array>
#include <cmath>

#include "core/text/strings.h"
#include "graph/model/attr_or.h"
#include "graph/model/node.h"
#include "kernels/cpu/training/rule_loop.h"

namespace tensorbraid::cpu::update_rules {

using std::abs;
using std::pow;
using std::sqrt;

// Like TensorFlow, only updates of rows reject invalid scalars; updates of whole variables use any value.
template <typename C>
Status CheckStrengths(const Node& node, C lr, C l1, C l2, bool lr_may_be_zero = false) {
  if (!UpdatesRows(node)) return OkStatus();
  if (!(lr > C(0) || (lr_may_be_zero && lr == C(0))))
    return InvalidArgument("the learning rate must be positive, got ", static_cast<double>(lr));
  if (!(l1 >= C(0))) return InvalidArgument("l1 must not be negative, got ", static_cast<double>(l1));
  if (!(l2 >= C(0))) return InvalidArgument("l2 must not be negative, got ", static_cast<double>(l2));
  return OkStatus();
}

// "Follow the regularised leader". Source: McMahan et al., 2013. If the attribute multiply_linear_by_lr is set,
// `linear` is stored multiplied by the learning rate.
template <typename C>
struct FtrlRule {
  FtrlRule(C lr_, C l1_, C l2_, C shrinkage_, C lr_power, const Node& node)
      : lr(lr_), l2(l2_), shrinkage(shrinkage_), power(-lr_power), times_lr(Multiplies(node)) {
    threshold = times_lr ? l1_ * lr : l1_;
  }
  static bool Multiplies(const Node& node) { return AttrOr(node, "multiply_linear_by_lr", false); }
  static Status Check(C lr, C l1, C l2, C lr_power, const Node& node) {
    TF_RETURN_IF_ERROR(CheckStrengths(node, lr, l1, l2, Multiplies(node)));
    if (!UpdatesRows(node) || lr_power <= C(0)) return OkStatus();
    return InvalidArgument("lr_power must not be positive, got ", static_cast<double>(lr_power));
  }
  C Power(C x) const { return power == C(0.5) ? sqrt(x) : pow(x, power); }
  void Step(C grad, C& var, C& accum, C& linear) const {
    const C shrunk = grad + C(2) * shrinkage * var;
    const C next = accum + grad * grad;
    // In the paper, curve / lr is the inverse of the element's own learning rate, and turn / lr (sigma) is its change.
    const C curve = Power(next);
    const C turn = curve - Power(accum);
    C quadratic;
    if (times_lr) {
      linear += shrunk * lr - turn * var;
      quadratic = curve + C(2) * l2 * lr;
    } else {
      // The same sum in another order, as in TensorFlow.
      linear = one_column ? linear + shrunk - turn / lr * var : linear + (shrunk - turn / lr * var);
      quadratic = curve / lr + C(2) * l2;
    }
    var = abs(linear) > threshold ? (threshold * SignOf(linear) - linear) / quadratic : C(0);
    accum = next;
  }
  C lr, l2, shrinkage, power, threshold;
  bool times_lr;
  bool one_column = false;
};

template <typename C>
struct Ftrl : FtrlRule<C> {
  static constexpr std::array kVariables = {"var", "accum", "linear"};
  static constexpr std::array kScalars = {"lr", "l1", "l2", "lr_power"};
  static Status Check(const std::array<C, 4>& s, const Node& n) {
    return FtrlRule<C>::Check(s[0], s[1], s[2], s[3], n);
  }
  Ftrl(const std::array<C, 4>& s, const Node& n) : FtrlRule<C>(s[0], s[1], s[2], C(0), s[3], n) {}
};

template <typename C>
struct FtrlV2 : FtrlRule<C> {
  static constexpr std::array kVariables = {"var", "accum", "linear"};
  static constexpr std::array kScalars = {"lr", "l1", "l2", "l2_shrinkage", "lr_power"};
  static Status Check(const std::array<C, 5>& s, const Node& n) {
    return FtrlRule<C>::Check(s[0], s[1], s[2], s[4], n);
  }
  FtrlV2(const std::array<C, 5>& s, const Node& n) : FtrlRule<C>(s[0], s[1], s[2], s[3], s[4], n) {}
};

}  // namespace tensorbraid::cpu::update_rules

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_FTRL_RULES_H_
