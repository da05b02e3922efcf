// Updates rows of a variable in place.
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

// Updates row indices[i] of the variable with row i of the updates, or with the updates themselves if they are a
// scalar.
template <RowUpdate how>
Status Scatter(KernelContext& ctx) {
  PassReference(ctx);
  const Tensor& indices = ctx.input(1);
  const Tensor& updates = ctx.input(2);
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, updates.dtype()));
  return variable->UpdateRows([&](Tensor* value, RowLocks& locks) -> Status {
    const Shape& shape = value->shape();
    if (shape.rank() < 1) return InvalidArgument("variable '", variable->name(), "' is a scalar and has no rows");
    Shape wanted = indices.shape();
    for (int d = 1; d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
    if (!updates.shape().is_scalar() && updates.shape() != wanted) {
      return InvalidArgument("updates of variable '", variable->name(), "' must have shape ", wanted, ", got ",
                             updates.shape());
    }
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                        RowsOf(indices, shape.dim(0), StrCat("variable '", variable->name(), "'")));
    const RowsInTable table{.pool = ctx.pool(), .locks = locks};
    return UpdateRows(how, rows, SizeOf(shape, 1, shape.rank()), updates, value, &table);
  });
}

template <RowUpdate how>
void AddScatter(KernelRegistry& r, const std::string& name) {
  TypeConstraints types, types_by_handle;
  if (how != RowUpdate::kReplace) {
    types = {{"T", TypesOf(how)}};
    types_by_handle = {{"dtype", TypesOf(how)}};
  }
  r.Add("Scatter" + name, types, Scatter<how>, cpu::RowUpdateCost);
  r.Add("ResourceScatter" + name, types_by_handle, Scatter<how>, cpu::RowUpdateCost);
}

}  // namespace

void RegisterStateScatterKernels(KernelRegistry& r) {
  AddScatter<RowUpdate::kReplace>(r, "Update");
  AddScatter<RowUpdate::kAdd>(r, "Add");
  AddScatter<RowUpdate::kSubtract>(r, "Sub");
  AddScatter<RowUpdate::kMultiply>(r, "Mul");
  AddScatter<RowUpdate::kDivide>(r, "Div");
  AddScatter<RowUpdate::kMin>(r, "Min");
  AddScatter<RowUpdate::kMax>(r, "Max");
}

}  // namespace tensorbraid::cpu
