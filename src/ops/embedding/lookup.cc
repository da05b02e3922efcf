// Lookups in growing tables: schema, shape rule, gradient.
#include "core/text/strings.h"
#include "ops/builder.h"
#include "ops/embedding/shapes.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// default_value is [0] (the initial rows of the table), [dim] (one row for all absent keys), or [indices..., dim].
Status TableGatherShape(ShapeContext& c) {
  const int64_t dim = RowShapeOf(c.node().inputs()[0]).dim(0);
  const Shape& indices = c.input(1);
  TF_ASSIGN_OR_RETURN(const Shape rows, c.WithRankAtLeast(2, 1));
  if (rows.has_rank()) {
    const int64_t last = rows.dim(rows.rank() - 1);
    const bool none = rows.rank() == 1 && last == 0;
    if (!none && last >= 0 && dim >= 0 && last != dim) {
      return InvalidArgument("default_value has rows of ", last, " numbers, but the rows of the table have ", dim);
    }
  }
  if (!indices.has_rank()) return OkStatus();
  Shape out = indices;
  out.AddDim(dim);
  c.set_output(0, std::move(out));
  return OkStatus();
}

// The gradient consists of slices: a row for each looked-up key. No gradient flows to default_value.
Status TableGatherGradient(const Operation& op, const std::vector<Gradient>& grads,
                           std::vector<Gradient>* input_grads) {
  Graph& g = *op.graph();
  const Node& node = *NodeOf(op);
  const Output handle = node.inputs()[0];
  const Output shape = NodeBuilder(g, "KvVariableShape")
                           .Input(handle)
                           .Attr("out_type", kInt64)
                           .Attr("Tkeys", node.attr<DType>("Tkeys"))
                           .Output();
  // The rows of a key are summed where they are made, before they are sent to the table.
  auto place = g.ColocateWith(grads[0].op());
  Output indices = node.inputs()[1], grad = grads[0].ToDense();
  if (!indices.shape().has_rank() || indices.shape().rank() != 1) {
    const Output count = NodeBuilder(g, "Size").Input(indices).Attr("out_type", kInt64).Output();
    const int64_t dim = RowShapeOf(handle).dim(0);
    const Output last = dim >= 0 ? Const(g, Tensor::Vector<int64_t>({dim})) : Slice(shape, {1}, {1});
    const Output axis = Const(g, Tensor::Scalar(0));
    const Output rows = NodeBuilder(g, "ConcatV2").InputList({ExpandDims(count, 0), last}).Input(axis).Output();
    grad = Reshape(grad, rows);
    indices = Reshape(indices, {-1});
  }
  (*input_grads)[0] = IndexedSlices{.values = grad, .indices = indices, .dense_shape = shape};
  return OkStatus();
}

Op GatherOp(const char* name) {
  return Op(name).Input("resource: resource").Input("indices: Tkeys").Input("default_value: dtype");
}

void AddGather(OpRegistry& r, Op op, std::source_location location = std::source_location::current()) {
  r.Add(op.Output("output: dtype")
            .Attr("is_inference: bool = false")
            .Attr("dtype: {float}")
            .Attr("Tkeys: {int64, int32, string}")
            .Stateful()
            .Shape(TableGatherShape)
            .Gradient(TableGatherGradient),
        location);
}

}  // namespace

void RegisterEmbeddingLookupOps(OpRegistry& r) {
  AddGather(r, GatherOp("KvResourceGather"));
  // `counts` is how often each key occurs in the batch, for tables with a filter.
  AddGather(r,
            GatherOp("KvResourceGatherV1").Input("counts: counts_type").Attr("counts_type: {int32, int64} = DT_INT32"));
}

}  // namespace tensorbraid
