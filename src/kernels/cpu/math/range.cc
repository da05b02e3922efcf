// Sequences of evenly spaced numbers: Range and LinSpace.
#include <cmath>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// start, start + delta, ..., up to but excluding limit.
template <typename T>
Status RangeKernel(KernelContext& ctx) {
  for (int i = 0; i < 3; ++i) {
    if (ctx.input(i).num_elements() != 1) {
      return InvalidArgument("start, limit and delta must be scalars, but input ", i, " has shape ",
                             ctx.input(i).shape());
    }
  }
  using A = ComputeType<T>;
  const A start = static_cast<A>(ctx.input(0).scalar<T>());
  const A limit = static_cast<A>(ctx.input(1).scalar<T>());
  const A delta = static_cast<A>(ctx.input(2).scalar<T>());
  if (delta == 0) return InvalidArgument("delta must not be 0");
  if (delta > 0 ? start > limit : start < limit) {
    return InvalidArgument("delta = ", delta, " has the wrong sign for a range from start = ", start,
                           " to limit = ", limit);
  }
  double size;
  if constexpr (std::is_integral_v<T>) {
    const uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    const uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t(0) - uint64_t(delta);
    size = static_cast<double>(span / step + (span % step != 0));
  } else {
    size = std::ceil(std::abs((static_cast<double>(limit) - start) / delta));
  }
  // Above about 9e15, doubles do not hold every integer.
  if (!(size < 9e15)) return InvalidArgument("the range from ", start, " to ", limit, " has too many elements");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {static_cast<int64_t>(size)}));
  A value = start;
  for (T& v : out->inplace_data<T>()) {
    v = static_cast<T>(value);
    value = AddF::Apply(value, delta);
  }
  return OkStatus();
}

// `num` evenly spaced numbers from start to stop, both included.
template <typename T>
Status LinSpaceKernel(KernelContext& ctx) {
  const char* const names[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) {
    if (!ctx.input(i).shape().is_scalar()) {
      return InvalidArgument(names[i], " must be a scalar, got shape ", ctx.input(i).shape());
    }
  }
  TF_ASSIGN_OR_RETURN(const int64_t num, IntegerOf(ctx.input(2), "num"));
  if (num <= 0) return InvalidArgument("num must be positive, got ", num);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {num}));
  using A = ComputeType<T>;
  const A start = static_cast<A>(ctx.input(0).scalar<T>());
  const A stop = static_cast<A>(ctx.input(1).scalar<T>());
  const auto to = out->inplace_data<T>();
  const A step = num > 1 ? (stop - start) / static_cast<A>(num - 1) : A(0);
  for (int64_t i = 0; i < num; ++i) to[i] = static_cast<T>(start + step * static_cast<A>(i));
  if (num > 1) to[num - 1] = static_cast<T>(stop);
  return OkStatus();
}

template <typename... T>
void AddRange(KernelRegistry& r, Types<T...>) {
  (r.Add("Range", {{"Tidx", {DTypeOf<T>::value}}}, RangeKernel<T>), ...);
}
template <typename... T>
void AddLinSpace(KernelRegistry& r, Types<T...>) {
  (r.Add("LinSpace", {{"T", {DTypeOf<T>::value}}}, LinSpaceKernel<T>), ...);
}

}  // namespace

void RegisterMathRangeKernels(KernelRegistry& r) {
  AddRange(r, FloatTypes{} + IntTypes{});
  AddLinSpace(r, FloatTypes{});
}

}  // namespace tensorbraid::cpu
