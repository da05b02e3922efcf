// Sparse tensors (indices, values, shape): schemas and shape rules.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

constexpr int64_t kAny = Shape::kUnknownDim;

// The rank that a vector of sizes describes, or kAny.
int64_t RankOf(const Shape& vector) { return vector.has_rank() && vector.rank() == 1 ? vector.dim(0) : kAny; }

// Refuses inputs that cannot be a sparse tensor: indices, values and shape from number `first` on.
Status CheckSparse(ShapeContext& c, int first) {
  TF_RETURN_IF_ERROR(c.WithRank(first, 2).status());
  TF_RETURN_IF_ERROR(c.WithRank(first + 1, 1).status());
  return c.WithRank(first + 2, 1).status();
}

void SetSparse(ShapeContext& c, int indices, int values, int shape, int64_t n, int64_t rank) {
  c.set_output(indices, {n, rank});
  c.set_output(values, {n});
  if (shape < c.num_outputs()) c.set_output(shape, {rank});
}

Status SparseToDenseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  TF_ASSIGN_OR_RETURN(Shape s, c.input_as_shape(1));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status SparseMatMulShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_ASSIGN_OR_RETURN(const Shape b, c.WithRank(3, 2));
  const int64_t inner = b.dim(c.attr<bool>("adjoint_b") ? 1 : 0);
  int64_t rows = kAny;
  if (const Tensor shape = c.input_value(2); shape.is_valid() && shape.num_elements() == 2) {
    const bool adjoint = c.attr<bool>("adjoint_a");
    rows = shape.data<int64_t>()[adjoint ? 1 : 0];
    const int64_t have = shape.data<int64_t>()[adjoint ? 0 : 1];
    if (inner >= 0 && inner != have) {
      return InvalidArgument("cannot multiply: the inner size of a is ", have, ", that of b is ", inner);
    }
    if (rows < 0) return InvalidArgument("a_shape must not be negative, got ", shape.ToString());
  }
  c.set_output(0, {rows, b.dim(c.attr<bool>("adjoint_b") ? 0 : 1)});
  return OkStatus();
}

// Output 0 has the shape of the dense operand.
Status DenseAddShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(3));
  return OkStatus();
}

// Output 0 has a value for each of the sparse operand's.
Status ValuesShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(1));
  return OkStatus();
}

Status ReorderShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(1));
  return OkStatus();
}

Status SparseReshapeShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(0, 2));
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  TF_ASSIGN_OR_RETURN(const Shape wanted, c.WithRank(2, 1));
  c.set_output(0, {indices.dim(0), wanted.dim(0)});
  c.set_output(1, wanted);
  return OkStatus();
}

Status TwoSparseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_RETURN_IF_ERROR(CheckSparse(c, 3));
  SetSparse(c, 0, 1, 2, kAny, RankOf(c.input(2)));
  return OkStatus();
}

Status SparseAddGradShape(ShapeContext& c) {
  for (int side = 0; side < 2; ++side) {
    TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1 + side, 2));
    c.set_output(side, {indices.dim(0)});
  }
  return OkStatus();
}

Status SparseConcatShape(ShapeContext& c) {
  SetSparse(c, 0, 1, 2, kAny, RankOf(c.input(c.num_inputs() - 1)));
  return OkStatus();
}

Status SparseSplitShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 1));
  const int num = static_cast<int>(c.attr<int64_t>("num_split"));
  for (int i = 0; i < num; ++i) SetSparse(c, i, num + i, 2 * num + i, kAny, RankOf(c.input(3)));
  return OkStatus();
}

Status SparseSliceShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  SetSparse(c, 0, 1, 2, kAny, RankOf(c.input(2)));
  return OkStatus();
}

Status SparseSliceGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRank(1, 2));
  c.set_output(0, {indices.dim(0)});
  return OkStatus();
}

Status SparseReduceSparseShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  SetSparse(c, 0, 1, 2, kAny, kAny);
  return OkStatus();
}

Status FillEmptyRowsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(0, {kAny, RankOf(c.input(2))});
  c.set_output(1, {kAny});
  c.set_output(2, {kAny});
  c.set_output(3, c.input(1));
  return OkStatus();
}

Status FillEmptyRowsGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape map, c.WithRank(0, 1));
  c.set_output(0, std::move(map));
  c.set_output(1, {});
  return OkStatus();
}

Status SerializeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {3});
  return OkStatus();
}

Status SerializeManyShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {kAny, 3});
  return OkStatus();
}

Status AnySparse(ShapeContext& c) {
  SetSparse(c, 0, 1, 2, kAny, kAny);
  return OkStatus();
}

Status HandlesShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckSparse(c, 0));
  c.set_output(0, {kAny});
  return OkStatus();
}

Status EditDistanceShape(ShapeContext& c) {
  for (int i : {0, 3}) {
    TF_RETURN_IF_ERROR(c.WithRank(i, 2).status());
    TF_RETURN_IF_ERROR(c.WithRank(i + 1, 1).status());
    TF_RETURN_IF_ERROR(c.WithRank(i + 2, 1).status());
  }
  return OkStatus();
}

}  // namespace

void RegisterSparseOps(OpRegistry& r) {
  RegisterRaggedOps(r);
  r.Add(Op("SparseToDense")
            .Input("sparse_indices: Tindices")
            .Input("output_shape: Tindices")
            .Input("sparse_values: T")
            .Input("default_value: T")
            .Output("dense: T")
            .Attr("validate_indices: bool = true")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Shape(SparseToDenseShape));
  r.Add(Op("SparseTensorDenseMatMul")
            .Input("a_indices: Tindices")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b: T")
            .Output("product: T")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64} = DT_INT64")
            .Attr("adjoint_a: bool = false")
            .Attr("adjoint_b: bool = false")
            .Shape(SparseMatMulShape));
  r.Add(Op("SparseTensorDenseAdd")
            .Input("a_indices: Tindices")
            .Input("a_values: T")
            .Input("a_shape: Tindices")
            .Input("b: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr("Tindices: {int32, int64}")
            .Shape(DenseAddShape));
  for (const char* op : {"SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"}) {
    r.Add(Op(op)
              .Input("sp_indices: int64")
              .Input("sp_values: T")
              .Input("sp_shape: int64")
              .Input("dense: T")
              .Output("output: T")
              .Attr("T: numbertype")
              .Shape(ValuesShape));
  }
  r.Add(Op("SparseReorder")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: type")
            .Shape(ReorderShape));
  r.Add(Op("SparseReshape")
            .Input("input_indices: int64")
            .Input("input_shape: int64")
            .Input("new_shape: int64")
            .Output("output_indices: int64")
            .Output("output_shape: int64")
            .Shape(SparseReshapeShape)
            .NotDifferentiable());
  r.Add(Op("SparseConcat")
            .Input("indices: N * int64")
            .Input("values: N * T")
            .Input("shapes: N * int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("concat_dim: int")
            .Attr("N: int >= 2")
            .Attr("T: type")
            .Shape(SparseConcatShape)
            .NotDifferentiable());
  r.Add(Op("SparseSplit")
            .Input("split_dim: int64")
            .Input("indices: int64")
            .Input("values: T")
            .Input("shape: int64")
            .Output("output_indices: num_split * int64")
            .Output("output_values: num_split * T")
            .Output("output_shape: num_split * int64")
            .Attr("num_split: int >= 1")
            .Attr("T: type")
            .Shape(SparseSplitShape));
  r.Add(Op("SparseSlice")
            .Input("indices: int64")
            .Input("values: T")
            .Input("shape: int64")
            .Input("start: int64")
            .Input("size: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("T: type")
            .Shape(SparseSliceShape));
  r.Add(Op("SparseSliceGrad")
            .Input("backprop_val_grad: T")
            .Input("input_indices: int64")
            .Input("input_start: int64")
            .Input("output_indices: int64")
            .Output("val_grad: T")
            .Attr("T: numbertype")
            .Shape(SparseSliceGradShape));
  r.Add(Op("SparseFillEmptyRows")
            .Input("indices: int64")
            .Input("values: T")
            .Input("dense_shape: int64")
            .Input("default_value: T")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("empty_row_indicator: bool")
            .Output("reverse_index_map: int64")
            .Attr("T: type")
            .Shape(FillEmptyRowsShape));
  r.Add(Op("SparseFillEmptyRowsGrad")
            .Input("reverse_index_map: int64")
            .Input("grad_values: T")
            .Output("d_values: T")
            .Output("d_default_value: T")
            .Attr("T: type")
            .Shape(FillEmptyRowsGradShape));
  r.Add(Op("SparseAdd")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Input("thresh: Treal")
            .Output("sum_indices: int64")
            .Output("sum_values: T")
            .Output("sum_shape: int64")
            .Attr("T: numbertype")
            .Attr("Treal: realnumbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseAddGrad")
            .Input("backprop_val_grad: T")
            .Input("a_indices: int64")
            .Input("b_indices: int64")
            .Input("sum_indices: int64")
            .Output("a_val_grad: T")
            .Output("b_val_grad: T")
            .Attr("T: numbertype")
            .Shape(SparseAddGradShape));
  r.Add(Op("SparseSparseMinimum")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: numbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseSparseMaximum")
            .Input("a_indices: int64")
            .Input("a_values: T")
            .Input("a_shape: int64")
            .Input("b_indices: int64")
            .Input("b_values: T")
            .Input("b_shape: int64")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Attr("T: realnumbertype")
            .Shape(TwoSparseShape));
  r.Add(Op("SparseReduceSum")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output: T")
            .Attr("keep_dims: bool = false")
            .Attr("T: numbertype")
            .Shape(UnknownShape));
  r.Add(Op("SparseReduceSumSparse")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("keep_dims: bool = false")
            .Attr("T: numbertype")
            .Shape(SparseReduceSparseShape)
            .NotDifferentiable());
  r.Add(Op("SparseReduceMax")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output: T")
            .Attr("keep_dims: bool = false")
            .Attr("T: realnumbertype")
            .Shape(UnknownShape));
  r.Add(Op("SparseReduceMaxSparse")
            .Input("input_indices: int64")
            .Input("input_values: T")
            .Input("input_shape: int64")
            .Input("reduction_axes: int32")
            .Output("output_indices: int64")
            .Output("output_values: T")
            .Output("output_shape: int64")
            .Attr("keep_dims: bool = false")
            .Attr("T: realnumbertype")
            .Shape(SparseReduceSparseShape)
            .NotDifferentiable());
  r.Add(Op("SparseSoftmax")
            .Input("sp_indices: int64")
            .Input("sp_values: T")
            .Input("sp_shape: int64")
            .Output("output: T")
            .Attr("T: {half, float, double}")
            .Shape(ValuesShape));
  r.Add(Op("EditDistance")
            .Input("hypothesis_indices: int64")
            .Input("hypothesis_values: T")
            .Input("hypothesis_shape: int64")
            .Input("truth_indices: int64")
            .Input("truth_values: T")
            .Input("truth_shape: int64")
            .Output("output: float")
            .Attr("normalize: bool = true")
            .Attr("T: type")
            .Shape(EditDistanceShape)
            .NotDifferentiable());
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
