// Reductions of segments.
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

Expr AddRow(const Expr& x, const Expr& y) { return x + y; }
Expr MultiplyRow(const Expr& x, const Expr& y) { return x * y; }
// As by the CPU's kernels, a NaN is replaced by the next value.
Expr GreaterRow(const Expr& x, const Expr& y) { return Select(x > y, x, y); }
Expr LessRow(const Expr& x, const Expr& y) { return Select(x < y, x, y); }

// How the rows of a segment become one.
struct SegmentReduction {
  Combination combine;
  enum class Empty : uint8_t { kZero, kOne, kLowest, kHighest } empty;  // an unsorted segment without rows
};
constexpr SegmentReduction kSegmentSum = {AddRow, SegmentReduction::Empty::kZero},
                           kSegmentProd = {MultiplyRow, SegmentReduction::Empty::kOne},
                           kSegmentMax = {GreaterRow, SegmentReduction::Empty::kLowest},
                           kSegmentMin = {LessRow, SegmentReduction::Empty::kHighest};

bool IsOfExtremes(const SegmentReduction& r) {
  return r.empty == SegmentReduction::Empty::kLowest || r.empty == SegmentReduction::Empty::kHighest;
}

// The greatest finite number of a dtype, as the element of a tensor that is computed wide.
double MostFiniteOf(DType dtype) {
  return dtype == kFloat16    ? 65504.0
         : dtype == kBfloat16 ? 0x1.FEp127
         : dtype == kFloat32  ? std::numeric_limits<float>::max()
                              : std::numeric_limits<double>::max();
}

// The result for no rows: for extremes, the last number of the dtype; if `infinite`, of floats the infinity behind it.
Expr EmptySegment(const Expr& data, const SegmentReduction& reduction, DType dtype, bool infinite) {
  stablehlo::Builder& b = data.builder();
  switch (reduction.empty) {
    case SegmentReduction::Empty::kZero:
      return data.Number(0);
    case SegmentReduction::Empty::kOne:
      return data.Number(1);
    case SegmentReduction::Empty::kLowest:
      if (IsFloating(dtype) && !infinite) return data.Number(-MostFiniteOf(dtype));
      return {b, b.Lowest(data.dtype())};
    case SegmentReduction::Empty::kHighest:
      break;
  }
  if (IsFloating(dtype) && !infinite) return data.Number(MostFiniteOf(dtype));
  return {b, b.Highest(data.dtype())};
}

StatusOr<int64_t> NumSegments(const EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor num_segments, ctx.static_input(2));
  if (!num_segments.shape().is_scalar()) {
    return InvalidArgument("num_segments should be a scalar, got shape ", num_segments.shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t segments, IntegerOf(num_segments, "num_segments"));
  if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  return segments;
}

// The shape of the output, if the ids have the first `skipped` dimensions of the data.
Shape SegmentsShape(int64_t segments, const Shape& data, int skipped) {
  Shape out({segments});
  for (int i = skipped; i < data.rank(); ++i) out.AddDim(data.dim(i));
  return out;
}

// Rows with a negative id are ignored.
Status EmitUnsortedSegments(EmitContext& ctx, const SegmentReduction& reduction) {
  TF_ASSIGN_OR_RETURN(const Expr data, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value segment_ids, ctx.input(1));
  TF_ASSIGN_OR_RETURN(const int64_t segments, NumSegments(ctx));
  const Shape& shape = data.shape();
  const Shape& is = segment_ids.shape;
  if (shape.rank() < is.rank() || Shape(shape.dims().first(is.rank())) != is) {
    return InvalidArgument("the shape of data ", shape, " must begin with the shape of segment_ids ", is);
  }
  const Expr ids = Expr(ctx.builder(), segment_ids).Convert(kInt64);
  ctx.fail_where((ids >= static_cast<double>(segments)).value(), {ids.value()},
                 [is, segments](std::span<const int64_t> numbers) {
                   return cpu::SegmentOutOfRange(is, numbers[0], numbers[1], segments);
                 });
  const int64_t count = is.num_elements(), row = SizeOf(shape, is.rank(), shape.rank());
  const Expr empty = EmptySegment(data, reduction, ctx.node().output_type(0), /*infinite=*/false);
  const Expr out = ScatterRows(segments, empty, ids.Reshape({count}), data.Reshape({count, row}), reduction.combine);
  SetOutput(ctx, 0, out.Reshape(SegmentsShape(segments, shape, is.rank())));
  return OkStatus();
}

// The ids must not decrease. A segment without rows has the sum 0, the product 1 and the extremes 0.
Status EmitSortedSegments(EmitContext& ctx, const SegmentReduction& reduction) {
  TF_ASSIGN_OR_RETURN(const Expr data, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value segment_ids, ctx.input(1));
  const Shape& shape = data.shape();
  const Shape& is = segment_ids.shape;
  if (is.rank() != 1) return InvalidArgument("segment_ids must be a vector, got shape ", is);
  const int64_t count = is.dim(0);
  if (shape.rank() < 1 || shape.dim(0) != count) {
    return InvalidArgument("segment_ids should be the same size as the first dimension of data: got ", is, " for ",
                           shape);
  }
  TF_ASSIGN_OR_RETURN(const int64_t segments, NumSegments(ctx));
  stablehlo::Builder& b = ctx.builder();
  const Expr ids = Expr(b, segment_ids).Convert(kInt64);
  if (count > 0) {
    const Expr last(b, b.Reshape(b.Slice(ids.value(), {count - 1}, {count}, {1}), {}));
    ctx.fail_if((last >= static_cast<double>(segments)).value(), {last.value()},
                [segments](std::span<const int64_t> n) { return cpu::LastSegmentOutOfRange(n[0], segments); });
    const Expr before(b, b.Concatenate({b.Splat(kInt64, 0, {1}), b.Slice(ids.value(), {0}, {count - 1}, {1})}, 0));
    ctx.fail_where(
        (ids < before || ids >= static_cast<double>(segments)).value(), {ids.value(), before.value()},
        [segments](std::span<const int64_t> n) { return cpu::SegmentNotSorted(n[0], n[1], n[2], segments); });
  }
  const int64_t row = SizeOf(shape, 1, shape.rank());
  const Expr empty = EmptySegment(data, reduction, ctx.node().output_type(0), /*infinite=*/true);
  Expr out = ScatterRows(segments, empty, ids, data.Reshape({count, row}), reduction.combine);
  if (IsOfExtremes(reduction)) {
    const Expr rows = ScatterAddRows(segments, ids, Expr(b, b.Splat(kInt32, 1, {count, 1})));
    out = Select((rows > 0).BroadcastTo({segments, row}), out, 0);
  }
  SetOutput(ctx, 0, out.Reshape(SegmentsShape(segments, shape, 1)));
  return OkStatus();
}

}  // namespace

void RegisterReductionSegmentEmitters(EmitterRegistry& r) {
  const auto add = [&r](const char* name, DTypeSet types, const SegmentReduction& reduction) {
    r.Add(StrCat("UnsortedSegment", name), {{"T", types}}, [reduction](EmitContext& ctx) {
       return EmitUnsortedSegments(ctx, reduction);
     }).static_inputs = {"num_segments"};
    r.Add(StrCat("Segment", name, "V2"), {{"T", types}}, [reduction](EmitContext& ctx) {
       return EmitSortedSegments(ctx, reduction);
     }).static_inputs = {"num_segments"};
  };
  add("Sum", kNumbers, kSegmentSum);
  add("Prod", kNumbers, kSegmentProd);
  add("Max", kReals, kSegmentMax);
  add("Min", kReals, kSegmentMin);
}

}  // namespace tensorbraid::pjrt
