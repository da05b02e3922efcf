// The kernel of every update rule: by reference and by handle, of whole variables and of some of their rows.
//
// A rule is a class template over what elements are computed in. It says which inputs it reads, by the names that the
// op definitions give them, and how one element of the variables changes with one of the gradient:
//
//   template <typename C>
//   struct Momentum {
//     static constexpr std::array kVariables = {"var", "accum"};
//     static constexpr std::array kScalars = {"lr", "momentum"};
//     Momentum(const std::array<C, 2>& scalars, const Node& node);
//     void Step(C grad, C& var, C& accum) const;
//   };
//
// A rule that cannot work with all scalars has `static Status Check(const std::array<C, N>& scalars, const Node&
// node)`.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_KERNEL_H_

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/strings.h"
#include "graph/node.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/variable_access.h"

namespace tensorbraid {

// What all rules share. Updates of one variable are serialised by its lock, whatever use_locking says; rules with slots
// hold the locks of all, taken in the order of their addresses.
class UpdateKernel : public Kernel {
 protected:
  // `names` of the variables and of the scalars, as the op calls them.
  UpdateKernel(const Node& node, std::span<const char* const> variables, std::span<const char* const> scalars);

  // Locks the variables and calls update(from, to) with where the elements of each are read and written: of rows
  // (`indices`, checked, in *rows) in place. Checks that types and shapes fit.
  struct Place {
    const void* from;
    void* to;
  };
  Status Together(KernelContext& ctx, std::vector<int64_t>* rows,
                  const std::function<void(const Place*)>& update) const;

  bool is_sparse() const { return indices_ >= 0; }
  int gradient() const { return gradient_; }
  // Inputs.
  std::vector<int> variables_;
  std::vector<int> scalars_;

 private:
  struct Locking;
  Status Lock(Locking& l, size_t depth) const;
  Status CheckShape(const Locking& l, const VariableResource& variable, const Shape& shape) const;

  int gradient_ = -1;
  int indices_ = -1;
};

// 1, 0 or -1.
template <typename C>
C SignOf(C x) {
  return static_cast<C>((x > C(0)) - (x < C(0)));
}

template <template <typename> class Rule, typename T>
class RuleKernel final : public UpdateKernel {
  using C = ComputeType<T>;
  static constexpr size_t kNumVariables = Rule<C>::kVariables.size();
  static constexpr size_t kNumScalars = Rule<C>::kScalars.size();
  using Scalars = std::array<C, kNumScalars>;

 public:
  explicit RuleKernel(const KernelConstruction& c) : UpdateKernel(c.node(), Rule<C>::kVariables, Rule<C>::kScalars) {}

  Status Compute(KernelContext& ctx) override {
    PassReference(ctx);
    TF_ASSIGN_OR_RETURN(const Scalars scalars, ReadScalars(ctx));
    if constexpr (requires { Rule<C>::Check(scalars, ctx.node()); }) {
      TF_RETURN_IF_ERROR(Rule<C>::Check(scalars, ctx.node()));
    }
    const Rule<C> rule(scalars, ctx.node());
    const Tensor& grad = ctx.input(gradient());
    const T* g = grad.data<T>().data();
    std::vector<int64_t> rows;
    return Together(ctx, &rows, [&](const Place* places) {
      if (!is_sparse()) {
        ctx.pool().ParallelFor(grad.num_elements(), 0.3 * kNumVariables * sizeof(T),
                               [&](int64_t begin, int64_t end) { Steps(rule, g, places, begin, begin, end - begin); });
        return;
      }
      // One after the other: an index may occur twice.
      const int64_t size = rows.empty() ? 0 : grad.num_elements() / static_cast<int64_t>(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        Steps(rule, g, places, static_cast<int64_t>(i) * size, rows[i] * size, size);
      }
    });
  }

 private:
  StatusOr<Scalars> ReadScalars(KernelContext& ctx) const {
    Scalars scalars;
    for (size_t i = 0; i < kNumScalars; ++i) {
      const Tensor& t = ctx.input(scalars_[i]);
      if (!t.shape().is_scalar()) {
        return InvalidArgument(Rule<C>::kScalars[i], " is not a scalar: its shape is ", t.shape());
      }
      if (t.dtype() == DTypeOf<T>::value) {
        scalars[i] = static_cast<C>(t.data<T>()[0]);
      } else {  // the global step
        scalars[i] = static_cast<C>(static_cast<double>(t.data<int64_t>()[0]));
      }
    }
    return scalars;
  }

  // n elements of the gradient from `at_gradient` on go to those of the variables from `at_variable` on.
  static void Steps(const Rule<C>& rule, const T* gradient, const Place* places, int64_t at_gradient,
                    int64_t at_variable, int64_t n) {
    Steps(rule, gradient + at_gradient, places, at_variable, n, std::make_index_sequence<kNumVariables>());
  }
  template <size_t... K>
  static void Steps(const Rule<C>& rule, const T* gradient, const Place* places, int64_t at, int64_t n,
                    std::index_sequence<K...>) {
    Loop(rule, gradient, n, (static_cast<const T*>(places[K].from) + at)..., (static_cast<T*>(places[K].to) + at)...);
  }
  // A place that is read and written is the same in one element alone, so elements may be worked on together.
  static void Loop(const Rule<C>& rule, const T* gradient, int64_t n, const T* a, T* to_a) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x(a[i]);
      rule.Step(C(gradient[i]), x);
      to_a[i] = T(x);
    }
  }
  static void Loop(const Rule<C>& rule, const T* gradient, int64_t n, const T* a, const T* b, T* to_a, T* to_b) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      C x(a[i]), y(b[i]);
      rule.Step(C(gradient[i]), x, y);
      to_a[i] = T(x);
      to_b[i] = T(y);
    }
  }
  static void Loop(const Rule<C>& rule, const T* gradient, int64_t n, const T* a, const T* b, const T* c, T* to_a,
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
  static void Loop(const Rule<C>& rule, const T* gradient, int64_t n, const T* a, const T* b, const T* c, const T* d,
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
};

// Kernels for all forms of a rule that exist as ops: `name` is that of the dense one by reference.
template <template <typename> class Rule, typename... Ts>
void AddRule(KernelRegistry& r, const std::string& name) {
  for (const char* form : {"", "Resource", "Sparse", "ResourceSparse"}) {
    const std::string op = form + name;
    if (OpRegistry::Global().Find(op) == nullptr) continue;
    (r.Add<RuleKernel<Rule, Ts>>(op, {{"T", {DTypeOf<Ts>::value}}}, KernelCost::kExpensive), ...);
  }
}

// The parts of the training family.
void RegisterDescentKernels(KernelRegistry& r);   // training_descent.cc
void RegisterAdaptiveKernels(KernelRegistry& r);  // training_adaptive.cc
void RegisterProximalKernels(KernelRegistry& r);  // training_proximal.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_KERNEL_H_
