// Updates of rows of variables, by handle and by reference.
#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"
#include "kernels/pjrt/variables.h"

namespace tensorbraid::pjrt {
namespace {

// Updates row indices[i] of the variable with row i of the updates, or with the updates themselves if they are a
// scalar.
Status EmitScatter(EmitContext& ctx, RowUpdate how) {
  TF_ASSIGN_OR_RETURN(const UpdateInputs in, UpdateInputsOf(ctx));
  const Shape& shape = in.old.shape();
  const std::string variable = VariableText(ctx, 0);
  if (shape.rank() < 1) return InvalidArgument(variable, " is a scalar and has no rows");
  Shape wanted = in.indices.shape;
  for (int d = 1; d < shape.rank(); ++d) wanted.AddDim(shape.dim(d));
  if (!in.updates.shape().is_scalar() && in.updates.shape() != wanted) {
    return InvalidArgument("updates of ", variable, " must have shape ", wanted, ", got ", in.updates.shape());
  }
  const int64_t num_rows = shape.dim(0), count = in.indices.shape.num_elements();
  const Expr rows = Expr(ctx.builder(), in.indices).Convert(kInt64).Reshape({count});
  const SelectedSlices slices{.count = count,
                              .size = SizeOf(shape, 1, shape.rank()),
                              .num_slices = num_rows,
                              .numbers = rows,
                              .exists = rows >= 0 && rows < static_cast<double>(num_rows)};
  ctx.fail_where((!slices.exists).value(), {rows.value()}, [num_rows, variable](std::span<const int64_t> numbers) {
    return cpu::RowOutOfRange(numbers[0], numbers[1], num_rows, variable);
  });
  CheckDivisors(ctx, how, in.updates);
  return UpdateSlicesOfVariable(ctx, in, slices, how);
}

}  // namespace

void RegisterStateScatterEmitters(EmitterRegistry& r) {
  const auto add = [&r](const char* name, RowUpdate how) {
    const EmitFn emit = [how](EmitContext& ctx) { return EmitScatter(ctx, how); };
    r.Add(StrCat("Scatter", name), {{"T", UpdateTypesOf(how)}}, emit);
    r.Add(StrCat("ResourceScatter", name), {{"dtype", UpdateTypesOf(how)}}, emit);
  };
  add("Update", RowUpdate::kReplace);
  add("Add", RowUpdate::kAdd);
  add("Sub", RowUpdate::kSubtract);
  add("Mul", RowUpdate::kMultiply);
  add("Div", RowUpdate::kDivide);
  add("Min", RowUpdate::kMin);
  add("Max", RowUpdate::kMax);
}

}  // namespace tensorbraid::pjrt
