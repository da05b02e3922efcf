// Where the largest or smallest element is. The first of equals; NaNs are passed over.
#include <limits>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"

namespace tensorbraid::cpu {
namespace {

template <typename T, bool kMax>
void Find(const T* in, int64_t size, int64_t inner, int64_t at, auto* out) {
  auto best = static_cast<Compute<T>>(in[0]);
  int64_t where = 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto v = static_cast<Compute<T>>(in[i * inner]);
    if ((kMax ? v > best : v < best) || (best != best && v == v)) {
      best = v;
      where = i;
    }
  }
  out[at] = static_cast<std::decay_t<decltype(out[at])>>(where);
}

template <typename T, bool kMax>
Status ArgKernel(KernelContext& ctx) {
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
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const T* from = in.data<T>().data();
  const auto run = [&](auto* to) {
    Parallel(ctx, outer * inner, 2.0 + size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Find<T, kMax>(from + i / inner * size * inner + i % inner, size, inner, i, to);
      }
    });
  };
  switch (out->dtype()) {
    case kInt64:
      run(out->mutable_data<int64_t>().data());
      break;
    case kInt32:
      run(out->mutable_data<int32_t>().data());
      break;
    case kInt16:
      run(out->mutable_data<int16_t>().data());
      break;
    case kUint16:
      run(out->mutable_data<uint16_t>().data());
      break;
    default:
      return Unimplemented("no result of type ", out->dtype());
  }
  return OkStatus();
}

template <typename... T>
void AddArg(KernelRegistry& r, Types<T...>) {
  (r.Add("ArgMax", {{"T", {DTypeOf<T>::value}}}, ArgKernel<T, true>), ...);
  (r.Add("ArgMin", {{"T", {DTypeOf<T>::value}}}, ArgKernel<T, false>), ...);
}

}  // namespace

void RegisterArgMaxKernels(KernelRegistry& r) { AddArg(r, RealTypes{} + Types<bool>{}); }

}  // namespace tensorbraid::cpu
