// Array ops that search or sort the rows of a tensor: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status BoundShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 2).status());
  TF_ASSIGN_OR_RETURN(Shape values, c.WithRank(1, 2));
  c.set_output(0, std::move(values));
  return OkStatus();
}

Status TopKShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape out, c.WithRankAtLeast(0, 1));
  int64_t k = Shape::kUnknownDim;
  if (c.num_inputs() == 1) {
    k = c.attr<int64_t>("k");
  } else {
    TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
    const Tensor value = c.input_value(1);
    if (value.is_valid() && value.dtype() == kInt32) k = value.data<int32_t>()[0];
    if (value.is_valid() && k < 0 && value.dtype() == kInt32) return InvalidArgument("k must be 0 or more, got ", k);
  }
  if (out.has_rank()) {
    const int64_t have = out.dim(out.rank() - 1);
    if (have >= 0 && k > have) return InvalidArgument("each row of ", out, " has ", have, " elements, but k is ", k);
    out.set_dim(out.rank() - 1, k);
  }
  c.set_output(0, out);
  c.set_output(1, out);
  return OkStatus();
}

// The gradient is zero except at the selected elements. Treats the input as a flat vector: adds the start of each row
// to the column indices of its selected elements, and scatters the gradient to these flat indices.
Status TopKGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  if (!grads[0].valid()) return OkStatus();
  Graph& g = *op.graph();
  const Output in = NodeOf(op)->inputs()[0];
  const auto integer = [&](Output x) { return NodeBuilder(g, "Cast").Input(x).Attr("DstT", kInt32).Output(); };
  // The element of a vector with the index `at`, as a scalar.
  const auto element = [&](Output of, int at) {
    return NodeBuilder(g, "StridedSlice")
        .Input(of)
        .Input(ConstantVector(g, {at}))
        .Input(ConstantVector(g, {at == -1 ? 0 : at + 1}))
        .Input(ConstantVector(g, {1}))
        .Attr("shrink_axis_mask", 1)
        .Output();
  };
  const auto scalar = [&](int32_t v) {
    return NodeBuilder(g, "Const").Attr("value", Tensor::Scalar(v)).Attr("dtype", kInt32).Output();
  };
  const Output shape = NodeBuilder(g, "Shape").Input(in).Attr("out_type", kInt32).Output();
  const Output columns = element(shape, -1);
  const Output found_shape = NodeBuilder(g, "Shape").Input(op.output(1)).Attr("out_type", kInt32).Output();
  const Output k = element(found_shape, -1);
  const Output matrix = NodeBuilder(g, "Pack").InputList({scalar(-1), k}).Output();
  const Output found = NodeBuilder(g, "Reshape").Input(integer(op.output(1))).Input(matrix).Output();
  const Output rows = element(NodeBuilder(g, "Shape").Input(found).Output(), 0);
  const Output starts = NodeBuilder(g, "Mul")
                            .Input(NodeBuilder(g, "Range").Input(scalar(0)).Input(rows).Input(scalar(1)).Output())
                            .Input(columns)
                            .Output();
  const Output column = NodeBuilder(g, "ExpandDims").Input(starts).Input(scalar(1)).Output();
  const Output places = NodeBuilder(g, "AddV2").Input(found).Input(column).Output();
  const Output flat = NodeBuilder(g, "Reshape").Input(places).Input(ConstantVector(g, {-1, 1})).Output();
  const Output values = NodeBuilder(g, "Reshape").Input(grads[0]).Input(ConstantVector(g, {-1})).Output();
  const Output size =
      NodeBuilder(g, "ExpandDims").Input(NodeBuilder(g, "Size").Input(in).Output()).Input(scalar(0)).Output();
  const Output spread = NodeBuilder(g, "ScatterNd").Input(flat).Input(values).Input(size).Output();
  (*input_grads)[0] = NodeBuilder(g, "Reshape").Input(spread).Input(shape).Output();
  return OkStatus();
}

Status NthElementShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  if (in.has_rank()) c.set_output(0, Shape(in.dims().first(in.rank() - 1)));
  return OkStatus();
}

// Divides the gradient of each result equally among the elements of its row that equal the result.
Status NthElementGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output chosen = Cast(Equal(x, ExpandDims(op.output(0), -1)), x.dtype());
  (*input_grads)[0] = chosen / ReduceSum(chosen, -1, {.keep_dims = true}) * ExpandDims(grads[0], -1);
  return OkStatus();
}

}  // namespace

void RegisterArraySearchOps(OpRegistry& r) {
  for (const char* op : {"LowerBound", "UpperBound"}) {
    r.Add(Op(op)
              .Input("sorted_inputs: T")
              .Input("values: T")
              .Output("output: out_type")
              .Attr("T: type")
              .Attr("out_type: {int32, int64} = DT_INT32")
              .Shape(BoundShape)
              .NotDifferentiable());
  }
  r.Add(Op("TopK")
            .Input("input: T")
            .Output("values: T")
            .Output("indices: int32")
            .Attr("k: int >= 0")
            .Attr("sorted: bool = true")
            .Attr("T: realnumbertype")
            .Shape(TopKShape)
            .Gradient(TopKGradient));
  r.Add(Op("TopKV2")
            .Input("input: T")
            .Input("k: Tk")
            .Output("values: T")
            .Output("indices: index_type")
            .Attr("sorted: bool = true")
            .Attr("T: realnumbertype")
            .Attr("Tk: {int16, int32, int64} = DT_INT32")
            .Attr("index_type: {int16, int32, int64} = DT_INT32")
            .Shape(TopKShape)
            .Gradient(TopKGradient));
  r.Add(Op("NthElement")
            .Input("input: T")
            .Input("n: int32")
            .Output("values: T")
            .Attr("reverse: bool = false")
            .Attr("T: realnumbertype")
            .Shape(NthElementShape)
            .Gradient(NthElementGradient));
}

}  // namespace tensorbraid
