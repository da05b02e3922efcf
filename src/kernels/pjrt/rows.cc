#include "kernels/pjrt/rows.h"

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/variables.h"

namespace tensorbraid::pjrt {

Expr GatherRows(const Expr& x, const Expr& rows) {
  stablehlo::Builder& b = x.builder();
  const int64_t size = x.shape().dim(1), count = rows.shape().dim(0);
  const Shape shape({count, size});
  if (x.shape().num_elements() == 0 || count == 0) return {b, b.Splat(x.dtype(), 0, shape)};
  return {b, b.Op("gather", {x.value(), rows.value()}, x.dtype(), shape,
                  StrCat("dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                         "start_index_map = [0], index_vector_dim = 1>, slice_sizes = ",
                         stablehlo::ArrayText(std::vector<int64_t>{1, size})))};
}

Expr ScatterInto(const Expr& x, const Expr& rows, const Expr& updates, Combination combine) {
  stablehlo::Builder& b = x.builder();
  const DType dtype = x.dtype();
  if (updates.shape().num_elements() == 0 || x.shape().dim(0) == 0) return x;
  const std::string region = b.Region({dtype, dtype}, [&](const std::vector<stablehlo::Value>& v) {
    const auto wide = [&](const stablehlo::Value& x) { return Expr(b, x).Convert(ComputeDType(dtype)); };
    return std::vector<stablehlo::Value>{combine(wide(v[0]), wide(v[1])).Convert(dtype).value()};
  });
  return {b, b.Op("scatter", {x.value(), rows.value(), updates.value()}, dtype, x.shape(),
                  "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = "
                  "[0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>",
                  {region})};
}

Expr ScatterRows(int64_t n, const Expr& initial, const Expr& rows, const Expr& updates, Combination combine) {
  return ScatterInto(initial.BroadcastTo({n, updates.shape().dim(1)}), rows, updates, combine);
}

Expr ScatterAddRows(int64_t n, const Expr& rows, const Expr& updates) {
  return ScatterRows(n, updates.Number(0), rows, updates, [](const Expr& x, const Expr& y) { return x + y; });
}

Combination CombinationOf(RowUpdate how) {
  switch (how) {
    case RowUpdate::kReplace:
      return [](const Expr&, const Expr& update) { return update; };
    case RowUpdate::kAdd:
      return [](const Expr& old, const Expr& update) { return old + update; };
    case RowUpdate::kSubtract:
      return [](const Expr& old, const Expr& update) { return old - update; };
    case RowUpdate::kMultiply:
      return [](const Expr& old, const Expr& update) { return old * update; };
    case RowUpdate::kDivide:
      return [](const Expr& old, const Expr& update) { return old / update; };
    case RowUpdate::kMin:  // keeps the old element if one of them is NaN, as the CPU's kernels do
      return [](const Expr& old, const Expr& update) { return Select(update < old, update, old); };
    case RowUpdate::kMax:
      return [](const Expr& old, const Expr& update) { return Select(old < update, update, old); };
  }
  return nullptr;
}

DTypeSet UpdateTypesOf(RowUpdate how) {
  switch (how) {
    case RowUpdate::kReplace:
      return kTensors;
    case RowUpdate::kMin:
    case RowUpdate::kMax:
      return kReals;
    default:
      return kNumbers;
  }
}

void CheckDivisors(EmitContext& ctx, RowUpdate how, const Expr& updates) {
  if (how != RowUpdate::kDivide || IsFloating(updates.dtype()) || IsComplex(updates.dtype())) return;
  ctx.fail_where((updates == 0).value(), {}, [](std::span<const int64_t>) { return cpu::CannotDivideRows(); });
}

SelectedSlices SelectSlices(EmitContext& ctx, const stablehlo::Value& indices, const Shape& shape, bool ignore,
                            const std::string& what) {
  stablehlo::Builder& b = ctx.builder();
  const Shape& is = indices.shape;
  const int depth = static_cast<int>(is.dim(is.rank() - 1));
  const int64_t count = SizeOf(is, 0, is.rank() - 1);
  const stablehlo::Value flat = b.Reshape(b.Convert(indices, kInt64), {count, depth});
  SelectedSlices slices{.count = count,
                        .size = SizeOf(shape, depth, shape.rank()),
                        .num_slices = SizeOf(shape, 0, depth),
                        .numbers = Expr(b, b.Splat(kInt64, 0, {count})),
                        .exists = Expr(b, b.Splat(kBool, 1, {count}))};
  std::vector<stablehlo::Value> coordinates;
  for (int d = 0; d < depth; ++d) {
    const Expr at = Expr(b, b.Slice(flat, {0, d}, {count, d + 1}, {1, 1})).Reshape({count});
    coordinates.push_back(at.value());
    slices.exists = slices.exists && at >= 0 && at < static_cast<double>(shape.dim(d));
    slices.numbers = slices.numbers * static_cast<double>(shape.dim(d)) + at;
  }
  if (ignore) {
    slices.numbers = Select(slices.exists, slices.numbers, -1);
  } else {
    ctx.fail_where((!slices.exists).value(), coordinates, [is, what, shape](std::span<const int64_t> numbers) {
      return cpu::SliceOutOfRange(is, numbers[0], numbers.subspan(1), what, shape);
    });
  }
  return slices;
}

StatusOr<UpdateInputs> UpdateInputsOf(const EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(1));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value updates, ctx.input(2));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value old,
                      ctx.is_variable(0) ? VariableOfType(ctx, 0, updates.dtype) : ctx.input(0));
  stablehlo::Builder& b = ctx.builder();
  return UpdateInputs{.old = {b, old}, .indices = indices, .updates = {b, updates}};
}

Expr UpdateSlices(const UpdateInputs& in, const SelectedSlices& slices, RowUpdate how) {
  const Shape flat({slices.count, slices.size});
  const Expr updates = in.updates.shape().is_scalar() ? in.updates.BroadcastTo(flat) : in.updates.Reshape(flat);
  return ScatterInto(in.old.Reshape({slices.num_slices, slices.size}), slices.numbers, updates, CombinationOf(how))
      .Reshape(in.old.shape());
}

Status UpdateSlicesOfVariable(EmitContext& ctx, const UpdateInputs& in, const SelectedSlices& slices, RowUpdate how) {
  const auto guarded = [in, slices, how](const stablehlo::Value& before, const stablehlo::Value& failed) {
    stablehlo::Builder& b = in.old.builder();
    UpdateInputs inputs = in;
    inputs.old = {b, before};
    SelectedSlices chosen = slices;
    chosen.numbers = Select(Expr(b, failed), -1, slices.numbers);
    return UpdateSlices(inputs, chosen, how).value();
  };
  return UpdateVariable(ctx, 0, UpdateSlices(in, slices, how).value(), guarded);
}

}  // namespace tensorbraid::pjrt
