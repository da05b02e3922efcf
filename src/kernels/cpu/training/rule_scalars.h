// The scalars of an update rule. Most are tensors. Those that the updates of the rule itself change, such as the powers
// of AdamAsync, are variables.
#ifndef TENSORBRAID_KERNELS_CPU_TRAINING_RULE_SCALARS_H_
#define TENSORBRAID_KERNELS_CPU_TRAINING_RULE_SCALARS_H_

#include <array>
#include <span>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "kernels/cpu/numbers.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {

// Writes a scalar into `to`, which is an element of the type that elements of type T are computed in. REQUIRES: the
// scalar is of type T or an integer.
template <typename T>
void ConvertScalar(const Tensor& value, void* to) {
  using C = ComputeType<T>;
  C& scalar = *static_cast<C*>(to);
  if (value.dtype() == DTypeOf<T>::value) {
    scalar = static_cast<C>(value.data<T>()[0]);
  } else if (value.dtype() == kInt32) {  // the global step, or a number of steps
    scalar = static_cast<C>(static_cast<double>(value.data<int32_t>()[0]));
  } else {
    scalar = static_cast<C>(static_cast<double>(value.data<int64_t>()[0]));
  }
}

// Calls convert(value, to) for each scalar of a rule, where `to` begins at `scalars` and advances by `size` bytes. The
// scalars are the inputs with these numbers; those that are variables have type `dtype`. InvalidArgument if one of them
// is not a scalar. It is no template, because it would be compiled for a hundred rules and dtypes.
Status ConvertScalars(KernelContext& ctx, std::span<const int> inputs, std::span<const char* const> names, DType dtype,
                      void (*convert)(const Tensor& value, void* to), void* scalars, size_t size);

// The scalars of `Rule`, computed in C, which are the inputs with these numbers; T is the type of the gradient.
// InvalidArgument if one of them is not a scalar, or if the rule rejects their values.
template <typename Rule, typename T, typename C = ComputeType<T>>
StatusOr<std::array<C, Rule::kScalars.size()>> ReadScalars(KernelContext& ctx, std::span<const int> inputs) {
  std::array<C, Rule::kScalars.size()> scalars;
  TF_RETURN_IF_ERROR(
      ConvertScalars(ctx, inputs, Rule::kScalars, DTypeOf<T>::value, ConvertScalar<T>, scalars.data(), sizeof(C)));
  if constexpr (requires { Rule::Check(scalars, ctx.node()); }) {
    TF_RETURN_IF_ERROR(Rule::Check(scalars, ctx.node()));
  }
  return scalars;
}

// After an update: multiplies the variables among the scalars, if the rule has such.
template <typename T, typename Rule, typename Scalars>
Status MultiplyPowers(KernelContext& ctx, const Rule& rule, std::span<const int> inputs, const Scalars& scalars) {
  if constexpr (requires { Rule::kPowersTimes; }) {
    if (!rule.multiplies_powers()) return OkStatus();
    for (size_t i = 0; i < Rule::kPowersTimes.size(); ++i) {
      const auto by = scalars[Rule::kPowersTimes[i]];
      TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, inputs[i], DTypeOf<T>::value));
      TF_RETURN_IF_ERROR(variable->Update([by](const Tensor& old, Tensor* out) {
        if (old.num_elements() != 1) return InvalidArgument("a power must be a scalar, got shape ", old.shape());
        out->inplace_data<T>()[0] = T(ComputeType<T>(old.data<T>()[0]) * by);
        return OkStatus();
      }));
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TRAINING_RULE_SCALARS_H_
