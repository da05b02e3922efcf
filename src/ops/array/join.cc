// Array ops that join tensors and split them (concat, split, pack, unpack): schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

// The value of a constant with one integer, or nothing if it is not known while building the graph.
std::optional<int64_t> ScalarValue(const Tensor& t) {
  if (!t.is_valid() || t.num_elements() != 1) return std::nullopt;
  return t.dtype() == kInt32 ? t.data<int32_t>()[0] : t.data<int64_t>()[0];
}

// Replaces a negative axis, which counts from the last one, by its number. Returns InvalidArgument if it is out of
// range.
Status NormalizeAxis(int64_t* axis, int rank) {
  if (*axis < -rank || *axis >= rank)
    return InvalidArgument("axis ", *axis, " is out of range for ", rank, " dimensions");
  if (*axis < 0) *axis += rank;
  return OkStatus();
}

// Shape rule for joining inputs [first, last) along the axis that input `axis_input` gives.
Status ConcatShapeOf(ShapeContext& c, int first, int last, int axis_input) {
  TF_RETURN_IF_ERROR(c.WithRank(axis_input, 0));
  Shape out = Shape::Unknown();
  for (int i = first; i < last; ++i) {
    const Shape& in = c.input(i);
    if (!in.has_rank()) continue;
    if (in.rank() == 0) return InvalidArgument("scalars cannot be concatenated; use Stack");
    if (out.has_rank() && out.rank() != in.rank()) {
      return InvalidArgument("shapes ", c.input(first), " and ", in, " differ in rank and cannot be concatenated");
    }
    if (!out.has_rank()) out = Shape::UnknownOfRank(in.rank());
  }
  auto axis = ScalarValue(c.input_value(axis_input));
  if (!out.has_rank() || !axis) {
    c.set_output(0, out);
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(NormalizeAxis(&*axis, out.rank()));
  const int a = static_cast<int>(*axis);
  int64_t joined = 0;
  for (int i = first; i < last; ++i) {
    Shape in = c.input(i).has_rank() ? c.input(i) : Shape::UnknownOfRank(out.rank());
    joined = joined < 0 || in.dim(a) < 0 ? Shape::kUnknownDim : joined + in.dim(a);
    in.set_dim(a, Shape::kUnknownDim);
    auto merged = out.MergeWith(in);
    if (!merged.ok()) {
      return InvalidArgument("cannot concatenate shapes ", out, " and ", c.input(i),
                             ": they must be equal in all dimensions except ", a);
    }
    out = *std::move(merged);
  }
  out.set_dim(a, joined);
  c.set_output(0, out);
  return OkStatus();
}

Status ConcatShape(ShapeContext& c) { return ConcatShapeOf(c, 1, c.num_inputs(), 0); }
Status ConcatV2Shape(ShapeContext& c) { return ConcatShapeOf(c, 0, c.num_inputs() - 1, c.num_inputs() - 1); }

// Cuts the gradient into slices at the offsets where the values, inputs [first, last), were joined.
Status ConcatGradientOf(const Operation& op, int first, int last, int axis_input, const std::vector<Output>& grads,
                        std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& inputs = NodeOf(op)->inputs();
  const std::vector<Output> values(inputs.begin() + first, inputs.begin() + last);
  Output axis = inputs[axis_input];
  if (axis.dtype() != kInt32) axis = NodeBuilder(g, "Cast").Input(axis).Attr("DstT", kInt32).Output();
  const Operation shapes = NodeBuilder(g, "ShapeN").InputList(values).Finish();
  std::vector<Output> sizes;
  for (int i = 0; i < shapes.num_outputs(); ++i) sizes.push_back(shapes.output(i));
  const Operation offsets = NodeBuilder(g, "ConcatOffset").Input(axis).InputList(sizes).Finish();
  for (int i = 0; i < offsets.num_outputs(); ++i) {
    (*input_grads)[first + i] =
        NodeBuilder(g, "Slice").Input(grads[0]).Input(offsets.output(i)).Input(sizes[i]).Output();
  }
  return OkStatus();
}

Status ConcatGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const int n = static_cast<int>(NodeOf(op)->inputs().size());
  return ConcatGradientOf(op, 1, n, 0, grads, input_grads);
}

Status ConcatV2Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const int n = static_cast<int>(NodeOf(op)->inputs().size());
  return ConcatGradientOf(op, 0, n - 1, n - 1, grads, input_grads);
}

Status ConcatOffsetShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i + 1, 1).status());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i + 1));
  return OkStatus();
}

Status SplitShape(ShapeContext& c) {
  const int64_t num = c.attr<int64_t>("num_split");
  auto axis = ScalarValue(c.input_value(0));
  Shape part = c.input(1);
  if (part.has_rank()) {
    if (!axis) {
      part = Shape::UnknownOfRank(part.rank());
    } else {
      TF_RETURN_IF_ERROR(NormalizeAxis(&*axis, part.rank()));
      const int a = static_cast<int>(*axis);
      if (part.dim(a) >= 0) {
        if (part.dim(a) % num != 0) {
          return InvalidArgument("dimension ", a, " of ", part, " cannot be split into ", num, " equal parts");
        }
        part.set_dim(a, part.dim(a) / num);
      }
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, part);
  return OkStatus();
}

Status SplitGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (grads.size() == 1) {
    (*input_grads)[1] = grads[0];
    return OkStatus();
  }
  (*input_grads)[1] = NodeBuilder(*op.graph(), "ConcatV2")
                          .InputList(FilledGradients(op, grads))
                          .Input(NodeOf(op)->inputs()[0])
                          .Output();
  return OkStatus();
}

Status SplitVShape(ShapeContext& c) {
  const int64_t num = c.attr<int64_t>("num_split");
  const Shape& in = c.input(0);
  TF_ASSIGN_OR_RETURN(const Shape sizes_shape, c.WithRank(1, 1));
  if (sizes_shape.dim(0) >= 0 && sizes_shape.dim(0) != num) {
    return InvalidArgument("there must be ", num, " sizes, got ", sizes_shape.dim(0));
  }
  auto axis = ScalarValue(c.input_value(2));
  if (!in.has_rank()) return OkStatus();
  if (!axis) {
    for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape::UnknownOfRank(in.rank()));
    return OkStatus();
  }
  TF_RETURN_IF_ERROR(NormalizeAxis(&*axis, in.rank()));
  const int a = static_cast<int>(*axis);
  const Tensor sizes = c.input_value(1);
  std::vector<int64_t> values(num, Shape::kUnknownDim);
  if (sizes.is_valid() && (sizes.dtype() == kInt32 || sizes.dtype() == kInt64)) {
    int64_t total = 0;
    int inferred = -1;
    for (int i = 0; i < num; ++i) {
      values[i] = sizes.dtype() == kInt32 ? sizes.data<int32_t>()[i] : sizes.data<int64_t>()[i];
      if (values[i] < 0) {
        inferred = i;
      } else {
        total += values[i];
      }
    }
    if (in.dim(a) >= 0) {
      if (inferred >= 0 && total <= in.dim(a)) values[inferred] = in.dim(a) - total;
      if (inferred < 0 ? total != in.dim(a) : total > in.dim(a)) {
        return InvalidArgument("the sizes add up to ", total, ", but dimension ", a, " of ", in, " has size ",
                               in.dim(a));
      }
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    Shape part = in;
    part.set_dim(a, values[i]);
    c.set_output(i, part);
  }
  return OkStatus();
}

Status SplitVGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (grads.size() == 1) {
    (*input_grads)[0] = grads[0];
    return OkStatus();
  }
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ConcatV2")
                          .InputList(FilledGradients(op, grads))
                          .Input(NodeOf(op)->inputs()[2])
                          .Output();
  return OkStatus();
}

Status PackShape(ShapeContext& c) {
  Shape in = Shape::Unknown();
  for (int i = 0; i < c.num_inputs(); ++i) {
    auto merged = in.MergeWith(c.input(i));
    if (!merged.ok()) return InvalidArgument("shapes ", in, " and ", c.input(i), " differ and cannot be packed");
    in = *std::move(merged);
  }
  if (!in.has_rank()) return OkStatus();
  int64_t axis = c.attr<int64_t>("axis");
  TF_RETURN_IF_ERROR(NormalizeAxis(&axis, in.rank() + 1));
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(c.num_inputs());
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status PackGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Operation parts = NodeBuilder(*op.graph(), "Unpack")
                              .Input(grads[0])
                              .Attr("num", static_cast<int64_t>(input_grads->size()))
                              .Attr("axis", NodeOf(op)->attr<int64_t>("axis"))
                              .Finish();
  for (size_t i = 0; i < input_grads->size(); ++i) (*input_grads)[i] = parts.output(static_cast<int>(i));
  return OkStatus();
}

Status UnpackShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  if (in.rank() == 0) return InvalidArgument("a scalar cannot be unpacked");
  int64_t axis = c.attr<int64_t>("axis");
  TF_RETURN_IF_ERROR(NormalizeAxis(&axis, in.rank()));
  const int64_t num = c.attr<int64_t>("num");
  if (in.dim(static_cast<int>(axis)) >= 0 && in.dim(static_cast<int>(axis)) != num) {
    return InvalidArgument("cannot unpack dimension ", axis, " of ", in, " into ", num, " tensors");
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (i != axis) out.AddDim(in.dim(i));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, out);
  return OkStatus();
}

Status UnpackGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "Pack")
                          .InputList(FilledGradients(op, grads))
                          .Attr("axis", NodeOf(op)->attr<int64_t>("axis"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterArrayJoinOps(OpRegistry& r) {
  r.Add(Op("Concat")
            .Input("concat_dim: int32")
            .Input("values: N * T")
            .Output("output: T")
            .Attr("N: int >= 2")
            .Attr("T: type")
            .Shape(ConcatShape)
            .Gradient(ConcatGradient));
  r.Add(Op("ConcatV2")
            .Input("values: N * T")
            .Input("axis: Tidx")
            .Output("output: T")
            .Attr("N: int >= 2")
            .Attr("T: type")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(ConcatV2Shape)
            .Gradient(ConcatV2Gradient));
  r.Add(Op("ConcatOffset")
            .Input("concat_dim: int32")
            .Input("shape: N * shape_type")
            .Output("offset: N * shape_type")
            .Attr("N: int >= 2")
            .Attr("shape_type: {int32, int64} = DT_INT32")
            .Shape(ConcatOffsetShape)
            .NotDifferentiable());
  r.Add(Op("Split")
            .Input("split_dim: int32")
            .Input("value: T")
            .Output("output: num_split * T")
            .Attr("num_split: int >= 1")
            .Attr("T: type")
            .Shape(SplitShape)
            .Gradient(SplitGradient));
  r.Add(Op("SplitV")
            .Input("value: T")
            .Input("size_splits: Tlen")
            .Input("split_dim: int32")
            .Output("output: num_split * T")
            .Attr("num_split: int >= 1")
            .Attr("T: type")
            .Attr("Tlen: {int8, int32, int64} = DT_INT64")
            .Shape(SplitVShape)
            .Gradient(SplitVGradient));
  r.Add(Op("Pack")
            .Input("values: N * T")
            .Output("output: T")
            .Attr("N: int >= 1")
            .Attr("T: type")
            .Attr("axis: int = 0")
            .Shape(PackShape)
            .Gradient(PackGradient));
  r.Add(Op("Unpack")
            .Input("value: T")
            .Output("output: num * T")
            .Attr("num: int >= 0")
            .Attr("T: type")
            .Attr("axis: int = 0")
            .Shape(UnpackShape)
            .Gradient(UnpackGradient));
}

}  // namespace tensorbraid
