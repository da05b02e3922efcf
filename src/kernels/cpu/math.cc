// The mathematical ops that are not elementwise functions of one or two operands.
#include <cmath>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace cpu {
namespace {

// The sum of tensors of one shape.
template <typename T>
Status AddNKernel(KernelContext& ctx) {
  const Shape shape = ctx.input(0).shape();
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape() != shape) {
      return InvalidArgument("all inputs must have the same shape, got ", shape, " and ", ctx.input(i).shape(),
                             " (input ", i, ")");
    }
  }
  if (ctx.num_inputs() == 1) {
    ctx.set_output(0, ctx.input(0));
    return OkStatus();
  }
  constexpr BinaryLoop loop = MakeBinaryLoop<AddF, T>();
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, shape));
  T* to = out->mutable_data<T>().data();
  // Block by block, so that the running sum stays in the cache.
  constexpr int64_t kBlock = 4096;
  Parallel(ctx, shape.num_elements(), 0.2 * ctx.num_inputs(), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      const T* sum = ctx.input(0).data<T>().data() + at;
      for (int i = 1; i < ctx.num_inputs(); ++i) {
        loop.row(sum, ctx.input(i).data<T>().data() + at, to + at, n, Spread::kNone);
        sum = to + at;
      }
    }
  });
  return OkStatus();
}

// The axes over which the gradients of a broadcast op's operands are summed.
template <typename T>
Status BroadcastGradientArgsKernel(KernelContext& ctx) {
  Shape shapes[2];
  for (int i = 0; i < 2; ++i) {
    if (ctx.input(i).shape().rank() != 1) {
      return InvalidArgument("input ", i, " must be a vector, got shape ", ctx.input(i).shape());
    }
    for (T d : ctx.input(i).data<T>()) shapes[i].AddDim(d);
  }
  TF_RETURN_IF_ERROR(BroadcastShapes(shapes[0], shapes[1]).status());
  const int rank = std::max(shapes[0].rank(), shapes[1].rank());
  for (int i = 0; i < 2; ++i) {
    std::vector<T> axes;
    if (shapes[0] != shapes[1]) {
      const Shape& own = shapes[i];
      for (int d = 0; d < rank; ++d) {
        const int at = d - (rank - own.rank());
        if (at < 0 || own.dim(at) == 1) axes.push_back(static_cast<T>(d));
      }
    }
    ctx.set_output(i, Tensor::Vector(axes));
  }
  return OkStatus();
}

// start, start + delta, ... up to but without limit.
template <typename T>
Status RangeKernel(KernelContext& ctx) {
  for (int i = 0; i < 3; ++i) {
    if (ctx.input(i).num_elements() != 1) {
      return InvalidArgument("start, limit and delta must be scalars, input ", i, " has shape ", ctx.input(i).shape());
    }
  }
  using A = Compute<T>;
  const A start = static_cast<A>(ctx.input(0).scalar<T>());
  const A limit = static_cast<A>(ctx.input(1).scalar<T>());
  const A delta = static_cast<A>(ctx.input(2).scalar<T>());
  if (delta == 0) return InvalidArgument("delta must not be 0");
  if (delta > 0 ? start > limit : start < limit) {
    return InvalidArgument("delta = ", delta, " does not lead from start = ", start, " to limit = ", limit);
  }
  double size;
  if constexpr (std::is_integral_v<T>) {
    const uint64_t span = delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    const uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t(0) - uint64_t(delta);
    size = static_cast<double>(span / step + (span % step != 0));
  } else {
    size = std::ceil(std::abs((static_cast<double>(limit) - start) / delta));
  }
  if (!(size < 9e15)) return InvalidArgument("the range from ", start, " to ", limit, " has too many elements");
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {static_cast<int64_t>(size)}));
  A value = start;
  for (T& v : out->mutable_data<T>()) {
    v = static_cast<T>(value);
    value = AddF::Apply(value, delta);
  }
  return OkStatus();
}

template <typename... T>
void AddAddN(KernelRegistry& r, Types<T...>) {
  (r.Add("AddN", {{"T", {DTypeOf<T>::value}}}, AddNKernel<T>), ...);
  (r.Add("AccumulateNV2", {{"T", {DTypeOf<T>::value}}}, AddNKernel<T>), ...);
}
template <typename... T>
void AddRange(KernelRegistry& r, Types<T...>) {
  (r.Add("Range", {{"Tidx", {DTypeOf<T>::value}}}, RangeKernel<T>), ...);
}

}  // namespace
}  // namespace cpu

void RegisterMathKernels(KernelRegistry& r) {
  using namespace cpu;  // NOLINT: the family's own
  RegisterBinaryKernels(r);
  RegisterComparisonKernels(r);
  RegisterUnaryKernels(r);
  RegisterMoreBinaryKernels(r);
  RegisterComplexBinaryKernels(r);
  RegisterBitwiseKernels(r);
  RegisterComplexKernels(r);
  RegisterTrigonometricKernels(r);
  RegisterSpecialKernels(r);
  RegisterBesselKernels(r);
  RegisterCastKernels(r);
  RegisterSelectKernels(r);
  RegisterMatMulKernels(r);
  RegisterMixedMatMulKernels(r);
  RegisterSequenceKernels(r);
  AddAddN(r, NumberTypes{});
  AddRange(r, FloatTypes{} + IntTypes{});
  r.Add("BroadcastGradientArgs", {{"T", {kInt32}}}, BroadcastGradientArgsKernel<int32_t>);
  r.Add("BroadcastGradientArgs", {{"T", {kInt64}}}, BroadcastGradientArgsKernel<int64_t>);
}

}  // namespace tensorbraid
