// What an update rule is, and the loop that applies it to elements: of variables (training_kernel.h) and of rows of
// growing tables (kernels/cpu/embedding/update.cc). So both have equal bits.
//
// A rule is a class template over the type that elements are computed in. It lists the inputs that it reads, by their
// names in the op definitions, and defines how an element of the variables changes with an element of the gradient:
//
//   template <typename C>
//   struct Momentum {
//     static constexpr std::array kVariables = {"var", "accum"};
//     static constexpr std::array kScalars = {"lr", "momentum"};
//     Momentum(const std::array<C, 2>& scalars, const Node& node);
//     void Step(C grad, C& var, C& accum) const;
//   };
//
// Updates of rows equal TensorFlow's bit for bit. TensorFlow's kernel for rows may round in another order than its
// kernel for whole variables. Rules for which this is so call UpdatesRows(node) to distinguish the two. For rows of one
// element, TensorFlow may have a third order. Rules for which this is so have a member `bool one_column`, which the
// kernel sets.
//
// A rule with `static constexpr bool kOnePerRow = true` has two variables, of which the second has one element for each
// row of the first. Instead of Step, it has `C Factor(C mean_square, C& accum) const`, which changes the second
// variable by the mean of the squares of a row's gradient; what it returns times the gradient is subtracted from the
// row.
//
// A rule that rejects some values of the scalars also has `static Status Check(const std::array<C, N>& scalars, const
// Node& node)`. A rule whose first scalars are handles of variables that each update multiplies has `kPowersTimes`, the
// numbers of the scalars by which they are multiplied, and `bool multiplies_powers() const`.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_RULE_LOOP_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_RULE_LOOP_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "graph/model/node.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid {

// The number of the input with this name in the definition of the node's op; -1 if there is none.
inline int InputNamed(const Node& node, std::string_view name) {
  const auto& inputs = node.op().inputs;
  const auto it = std::find_if(inputs.begin(), inputs.end(), [&](const ArgDef& a) { return a.name == name; });
  return it == inputs.end() ? -1 : static_cast<int>(it - inputs.begin());
}

// Whether the op updates some rows of its variables: "SparseApplyX", "ResourceSparseApplyX".
inline bool UpdatesRows(const Node& node) { return node.type().find("Sparse") != std::string::npos; }

template <typename Rule>
inline constexpr bool HasOnePerRow = requires {
  Rule::kOnePerRow;
};

// The mean of n squares. Eight sums, so that the compiler can compute several at once.
template <typename C, typename T>
C MeanSquare(const T* x, int64_t n) {
  std::array<C, 8> sums = {};
  for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(i) % sums.size()] += C(x[i]) * C(x[i]);
  C sum = 0;
  for (const C s : sums) sum += s;
  return sum / static_cast<C>(n);
}

// 1, 0 or -1.
template <typename C>
C SignOf(C x) {
  return static_cast<C>((x > C(0)) - (x < C(0)));
}

template <template <typename> class Rule, typename T>
class RuleLoop {
  using C = ComputeType<T>;

 public:
  // Applies n elements of the gradient. After `n` come, for each variable in the order of kVariables, where its
  // elements are read, and then where they are written.
  //
  // Buffers that are both read and written only overlap at the same element, so iterations are independent (ivdep). The
  // rule is a copy. If it were a reference, the compiler would have to assume that the loop writes to the rule, and
  // would not vectorise.
  static void Step(const Rule<C> rule, const T* gradient, int64_t n, const T* a, T* to_a) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x(a[i]);
      rule.Step(C(gradient[i]), x);
      to_a[i] = T(x);
    }
  }
  static void Step(const Rule<C> rule, const T* gradient, int64_t n, const T* a, const T* b, T* to_a, T* to_b) {
    if constexpr (HasOnePerRow<Rule<C>>) {
      StepRow(rule, gradient, n, a, b, to_a, to_b);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        C x(a[i]), y(b[i]);
        rule.Step(C(gradient[i]), x, y);
        to_a[i] = T(x);
        to_b[i] = T(y);
      }
    }
  }
  static void Step(const Rule<C> rule, const T* gradient, int64_t n, const T* a, const T* b, const T* c, T* to_a,
                   T* to_b, T* to_c) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x(a[i]), y(b[i]), z(c[i]);
      rule.Step(C(gradient[i]), x, y, z);
      to_a[i] = T(x);
      to_b[i] = T(y);
      to_c[i] = T(z);
    }
  }
  static void Step(const Rule<C> rule, const T* gradient, int64_t n, const T* a, const T* b, const T* c, const T* d,
                   T* to_a, T* to_b, T* to_c, T* to_d) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x(a[i]), y(b[i]), z(c[i]), w(d[i]);
      rule.Step(C(gradient[i]), x, y, z, w);
      to_a[i] = T(x);
      to_b[i] = T(y);
      to_c[i] = T(z);
      to_d[i] = T(w);
    }
  }

 private:
  // The n elements are those of one row, which has one element of `b`.
  static void StepRow(const Rule<C> rule, const T* gradient, int64_t n, const T* a, const T* b, T* to_a, T* to_b) {
    C accum(*b);
    const C factor = rule.Factor(MeanSquare<C>(gradient, n), accum);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to_a[i] = T(C(a[i]) - C(gradient[i]) * factor);
    *to_b = T(accum);
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_RULE_LOOP_H_
