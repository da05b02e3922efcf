// The ClipByValue op: limits elements to a range.
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Complex numbers have no order. Like TensorFlow, compares them by their real parts to clip them.
template <typename A>
bool IsLess(const A& a, const A& b) {
  if constexpr (kIsComplex<A>) {
    return a.real() < b.real();
  } else {
    return a < b;
  }
}

// min(max(t, low), high). Each bound is a scalar or has the shape of t.
template <typename T>
Status ClipByValueKernel(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  for (int i = 1; i <= 2; ++i) {
    if (!ctx.input(i).shape().is_scalar() && ctx.input(i).shape() != in.shape()) {
      return InvalidArgument("the bounds must be scalars or have the shape of the input, ", in.shape(), ", got ",
                             ctx.input(1).shape(), " and ", ctx.input(2).shape());
    }
  }
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  const T* from = in.data<T>().data();
  const T* low = ctx.input(1).data<T>().data();
  const T* high = ctx.input(2).data<T>().data();
  const int64_t low_step = ctx.input(1).shape().is_scalar() ? 0 : 1;
  const int64_t high_step = ctx.input(2).shape().is_scalar() ? 0 : 1;
  T* to = out->inplace_data<T>().data();
  Parallel(ctx, in.num_elements(), 0.7, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      const A least = static_cast<A>(low[i * low_step]), most = static_cast<A>(high[i * high_step]);
      A v = static_cast<A>(from[i]);
      v = IsLess(v, least) ? least : v;
      v = IsLess(most, v) ? most : v;
      to[i] = static_cast<T>(v);
    }
  });
  return OkStatus();
}

template <typename... T>
void AddClip(KernelRegistry& r, Types<T...>) {
  (r.Add("ClipByValue", {{"T", {DTypeOf<T>::value}}}, ClipByValueKernel<T>), ...);
}

}  // namespace

void RegisterMathClipKernels(KernelRegistry& r) { AddClip(r, NumberTypes{}); }

}  // namespace tensorbraid::cpu
