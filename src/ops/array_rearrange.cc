// Array ops that put elements elsewhere: tile, transpose, reverse, gather, where.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/array_families.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Output ConstVector(Graph& g, const std::vector<int32_t>& values) {
  return NodeBuilder(g, "Const").Attr("value", Tensor::Vector(values)).Attr("dtype", kInt32).Output();
}

// The integers of a constant, or none when its value is not known before running.
std::optional<std::vector<int64_t>> IntegersOf(const Tensor& t) {
  if (!t.is_valid()) return std::nullopt;
  std::vector<int64_t> v;
  if (t.dtype() == kInt32) {
    v.assign(t.data<int32_t>().begin(), t.data<int32_t>().end());
  } else if (t.dtype() == kInt64) {
    v.assign(t.data<int64_t>().begin(), t.data<int64_t>().end());
  } else {
    return std::nullopt;
  }
  return v;
}

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
    if (in.dim(i) >= 0) out.set_dim(i, in.dim(i) * (*values)[i]);
  }
  c.set_output(0, out);
  return OkStatus();
}

// Each dimension of the gradient is cut into [multiple, size], and summed over the multiples.
Status TileGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output in = op.node()->inputs()[0];
  const Output multiples = op.node()->inputs()[1];
  if (!in.shape().has_rank()) {
    return Unimplemented("the gradient of ", op.node()->Describe(), " needs to know the rank of its input");
  }
  const int rank = in.shape().rank();
  if (rank == 0) {
    (*input_grads)[0] = grads[0];
    return OkStatus();
  }
  std::vector<int32_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(2 * i);
  const Output shape = NodeBuilder(g, "Shape").Input(in).Attr("out_type", multiples.dtype()).Output();
  const Output pairs = NodeBuilder(g, "Pack").InputList({multiples, shape}).Attr("axis", 1).Output();
  const Output cut = NodeBuilder(g, "Reshape").Input(pairs).Input(ConstVector(g, {-1})).Output();
  const Output parts = NodeBuilder(g, "Reshape").Input(grads[0]).Input(cut).Output();
  const Output sum = NodeBuilder(g, "Sum").Input(parts).Input(ConstVector(g, axes)).Output();
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
        return InvalidArgument(c.input_value(1).ToString(), " is no permutation of ", rank, " dimensions");
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
  const Output back = NodeBuilder(g, "InvertPermutation").Input(op.node()->inputs()[1]).Output();
  (*input_grads)[0] = NodeBuilder(g, "Transpose").Input(grads[0]).Input(back).Output();
  return OkStatus();
}

Status ConjugateTransposeGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output back = NodeBuilder(g, "InvertPermutation").Input(op.node()->inputs()[1]).Output();
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

Status ReverseGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "ReverseV2").Input(grads[0]).Input(op.node()->inputs()[1]).Output();
  return OkStatus();
}

// The axis as a number; 0 for the op that has none; none when it is not known before running.
std::optional<int64_t> GatherAxis(const Node& node, const Tensor& axis) {
  if (node.type() == "Gather") return 0;
  if (const auto values = IntegersOf(axis); values && values->size() == 1) return (*values)[0];
  return std::nullopt;
}

int64_t BatchDims(const Node& node) { return node.type() == "Gather" ? 0 : node.attr<int64_t>("batch_dims"); }

Status GatherShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape params, c.WithRankAtLeast(0, 1));
  const Shape& indices = c.input(1);
  const auto axis_value = GatherAxis(c.node(), c.num_inputs() > 2 ? c.input_value(2) : Tensor());
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  int64_t batch = BatchDims(c.node());
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch >= params.rank()) {
    return InvalidArgument("batch_dims ", batch, " is out of range for ", params, " and indices of shape ", indices);
  }
  if (!axis_value) {
    c.set_output(0, Shape::UnknownOfRank(params.rank() - 1 + indices.rank() - static_cast<int>(batch)));
    return OkStatus();
  }
  const int64_t axis = *axis_value < 0 ? *axis_value + params.rank() : *axis_value;
  if (axis < batch || axis >= params.rank()) {
    return InvalidArgument("axis ", *axis_value, " is out of range for ", params);
  }
  Shape out;
  for (int i = 0; i < axis; ++i) out.AddDim(params.dim(i));
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(axis) + 1; i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, out);
  return OkStatus();
}

Output Transposed(Graph& g, Output x, const std::vector<int32_t>& perm) {
  return NodeBuilder(g, "Transpose").Input(x).Input(ConstVector(g, perm)).Output();
}

// The rows of the gradient, added up at the rows of params they came from.
Status GatherGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Node& node = *op.node();
  const Output params = node.inputs()[0];
  const Output indices = node.inputs()[1];
  Tensor axis_tensor;
  if (node.type() != "Gather" && node.inputs()[2].op().type() == "Const") {
    axis_tensor = node.inputs()[2].node()->attr<Tensor>("value");
  }
  auto axis = GatherAxis(node, axis_tensor);
  if (BatchDims(node) != 0 || !axis) {
    return Unimplemented("the gradient of ", node.Describe(), " needs a constant axis and no batch_dims");
  }
  if (*axis != 0 && (!params.shape().has_rank() || !indices.shape().has_rank())) {
    return Unimplemented("the gradient of ", node.Describe(), " needs to know the ranks of its inputs");
  }
  if (*axis < 0) *axis += params.shape().rank();
  // Sizes: the dimension of params that was indexed, first.
  const Output shape = NodeBuilder(g, "Shape").Input(params).Attr("out_type", kInt32).Output();
  const Output rows = NodeBuilder(g, "StridedSlice")
                          .Input(shape)
                          .Input(ConstVector(g, {static_cast<int32_t>(*axis)}))
                          .Input(ConstVector(g, {static_cast<int32_t>(*axis) + 1}))
                          .Input(ConstVector(g, {1}))
                          .Attr("shrink_axis_mask", 1)
                          .Output();
  Output grad = grads[0];
  if (*axis > 0) {
    // From outer + indices + inner to indices + outer + inner.
    const int outer = static_cast<int>(*axis);
    const int num_indices = indices.shape().rank();
    std::vector<int32_t> perm;
    for (int i = 0; i < num_indices; ++i) perm.push_back(outer + i);
    for (int i = 0; i < outer; ++i) perm.push_back(i);
    for (int i = outer + num_indices; i < params.shape().rank() - 1 + num_indices; ++i) perm.push_back(i);
    grad = Transposed(g, grad, perm);
  }
  Output sum = NodeBuilder(g, "UnsortedSegmentSum").Input(grad).Input(indices).Input(rows).Output();
  if (*axis > 0) {
    std::vector<int32_t> perm;
    for (int i = 1; i <= *axis; ++i) perm.push_back(i);
    perm.push_back(0);
    for (int i = static_cast<int>(*axis) + 1; i < params.shape().rank(); ++i) perm.push_back(i);
    sum = Transposed(g, sum, perm);
  }
  (*input_grads)[0] = sum;
  return OkStatus();
}

Status GatherNdShape(ShapeContext& c) {
  const Shape& params = c.input(0);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!params.has_rank() || !indices.has_rank() || indices.dim(indices.rank() - 1) < 0) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > params.rank()) {
    return InvalidArgument("indices of ", depth, " numbers are too long for ", params);
  }
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, out);
  return OkStatus();
}

// Added up at the places they came from.
Status GatherNdGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const auto& inputs = op.node()->inputs();
  const Output shape = NodeBuilder(g, "Shape").Input(inputs[0]).Attr("out_type", inputs[1].dtype()).Output();
  (*input_grads)[0] = NodeBuilder(g, "ScatterNd").Input(inputs[1]).Input(grads[0]).Input(shape).Output();
  return OkStatus();
}

Status WhereShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, Shape({Shape::kUnknownDim, in.has_rank() ? in.rank() : Shape::kUnknownDim}));
  return OkStatus();
}

}  // namespace

void RegisterRearrangeOps(OpRegistry& r) {
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
            .Gradient(ReverseGradient));
  r.Add(Op("Gather")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Output("output: Tparams")
            .Attr("validate_indices: bool = true")
            .Attr("Tparams: type")
            .Attr("Tindices: {int32, int64}")
            .Shape(GatherShape)
            .Gradient(GatherGradient));
  r.Add(Op("GatherV2")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Input("axis: Taxis")
            .Output("output: Tparams")
            .Attr("batch_dims: int = 0")
            .Attr("Tparams: type")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("Taxis: {int32, int64}")
            .Shape(GatherShape)
            .Gradient(GatherGradient));
  r.Add(Op("GatherNd")
            .Input("params: Tparams")
            .Input("indices: Tindices")
            .Output("output: Tparams")
            .Attr("Tparams: type")
            .Attr("Tindices: {int16, int32, int64}")
            .Attr("bad_indices_policy: string = ''")
            .Shape(GatherNdShape)
            .Gradient(GatherNdGradient));
  r.Add(Op("Where")
            .Input("input: T")
            .Output("index: int64")
            .Attr("T: {numbertype, bool} = DT_BOOL")
            .Shape(WhereShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
