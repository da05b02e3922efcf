// Array ops that return shapes, create tensors of a given shape, change only the shape of a tensor, or turn the indices
// of elements into positions in a shape: schemas, shape rules, gradients.
#include <set>

#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Turns `axis`, which may be negative, into a dimension number. Returns InvalidArgument if it is out of range.
Status CheckAxis(int64_t* axis, int rank) {
  if (*axis < -rank || *axis >= rank) {
    return InvalidArgument("axis ", *axis, " is out of range for ", rank, " dimensions");
  }
  if (*axis < 0) *axis += rank;
  return OkStatus();
}

int64_t IntegerAt(const Tensor& t, int64_t i) {
  return t.dtype() == kInt32 ? t.data<int32_t>()[i] : t.data<int64_t>()[i];
}

// The gradient of ops that change only the shape is the gradient of the output, reshaped to the shape of input 0.
Status ReshapeBack(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output shape = NodeBuilder(g, "Shape").Input(NodeOf(op)->inputs()[0]).Output();
  (*input_grads)[0] = NodeBuilder(g, "Reshape").Input(grads[0]).Input(shape).Output();
  return OkStatus();
}

Status ReshapeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape wanted, c.input_as_shape(1));
  const Shape& in = c.input(0);
  // If the number of elements is known, computes the dimension of size -1 from the others. A dimension whose size is
  // not known while building the graph looks the same here.
  if (wanted.has_rank()) {
    const Tensor literal = c.input_value(1);
    int64_t known = 1;
    bool overflows = false;
    int unknown_dim = -1;
    int num_unknown = 0;
    for (int i = 0; i < wanted.rank(); ++i) {
      if (wanted.dim(i) < 0) {
        unknown_dim = i;
        ++num_unknown;
      } else if (__builtin_mul_overflow(known, wanted.dim(i), &known)) {
        overflows = true;
      }
    }
    if (overflows) return InvalidArgument("shape ", wanted, " has too many elements");
    if (literal.is_valid() && num_unknown > 1) {
      return InvalidArgument("only one size of the shape may be -1, got ", literal.ToString());
    }
    const int64_t elements = in.num_elements();
    if (elements >= 0) {
      if (num_unknown == 0 && known != elements) {
        return InvalidArgument("cannot reshape ", in, " (", elements, " elements) to ", wanted, " (", known, ")");
      }
      if (num_unknown == 1 && known > 0) {
        if (elements % known != 0) {
          return InvalidArgument("cannot reshape ", in, " (", elements, " elements) to ", wanted,
                                 ": the number of elements is not a multiple of ", known);
        }
        wanted.set_dim(unknown_dim, elements / known);
      }
    }
  }
  c.set_output(0, wanted);
  return OkStatus();
}

Status ShapeVector(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, Shape({c.input(i).has_rank() ? c.input(i).rank() : Shape::kUnknownDim}));
  }
  return OkStatus();
}

Status FillShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  TF_ASSIGN_OR_RETURN(Shape s, c.input_as_shape(0));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status FillGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  // Sums all elements. First reshapes to a vector, so that the rank need not be known.
  Graph& g = *op.graph();
  const Output minus_one =
      NodeBuilder(g, "Const").Attr("value", Tensor::Vector<int32_t>({-1})).Attr("dtype", kInt32).Output();
  const Output zero = NodeBuilder(g, "Const").Attr("value", Tensor::Scalar<int32_t>(0)).Attr("dtype", kInt32).Output();
  const Output flat = NodeBuilder(g, "Reshape").Input(grads[0]).Input(minus_one).Output();
  (*input_grads)[1] = NodeBuilder(g, "Sum").Input(flat).Input(zero).Output();
  return OkStatus();
}

Status ExpandDimsShape(ShapeContext& c) {
  const Tensor axis_value = c.input_value(1);
  const Shape& in = c.input(0);
  if (axis_value.is_valid() && axis_value.num_elements() != 1) {
    return InvalidArgument("the axis must be a scalar, got ", axis_value.shape());
  }
  if (!in.has_rank()) return OkStatus();
  if (!axis_value.is_valid()) {
    c.set_output(0, Shape::UnknownOfRank(in.rank() + 1));
    return OkStatus();
  }
  int64_t axis = IntegerAt(axis_value, 0);
  TF_RETURN_IF_ERROR(CheckAxis(&axis, in.rank() + 1));
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(1);
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status SqueezeShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  const auto& axes = c.attr<std::vector<int64_t>>("squeeze_dims");
  if (axes.empty() && !in.is_fully_defined()) return OkStatus();  // unknown which dimensions are dropped
  std::set<int64_t> named;
  for (int64_t axis : axes) {
    TF_RETURN_IF_ERROR(CheckAxis(&axis, in.rank()));
    if (in.dim(static_cast<int>(axis)) > 1 || in.dim(static_cast<int>(axis)) == 0) {
      return InvalidArgument("dimension ", axis, " of ", in, " does not have size 1");
    }
    named.insert(axis);
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const bool drop = axes.empty() ? in.dim(i) == 1 : named.contains(i);
    if (!drop) out.AddDim(in.dim(i));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status BroadcastToShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape wanted, c.input_as_shape(1));
  TF_ASSIGN_OR_RETURN(const Shape both, BroadcastShapes(c.input(0), wanted));
  if (wanted.is_fully_defined() && both.is_fully_defined() && !(both == wanted)) {
    return InvalidArgument("shape ", c.input(0), " does not broadcast to ", wanted);
  }
  c.set_output(0, wanted);
  return OkStatus();
}

Status BroadcastToGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output in = NodeOf(op)->inputs()[0];
  const Output to = NodeOf(op)->inputs()[1];
  const Output in_shape = NodeBuilder(g, "Shape").Input(in).Attr("out_type", to.dtype()).Output();
  const Operation axes = NodeBuilder(g, "BroadcastGradientArgs").Input(in_shape).Input(to).Finish();
  const Output sum = NodeBuilder(g, "Sum").Input(grads[0]).Input(axes.output(0)).Output();
  (*input_grads)[0] = NodeBuilder(g, "Reshape").Input(sum).Input(in_shape).Output();
  return OkStatus();
}

Status BroadcastArgsShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape a, c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(1, 1));
  const bool known = a.dim(0) >= 0 && b.dim(0) >= 0;
  c.set_output(0, Shape({known ? std::max(a.dim(0), b.dim(0)) : Shape::kUnknownDim}));
  return OkStatus();
}

Status OneHotShape(ShapeContext& c) {
  const Shape& indices = c.input(0);
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  TF_RETURN_IF_ERROR(c.WithRank(3, 0));
  if (!indices.has_rank()) return OkStatus();
  int64_t axis = c.attr<int64_t>("axis");
  if (axis == -1) axis = indices.rank();
  if (axis < 0 || axis > indices.rank()) {
    return InvalidArgument("axis ", axis, " is out of range for indices of shape ", indices);
  }
  const Tensor depth = c.input_value(1);
  if (depth.is_valid() && IntegerAt(depth, 0) < 0) {
    return InvalidArgument("the depth must not be negative, got ", IntegerAt(depth, 0));
  }
  Shape out;
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == axis) out.AddDim(depth.is_valid() ? IntegerAt(depth, 0) : Shape::kUnknownDim);
    if (i < indices.rank()) out.AddDim(indices.dim(i));
  }
  c.set_output(0, out);
  return OkStatus();
}

Status BroadcastGradientArgsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  c.set_output(0, Shape::UnknownOfRank(1));
  c.set_output(1, Shape::UnknownOfRank(1));
  return OkStatus();
}

Status UnravelIndexShape(ShapeContext& c) {
  const Shape& indices = c.input(0);
  TF_ASSIGN_OR_RETURN(const Shape dims, c.WithRank(1, 1));
  if (!indices.has_rank()) return OkStatus();
  if (indices.rank() > 1) return InvalidArgument("indices must be a scalar or a vector, got shape ", indices);
  c.set_output(0, indices.rank() == 0 ? dims : Shape({dims.dim(0), indices.dim(0)}));
  return OkStatus();
}

}  // namespace

void RegisterArrayShapeOps(OpRegistry& r) {
  r.Add(Op("Reshape")
            .Input("tensor: T")
            .Input("shape: Tshape")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tshape: {int32, int64} = DT_INT32")
            .Shape(ReshapeShape)
            .Gradient(ReshapeBack));
  r.Add(Op("Shape")
            .Input("input: T")
            .Output("output: out_type")
            .Attr("T: type")
            .Attr("out_type: {int32, int64} = DT_INT32")
            .Shape(ShapeVector)
            .NotDifferentiable());
  r.Add(Op("ShapeN")
            .Input("input: N * T")
            .Output("output: N * out_type")
            .Attr("N: int")
            .Attr("T: type")
            .Attr("out_type: {int32, int64} = DT_INT32")
            .Shape(ShapeVector)
            .NotDifferentiable());
  r.Add(Op("Size")
            .Input("input: T")
            .Output("output: out_type")
            .Attr("T: type")
            .Attr("out_type: {int32, int64} = DT_INT32")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("Rank").Input("input: T").Output("output: int32").Attr("T: type").Shape(ScalarShape).NotDifferentiable());
  r.Add(Op("Fill")
            .Input("dims: index_type")
            .Input("value: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("index_type: {int32, int64} = DT_INT32")
            .Shape(FillShape)
            .Gradient(FillGradient));
  r.Add(Op("ZerosLike").Input("x: T").Output("y: T").Attr("T: type").Shape(UnchangedShape).NotDifferentiable());
  r.Add(Op("OnesLike")
            .Input("x: T")
            .Output("y: T")
            .Attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
                  "complex64, complex128, bool}")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("ExpandDims")
            .Input("input: T")
            .Input("dim: Tdim")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tdim: {int32, int64} = DT_INT32")
            .Shape(ExpandDimsShape)
            .Gradient(ReshapeBack));
  r.Add(Op("Squeeze")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("squeeze_dims: list(int) >= 0 = []")
            .Shape(SqueezeShape)
            .Gradient(ReshapeBack));
  r.Add(Op("BroadcastTo")
            .Input("input: T")
            .Input("shape: Tidx")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(BroadcastToShape)
            .Gradient(BroadcastToGradient));
  r.Add(Op("BroadcastArgs")
            .Input("s0: T")
            .Input("s1: T")
            .Output("r0: T")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(BroadcastArgsShape)
            .NotDifferentiable());
  r.Add(Op("OneHot")
            .Input("indices: TI")
            .Input("depth: int32")
            .Input("on_value: T")
            .Input("off_value: T")
            .Output("output: T")
            .Attr("axis: int = -1")
            .Attr("T: type")
            .Attr("TI: {uint8, int8, int32, int64} = DT_INT64")
            .Shape(OneHotShape)
            .NotDifferentiable());
  r.Add(Op("BroadcastGradientArgs")
            .Input("s0: T")
            .Input("s1: T")
            .Output("r0: T")
            .Output("r1: T")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(BroadcastGradientArgsShape)
            .NotDifferentiable());
  r.Add(Op("UnravelIndex")
            .Input("indices: Tidx")
            .Input("dims: Tidx")
            .Output("output: Tidx")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Shape(UnravelIndexShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
