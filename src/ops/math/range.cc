// Range and LinSpace: schemas and shape rules.
#include <cmath>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The number of elements of Range. Unknown if delta is 0 or the number is negative or very large: the kernel reports
// the error.
template <typename T>
int64_t RangeSize(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const double from = static_cast<double>(start.scalar<T>()), step = static_cast<double>(delta.scalar<T>());
  const double size = std::ceil((static_cast<double>(limit.scalar<T>()) - from) / step);
  return step != 0 && size >= 0 && size < 1e15 ? static_cast<int64_t>(size) : Shape::kUnknownDim;
}

Status RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const Tensor start = c.input_value(0), limit = c.input_value(1), delta = c.input_value(2);
  int64_t size = Shape::kUnknownDim;
  if (start.is_valid() && limit.is_valid() && delta.is_valid()) {
    if (start.dtype() == kInt32) size = RangeSize<int32_t>(start, limit, delta);
    if (start.dtype() == kInt64) size = RangeSize<int64_t>(start, limit, delta);
    if (start.dtype() == kFloat32) size = RangeSize<float>(start, limit, delta);
    if (start.dtype() == kFloat64) size = RangeSize<double>(start, limit, delta);
  }
  c.set_output(0, {size});
  return OkStatus();
}

Status LinSpaceShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const Tensor num = c.input_value(2);
  if (!num.is_valid()) {
    c.set_output(0, Shape::UnknownOfRank(1));
    return OkStatus();
  }
  const int64_t n = num.dtype() == kInt64 ? num.scalar<int64_t>() : num.scalar<int32_t>();
  if (n <= 0) return InvalidArgument("num must be positive, got ", n);
  c.set_output(0, {n});
  return OkStatus();
}

}  // namespace

void RegisterMathRangeOps(OpRegistry& r) {
  r.Add(Op("Range")
            .Input("start: Tidx")
            .Input("limit: Tidx")
            .Input("delta: Tidx")
            .Output("output: Tidx")
            .Attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32")
            .Shape(RangeShape)
            .NotDifferentiable());
  r.Add(Op("LinSpace")
            .Input("start: T")
            .Input("stop: T")
            .Input("num: Tidx")
            .Output("output: T")
            .Attr("T: {bfloat16, half, float, double}")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(LinSpaceShape));
}

}  // namespace tensorbraid
