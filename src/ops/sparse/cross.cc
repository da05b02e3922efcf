// Ops that cross sparse and dense features: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The outputs are the indices, values and shape of a sparse matrix.
Status SparseCrossShape(ShapeContext& c) {
  c.set_output(0, {Shape::kUnknownDim, 2});
  c.set_output(1, {Shape::kUnknownDim});
  c.set_output(2, {2});
  return OkStatus();
}

}  // namespace

void RegisterSparseCrossOps(OpRegistry& r) {
  r.Add(Op("SparseCross")
            .Input("indices: N * int64")
            .Input("values: sparse_types")
            .Input("shapes: N * int64")
            .Input("dense_inputs: dense_types")
            .Output("output_indices: int64")
            .Output("output_values: out_type")
            .Output("output_shape: int64")
            .Attr("N: int >= 0")
            .Attr("hashed_output: bool")
            .Attr("num_buckets: int >= 0")
            .Attr("hash_key: int")
            .Attr("sparse_types: list({int64, string}) >= 0")
            .Attr("dense_types: list({int64, string}) >= 0")
            .Attr("out_type: {int64, string}")
            .Attr("internal_type: {int64, string}")
            .Shape(SparseCrossShape)
            .NotDifferentiable());
  r.Add(Op("SparseCrossV2")
            .Input("indices: N * int64")
            .Input("values: sparse_types")
            .Input("shapes: N * int64")
            .Input("dense_inputs: dense_types")
            .Input("sep: string")
            .Output("output_indices: int64")
            .Output("output_values: string")
            .Output("output_shape: int64")
            .Attr("N: int >= 0")
            .Attr("sparse_types: list({int64, string}) >= 0")
            .Attr("dense_types: list({int64, string}) >= 0")
            .Shape(SparseCrossShape)
            .NotDifferentiable());
  r.Add(Op("SparseCrossHashed")
            .Input("indices: N * int64")
            .Input("values: sparse_types")
            .Input("shapes: N * int64")
            .Input("dense_inputs: dense_types")
            .Input("num_buckets: int64")
            .Input("strong_hash: bool")
            .Input("salt: int64")
            .Output("output_indices: int64")
            .Output("output_values: int64")
            .Output("output_shape: int64")
            .Attr("N: int >= 0")
            .Attr("sparse_types: list({int64, string}) >= 0")
            .Attr("dense_types: list({int64, string}) >= 0")
            .Shape(SparseCrossShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
