// Update rules with built-in L1 and L2 regularisation, which can make weights exactly 0. training_kernel.h explains the
// form of a rule. It also explains two distinctions, by which results equal TensorFlow's bit for bit: updates of rows
// round differently than updates of whole variables (`rows`), and rows of one element than longer rows (`one_column`).
#include <cmath>

#include "kernels/cpu/training/ftrl_rules.h"
#include "kernels/cpu/training/training_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace update_rules {

using std::abs;
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
