// Ops that parse tf.train.Example messages: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/parsing/shapes.h"

namespace tensorbraid {
namespace {

Status CheckDenseShapes(const std::vector<Shape>& shapes, size_t count) {
  if (shapes.size() != count)
    return InvalidArgument("there are ", shapes.size(), " dense_shapes for ", count, " dense columns");
  for (const Shape& s : shapes) {
    bool known = s.has_rank();
    for (int i = 1; known && i < s.rank(); ++i) known = s.dim(i) >= 0;
    if (!known) return InvalidArgument("only the first size of a dense shape may be unknown, got ", s);
  }
  return OkStatus();
}

Status ParseExampleShape(ShapeContext& c) {
  const auto& dense = c.attr<std::vector<Shape>>("dense_shapes");
  TF_RETURN_IF_ERROR(CheckDenseShapes(dense, LengthOfList(c, "Tdense")));
  const bool is_v2 = c.node().FindAttr("ragged_value_types") != nullptr;
  if (is_v2) {
    TF_RETURN_IF_ERROR(CheckAtMostVector(c, 0));
  } else {
    TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  }
  const Shape batch = is_v2 ? c.input(0) : *c.WithRank(0, 1);
  OutputShapes out(c);
  out.AddSparse(LengthOfList(c, "sparse_types"), RankOfSparseColumn(batch, 1));
  out.AddDense(batch, dense);
  if (!is_v2) return OkStatus();
  const size_t ragged = LengthOfList(c, "ragged_value_types");
  if (LengthOfList(c, "ragged_split_types") != ragged) {
    return InvalidArgument("ragged_value_types and ragged_split_types must have the same length, got ", ragged, " and ",
                           LengthOfList(c, "ragged_split_types"));
  }
  out.Add(ragged, Shape({-1}));
  out.Add(ragged, Shape({-1}));
  return OkStatus();
}

Status ParseSingleExampleShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  const auto& dense = c.attr<std::vector<Shape>>("dense_shapes");
  TF_RETURN_IF_ERROR(CheckDenseShapes(dense, LengthOfList(c, "Tdense")));
  OutputShapes out(c);
  out.AddSparse(LengthOfList(c, "sparse_types"), 1);
  out.AddDense(Shape(), dense);
  return OkStatus();
}

}  // namespace

void RegisterParsingExampleOps(OpRegistry& r) {
  r.Add(Op("ParseExample")
            .Input("serialized: string")
            .Input("names: string")
            .Input("sparse_keys: Nsparse * string")
            .Input("dense_keys: Ndense * string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: Nsparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: Nsparse * int64")
            .Output("dense_values: Tdense")
            .Attr("Nsparse: int >= 0")
            .Attr("Ndense: int >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseExampleShape)
            .NotDifferentiable());
  r.Add(Op("ParseExampleV2")
            .Input("serialized: string")
            .Input("names: string")
            .Input("sparse_keys: string")
            .Input("dense_keys: string")
            .Input("ragged_keys: string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: num_sparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: num_sparse * int64")
            .Output("dense_values: Tdense")
            .Output("ragged_values: ragged_value_types")
            .Output("ragged_row_splits: ragged_split_types")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("num_sparse: int >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("ragged_value_types: list({float, int64, string}) >= 0")
            .Attr("ragged_split_types: list({int32, int64}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseExampleShape)
            .NotDifferentiable());
  r.Add(Op("ParseSingleExample")
            .Input("serialized: string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: num_sparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: num_sparse * int64")
            .Output("dense_values: Tdense")
            .Attr("num_sparse: int >= 0")
            .Attr("sparse_keys: list(string) >= 0")
            .Attr("dense_keys: list(string) >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseSingleExampleShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
