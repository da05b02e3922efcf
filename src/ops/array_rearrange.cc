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
}

}  // namespace tensorbraid
