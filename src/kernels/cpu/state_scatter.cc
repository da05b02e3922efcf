// Updates of some rows of a variable, in place.
#include "core/strings.h"
#include "kernels/cpu/row_updates.h"
#include "kernels/cpu/state_families.h"
#include "kernels/cpu/variable_access.h"

namespace tensorbraid {
namespace {

// Row indices[i] of the variable is changed by row i of the updates, or by the one number that they are. E: what an
// element is accessed as.
template <typename How, typename E, typename I>
Status ScatterBy(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, updates.dtype()));
  TF_RETURN_IF_ERROR((CheckUpdates<How, E>(updates)));
  return variable->UpdateInPlace([&](Tensor* value) -> Status {
    const Shape& shape = value->shape();
    if (shape.rank() < 1) return InvalidArgument("variable '", variable->name(), "' is a scalar and has no rows");
    Shape wanted = indices.shape();
    for (int d = 1; d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
    const bool one = updates.shape().is_scalar();
    if (!one && updates.shape() != wanted) {
      return InvalidArgument("updates of variable '", variable->name(), "' must have shape ", wanted, ", got ",
                             updates.shape());
    }
    const auto rows = indices.data<I>();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0 || static_cast<int64_t>(rows[i]) >= shape.dim(0)) {
        return InvalidArgument("indices[", i, "] = ", static_cast<int64_t>(rows[i]), " is not in [0, ", shape.dim(0),
                               ") of variable '", variable->name(), "'");
      }
    }
    const int64_t row = SizeOf(shape, 1, shape.rank());
    E* to = MutableElements<E>(*value);
    const E* from = Elements<E>(updates);
    for (size_t i = 0; i < rows.size(); ++i) {
      E* target = to + static_cast<int64_t>(rows[i]) * row;
      if (one) {
        UpdateElements<How>(target, *from, row);
      } else {
        UpdateElements<How>(target, from + static_cast<int64_t>(i) * row, row);
      }
    }
    return OkStatus();
  });
}

template <typename How, typename E>
Status Scatter(KernelContext& ctx) {
  if (ctx.input(1).dtype() == kInt32) return ScatterBy<How, E, int32_t>(ctx);
  return ScatterBy<How, E, int64_t>(ctx);
}

Status ScatterUpdate(KernelContext& ctx) {
  return ForElementsOf(ctx.input(2).dtype(), [&]<typename E>() { return Scatter<ReplaceBy, E>(ctx); });
}

template <typename How, typename T>
void AddScatter(KernelRegistry& r, const std::string& how) {
  const std::vector<DType> type = {DTypeOf<T>::value};
  r.Add("Scatter" + how, {{"T", type}}, Scatter<How, T>, KernelCost::kExpensive);
  r.Add("ResourceScatter" + how, {{"dtype", type}}, Scatter<How, T>, KernelCost::kExpensive);
}

}  // namespace

void RegisterScatterKernels(KernelRegistry& r) {
  ForEachNumberType([&]<typename T>() {
    AddScatter<AddTo, T>(r, "Add");
    AddScatter<SubtractFrom, T>(r, "Sub");
    AddScatter<MultiplyBy, T>(r, "Mul");
    AddScatter<DivideBy, T>(r, "Div");
  });
  ForEachOrderedType([&]<typename T>() {
    AddScatter<LesserOf, T>(r, "Min");
    AddScatter<GreaterOf, T>(r, "Max");
  });
  r.Add("ScatterUpdate", {}, ScatterUpdate, KernelCost::kExpensive);
  r.Add("ResourceScatterUpdate", {}, ScatterUpdate, KernelCost::kExpensive);
}

}  // namespace tensorbraid
