// Reductions over axes: schemas, shape rules, gradients.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/reduction/axes.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

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
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, CheckedAxes(AxisValues(axes_value), in.rank()));
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

// Reshapes `value`, which has the shape of a reduction's result, so that reduced axes are present with size 1.
Output WithKeptAxes(const Operation& op, Output value) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output axes = NodeOf(op)->inputs()[1];
  if (NodeOf(op)->attr<bool>("keep_dims")) return value;
  if (NodeOf(axes)->type() == "Const" && x.shape().has_rank()) {
    const auto numbers = CheckedAxes(AxisValues(NodeOf(axes)->attr<Tensor>("value")), x.shape().rank());
    if (numbers.ok()) {
      // All axes are reduced, so `value` is a scalar, which broadcasts without reshaping.
      if (static_cast<int>(numbers->size()) == x.shape().rank()) return value;
      for (int64_t axis : *numbers) value = InsertDimension(value, axis);
      return value;
    }
  }
  // The axes are known only when a step runs. Repeats the reduction with keep_dims to get the shape.
  const Output kept = NodeBuilder(*op.graph(), op.type()).Input(x).Input(axes).Attr("keep_dims", true).Output();
  return Reshape(value, Node1("Shape", kept));
}

Output BroadcastToInput(const Operation& op, Output grad) {
  const Output shape = Node1("Shape", NodeOf(op)->inputs()[0]);
  return NodeBuilder(*op.graph(), "BroadcastTo").Input(WithKeptAxes(op, grad)).Input(shape).Output();
}

Status SumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = BroadcastToInput(op, grads[0]);
  return OkStatus();
}

Status MeanGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output y = op.output(0);
  const int64_t nx = x.shape().has_rank() ? x.shape().num_elements() : -1;
  const int64_t ny = y.shape().has_rank() ? y.shape().num_elements() : -1;
  Output scaled;
  if (nx > 0 && ny > 0) {
    scaled = grads[0] / static_cast<double>(nx / ny);
  } else {
    // The number of elements that each mean is taken of. Maximum avoids a division by 0 if there are no means.
    Output count = Node1("Size", x);
    if (ny != 1) count = FloorDiv(count, Maximum(Node1("Size", y), 1));
    scaled = grads[0] / Cast(count, x.dtype());
  }
  (*input_grads)[0] = BroadcastToInput(op, scaled);
  return OkStatus();
}

// The gradient of Max and Min: divides the gradient equally among the elements that equal the result.
Status ExtremeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output axes = NodeOf(op)->inputs()[1];
  const Output chosen = Cast(Equal(x, WithKeptAxes(op, op.output(0))), x.dtype());
  const Output count = ReduceSum(chosen, axes, {.keep_dims = true});
  (*input_grads)[0] = chosen / count * WithKeptAxes(op, grads[0]);
  return OkStatus();
}

// For each element, the conjugate of the product of all other elements along the axis. This is the product of the
// elements before it times the product of the elements after it. (The product of all elements, divided by the element,
// would be NaN for zeros and infinities.)
Output ProductOfOthers(Output x, Output axis) {
  const auto product = [&](bool reverse) {
    return NodeBuilder(*x.graph(), "Cumprod")
        .Input(x)
        .Input(axis)
        .Attr("exclusive", true)
        .Attr("reverse", reverse)
        .Output();
  };
  return Conjugated(product(/*reverse=*/false) * product(/*reverse=*/true));
}

Status ProdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output x = NodeOf(op)->inputs()[0];
  const Output axes = NodeOf(op)->inputs()[1];
  const Output grad = WithKeptAxes(op, grads[0]);
  if (x.shape().has_rank() && x.shape().rank() == 0) {
    (*input_grads)[0] = grad;
    return OkStatus();
  }
  // Moves the reduced axes to the front and merges them into one. Negative axes count from the last one.
  const Output rank = Rank(x);
  const Output reduced = FloorMod(Reshape(Cast(axes, kInt32), {-1}) + rank, Maximum(rank, 1));
  const Output others = NodeBuilder(g, "ListDiff").Input(Range(g, 0, rank)).Input(reduced).Output();
  const Output order = Concat({reduced, others}, 0);
  const Output moved = Transpose(x, order);
  const auto count = [&](Output of) { return ReduceProd(Gather(ShapeOf(x), of), {0}); };
  const Output matrix = Reshape(moved, Stack({count(reduced), count(others)}));
  const Output products = Reshape(ProductOfOthers(matrix, ConstantScalar(g, 0)), ShapeOf(moved));
  (*input_grads)[0] = Reshape(Transpose(products, InvertPermutation(order)) * grad, ShapeOf(x));
  return OkStatus();
}

Status NormGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  (*input_grads)[0] = x * WithKeptAxes(op, grads[0] / op.output(0));
  return OkStatus();
}

}  // namespace

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
}

}  // namespace tensorbraid
