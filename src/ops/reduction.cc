// Reductions over axes, and sums of segments: schemas, shape rules, gradients, functions.
#include <algorithm>
#include <optional>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/register.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

std::vector<int64_t> Integers(const Tensor& t) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    v.push_back(t.dtype() == kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i]);
  }
  return v;
}

// The axes in [0, rank), in order, each once.
StatusOr<std::vector<int64_t>> CheckedAxes(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) return InvalidArgument("axis ", *twice, " is named twice");
  return axes;
}

Status ReductionShape(ShapeContext& c) {
  const bool keep_dims = c.attr<bool>("keep_dims");
  const Shape& in = c.input(0);
  if (c.input(1).has_rank() && c.input(1).rank() > 1) {
    return InvalidArgument("axes must be a scalar or a vector, got shape ", c.input(1));
  }
  const Tensor axes_value = c.input_value(1);
  if (!axes_value.is_valid() || !in.has_rank()) {
    if (keep_dims && in.has_rank()) c.set_output(0, Shape::UnknownOfRank(in.rank()));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, CheckedAxes(Integers(axes_value), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) {
      out.AddDim(in.dim(i));
    } else if (keep_dims) {
      out.AddDim(1);
    }
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Output ExpandDims(Output x, int64_t axis) {
  const Output at = Operand(Tensor::Scalar(static_cast<int32_t>(axis))).ToOutput(*x.graph());
  return NodeBuilder(*x.graph(), "ExpandDims").Input(x).Input(at).Output();
}

Output Reshape(Output x, Output shape) { return NodeBuilder(*x.graph(), "Reshape").Input(x).Input(shape).Output(); }

// `value`, of the shape of a reduction's result, with the reduced axes put back as sizes of 1.
Output WithKeptAxes(const Operation& op, Output value) {
  const Output x = op.node()->inputs()[0];
  const Output axes = op.node()->inputs()[1];
  if (op.node()->attr<bool>("keep_dims")) return value;
  if (axes.node()->type() == "Const" && x.shape().has_rank()) {
    const auto numbers = CheckedAxes(Integers(axes.node()->attr<Tensor>("value")), x.shape().rank());
    if (numbers.ok()) {
      // A scalar broadcasts as it is.
      if (static_cast<int>(numbers->size()) == x.shape().rank()) return value;
      for (int64_t axis : *numbers) value = ExpandDims(value, axis);
      return value;
    }
  }
  // Which axes is known only when running: the shape that the reduction would have had if it had kept them.
  const Output kept = NodeBuilder(*op.graph(), op.type()).Input(x).Input(axes).Attr("keep_dims", true).Output();
  return Reshape(value, Node1("Shape", kept));
}

Output Spread(const Operation& op, Output grad) {
  const Output shape = Node1("Shape", op.node()->inputs()[0]);
  return NodeBuilder(*op.graph(), "BroadcastTo").Input(WithKeptAxes(op, grad)).Input(shape).Output();
}

Status SumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Spread(op, grads[0]);
  return OkStatus();
}

Status MeanGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  const Output y = op.output(0);
  const int64_t nx = x.shape().has_rank() ? x.shape().num_elements() : -1;
  const int64_t ny = y.shape().has_rank() ? y.shape().num_elements() : -1;
  Output scaled;
  if (nx > 0 && ny > 0) {
    scaled = grads[0] / static_cast<double>(nx / ny);
  } else {
    // The number of elements that make one mean. Of no elements there is no gradient to scale either.
    Output count = Node1("Size", x);
    if (ny != 1) count = FloorDiv(count, Maximum(Node1("Size", y), 1));
    scaled = grads[0] / Cast(count, x.dtype());
  }
  (*input_grads)[0] = Spread(op, scaled);
  return OkStatus();
}

// Max and Min: the gradient goes in equal parts to the elements that are the result.
Status ExtremeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  const Output axes = op.node()->inputs()[1];
  const Output chosen = Cast(Equal(x, WithKeptAxes(op, op.output(0))), x.dtype());
  const Output count = ReduceSum(chosen, axes, {.keep_dims = true});
  (*input_grads)[0] = chosen / count * WithKeptAxes(op, grads[0]);
  return OkStatus();
}

// The product of the other elements: with one zero among them it is that of the rest for the zero, and else 0.
Status ProdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  const Output axes = op.node()->inputs()[1];
  const Output is_zero = Equal(x, 0.0);
  const Output zeros = ReduceSum(Cast(is_zero, x.dtype()), axes, {.keep_dims = true});
  const Output nonzero = Select(is_zero, 1.0, x);
  const Output rest = ReduceProd(nonzero, axes, {.keep_dims = true}) / nonzero;
  const Output others = Select(Equal(zeros, Cast(is_zero, x.dtype())), rest, 0.0);
  (*input_grads)[0] = others * WithKeptAxes(op, grads[0]);
  return OkStatus();
}

Status NormGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  (*input_grads)[0] = x * WithKeptAxes(op, grads[0] / op.output(0));
  return OkStatus();
}

Status ArgShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (!in.has_rank()) return OkStatus();
  const Tensor axis_value = c.input_value(1);
  if (!axis_value.is_valid() || axis_value.dtype() == kInt16) {
    if (in.rank() > 0) c.set_output(0, Shape::UnknownOfRank(in.rank() - 1));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> axis, CheckedAxes(Integers(axis_value), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (i != axis[0]) out.AddDim(in.dim(i));
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status SegmentShape(ShapeContext& c) {
  const Shape& data = c.input(0);
  const Shape& ids = c.input(1);
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  if (!data.has_rank() || !ids.has_rank()) return OkStatus();
  if (data.rank() < ids.rank() || !Shape(data.dims().first(ids.rank())).IsCompatibleWith(ids)) {
    return InvalidArgument("the shape of data ", data, " must begin with that of segment_ids ", ids);
  }
  const Tensor segments = c.input_value(2);
  Shape out({segments.is_valid() ? Integers(segments)[0] : Shape::kUnknownDim});
  for (int i = ids.rank(); i < data.rank(); ++i) out.AddDim(data.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status SegmentGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output data = op.node()->inputs()[0];
  const Output ids = op.node()->inputs()[1];
  if (!data.shape().has_rank() || !ids.shape().has_rank()) {
    return InvalidArgument("the gradient of ", op.node()->Describe(), " needs inputs of known rank");
  }
  const Output zero = Operand(Tensor::Scalar(int32_t{0})).ToOutput(*op.graph());
  const Output rows = NodeBuilder(*op.graph(), "GatherV2").Input(grads[0]).Input(Maximum(ids, 0)).Input(zero).Output();
  Output used = GreaterEqual(ids, 0);
  for (int i = ids.shape().rank(); i < data.shape().rank(); ++i) used = ExpandDims(used, -1);
  (*input_grads)[0] = Select(used, rows, 0.0);
  return OkStatus();
}

Output Reduce(const char* op, const Operand& x, const Axes& axes, const ReduceOptions& options) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  const Output in = x.ToOutput(*graph);
  if (!in.valid()) return {};
  return NodeBuilder(*graph, op, x.location())
      .Name(options.name)
      .Input(in)
      .Input(axes.ToOutput(*graph, in))
      .Attr("keep_dims", options.keep_dims)
      .Output();
}

Output Arg(const char* op, const Operand& x, int axis, DType dtype, const std::string& name) {
  Graph* graph = GraphOf(op, {&x});
  if (graph == nullptr) return {};
  const Output in = x.ToOutput(*graph);
  const Output at = Operand(Tensor::Scalar(static_cast<int32_t>(axis))).ToOutput(*graph);
  return NodeBuilder(*graph, op, x.location()).Name(name).Input(in).Input(at).Attr("output_type", dtype).Output();
}

constexpr const char* kOrdered = "T: {realnumbertype, quantizedtype, bool}";

}  // namespace

Output Axes::ToOutput(Graph& graph, Output x) const {
  if (is_tensor_) return tensor_;
  if (!numbers_.empty()) return ConstantVector(graph, numbers_);
  if (!x.valid()) return {};
  if (x.shape().has_rank()) {
    std::vector<int64_t> all(x.shape().rank());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    return ConstantVector(graph, all);
  }
  return Range(graph, 0, Node1("Rank", x), 1);
}

Output ReduceSum(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Sum", x, axes, o); }
Output ReduceMean(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Mean", x, axes, o); }
Output ReduceProd(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Prod", x, axes, o); }
Output ReduceMax(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Max", x, axes, o); }
Output ReduceMin(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Min", x, axes, o); }
Output ReduceAll(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("All", x, axes, o); }
Output ReduceAny(const Operand& x, const Axes& axes, const ReduceOptions& o) { return Reduce("Any", x, axes, o); }

Output ArgMax(const Operand& x, int axis, DType dtype, const std::string& name) {
  return Arg("ArgMax", x, axis, dtype, name);
}
Output ArgMin(const Operand& x, int axis, DType dtype, const std::string& name) {
  return Arg("ArgMin", x, axis, dtype, name);
}

Output UnsortedSegmentSum(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                          const std::string& name) {
  Graph* graph = GraphOf("UnsortedSegmentSum", {&data, &segment_ids, &num_segments});
  if (graph == nullptr) return {};
  return NodeBuilder(*graph, "UnsortedSegmentSum", data.location())
      .Name(name)
      .Input(data.ToOutput(*graph))
      .Input(segment_ids.ToOutput(*graph))
      .Input(num_segments.ToOutput(*graph, kInt32))
      .Output();
}

void RegisterReductionOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{{"Sum", "T: numbertype", SumGradient},
                                                   {"Mean", "T: numbertype", MeanGradient},
                                                   {"Prod", "T: numbertype", ProdGradient},
                                                   {"EuclideanNorm", "T: numbertype", NormGradient},
                                                   {"Max", "T: {realnumbertype, quantizedtype}", ExtremeGradient},
                                                   {"Min", "T: {realnumbertype, quantizedtype}", ExtremeGradient}}) {
    r.Add(Op(row.name)
              .Input("input: T")
              .Input("reduction_indices: Tidx")
              .Output("output: T")
              .Attr("keep_dims: bool = false")
              .Attr(row.types)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Shape(ReductionShape)
              .Gradient(row.gradient));
  }
  for (const char* name : {"All", "Any"}) {
    r.Add(Op(name)
              .Input("input: bool")
              .Input("reduction_indices: Tidx")
              .Output("output: bool")
              .Attr("keep_dims: bool = false")
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Shape(ReductionShape)
              .NotDifferentiable());
  }
  r.Add(Op("ArgMax")
            .Input("input: T")
            .Input("dimension: Tidx")
            .Output("output: output_type")
            .Attr(kOrdered)
            .Attr("Tidx: {int16, int32, int64} = DT_INT32")
            .Attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
            .Shape(ArgShape)
            .NotDifferentiable());
  r.Add(Op("ArgMin")
            .Input("input: T")
            .Input("dimension: Tidx")
            .Output("output: output_type")
            .Attr(kOrdered)
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Attr("output_type: {int32, int64} = DT_INT64")
            .Shape(ArgShape)
            .NotDifferentiable());
  r.Add(Op("UnsortedSegmentSum")
            .Input("data: T")
            .Input("segment_ids: Tindices")
            .Input("num_segments: Tnumsegments")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("Tnumsegments: {int32, int64} = DT_INT32")
            .Shape(SegmentShape)
            .Gradient(SegmentGradient));
  struct Unsorted {
    const char* name;
    const char* types;
  };
  for (const Unsorted& row : std::initializer_list<Unsorted>{{"UnsortedSegmentProd", "T: numbertype"},
                                                             {"UnsortedSegmentMax", "T: realnumbertype"},
                                                             {"UnsortedSegmentMin", "T: realnumbertype"}}) {
    r.Add(Op(row.name)
              .Input("data: T")
              .Input("segment_ids: Tindices")
              .Input("num_segments: Tnumsegments")
              .Output("output: T")
              .Attr(row.types)
              .Attr("Tindices: {int32, int64}")
              .Attr("Tnumsegments: {int32, int64} = DT_INT32")
              .Shape(SegmentShape));
  }
  RegisterSegmentOps(r);
  RegisterScanOps(r);
}

}  // namespace tensorbraid
