// The kernel of all update rules: for variables that are passed by reference and by handle, for whole variables and for
// some of their rows. rule_loop.h says what a rule is.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_TRAINING_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_TRAINING_KERNEL_H_

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/training/rule_loop.h"
#include "kernels/cpu/training/rule_scalars.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {

// The code that all rules share. Whatever the value of use_locking, an update of a whole variable holds the variable's
// lock, and an update of rows holds the lock of the stripe that it changes (runtime/variables/row_locks.h). Rules with
// slots hold the locks of all their variables, acquired in the order of the variables' addresses.
class UpdateKernel : public Kernel {
 protected:
  // `variables` and `scalars` are the names of inputs in the op definition.
  UpdateKernel(const Node& node, std::span<const char* const> variables, std::span<const char* const> scalars);

  // The buffers of one variable. For updates of rows both are the same buffer; for other updates they may be.
  struct Place {
    const void* from;  // the elements are read here
    void* to;          // and written here
  };
  // Locks the variables and calls update(places, locks) with one Place per variable. Returns InvalidArgument if types
  // or shapes do not match. If the op updates rows, sets *rows to the row indices, which have been checked when
  // `update` runs, and `update` locks the rows that it changes with `locks`, in their order.
  using Update = absl::FunctionRef<void(const Place* places, std::span<RowLocks* const> locks)>;
  Status UpdateLocked(KernelContext& ctx, std::vector<int64_t>* rows, Update update) const;
  // Applies n elements of the gradient, from `at_gradient` on, to the elements of the variables from `at_variable` on.
  using Steps = absl::FunctionRef<void(const Place* places, int64_t at_gradient, int64_t at_variable, int64_t n)>;
  // Locks the variables and applies the whole gradient: in parts, which several threads share, or row by row. With
  // one_per_row_, a part is a row, and a scalar is one.
  Status StepAll(KernelContext& ctx, Steps steps) const;

  bool is_sparse() const { return indices_ >= 0; }
  int gradient() const { return gradient_; }
  std::vector<int> variables_;  // the numbers of the inputs that are variables
  std::vector<int> scalars_;    // the numbers of the inputs that are scalars
  bool one_per_row_ = false;    // whether all variables but the first have shape [rows, 1]

 private:
  struct Locking;
  Status Lock(Locking& l, size_t depth) const;
  Status CheckShape(const Locking& l, size_t v, const Shape& shape) const;

  int gradient_ = -1;
  int indices_ = -1;
};

template <template <typename> class Rule, typename T>
class RuleKernel final : public UpdateKernel {
  using C = ComputeType<T>;
  static constexpr size_t kNumVariables = Rule<C>::kVariables.size();

 public:
  explicit RuleKernel(const KernelConstruction& c) : UpdateKernel(c.node(), Rule<C>::kVariables, Rule<C>::kScalars) {
    one_per_row_ = HasOnePerRow<Rule<C>>;
  }

  Status Compute(KernelContext& ctx) override {
    PassReference(ctx);
    TF_ASSIGN_OR_RETURN(const auto scalars, (ReadScalars<Rule<C>, T>(ctx, scalars_)));
    Rule<C> rule(scalars, ctx.node());
    const Tensor& grad = ctx.input(gradient());
    if constexpr (requires { rule.one_column; }) {
      rule.one_column = is_sparse() && grad.shape().rank() > 0 && grad.num_elements() == grad.shape().dim(0);
    }
    const T* g = grad.data<T>().data();
    TF_RETURN_IF_ERROR(StepAll(ctx, [&](const Place* places, int64_t at_gradient, int64_t at_variable, int64_t n) {
      Step(rule, g + at_gradient, places, at_variable, n, std::make_index_sequence<kNumVariables>());
    }));
    return MultiplyPowers<T>(ctx, rule, scalars_, scalars);
  }

 private:
  template <size_t... K>
  static void Step(const Rule<C>& rule, const T* gradient, const Place* places, int64_t at, int64_t n,
                   std::index_sequence<K...>) {
    // Where the elements of variable k begin.
    const auto at_k = [at, n](size_t k) { return HasOnePerRow<Rule<C>> && k > 0 ? at / n : at; };
    RuleLoop<Rule, T>::Step(rule, gradient, n, (static_cast<const T*>(places[K].from) + at_k(K))...,
                            (static_cast<T*>(places[K].to) + at_k(K))...);
  }
};

// Adds kernels for all forms of a rule that exist as ops. `name` is the name of the op for whole variables by
// reference, such as "ApplyAdam".
template <template <typename> class Rule, typename... Ts>
void AddRule(KernelRegistry& r, const std::string& name,
             std::source_location location = std::source_location::current()) {
  for (const char* form : {"", "Resource", "Sparse", "ResourceSparse"}) {
    const size_t at = name.starts_with('_') ? 1 : 0;  // of "Apply"
    const std::string op = std::string(name).insert(at, form);
    if (OpRegistry::Global().Find(op) == nullptr) continue;
    (r.Add<RuleKernel<Rule, Ts>>(op, {{"T", {DTypeOf<Ts>::value}}}, cpu::UpdateCost, location), ...);
  }
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_TRAINING_KERNEL_H_
