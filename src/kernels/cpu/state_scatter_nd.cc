// Updates of slices of a variable, each named by the first few of its coordinates.
#include "core/strings.h"
#include "kernels/cpu/row_updates.h"
#include "kernels/cpu/slice_indices.h"
#include "kernels/cpu/state_families.h"
#include "kernels/cpu/variable_access.h"

namespace tensorbraid {
namespace {

// The number of the slice that each row of `indices` names, or -1 where it names none.
template <typename I>
StatusOr<std::vector<int64_t>> SlicesOf(const Tensor& indices, const Shape& shape, int depth, bool ignore_bad) {
  const auto index = indices.data<I>();
  const int64_t num = SizeOf(indices.shape(), 0, indices.shape().rank() - 1);
  std::vector<int64_t> slices(num, 0);
  for (int64_t i = 0; i < num; ++i) {
    for (int d = 0; d < depth; ++d) {
      const auto at = static_cast<int64_t>(index[i * depth + d]);
      if (at >= 0 && at < shape.dim(d)) {
        slices[i] = slices[i] * shape.dim(d) + at;
        continue;
      }
      if (!ignore_bad) return NoSuchSlice<I>(indices, i, "shape", shape);
      slices[i] = -1;
      break;
    }
  }
  return slices;
}

template <typename How, typename E>
Status ScatterNd(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  const Shape& is = indices.shape();
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, updates.dtype()));
  TF_ASSIGN_OR_RETURN(const bool ignore_bad, IgnoresBadIndices(ctx.node()));
  return variable->UpdateInPlace([&](Tensor* value) -> Status {
    const Shape& shape = value->shape();
    if (shape.rank() < 1) {
      return InvalidArgument("Output must be at least 1-D: variable '", variable->name(), "' is a scalar");
    }
    if (is.rank() < 1) return InvalidArgument("the indices must have a dimension");
    if (is.dim(is.rank() - 1) > shape.rank()) {
      return InvalidArgument("indices of ", is.dim(is.rank() - 1), " numbers are too long for variable '",
                             variable->name(), "' of shape ", shape);
    }
    const int depth = static_cast<int>(is.dim(is.rank() - 1));
    Shape wanted;
    for (int d = 0; d + 1 < is.rank(); ++d) wanted.AddDim(is.dim(d));
    for (int d = depth; d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
    if (updates.shape() != wanted) {
      return InvalidArgument("updates of variable '", variable->name(), "' must have shape ", wanted, ", got ",
                             updates.shape());
    }
    if (indices.num_elements() == 0 && updates.num_elements() > 0) {
      return InvalidArgument("indices of shape ", is, " name no slices for updates of shape ", updates.shape());
    }
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> slices, indices.dtype() == kInt32
                                                               ? SlicesOf<int32_t>(indices, shape, depth, ignore_bad)
                                                               : SlicesOf<int64_t>(indices, shape, depth, ignore_bad));
    const int64_t size = SizeOf(shape, depth, shape.rank());
    E* to = MutableElements<E>(*value);
    const E* from = Elements<E>(updates);
    for (size_t i = 0; i < slices.size(); ++i) {
      if (slices[i] < 0) continue;
      UpdateElements<How>(to + slices[i] * size, from + static_cast<int64_t>(i) * size, size);
    }
    return OkStatus();
  });
}

Status ScatterNdUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(2).dtype(), [&]<typename E>() { return ScatterNd<ReplaceBy, E>(ctx); });
}

template <typename How, typename T>
void AddScatterNd(KernelRegistry& r, const std::string& how) {
  const std::vector<DType> type = {DTypeOf<T>::value};
  r.Add("ScatterNd" + how, {{"T", type}}, ScatterNd<How, T>, KernelCost::kExpensive);
  r.Add("ResourceScatterNd" + how, {{"T", type}}, ScatterNd<How, T>, KernelCost::kExpensive);
}

}  // namespace

void RegisterScatterNdKernels(KernelRegistry& r) {
  ForEachNumberType([&]<typename T>() {
    AddScatterNd<AddTo, T>(r, "Add");
    AddScatterNd<SubtractFrom, T>(r, "Sub");
  });
  AddScatterNd<AddTo, bool>(r, "Add");
  AddScatterNd<SubtractFrom, bool>(r, "Sub");
  ForEachOrderedType([&]<typename T>() {
    AddScatterNd<LesserOf, T>(r, "Min");
    AddScatterNd<GreaterOf, T>(r, "Max");
  });
  r.Add("ScatterNdUpdate", {}, ScatterNdUpdate, KernelCost::kExpensive);
  r.Add("ResourceScatterNdUpdate", {}, ScatterNdUpdate, KernelCost::kExpensive);
}

}  // namespace tensorbraid
