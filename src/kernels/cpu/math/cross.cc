// The Cross op.
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The cross product of the vectors of 3 elements in the last dimension.
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
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, a.shape()));
  const T* x = a.data<T>().data();
  const T* y = b.data<T>().data();
  T* z = out->inplace_data<T>().data();
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
void AddCross(KernelRegistry& r, Types<T...>) {
  (r.Add("Cross", {{"T", {DTypeOf<T>::value}}}, CrossKernel<T>), ...);
}

}  // namespace

void RegisterMathCrossKernels(KernelRegistry& r) { AddCross(r, RealTypes{}); }

}  // namespace tensorbraid::cpu
