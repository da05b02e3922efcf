// Sequences of numbers, clipping, cross products.
#include <cmath>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"

namespace tensorbraid::cpu {
namespace {

// num numbers from start to stop, both included.
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
  using A = Compute<T>;
  const A start = static_cast<A>(ctx.input(0).scalar<T>());
  const A stop = static_cast<A>(ctx.input(1).scalar<T>());
  const auto to = out->mutable_data<T>();
  const A step = num > 1 ? (stop - start) / static_cast<A>(num - 1) : A(0);
  for (int64_t i = 0; i < num; ++i) to[i] = static_cast<T>(start + step * static_cast<A>(i));
  if (num > 1) to[num - 1] = static_cast<T>(stop);
  return OkStatus();
}

// Complex numbers have no order, but TensorFlow clips them by that of their real parts.
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
  using A = Compute<T>;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
  const T* from = in.data<T>().data();
  const T* low = ctx.input(1).data<T>().data();
  const T* high = ctx.input(2).data<T>().data();
  const int64_t low_step = ctx.input(1).shape().is_scalar() ? 0 : 1;
  const int64_t high_step = ctx.input(2).shape().is_scalar() ? 0 : 1;
  T* to = out->mutable_data<T>().data();
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

// Of vectors of 3 in the last dimension.
template <typename T>
Status CrossKernel(KernelContext& ctx) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  if (a.shape() != b.shape()) {
    return InvalidArgument("both inputs must have the same shape, got ", a.shape(), " and ", b.shape());
  }
  if (a.shape().rank() < 1 || a.shape().dim(a.shape().rank() - 1) != 3) {
    return InvalidArgument("the last dimension must have size 3, got shape ", a.shape());
  }
  using A = Compute<T>;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, a.shape()));
  const T* x = a.data<T>().data();
  const T* y = b.data<T>().data();
  T* z = out->mutable_data<T>().data();
  Parallel(ctx, a.num_elements() / 3, 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
      for (int k = 0; k < 3; ++k) {
        const int64_t p = i + (k + 1) % 3, q = i + (k + 2) % 3;
        z[i + k] = static_cast<T>(SubF::Apply(MulF::Apply(static_cast<A>(x[p]), static_cast<A>(y[q])),
                                              MulF::Apply(static_cast<A>(x[q]), static_cast<A>(y[p]))));
      }
    }
  });
  return OkStatus();
}

template <typename... T>
void AddLinSpace(KernelRegistry& r, Types<T...>) {
  (r.Add("LinSpace", {{"T", {DTypeOf<T>::value}}}, LinSpaceKernel<T>), ...);
}
template <typename... T>
void AddClip(KernelRegistry& r, Types<T...>) {
  (r.Add("ClipByValue", {{"T", {DTypeOf<T>::value}}}, ClipByValueKernel<T>), ...);
}
template <typename... T>
void AddCross(KernelRegistry& r, Types<T...>) {
  (r.Add("Cross", {{"T", {DTypeOf<T>::value}}}, CrossKernel<T>), ...);
}

}  // namespace

void RegisterSequenceKernels(KernelRegistry& r) {
  AddLinSpace(r, FloatTypes{});
  AddClip(r, NumberTypes{});
  AddCross(r, RealTypes{});
}

}  // namespace tensorbraid::cpu
