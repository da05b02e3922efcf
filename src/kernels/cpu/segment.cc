// Sums of the rows that belong together.
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"

namespace tensorbraid::cpu {
namespace {

int64_t IntegerAt(const Tensor& t, int64_t i) {
  return t.dtype() == kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i];
}

// data[ids.shape, row] -> out[segments, row]; rows with a negative id are left out.
template <typename T>
Status UnsortedSegmentSumKernel(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& ids = ctx.input(1);
  if (ctx.input(2).num_elements() != 1) {
    return InvalidArgument("num_segments must be a scalar, got shape ", ctx.input(2).shape());
  }
  const int64_t segments = IntegerAt(ctx.input(2), 0);
  if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  const int ids_rank = ids.shape().rank();
  if (data.shape().rank() < ids_rank || Shape(data.shape().dims().first(ids_rank)) != ids.shape()) {
    return InvalidArgument("the shape of data ", data.shape(), " must begin with that of segment_ids ", ids.shape());
  }
  Shape shape({segments});
  int64_t row = 1;
  for (int i = ids_rank; i < data.shape().rank(); ++i) {
    shape.AddDim(data.shape().dim(i));
    row *= data.shape().dim(i);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const T* from = data.data<T>().data();
  T* to = out->mutable_data<T>().data();
  using A = Compute<T>;
  std::vector<float> wide(kIsHalf<T> ? out->num_elements() : 0);
  A* sums;
  if constexpr (kIsHalf<T>) {
    sums = wide.data();
  } else {
    sums = to;
  }
  std::fill(sums, sums + out->num_elements(), A(0));
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    const int64_t id = IntegerAt(ids, i);
    if (id < 0) continue;
    if (id >= segments)
      return InvalidArgument("segment_ids[", i, "] = ", id, " is not below num_segments = ", segments);
    A* sum = sums + id * row;
    const T* add = from + i * row;
#pragma GCC ivdep
    for (int64_t j = 0; j < row; ++j) {
      sum[j] = static_cast<A>(Wrapping<A>(sum[j]) + Wrapping<A>(static_cast<A>(add[j])));
    }
  }
  if constexpr (kIsHalf<T>) FromFloat(sums, to, out->num_elements());
  return OkStatus();
}

template <typename... T>
void AddSegment(KernelRegistry& r, Types<T...>) {
  (r.Add("UnsortedSegmentSum", {{"T", {DTypeOf<T>::value}}}, UnsortedSegmentSumKernel<T>), ...);
}

}  // namespace

void RegisterSegmentKernels(KernelRegistry& r) { AddSegment(r, RealTypes{}); }

}  // namespace tensorbraid::cpu
