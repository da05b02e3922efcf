// Updates slices of a variable in place. The leading coordinates of a slice select it.
#include <map>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/row_updates.h"
#include "runtime/variables/slice_indices.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

template <RowUpdate how>
Status ScatterNd(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, updates.dtype()));
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  return variable->UpdateInPlace([&](Tensor* value) -> Status {
    const Shape& shape = value->shape();
    const std::string what = StrCat("variable '", variable->name(), "' of shape");
    if (shape.rank() < 1) return InvalidArgument("Output must be at least 1-D: ", what, " ", shape, " is a scalar");
    TF_ASSIGN_OR_RETURN(const Shape wanted, SlicesShape(indices.shape(), shape, what));
    if (updates.shape() != wanted) {
      return InvalidArgument("updates of variable '", variable->name(), "' must have shape ", wanted, ", got ",
                             updates.shape());
    }
    if (indices.num_elements() == 0 && updates.num_elements() > 0) {
      return InvalidArgument("indices of shape ", indices.shape(), " select no slices, but updates have shape ",
                             updates.shape());
    }
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> slices, SlicesOf(indices, shape, ignore, "shape"));
    const int depth = static_cast<int>(indices.shape().dim(indices.shape().rank() - 1));
    return UpdateRows(how, slices, SizeOf(shape, depth, shape.rank()), updates, value);
  });
}

template <RowUpdate how>
void AddScatterNd(KernelRegistry& r, const std::string& name, const TypeConstraints& types) {
  r.Add("ScatterNd" + name, types, ScatterNd<how>, cpu::RowUpdateCost);
  r.Add("ResourceScatterNd" + name, types, ScatterNd<how>, cpu::RowUpdateCost);
}

}  // namespace

void RegisterStateScatterNdKernels(KernelRegistry& r) {
  const DTypeSet summable = TypesOf(RowUpdate::kAdd) | DTypeSet{kBool};
  AddScatterNd<RowUpdate::kReplace>(r, "Update", {});
  AddScatterNd<RowUpdate::kAdd>(r, "Add", {{"T", summable}});
  AddScatterNd<RowUpdate::kSubtract>(r, "Sub", {{"T", summable}});
  AddScatterNd<RowUpdate::kMin>(r, "Min", {{"T", TypesOf(RowUpdate::kMin)}});
  AddScatterNd<RowUpdate::kMax>(r, "Max", {{"T", TypesOf(RowUpdate::kMax)}});
}

}  // namespace tensorbraid::cpu
