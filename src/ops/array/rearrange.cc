// Ops that repeat, transpose, reverse or search elements: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/array/integers.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status TileShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape multiples, c.WithRank(1, 1));
  Shape in = c.input(0);
  if (!in.has_rank()) {
    if (multiples.dim(0) >= 0) c.set_output(0, Shape::UnknownOfRank(static_cast<int>(multiples.dim(0))));
    return OkStatus();
  }
  if (multiples.dim(0) >= 0 && multiples.dim(0) != in.rank()) {
    return InvalidArgument("there must be one multiple for each of ", in.rank(), " dimensions, got ", multiples.dim(0));
  }
  const auto values = IntegersOf(c.input_value(1));
  Shape out = Shape::UnknownOfRank(in.rank());
  for (int i = 0; i < in.rank() && values; ++i) {
    if ((*values)[i] < 0) return InvalidArgument("multiples must not be negative, got ", (*values)[i]);
    if ((*values)[i] == 0) out.set_dim(i, 0);
    if (in.dim(i) < 0) continue;
    int64_t size;
    if (__builtin_mul_overflow(in.dim(i), (*values)[i], &size)) {
      return InvalidArgument("multiple ", (*values)[i], " is out of range for dimension ", i, " of ", in);
    }
    out.set_dim(i, size);
  }
  c.set_output(0, out);
  return OkStatus();
}

// Reshapes each dimension of the gradient to [multiple, size] and sums over the multiples.
Status TileGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output in = NodeOf(op)->inputs()[0];
  const Output multiples = NodeOf(op)->inputs()[1];
  if (!in.shape().has_rank()) {
    return Unimplemented("the gradient of ", NodeOf(op)->Describe(), " requires an input of known rank");
  }
  const int rank = in.shape().rank();
  if (rank == 0) {
    (*input_grads)[0] = grads[0];
    return OkStatus();
  }
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(2 * i);
  const Output shape = NodeBuilder(g, "Shape").Input(in).Attr("out_type", multiples.dtype()).Output();
  const Output pairs = NodeBuilder(g, "Pack").InputList({multiples, shape}).Attr("axis", 1).Output();
  const Output cut = NodeBuilder(g, "Reshape").Input(pairs).Input(ConstantVector(g, {-1})).Output();
  const Output parts = NodeBuilder(g, "Reshape").Input(grads[0]).Input(cut).Output();
  const Output sum = NodeBuilder(g, "Sum").Input(parts).Input(ConstantVector(g, axes)).Output();
  (*input_grads)[0] = NodeBuilder(g, "Reshape").Input(sum).Input(shape).Output();
  return OkStatus();
}

Status TransposeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape perm_shape, c.WithRank(1, 1));
  const Shape& in = c.input(0);
  const int64_t rank = in.has_rank() ? in.rank() : perm_shape.dim(0);
  if (rank < 0) return OkStatus();
  if (perm_shape.dim(0) >= 0 && perm_shape.dim(0) != rank) {
    return InvalidArgument("the permutation must have an entry for each of ", rank, " dimensions, got ",
                           perm_shape.dim(0));
  }
  Shape out = Shape::UnknownOfRank(static_cast<int>(rank));
  if (const auto perm = IntegersOf(c.input_value(1))) {
    std::vector<bool> seen(rank, false);
    for (int i = 0; i < rank; ++i) {
      const int64_t d = (*perm)[i] < 0 ? (*perm)[i] + rank : (*perm)[i];
      if (d < 0 || d >= rank || seen[d]) {
        return InvalidArgument(c.input_value(1).ToString(), " is not a permutation of ", rank, " dimensions");
      }
      seen[d] = true;
      if (in.has_rank()) out.set_dim(i, in.dim(static_cast<int>(d)));
    }
  }
  c.set_output(0, out);
  return OkStatus();
}

Status TransposeGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output back = NodeBuilder(g, "InvertPermutation").Input(NodeOf(op)->inputs()[1]).Output();
  (*input_grads)[0] = NodeBuilder(g, "Transpose").Input(grads[0]).Input(back).Output();
  return OkStatus();
}

Status ConjugateTransposeGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output back = NodeBuilder(g, "InvertPermutation").Input(NodeOf(op)->inputs()[1]).Output();
  (*input_grads)[0] = NodeBuilder(g, "ConjugateTranspose").Input(grads[0]).Input(back).Output();
  return OkStatus();
}

Status VectorShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, c.WithRank(0, 1));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status ReverseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1));
  const Shape& in = c.input(0);
  const auto axes = IntegersOf(c.input_value(1));
  if (in.has_rank() && axes) {
    for (int64_t axis : *axes) {
      if (axis < -in.rank() || axis >= in.rank()) {
        return InvalidArgument("axis ", axis, " is out of valid range [", -in.rank(), ", ", in.rank(), ")");
      }
    }
  }
  c.set_output(0, in);
  return OkStatus();
}

Status ReverseV2Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ReverseV2").Input(grads[0]).Input(NodeOf(op)->inputs()[1]).Output();
  return OkStatus();
}

Status WhereShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape({Shape::kUnknownDim, in.has_rank() ? in.rank() : Shape::kUnknownDim}));
  return OkStatus();
}

}  // namespace

void RegisterArrayRearrangeOps(OpRegistry& r) {
  r.Add(Op("Tile")
            .Input("input: T")
            .Input("multiples: Tmultiples")
            .Output("output: T")
            .Attr("T: type")
            .Attr("Tmultiples: {int32, int64} = DT_INT32")
            .Shape(TileShape)
            .Gradient(TileGradient));
  r.Add(Op("Transpose")
            .Input("x: T")
            .Input("perm: Tperm")
            .Output("y: T")
            .Attr("T: type")
            .Attr("Tperm: {int32, int64} = DT_INT32")
            .Shape(TransposeShape)
            .Gradient(TransposeGradient));
  r.Add(Op("ConjugateTranspose")
            .Input("x: T")
            .Input("perm: Tperm")
            .Output("y: T")
            .Attr("T: type")
            .Attr("Tperm: {int32, int64} = DT_INT32")
            .Shape(TransposeShape)
            .Gradient(ConjugateTransposeGradient));
  r.Add(Op("InvertPermutation")
            .Input("x: T")
            .Output("y: T")
            .Attr("T: {int32, int64} = DT_INT32")
            .Shape(VectorShape)
            .NotDifferentiable());
  r.Add(Op("ReverseV2")
            .Input("tensor: T")
            .Input("axis: Tidx")
            .Output("output: T")
            .Attr("Tidx: {int32, int64} = DT_INT32")
            .Attr("T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double, "
                  "complex64, complex128, string}")
            .Shape(ReverseShape)
            .Gradient(ReverseV2Gradient));
  r.Add(Op("Where")
            .Input("input: T")
            .Output("index: int64")
            .Attr("T: {numbertype, bool} = DT_BOOL")
            .Shape(WhereShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
