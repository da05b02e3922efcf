// Searches in sorted rows, and the largest elements of rows.
#include <bit>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// LowerBound and UpperBound (`upper`): for each value of a row, the number of elements of the sorted row that are less,
// or, for UpperBound, less or equal. A binary search: [low, high] is where the result may be.
Status EmitBound(EmitContext& ctx, bool upper) {
  TF_ASSIGN_OR_RETURN(const Expr sorted, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr values, WideInput(ctx, 1));
  if (sorted.shape().rank() != 2 || values.shape().rank() != 2) {
    return InvalidArgument("sorted_inputs and values must be matrices, got ", sorted.shape(), " and ", values.shape());
  }
  if (sorted.shape().dim(0) != values.shape().dim(0)) {
    return InvalidArgument("sorted_inputs ", sorted.shape(), " and values ", values.shape(),
                           " must have the same number of rows");
  }
  const int64_t rows = sorted.shape().dim(0), columns = sorted.shape().dim(1), count = values.shape().num_elements();
  const DType type = ctx.node().output_type(0);
  if (type == kInt32 && columns > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("rows of ", columns, " elements require out_type int64");
  }
  stablehlo::Builder& b = ctx.builder();
  const Expr elements = sorted.Reshape({rows * columns, 1});
  const Expr first = Expr(b, b.Iota(kInt64, values.shape(), 0)) * static_cast<double>(columns);
  Expr low(b, b.Splat(kInt64, 0, values.shape())), high = low + static_cast<double>(columns);
  for (int step = std::bit_width(static_cast<uint64_t>(columns)); step > 0; --step) {
    const Expr middle = (low + high) / 2;
    const Expr element = GatherRows(elements, (first + middle).Reshape({count})).Reshape(values.shape());
    const Expr is_behind = upper ? !(values < element) : element < values, searches = low < high;
    low = Select(searches && is_behind, middle + 1, low);
    high = Select(searches && !is_behind, middle, high);
  }
  ctx.set_output(0, low.Convert(type).value());
  return OkStatus();
}

// TopK and TopKV2: sorts each row in descending order, NaNs last, and takes the first k elements. Equal elements keep
// their order.
Status EmitTopK(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  int64_t k;
  if (ctx.num_inputs() == 1) {
    k = ctx.attr<int64_t>("k");
  } else {
    TF_ASSIGN_OR_RETURN(const Tensor number, ctx.static_input(1));
    if (!number.shape().is_scalar()) return InvalidArgument("k must be a scalar, got ", number.shape());
    TF_ASSIGN_OR_RETURN(k, IntegerOf(number, "k"));
  }
  if (k < 0) return InvalidArgument("Need k >= 0, got ", k);
  if (x.rank() < 1) return InvalidArgument("the input must have rank 1 or more, got a scalar");
  const int last = x.rank() - 1;
  if (k > x.shape.dim(last)) {
    return InvalidArgument("the input must have last dimension >= k = ", k, ", got ", x.shape.dim(last));
  }
  stablehlo::Builder& b = ctx.builder();
  const bool floats = IsFloating(x.dtype);
  const auto above = [&](const stablehlo::Value& u, const stablehlo::Value& v) {
    const Expr first(b, u), second(b, v);
    return (floats ? first > second || (second != second && first == first) : first > second).value();
  };
  const auto sorted = b.Sort({x, b.Iota(ctx.node().output_type(1), x.shape, last)}, last, above);
  std::vector<int64_t> limits(x.shape.dims().begin(), x.shape.dims().end());
  limits[last] = k;
  const std::vector<int64_t> zeros(x.rank(), 0), ones(x.rank(), 1);
  for (int i = 0; i < 2; ++i) ctx.set_output(i, b.Slice(sorted[i], zeros, limits, ones));
  return OkStatus();
}

// Without an order, the kernel of the CPU gives the elements as they are in its heap.
std::string RefuseUnsorted(const Node& node) {
  return node.attr<bool>("sorted") ? "" : "has no emitter for sorted = false";
}

}  // namespace

void RegisterArraySearchEmitters(EmitterRegistry& r) {
  r.Add("LowerBound", {{"T", kReals}}, [](EmitContext& ctx) { return EmitBound(ctx, false); });
  r.Add("UpperBound", {{"T", kReals}}, [](EmitContext& ctx) { return EmitBound(ctx, true); });
  r.Add("TopK", {{"T", kReals}}, EmitTopK).refuse = RefuseUnsorted;
  EmitterDef& def = r.Add("TopKV2", {{"T", kReals}}, EmitTopK);
  def.static_inputs = {"k"};
  def.refuse = RefuseUnsorted;
}

}  // namespace tensorbraid::pjrt
