// SparseToDense.
#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// Writes values, one for each row of indices or one for all, into a tensor of the default value.
Status EmitSparseToDense(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value values, ctx.input(2));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value rest, ctx.input(3));
  if (indices.rank() > 2) {
    return InvalidArgument("sparse_indices must be a scalar, a vector or a matrix, got shape ", indices.shape);
  }
  const int64_t n = indices.rank() > 0 ? indices.shape.dim(0) : 1, rank = indices.rank() > 1 ? indices.shape.dim(1) : 1;
  if (sizes.shape().rank() != 1 || sizes.num_elements() != rank) {
    return InvalidArgument("output_shape must be a vector of ", rank, " sizes, got shape ", sizes.shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "output_shape"));
  if (values.rank() > 1 || (values.rank() == 1 && values.shape.dim(0) != n)) {
    return InvalidArgument("sparse_values has incorrect shape ", values.shape, ", should be [] or [", n, "]");
  }
  if (rest.rank() > 0) return InvalidArgument("default_value should be a scalar, got shape ", rest.shape);

  stablehlo::Builder& b = ctx.builder();
  const stablehlo::Value flat = b.Reshape(b.Convert(indices, kInt64), {n, rank});
  const bool ordered = ctx.attr<bool>("validate_indices") && rank > 0;  // coordinates that do not exist have no order
  // The coordinates of each row and, if they must be in order, of the row before it. Before row 0 is the last row.
  std::vector<stablehlo::Value> numbers, before;
  Expr exists(b, b.Splat(kBool, 1, {n})), follows(b, b.Splat(kBool, 0, {n})), equal(b, b.Splat(kBool, 1, {n}));
  Expr place(b, b.Splat(kInt64, 0, {n}));
  for (int d = 0; d < rank; ++d) {
    const auto size = static_cast<double>(shape.dim(d));
    const Expr at = Expr(b, b.Slice(flat, {0, d}, {n, d + 1}, {1, 1})).Reshape({n});
    numbers.push_back(at.value());
    exists = exists && at >= 0 && at < size;
    place = place * size + at;
    if (!ordered || n == 0) continue;
    const Expr last(b,
                    b.Concatenate({b.Slice(at.value(), {n - 1}, {n}, {1}), b.Slice(at.value(), {0}, {n - 1}, {1})}, 0));
    before.push_back(last.value());
    follows = follows || (equal && last < at);
    equal = equal && last == at;
  }
  Expr bad = !exists;
  if (ordered) bad = bad || (!follows && Expr(b, b.Iota(kInt64, {n}, 0)) > 0);
  numbers.insert(numbers.end(), before.begin(), before.end());
  ctx.fail_where(bad.value(), numbers, [rank, shape](std::span<const int64_t> found) {
    const int64_t row = found[0];
    const auto at = found.subspan(1, rank), last = found.subspan(1 + rank);
    return cpu::CheckSparseIndex(row, row > 0 ? last : last.first(0), at, shape);
  });
  const int64_t total = shape.num_elements();
  const Expr column = Expr(b, values.rank() == 0 ? b.BroadcastTo(values, {n}) : values).Reshape({n, 1});
  const Expr out = ScatterRows(total, Expr(b, rest), place, column, CombinationOf(RowUpdate::kReplace));
  ctx.set_output(0, out.Reshape(shape).value());
  return OkStatus();
}

}  // namespace

void RegisterSparseDenseEmitters(EmitterRegistry& r) {
  r.Add("SparseToDense", {{"T", kTensors}}, EmitSparseToDense).static_inputs = {"output_shape"};
}

}  // namespace tensorbraid::pjrt
