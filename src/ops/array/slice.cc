// Array ops that extract a region of a tensor or insert one (slice, strided slice, pad): schemas, shape rules,
// gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/array/integers.h"
#include "ops/array/strided_slice.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Output ShapeAs(Graph& g, Output of, DType dtype) {
  return NodeBuilder(g, "Shape").Input(of).Attr("out_type", dtype).Output();
}

Status SliceShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape begin_shape, c.WithRank(1, 1));
  TF_ASSIGN_OR_RETURN(const Shape size_shape, c.WithRank(2, 1));
  TF_ASSIGN_OR_RETURN(const Shape length, begin_shape.MergeWith(size_shape));
  Shape in = c.input(0);
  if (!in.has_rank()) {
    if (length.dim(0) < 0) return OkStatus();
    in = Shape::UnknownOfRank(static_cast<int>(length.dim(0)));
  }
  if (length.dim(0) >= 0 && length.dim(0) != in.rank()) {
    return InvalidArgument("begin and size must have an entry for each of ", in.rank(), " dimensions, got ",
                           length.dim(0));
  }
  const auto begin = IntegersOf(c.input_value(1));
  const auto size = IntegersOf(c.input_value(2));
  Shape known_size = Shape::UnknownOfRank(in.rank());
  if (!size) {
    // A size that is computed from shapes may be known in part.
    if (auto s = c.input_as_shape(2); s.ok() && s->has_rank() && s->rank() == in.rank()) known_size = *s;
  }
  Shape out = Shape::UnknownOfRank(in.rank());
  for (int i = 0; i < in.rank(); ++i) {
    if (!size) {
      out.set_dim(i, known_size.dim(i));
    } else if ((*size)[i] >= 0) {
      out.set_dim(i, (*size)[i]);
    } else if ((*size)[i] != -1) {
      return InvalidArgument("size[", i, "] must be -1 or more, got ", (*size)[i]);
    } else if (begin && in.dim(i) >= 0 && (*begin)[i] >= 0 && (*begin)[i] <= in.dim(i)) {
      out.set_dim(i, in.dim(i) - (*begin)[i]);
    }
    if (!begin) continue;
    const int64_t taken = std::max<int64_t>(out.dim(i), 0);
    if ((*begin)[i] < 0 || (in.dim(i) >= 0 && ((*begin)[i] > in.dim(i) || taken > in.dim(i) - (*begin)[i]))) {
      return InvalidArgument("slice of ", taken, " elements from index ", (*begin)[i],
                             " is out of range for dimension ", i, " of ", in);
    }
  }
  c.set_output(0, out);
  return OkStatus();
}

// The gradient is zero outside of the region.
Status SliceGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output in = NodeOf(op)->inputs()[0];
  const Output begin = NodeOf(op)->inputs()[1];
  const Output size = ShapeAs(g, op.output(0), begin.dtype());
  (*input_grads)[0] = NodeBuilder(g, "StridedSliceGrad")
                          .Input(ShapeAs(g, in, begin.dtype()))
                          .Input(begin)
                          .Input(NodeBuilder(g, "AddV2").Input(begin).Input(size).Output())
                          .Input(NodeBuilder(g, "OnesLike").Input(begin).Output())
                          .Input(grads[0])
                          .Output();
  return OkStatus();
}

constexpr const char* kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};

Status StridedSliceShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  const auto begin = IntegersOf(c.input_value(1));
  const auto end = IntegersOf(c.input_value(2));
  const auto strides = IntegersOf(c.input_value(3));
  if (!in.has_rank()) return OkStatus();
  if (begin && end && strides) {
    TF_ASSIGN_OR_RETURN(StridedRegion region, ResolveStridedSlice(c.node(), in, *begin, *end, *strides));
    c.set_output(0, region.shape);
    return OkStatus();
  }
  // Only the rank of the result is known. Resolving made-up entries against unknown sizes gives this rank: ranges get
  // an unknown size, and the dimensions in shrink_axis_mask disappear.
  const Shape& length = c.input(1);
  if (!length.has_rank() || length.rank() != 1 || length.dim(0) < 0 || length.dim(0) > 32) return OkStatus();
  const std::vector<int64_t> ones(length.dim(0), 1);
  TF_ASSIGN_OR_RETURN(StridedRegion region,
                      ResolveStridedSlice(c.node(), Shape::UnknownOfRank(in.rank()), ones, ones, ones));
  c.set_output(0, region.shape);
  return OkStatus();
}

void CopyMasks(const Operation& op, NodeBuilder& to) {
  for (const char* mask : kMasks) to.Attr(mask, NodeOf(op)->attr<int64_t>(mask));
}

Status StridedSliceGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& inputs = NodeOf(op)->inputs();
  NodeBuilder grad(g, "StridedSliceGrad");
  grad.Input(ShapeAs(g, inputs[0], inputs[1].dtype()));
  for (int i = 1; i <= 3; ++i) grad.Input(inputs[i]);
  grad.Input(grads[0]);
  CopyMasks(op, grad);
  (*input_grads)[0] = grad.Output();
  return OkStatus();
}

Status StridedSliceGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, c.input_as_shape(0));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status StridedSliceGradGradient(const Operation& op, const std::vector<Output>& grads,
                                std::vector<Output>* input_grads) {
  NodeBuilder slice(*op.graph(), "StridedSlice");
  slice.Input(grads[0]);
  for (int i = 1; i <= 3; ++i) slice.Input(NodeOf(op)->inputs()[i]);
  CopyMasks(op, slice);
  (*input_grads)[4] = slice.Output();
  return OkStatus();
}

// The elements that were replaced get no gradient. The value may be broadcast to the region that it replaces, so the
// gradient of the region is reduced to the shape of the value.
Status StridedSliceUpdateGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& inputs = NodeOf(op)->inputs();
  NodeBuilder slice(g, "StridedSlice");
  slice.Input(grads[0]);
  for (int i = 1; i <= 3; ++i) slice.Input(inputs[i]);
  CopyMasks(op, slice);
  const Output replaced = slice.Output();
  NodeBuilder kept(g, "TensorStridedSliceUpdate");
  kept.Input(grads[0]);
  for (int i = 1; i <= 3; ++i) kept.Input(inputs[i]);
  kept.Input(Node1("ZerosLike", replaced));
  CopyMasks(op, kept);
  (*input_grads)[0] = kept.Output();
  (*input_grads)[4] = SumToOperand(replaced, inputs[4], replaced);
  return OkStatus();
}

Status PadShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape paddings, c.WithRank(1, 2));
  if (paddings.dim(1) >= 0 && paddings.dim(1) != 2) {
    return InvalidArgument("paddings must have shape [rank,2], got ", paddings);
  }
  if (c.num_inputs() > 2) TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  const Shape& in = c.input(0);
  if (!in.has_rank()) {
    if (paddings.dim(0) >= 0) c.set_output(0, Shape::UnknownOfRank(static_cast<int>(paddings.dim(0))));
    return OkStatus();
  }
  if (paddings.dim(0) >= 0 && paddings.dim(0) != in.rank()) {
    return InvalidArgument("paddings must have a row for each of ", in.rank(), " dimensions, got ", paddings.dim(0));
  }
  const auto values = IntegersOf(c.input_value(1));
  Shape out = Shape::UnknownOfRank(in.rank());
  for (int i = 0; i < in.rank() && values; ++i) {
    const int64_t before = (*values)[2 * i];
    const int64_t after = (*values)[2 * i + 1];
    if (before < 0 || after < 0) return InvalidArgument("paddings must not be negative, got ", before, " and ", after);
    int64_t total;
    if (__builtin_add_overflow(before, after, &total) ||
        __builtin_add_overflow(total, std::max<int64_t>(in.dim(i), 0), &total)) {
      return InvalidArgument("paddings ", before, " and ", after, " are too large for dimension ", i, " of ", in);
    }
    if (in.dim(i) >= 0) out.set_dim(i, total);
  }
  c.set_output(0, out);
  return OkStatus();
}

Status PadGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output in = NodeOf(op)->inputs()[0];
  const Output paddings = NodeOf(op)->inputs()[1];
  const Output column = NodeBuilder(g, "Slice")
                            .Input(paddings)
                            .Input(ConstantVector(g, {0, 0}))
                            .Input(ConstantVector(g, {-1, 1}))
                            .Output();
  const Output before = NodeBuilder(g, "Reshape").Input(column).Input(ConstantVector(g, {-1})).Output();
  (*input_grads)[0] =
      NodeBuilder(g, "Slice").Input(grads[0]).Input(before).Input(ShapeAs(g, in, paddings.dtype())).Output();
  return OkStatus();
}

}  // namespace

void RegisterArraySliceOps(OpRegistry& r) {
  r.Add(Op("Slice")
            .Input("input: T")
            .Input("begin: Index")
            .Input("size: Index")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Index: {int32, int64}")
            .Shape(SliceShape)
            .Gradient(SliceGradient));
  r.Add(Op("StridedSlice")
            .Input("input: T")
            .Input("begin: Index")
            .Input("end: Index")
            .Input("strides: Index")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Index: {int16, int32, int64}")
            .Attr("begin_mask: int = 0")
            .Attr("end_mask: int = 0")
            .Attr("ellipsis_mask: int = 0")
            .Attr("new_axis_mask: int = 0")
            .Attr("shrink_axis_mask: int = 0")
            .Shape(StridedSliceShape)
            .Gradient(StridedSliceGradient));
  r.Add(Op("StridedSliceGrad")
            .Input("shape: Index")
            .Input("begin: Index")
            .Input("end: Index")
            .Input("strides: Index")
            .Input("dy: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Index: {int32, int64}")
            .Attr("begin_mask: int = 0")
            .Attr("end_mask: int = 0")
            .Attr("ellipsis_mask: int = 0")
            .Attr("new_axis_mask: int = 0")
            .Attr("shrink_axis_mask: int = 0")
            .Shape(StridedSliceGradShape)
            .Gradient(StridedSliceGradGradient));
  r.Add(Op("TensorStridedSliceUpdate")
            .Input("input: T")
            .Input("begin: Index")
            .Input("end: Index")
            .Input("strides: Index")
            .Input("value: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Index: {int32, int64}")
            .Attr("begin_mask: int = 0")
            .Attr("end_mask: int = 0")
            .Attr("ellipsis_mask: int = 0")
            .Attr("new_axis_mask: int = 0")
            .Attr("shrink_axis_mask: int = 0")
            .Shape(UnchangedShape)
            .Gradient(StridedSliceUpdateGradient));
  r.Add(Op("Pad")
            .Input("input: T")
            .Input("paddings: Tpaddings")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Shape(PadShape)
            .Gradient(PadGradient));
  r.Add(Op("PadV2")
            .Input("input: T")
            .Input("paddings: Tpaddings")
            .Input("constant_values: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tpaddings: {int32, int64} = DT_INT32")
            .Shape(PadShape)
            .Gradient(PadGradient));
}

}  // namespace tensorbraid
