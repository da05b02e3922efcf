// Counts of values. HistogramFixedWidth has no emitter: its error names the floats of a range, and an error word has
// integers.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// The number of boundaries that an element is not below.
Status EmitBucketize(EmitContext& ctx) {
  const auto& boundaries = ctx.attr<std::vector<float>>("boundaries");
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) return InvalidArgument("Expected sorted boundaries");
  TF_ASSIGN_OR_RETURN(const Expr in, WideInput(ctx, 0));
  stablehlo::Builder& b = ctx.builder();
  const Expr x = in.Convert(in.dtype() == kFloat64 ? kFloat64 : kFloat32);
  Shape column = x.shape();
  column.AddDim(1);
  const Expr limits = Expr(b, b.Constant(Tensor::Vector(boundaries))).Convert(x.dtype());
  const Expr counted = (!(x.Reshape(column) < limits)).Convert(kInt32);
  ctx.set_output(0, Sum(counted, {x.shape().rank()}).Reshape(x.shape()).value());
  return OkStatus();
}

// Bincount and DenseBincount: counts a tensor into bins [size], or each row of a matrix into [rows, size]. A value that
// is too large for the last bin is ignored. With weights, each value adds its weight; if `binary`, a bin is 1 if it has
// any value.
Status EmitBincount(EmitContext& ctx, bool of_rows) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor size_tensor, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const Shape weights_shape, ctx.input_shape(2));
  if (of_rows && in.rank() > 2) return InvalidArgument("input must have rank 2 or less, got shape ", in.shape);
  if (size_tensor.num_elements() != 1) {
    return InvalidArgument("size must be a scalar, got shape ", size_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t size, IntegerOf(size_tensor, "size"));
  if (size < 0) return InvalidArgument("size must not be negative, got ", size);
  const bool is_weighted = weights_shape.num_elements() > 0;
  if (is_weighted && weights_shape != in.shape) {
    return InvalidArgument("weights must be empty or have the shape of the values, got ", weights_shape, " for ",
                           in.shape);
  }
  stablehlo::Builder& b = ctx.builder();
  const Expr values = Expr(b, in).Convert(kInt64);
  ctx.fail_where((values < 0).value(), {values.value()},
                 [](std::span<const int64_t> numbers) { return cpu::CannotCount(numbers[1]); });
  const bool is_matrix = of_rows && in.rank() == 2, binary = of_rows && ctx.attr<bool>("binary_output");
  const int64_t rows = is_matrix ? in.shape.dim(0) : 1, count = in.shape.num_elements();
  Expr bins = Select(values < static_cast<double>(size), values, -1);
  if (rows > 1) {
    const Expr row(b, b.Iota(kInt64, in.shape, 0));
    bins = Select(bins >= 0, row * static_cast<double>(size) + bins, -1);
  }
  const DType type = ctx.node().output_type(0);
  stablehlo::Value weights = b.Splat(type, 1, {count, 1});
  if (is_weighted && !binary) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value given, ctx.input(2));
    weights = b.Reshape(given, {count, 1});
  }
  const Expr counts = ScatterRows(rows * size, Expr(b, b.Splat(type, 0)), bins.Reshape({count}), Expr(b, weights),
                                  CombinationOf(binary ? RowUpdate::kReplace : RowUpdate::kAdd));
  ctx.set_output(0, counts.Reshape(is_matrix ? Shape({rows, size}) : Shape({size})).value());
  return OkStatus();
}

}  // namespace

void RegisterReductionHistogramEmitters(EmitterRegistry& r) {
  r.Add("Bucketize", {{"T", {kInt32, kInt64, kFloat32, kFloat64}}}, EmitBucketize);
  const DTypeSet counted = {kInt32, kInt64, kFloat32, kFloat64};
  r.Add("Bincount", {{"T", counted}}, [](EmitContext& ctx) { return EmitBincount(ctx, false); }).static_inputs = {
      "size"};
  r.Add("DenseBincount", {{"T", counted}}, [](EmitContext& ctx) { return EmitBincount(ctx, true); }).static_inputs = {
      "size"};
}

}  // namespace tensorbraid::pjrt
