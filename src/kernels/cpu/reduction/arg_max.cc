// The index of the largest or smallest element along an axis: the first one if several are equal. NaNs are skipped,
// unless all elements are NaN.
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The place of the result among `size` elements, which are `inner` elements apart, from element `at` on.
template <typename T, bool kMax>
int64_t Find(const void* all, int64_t at, int64_t size, int64_t inner) {
  const T* const in = static_cast<const T*>(all) + at;
  auto best = static_cast<ComputeType<T>>(in[0]);
  int64_t where = 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto v = static_cast<ComputeType<T>>(in[i * inner]);
    if ((kMax ? v > best : v < best) || (best != best && v == v)) {
      best = v;
      where = i;
    }
  }
  return where;
}

// Stores `index` as element `at` of an output of integers of any width.
void StoreIndex(int64_t index, int64_t at, Tensor* out) {
  switch (out->dtype()) {
    case kInt64:
      out->inplace_data<int64_t>()[at] = index;
      break;
    case kInt32:
      out->inplace_data<int32_t>()[at] = static_cast<int32_t>(index);
      break;
    case kInt16:
      out->inplace_data<int16_t>()[at] = static_cast<int16_t>(index);
      break;
    default:
      out->inplace_data<uint16_t>()[at] = static_cast<uint16_t>(index);
  }
}

Status FindAll(KernelContext& ctx, int64_t (*find)(const void* all, int64_t at, int64_t size, int64_t inner)) {
  const Tensor& in = ctx.input(0);
  const Tensor& axis_tensor = ctx.input(1);
  if (axis_tensor.num_elements() != 1) {
    return InvalidArgument("the axis must be a scalar, got shape ", axis_tensor.shape());
  }
  const int rank = in.shape().rank();
  const int64_t named = axis_tensor.dtype() == kInt64   ? axis_tensor.data<int64_t>()[0]
                        : axis_tensor.dtype() == kInt32 ? axis_tensor.data<int32_t>()[0]
                                                        : axis_tensor.data<int16_t>()[0];
  if (named < -rank || named >= rank) return InvalidArgument("axis ", named, " is not in [", -rank, ", ", rank, ")");
  const int axis = static_cast<int>(named < 0 ? named + rank : named);
  const int64_t size = in.shape().dim(axis);
  if (size == 0) return InvalidArgument("Reduction axis ", axis, " is empty in shape ", in.shape());
  Shape shape;
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < rank; ++i) {
    if (i == axis) continue;
    shape.AddDim(in.shape().dim(i));
    (i < axis ? outer : inner) *= in.shape().dim(i);
  }
  const DType index_type = ctx.node().output_type(0);
  if (index_type != kInt64 && index_type != kInt32 && index_type != kInt16 && index_type != kUint16) {
    return Unimplemented("output_type ", index_type, " is not supported");
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  Parallel(ctx, outer * inner, 2.0 + size, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      StoreIndex(find(in.raw_data(), i / inner * size * inner + i % inner, size, inner), i, out);
    }
  });
  return OkStatus();
}

template <typename T, bool kMax>
Status ArgKernel(KernelContext& ctx) {
  return FindAll(ctx, Find<T, kMax>);
}

template <typename... T>
void AddArg(KernelRegistry& r, Types<T...>) {
  (r.Add("ArgMax", {{"T", {DTypeOf<T>::value}}}, ArgKernel<T, true>, ElementCost<1000>), ...);
  (r.Add("ArgMin", {{"T", {DTypeOf<T>::value}}}, ArgKernel<T, false>, ElementCost<1000>), ...);
}

}  // namespace

void RegisterReductionArgMaxKernels(KernelRegistry& r) { AddArg(r, RealTypes{} + Types<bool>{}); }

}  // namespace tensorbraid::cpu
