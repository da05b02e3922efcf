// Assignments to strided slices of variables.
#include "kernels/cpu/array/strided_runs.h"
#include "kernels/cpu/costs.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

// Broadcasts `value` to `shape`, as in NumPy. Extra leading dimensions of size 1 are dropped.
template <typename E>
StatusOr<Tensor> BroadcastTo(const Tensor& value, const Shape& shape) {
  Shape from = value.shape();
  while (from.rank() > shape.rank() && from.dim(0) == 1) from = Shape(from.dims().subspan(1));
  const int skipped = shape.rank() - from.rank();
  bool fits = skipped >= 0;
  for (int d = 0; fits && d < from.rank(); ++d) fits = from.dim(d) == 1 || from.dim(d) == shape.dim(d + skipped);
  if (!fits) {
    return InvalidArgument("the value of shape ", value.shape(), " does not broadcast to the slice, ", shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(value.dtype(), shape));
  E* to = MutableElements<E>(out);
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    int64_t at = 0, rest = i, stride = 1;
    for (int d = from.rank() - 1; d >= 0; --d) {
      const int64_t size = shape.dim(d + skipped);
      if (from.dim(d) != 1) at += rest % size * stride;
      stride *= from.dim(d);
      rest /= size;
    }
    to[i] = Elements<E>(value)[at];
  }
  return out;
}

template <typename E>
Status AssignRegion(const StridedRegion& region, Tensor value, Tensor* variable) {
  if (region.shape.num_elements() == 0) return OkStatus();
  if (value.shape() != region.shape) {
    TF_ASSIGN_OR_RETURN(value, BroadcastTo<E>(value, region.shape));
  }
  const E* from = Elements<E>(value);
  E* to = MutableElements<E>(*variable);
  ForEachRun(variable->shape(), region, [&](int64_t offset, int64_t n) {
    CopyElements(from, n, to + offset);
    from += n;
  });
  return OkStatus();
}

Status StridedSliceAssign(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& value = ctx.input(4);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, value.dtype()));
  TF_ASSIGN_OR_RETURN(const IntVector begin, IntegersOf(ctx.input(1), "begin"));
  TF_ASSIGN_OR_RETURN(const IntVector end, IntegersOf(ctx.input(2), "end"));
  TF_ASSIGN_OR_RETURN(const IntVector strides, IntegersOf(ctx.input(3), "strides"));
  return variable->UpdateInPlace([&](Tensor* whole) -> Status {
    TF_ASSIGN_OR_RETURN(const StridedRegion region,
                        ResolveStridedSlice(ctx.node(), whole->shape(), begin, end, strides));
    return ForElementsOf(whole->dtype(), [&]<typename E>() { return AssignRegion<E>(region, value, whole); });
  });
}

}  // namespace

void RegisterStateSliceKernels(KernelRegistry& r) {
  r.Add("StridedSliceAssign", {}, StridedSliceAssign, cpu::RowUpdateCost);
  r.Add("ResourceStridedSliceAssign", {}, StridedSliceAssign, cpu::RowUpdateCost);
}

}  // namespace tensorbraid::cpu
