// Update rules with built-in L1 and L2 regularisation, which can make weights exactly 0. training_kernel.h explains the
// form of a rule. It also explains two distinctions, by which results equal TensorFlow's bit for bit: updates of rows
// round differently than updates of whole variables (`rows`), and rows of one element than longer rows (`one_column`).
#include <cmath>

#include "kernels/cpu/training/training_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace update_rules {

using std::abs;
using std::pow;
using std::sqrt;

// Soft thresholding: x moved towards 0 by `by`, or 0 if its magnitude is at most `by`.
template <typename C>
C Shrunk(C x, C by) {
  const C rest = abs(x) - by;
  return rest > C(0) ? std::copysign(rest, x) : C(0);
}

// The proximal operator of the regularisation, applied to `x`, the value after a gradient step. Source: Duchi and
// Singer, 2009.
template <typename C>
C Proximal(C x, C rate, C l1, C l2, bool one_column) {
  const C shrunk = l1 > C(0) ? Shrunk(x, rate * l1) : x;
  // The same quotient, but computed in double, as in TensorFlow.
  if (one_column) return static_cast<C>(static_cast<double>(shrunk) / (1.0 + static_cast<double>(l2 * rate)));
  return shrunk / (C(1) + l2 * rate);
}

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

template <typename C>
struct ProximalGradientDescent {
  static constexpr std::array kVariables = {"var"};
  static constexpr std::array kScalars = {"alpha", "l1", "l2"};
  ProximalGradientDescent(const std::array<C, 3>& s, const Node&) : alpha(s[0]), l1(s[1]), l2(s[2]) {}
  void Step(C grad, C& var) const { var = Proximal(var - alpha * grad, alpha, l1, l2, one_column); }
  const C alpha, l1, l2;
  bool one_column = false;
};

template <typename C>
struct ProximalAdagrad {
  static constexpr std::array kVariables = {"var", "accum"};
  static constexpr std::array kScalars = {"lr", "l1", "l2"};
  static Status Check(const std::array<C, 3>& s, const Node& node) { return CheckStrengths(node, s[0], s[1], s[2]); }
  ProximalAdagrad(const std::array<C, 3>& s, const Node& node)
      : lr(s[0]), l1(s[1]), l2(s[2]), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& accum) const {
    accum += grad * grad;
    // The same rate with another rounding, as in TensorFlow.
    const C rate = rows && !one_column ? lr * (C(1) / sqrt(accum)) : lr / sqrt(accum);
    var = Proximal(var - rate * grad, rate, l1, l2, one_column);
  }
  const C lr, l1, l2;
  const bool rows;
  bool one_column = false;
};

// Source: Duchi et al., 2011, the dual averaging form.
template <typename C>
struct AdagradDa {
  static constexpr std::array kVariables = {"var", "gradient_accumulator", "gradient_squared_accumulator"};
  static constexpr std::array kScalars = {"lr", "l1", "l2", "global_step"};
  static Status Check(const std::array<C, 4>& s, const Node& node) { return CheckStrengths(node, s[0], s[1], s[2]); }
  AdagradDa(const std::array<C, 4>& s, const Node& node)
      : lr(s[0]), l1(s[1]), l2(s[2]), step(s[3]), rows(UpdatesRows(node)) {}
  void Step(C grad, C& var, C& sum, C& squares) const {
    sum += grad;
    squares += grad * grad;
    // The same value with another rounding, as in TensorFlow.
    if (rows) {
      var = -(l1 > C(0) ? Shrunk(sum / step, l1) : sum / step) / (l2 + sqrt(squares) / (step * lr));
    } else {
      var = -lr * (l1 > C(0) ? Shrunk(sum, l1 * step) : sum) / (step * lr * l2 + sqrt(squares));
    }
  }
  const C lr, l1, l2, step;
  const bool rows;
};

// "Follow the regularised leader". Source: McMahan et al., 2013. If the attribute multiply_linear_by_lr is set,
// `linear` is stored multiplied by the learning rate.
template <typename C>
struct FtrlRule {
  FtrlRule(C lr_, C l1_, C l2_, C shrinkage_, C lr_power, const Node& node)
      : lr(lr_), l2(l2_), shrinkage(shrinkage_), power(-lr_power), times_lr(Multiplies(node)) {
    threshold = times_lr ? l1_ * lr : l1_;
  }
  static bool Multiplies(const Node& node) { return node.attr<bool>("multiply_linear_by_lr"); }
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

template <template <typename> class Rule>
void Add(KernelRegistry& r, const std::string& name) {
  AddRule<Rule, float, double, Float16, Bfloat16>(r, name);
}

}  // namespace update_rules

void RegisterTrainingProximalKernels(KernelRegistry& r) {
  using namespace update_rules;  // NOLINT: the rules of this file
  Add<ProximalGradientDescent>(r, "ApplyProximalGradientDescent");
  Add<ProximalAdagrad>(r, "ApplyProximalAdagrad");
  Add<AdagradDa>(r, "ApplyAdagradDA");
  Add<Ftrl>(r, "ApplyFtrl");
  Add<FtrlV2>(r, "ApplyFtrlV2");
}

}  // namespace tensorbraid::cpu
