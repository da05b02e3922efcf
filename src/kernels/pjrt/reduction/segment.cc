// Sums of segments.
#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// Rows with a negative id are ignored.
Status EmitUnsortedSegmentSum(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr data, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value segment_ids, ctx.input(1));
  TF_ASSIGN_OR_RETURN(const Tensor num_segments, ctx.static_input(2));
  if (!num_segments.shape().is_scalar()) {
    return InvalidArgument("num_segments should be a scalar, got shape ", num_segments.shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t segments, IntegerOf(num_segments, "num_segments"));
  if (segments < 0) return InvalidArgument("num_segments must not be negative, got ", segments);
  const Shape shape = data.shape(), is = segment_ids.shape;
  if (shape.rank() < is.rank() || Shape(shape.dims().first(is.rank())) != is) {
    return InvalidArgument("the shape of data ", shape, " must begin with the shape of segment_ids ", is);
  }
  const Expr ids = Expr(ctx.builder(), segment_ids).Convert(kInt64);
  ctx.fail_where((ids >= static_cast<double>(segments)).value(), {ids.value()},
                 [is, segments](std::span<const int64_t> numbers) {
                   return cpu::SegmentOutOfRange(is, numbers[0], numbers[1], segments);
                 });
  const int64_t count = is.num_elements(), row = SizeOf(shape, is.rank(), shape.rank());
  Shape out({segments});
  for (int i = is.rank(); i < shape.rank(); ++i) out.AddDim(shape.dim(i));
  SetOutput(ctx, 0, ScatterAddRows(segments, ids.Reshape({count}), data.Reshape({count, row})).Reshape(out));
  return OkStatus();
}

}  // namespace

void RegisterReductionSegmentEmitters(EmitterRegistry& r) {
  r.Add("UnsortedSegmentSum", {{"T", kNumbers}}, EmitUnsortedSegmentSum).static_inputs = {"num_segments"};
}

}  // namespace tensorbraid::pjrt
