// Ops that count values, and Bucketize: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// Shape rule: the output is a vector whose size is the value of the scalar input with the number `size_input`.
template <int size_input>
Status BinsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(size_input, 0).status());
  const Tensor size = c.input_value(size_input);
  int64_t n = Shape::kUnknownDim;
  if (size.is_valid()) n = size.dtype() == kInt64 ? size.scalar<int64_t>() : size.scalar<int32_t>();
  if (n < Shape::kUnknownDim || (size.is_valid() && n < 0)) {
    return InvalidArgument("the number of bins must not be negative, got ", n);
  }
  c.set_output(0, {n});
  return OkStatus();
}

Status DenseBincountShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (in.has_rank() && in.rank() > 2) return InvalidArgument("input must have rank 2 or less, got shape ", in);
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (!in.has_rank()) return OkStatus();
  TF_RETURN_IF_ERROR(BinsShape<1>(c));
  if (in.rank() < 2) return OkStatus();
  const Tensor size = c.input_value(1);
  int64_t n = Shape::kUnknownDim;
  if (size.is_valid()) n = size.dtype() == kInt64 ? size.scalar<int64_t>() : size.scalar<int32_t>();
  c.set_output(0, {in.dim(0), n});
  return OkStatus();
}

Status RaggedBincountShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  c.set_output(0, Shape::UnknownOfRank(2));
  return OkStatus();
}

}  // namespace

void RegisterReductionHistogramOps(OpRegistry& r) {
  constexpr const char* kCounted = "T: {int32, int64, float, double}";
  constexpr const char* kIndex = "Tidx: {int32, int64}";
  r.Add(Op("Bincount")
            .Input("arr: int32")
            .Input("size: int32")
            .Input("weights: T")
            .Output("bins: T")
            .Attr(kCounted)
            .Shape(BinsShape<1>)
            .NotDifferentiable());
  r.Add(Op("DenseBincount")
            .Input("input: Tidx")
            .Input("size: Tidx")
            .Input("weights: T")
            .Output("output: T")
            .Attr(kIndex)
            .Attr(kCounted)
            .Attr("binary_output: bool = false")
            .Shape(DenseBincountShape)
            .NotDifferentiable());
  r.Add(Op("RaggedBincount")
            .Input("splits: int64")
            .Input("values: Tidx")
            .Input("size: Tidx")
            .Input("weights: T")
            .Output("output: T")
            .Attr(kIndex)
            .Attr(kCounted)
            .Attr("binary_output: bool = false")
            .Shape(RaggedBincountShape)
            .NotDifferentiable());
  r.Add(Op("SparseBincount")
            .Input("indices: int64")
            .Input("values: Tidx")
            .Input("dense_shape: int64")
            .Input("size: Tidx")
            .Input("weights: T")
            .Output("output: T")
            .Attr(kIndex)
            .Attr(kCounted)
            .Attr("binary_output: bool = false")
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("HistogramFixedWidth")
            .Input("values: T")
            .Input("value_range: T")
            .Input("nbins: int32")
            .Output("out: dtype")
            .Attr("T: {int32, int64, float, double}")
            .Attr("dtype: {int32, int64} = DT_INT32")
            .Shape(BinsShape<2>)
            .NotDifferentiable());
  r.Add(Op("Bucketize")
            .Input("input: T")
            .Output("output: int32")
            .Attr("T: {int32, int64, float, double}")
            .Attr("boundaries: list(float)")
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
