// Choosing, converting and joining tensors: schemas, shape rules, gradients.
#include <cmath>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

Status SelectShape(ShapeContext& c) {
  auto merged = c.input(1).MergeWith(c.input(2));
  if (!merged.ok()) {
    return InvalidArgument("'then' and 'else' must have the same shape, got ", c.input(1), " and ", c.input(2));
  }
  const Shape& condition = c.input(0);
  if (condition.has_rank() && condition.rank() != 0 && merged->has_rank()) {
    const bool per_row =
        condition.rank() == 1 && merged->rank() >= 1 && Shape({merged->dim(0)}).IsCompatibleWith(condition);
    if (!per_row && !condition.IsCompatibleWith(*merged)) {
      return InvalidArgument(
          "the condition must be a scalar, a vector with one element per row, or have the shape of "
          "'then'; got ",
          condition, " for ", *merged);
    }
  }
  c.set_output(0, *std::move(merged));
  return OkStatus();
}

Status SelectV2Shape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(c.input(1), c.input(2)));
  TF_ASSIGN_OR_RETURN(shape, BroadcastShapes(c.input(0), shape));
  c.set_output(0, std::move(shape));
  return OkStatus();
}

Status SelectGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output condition = op.node()->inputs()[0];
  const Output zeros = Node1("ZerosLike", grads[0]);
  const auto select = [&](Output t, Output e) {
    return NodeBuilder(*op.graph(), "Select").Input(condition).Input(t).Input(e).Output();
  };
  *input_grads = {Output(), select(grads[0], zeros), select(zeros, grads[0])};
  return OkStatus();
}

Status SelectV2Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = op.node()->inputs();
  const Output g = grads[0];
  (*input_grads)[1] = SumToOperand(Select(in[0], g, 0.0), in[1], op.output(0));
  (*input_grads)[2] = SumToOperand(Select(in[0], 0.0, g), in[2], op.output(0));
  return OkStatus();
}

Status CastGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const DType from = op.node()->attr<DType>("SrcT");
  if (IsFloating(from) && IsFloating(op.node()->attr<DType>("DstT"))) (*input_grads)[0] = Cast(grads[0], from);
  return OkStatus();
}

Status AddNGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (Output& g : *input_grads) g = grads[0];
  return OkStatus();
}

Status BroadcastGradientArgsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  c.set_output(0, Shape::UnknownOfRank(1));
  c.set_output(1, Shape::UnknownOfRank(1));
  return OkStatus();
}

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

}  // namespace

void RegisterSelectOps(OpRegistry& r) {
  r.Add(Op("Select")
            .Input("condition: bool")
            .Input("t: T")
            .Input("e: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(SelectShape)
            .Gradient(SelectGradient));
  r.Add(Op("SelectV2")
            .Input("condition: bool")
            .Input("t: T")
            .Input("e: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(SelectV2Shape)
            .Gradient(SelectV2Gradient));
  r.Add(Op("Cast")
            .Input("x: SrcT")
            .Output("y: DstT")
            .Attr("SrcT: type")
            .Attr("DstT: type")
            .Attr("Truncate: bool = false")
            .Shape(UnchangedShape)
            .Gradient(CastGradient));
  r.Add(Op("AddN")
            .Input("inputs: N * T")
            .Output("sum: T")
            .Attr("N: int >= 1")
            .Attr("T: {numbertype, variant}")
            .Shape(SameShapes)
            .Gradient(AddNGradient));
  r.Add(Op("BroadcastGradientArgs")
            .Input("s0: T")
            .Input("s1: T")
            .Output("r0: T")
            .Output("r1: T")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(BroadcastGradientArgsShape)
            .NotDifferentiable());
  r.Add(Op("Range")
            .Input("start: Tidx")
            .Input("limit: Tidx")
            .Input("delta: Tidx")
            .Output("output: Tidx")
            .Attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32")
            .Shape(RangeShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
