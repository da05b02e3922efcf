// Ops that serialize sparse tensors or keep them in a map: schemas and shape rules.
#include "graph/model/node.h"
#include "ops/sparse/shapes.h"

namespace tensorbraid {
namespace {

// The output has one element for each of indices, values and shape.
Status SerializeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {3});
  return OkStatus();
}

// The output has a row like the output of SerializeSparse for each element of the first dimension.
Status SerializeManyShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {Shape::kUnknownDim, 3});
  return OkStatus();
}

Status AnySparse(ShapeContext& c) {
  SetSparseOutputs(c, 0, 1, 2, Shape::kUnknownDim, Shape::kUnknownDim);
  return OkStatus();
}

Status HandlesShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {Shape::kUnknownDim});
  return OkStatus();
}

}  // namespace

void RegisterSparseStorageOps(OpRegistry& r) {
  r.Add(Op("SerializeSparse")
            .Input("sparse_indices: int64")
            .Input("sparse_values: T")
            .Input("sparse_shape: int64")
            .Output("serialized_sparse: out_type")
            .Attr("T: type")
            .Attr("out_type: {string, variant} = DT_STRING")
            .Shape(SerializeShape)
            .NotDifferentiable());
  r.Add(Op("SerializeManySparse")
            .Input("sparse_indices: int64")
            .Input("sparse_values: T")
            .Input("sparse_shape: int64")
            .Output("serialized_sparse: out_type")
            .Attr("T: type")
            .Attr("out_type: {string, variant} = DT_STRING")
            .Shape(SerializeManyShape)
            .NotDifferentiable());
  r.Add(Op("DeserializeSparse")
            .Input("serialized_sparse: Tserialized")
            .Output("sparse_indices: int64")
            .Output("sparse_values: dtype")
            .Output("sparse_shape: int64")
            .Attr("dtype: type")
            .Attr("Tserialized: {string, variant} = DT_STRING")
            .Shape(AnySparse)
            .NotDifferentiable());
  r.Add(Op("DeserializeManySparse")
            .Input("serialized_sparse: string")
            .Output("sparse_indices: int64")
            .Output("sparse_values: dtype")
            .Output("sparse_shape: int64")
            .Attr("dtype: type")
            .Shape(AnySparse)
            .NotDifferentiable());
  r.Add(Op("AddSparseToTensorsMap")
            .Input("sparse_indices: int64")
            .Input("sparse_values: T")
            .Input("sparse_shape: int64")
            .Output("sparse_handle: int64")
            .Attr("T: type")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("AddManySparseToTensorsMap")
            .Input("sparse_indices: int64")
            .Input("sparse_values: T")
            .Input("sparse_shape: int64")
            .Output("sparse_handles: int64")
            .Attr("T: type")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(HandlesShape)
            .NotDifferentiable());
  r.Add(Op("TakeManySparseFromTensorsMap")
            .Input("sparse_handles: int64")
            .Output("sparse_indices: int64")
            .Output("sparse_values: dtype")
            .Output("sparse_shape: int64")
            .Attr("dtype: type")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(AnySparse)
            .NotDifferentiable());
}

}  // namespace tensorbraid
