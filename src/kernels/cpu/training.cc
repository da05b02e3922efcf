// Update rules, one pass over memory each. Updates of one variable are serialised by its lock, whatever use_locking
// says; rules with slots hold the locks of all, taken in the order of their addresses.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/strings.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace {

// The variable or slot that input i is, by handle or by reference.
StatusOr<RefPtr<VariableResource>> VariableOf(KernelContext& ctx, int i) {
  if (!IsRef(ctx.node().declared_input_type(i))) return ctx.LookupResource<VariableResource>(i);
  return RefPtr<VariableResource>::Share(&ctx.ref_input(i));
}

template <typename T>
StatusOr<ComputeType<T>> ScalarOf(KernelContext& ctx, int i) {
  const Tensor& t = ctx.input(i);
  if (t.num_elements() != 1) return InvalidArgument("input ", i, " must be a scalar, got shape ", t.shape());
  return static_cast<ComputeType<T>>(t.data<T>()[0]);
}

// Where element i of each of the N variables is read from and written to.
template <typename T, int N>
struct Places {
  std::array<const T*, N> from;
  std::array<T*, N> to;
};

// Locks the variables and calls body(places, begin, end) over ranges of their elements.
template <typename T, int N, typename Body>
Status UpdateTogether(KernelContext& ctx, const std::array<RefPtr<VariableResource>, N>& variables, int gradient,
                      double cost_ns, const Body& body) {
  const Tensor& grad = ctx.input(gradient);
  Places<T, N> places;
  std::array<int, N> order;
  for (int i = 0; i < N; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](int a, int b) { return variables[a].get() < variables[b].get(); });
  std::function<Status(int)> lock = [&](int depth) -> Status {
    if (depth == N) {
      ctx.pool().ParallelFor(grad.num_elements(), cost_ns,
                             [&](int64_t begin, int64_t end) { body(places, begin, end); });
      return OkStatus();
    }
    const int v = order[depth];
    VariableResource& variable = *variables[v];
    if (depth > 0 && &variable == variables[order[depth - 1]].get()) {
      return InvalidArgument("variable '", variable.name(), "' is given twice");
    }
    if (variable.dtype() != grad.dtype()) {
      return InvalidArgument("variable '", variable.name(), "' holds ", variable.dtype(), ", the gradient is ",
                             grad.dtype());
    }
    return variable.Update(
        [&](const Tensor& old, Tensor* out) -> Status {
          if (old.shape() != grad.shape()) {
            return InvalidArgument("variable '", variable.name(), "' has shape ", old.shape(), ", the gradient ",
                                   grad.shape());
          }
          places.from[v] = old.data<T>().data();
          places.to[v] = out->mutable_data<T>().data();
          return lock(depth + 1);
        },
        N == 1 ? &grad : nullptr);
  };
  return lock(0);
}

// Passes the variable's reference on where the op gives one.
void PassReference(KernelContext& ctx) {
  if (ctx.num_outputs() > 0) ctx.set_output_ref(0, RefPtr<VariableResource>::Share(&ctx.ref_input(0)));
}

// var -= alpha * delta
template <typename T>
Status ApplyGradientDescent(KernelContext& ctx) {
  PassReference(ctx);
  TF_ASSIGN_OR_RETURN(auto variable, VariableOf(ctx, 0));
  TF_ASSIGN_OR_RETURN(const ComputeType<T> alpha, ScalarOf<T>(ctx, 1));
  const T* delta = ctx.input(2).data<T>().data();
  return UpdateTogether<T, 1>(ctx, {std::move(variable)}, 2, 0.25 * sizeof(T),
                              [&](const Places<T, 1>& p, int64_t begin, int64_t end) {
                                Combine(p.from[0] + begin, delta + begin, p.to[0] + begin, end - begin,
                                        [alpha](const auto& v, const auto& d) { return v - alpha * d; });
                              });
}

// accum = momentum * accum + grad; var -= lr * accum, or with Nesterov's look ahead: var -= lr * (grad + momentum *
// accum)
template <typename T>
Status ApplyMomentum(KernelContext& ctx) {
  PassReference(ctx);
  using C = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(auto variable, VariableOf(ctx, 0));
  TF_ASSIGN_OR_RETURN(auto accum, VariableOf(ctx, 1));
  TF_ASSIGN_OR_RETURN(const C lr, ScalarOf<T>(ctx, 2));
  TF_ASSIGN_OR_RETURN(const C momentum, ScalarOf<T>(ctx, 4));
  const bool nesterov = ctx.node().attr<bool>("use_nesterov");
  const T* grad = ctx.input(3).data<T>().data();
  return UpdateTogether<T, 2>(ctx, {std::move(variable), std::move(accum)}, 3, 0.5 * sizeof(T),
                              [&](const Places<T, 2>& p, int64_t begin, int64_t end) {
                                for (int64_t i = begin; i < end; ++i) {
                                  const C g(grad[i]);
                                  const C a = C(p.from[1][i]) * momentum + g;
                                  p.to[1][i] = T(a);
                                  p.to[0][i] = T(C(p.from[0][i]) - lr * (nesterov ? g + momentum * a : a));
                                }
                              });
}

// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g²; var -= lr_t m / (sqrt(v) + epsilon)
// with lr_t = lr sqrt(1 - beta2^t) / (1 - beta1^t). Source: Kingma and Ba, 2015.
template <typename T>
Status ApplyAdam(KernelContext& ctx) {
  PassReference(ctx);
  using C = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(auto variable, VariableOf(ctx, 0));
  TF_ASSIGN_OR_RETURN(auto m, VariableOf(ctx, 1));
  TF_ASSIGN_OR_RETURN(auto v, VariableOf(ctx, 2));
  std::array<C, 6> s;  // beta1_power, beta2_power, lr, beta1, beta2, epsilon
  for (int i = 0; i < 6; ++i) {
    TF_ASSIGN_OR_RETURN(s[i], ScalarOf<T>(ctx, 3 + i));
  }
  const auto [beta1_power, beta2_power, lr, beta1, beta2, epsilon] = s;
  const C rate = lr * std::sqrt(C(1) - beta2_power) / (C(1) - beta1_power);
  const bool nesterov = ctx.node().attr<bool>("use_nesterov");
  const T* grad = ctx.input(9).data<T>().data();
  return UpdateTogether<T, 3>(
      ctx, {std::move(variable), std::move(m), std::move(v)}, 9, 1.0 * sizeof(T),
      [&, beta1 = beta1, beta2 = beta2, epsilon = epsilon](const Places<T, 3>& p, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const C g(grad[i]);
          const C m1 = C(p.from[1][i]) + (g - C(p.from[1][i])) * (C(1) - beta1);
          const C v1 = C(p.from[2][i]) + (g * g - C(p.from[2][i])) * (C(1) - beta2);
          const C step = nesterov ? g * (C(1) - beta1) + beta1 * m1 : m1;
          p.to[1][i] = T(m1);
          p.to[2][i] = T(v1);
          p.to[0][i] = T(C(p.from[0][i]) - step * rate / (std::sqrt(v1) + epsilon));
        }
      });
}

// accum = rho accum + (1 - rho) g²; update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) g;
// accum_update = rho accum_update + (1 - rho) update²; var -= lr update. Source: Zeiler, 2012.
template <typename T>
Status ApplyAdadelta(KernelContext& ctx) {
  PassReference(ctx);
  using C = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(auto variable, VariableOf(ctx, 0));
  TF_ASSIGN_OR_RETURN(auto accum, VariableOf(ctx, 1));
  TF_ASSIGN_OR_RETURN(auto accum_update, VariableOf(ctx, 2));
  TF_ASSIGN_OR_RETURN(const C lr, ScalarOf<T>(ctx, 3));
  TF_ASSIGN_OR_RETURN(const C rho, ScalarOf<T>(ctx, 4));
  TF_ASSIGN_OR_RETURN(const C epsilon, ScalarOf<T>(ctx, 5));
  const T* grad = ctx.input(6).data<T>().data();
  return UpdateTogether<T, 3>(ctx, {std::move(variable), std::move(accum), std::move(accum_update)}, 6, 1.0 * sizeof(T),
                              [&](const Places<T, 3>& p, int64_t begin, int64_t end) {
                                for (int64_t i = begin; i < end; ++i) {
                                  const C g(grad[i]);
                                  const C old_update(p.from[2][i]);
                                  const C a = C(p.from[1][i]) * rho + g * g * (C(1) - rho);
                                  const C update = std::sqrt(old_update + epsilon) / std::sqrt(a + epsilon) * g;
                                  p.to[0][i] = T(C(p.from[0][i]) - lr * update);
                                  p.to[1][i] = T(a);
                                  p.to[2][i] = T(old_update * rho + update * update * (C(1) - rho));
                                }
                              });
}

void AddBoth(KernelRegistry& r, const std::string& op, DType type, KernelFn fn) {
  r.Add(op, {{"T", {type}}}, fn, KernelCost::kExpensive);
  r.Add("Resource" + op, {{"T", {type}}}, fn, KernelCost::kExpensive);
}

}  // namespace

void RegisterTrainingKernels(KernelRegistry& r) {
  ForEachNumberType(
      [&]<typename T>() { AddBoth(r, "ApplyGradientDescent", DTypeOf<T>::value, ApplyGradientDescent<T>); });
  ForEachType<float, double, Float16, Bfloat16>([&]<typename T>() {
    AddBoth(r, "ApplyMomentum", DTypeOf<T>::value, ApplyMomentum<T>);
    AddBoth(r, "ApplyAdam", DTypeOf<T>::value, ApplyAdam<T>);
    AddBoth(r, "ApplyAdadelta", DTypeOf<T>::value, ApplyAdadelta<T>);
  });
}

}  // namespace tensorbraid
