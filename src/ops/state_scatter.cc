// Rows and slices of variables: gathered, and changed where they are.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/state_families.h"

namespace tensorbraid {
namespace {

// The shape of the variable that input 0 is, by handle or by reference.
Shape VariableShapeOf(ShapeContext& c) {
  return c.input_dtype(0) == DType::kResource ? c.input_handle_shape(0) : c.input(0);
}

void PassShape(ShapeContext& c) {
  if (c.num_outputs() > 0) c.set_output(0, c.input(0));
}

// updates (input 2) has the shape of the indices followed by that of a row; a scalar goes to every row.
Status ScatterShape(ShapeContext& c) {
  PassShape(c);
  const Shape variable = VariableShapeOf(c);
  const Shape& indices = c.input(1);
  const Shape& updates = c.input(2);
  if (updates.is_scalar() || !variable.has_rank() || !indices.has_rank()) return OkStatus();
  if (variable.rank() < 1) return InvalidArgument("a scalar has no rows to scatter to");
  Shape wanted = indices;
  for (int i = 1; i < variable.rank(); ++i) wanted.AddDim(variable.dim(i));
  if (!wanted.IsCompatibleWith(updates)) {
    return InvalidArgument("updates must have shape ", wanted, " (that of the indices and of a row), got ", updates);
  }
  return OkStatus();
}

// The last dimension of the indices says how many dimensions of the variable they name.
Status ScatterNdShape(ShapeContext& c) {
  PassShape(c);
  const Shape variable = VariableShapeOf(c);
  const Shape& updates = c.input(2);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!variable.has_rank() || !indices.has_rank()) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return OkStatus();
  if (depth > variable.rank()) {
    return InvalidArgument("indices of ", depth, " numbers are too long for shape ", variable);
  }
  Shape wanted;
  for (int i = 0; i + 1 < indices.rank(); ++i) wanted.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < variable.rank(); ++i) wanted.AddDim(variable.dim(i));
  if (!wanted.IsCompatibleWith(updates)) {
    return InvalidArgument("updates must have shape ", wanted, " (that of the indices and of a slice), got ", updates);
  }
  return OkStatus();
}

Status SliceAssignShape(ShapeContext& c) {
  PassShape(c);
  return OkStatus();
}

Status ResourceGatherShape(ShapeContext& c) {
  const Shape params = c.input_handle_shape(0);
  const Shape& indices = c.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  int64_t batch = c.attr<int64_t>("batch_dims");
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch >= params.rank()) {
    return InvalidArgument("batch_dims ", batch, " is out of range for a variable of shape ", params,
                           " and indices of shape ", indices);
  }
  Shape out;
  for (int i = 0; i < batch; ++i) out.AddDim(params.dim(i));
  for (int i = static_cast<int>(batch); i < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(batch) + 1; i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status ResourceGatherNdShape(ShapeContext& c) {
  const Shape params = c.input_handle_shape(0);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return OkStatus();
  if (depth > params.rank()) return InvalidArgument("indices of ", depth, " numbers are too long for shape ", params);
  Shape out;
  for (int i = 0; i + 1 < indices.rank(); ++i) out.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) out.AddDim(params.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

// One op by reference and one by handle. `types`: what the variable may hold.
void AddScatter(OpRegistry& r, const std::string& name, const char* types, bool locking) {
  r.Add(Op(name)
            .Input("ref: Ref(T)")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output_ref: Ref(T)")
            .Attr(types)
            .Attr("Tindices: {int32, int64}")
            .Attr(locking ? "use_locking: bool = true" : "use_locking: bool = false")
            .Stateful()
            .Shape(ScatterShape)
            .NotDifferentiable());
  r.Add(Op("Resource" + name)
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Input("updates: dtype")
            .Attr(name == "ScatterUpdate" ? "dtype: type" : "dtype: numbertype")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ScatterShape)
            .NotDifferentiable());
}

void AddScatterNd(OpRegistry& r, const std::string& name, const char* types, bool locking) {
  r.Add(Op(name)
            .Input("ref: Ref(T)")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output_ref: Ref(T)")
            .Attr(types)
            .Attr("Tindices: {int32, int64}")
            .Attr(locking ? "use_locking: bool = true" : "use_locking: bool = false")
            .Attr("bad_indices_policy: string = ''")
            .Stateful()
            .Shape(ScatterNdShape)
            .NotDifferentiable());
  r.Add(Op("Resource" + name)
            .Input("ref: resource")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Attr("use_locking: bool = true")
            .Attr("bad_indices_policy: string = ''")
            .Stateful()
            .Shape(ScatterNdShape)
            .NotDifferentiable());
}

void AddStridedSliceAssign(OpRegistry& r, bool resource) {
  Op op(resource ? "ResourceStridedSliceAssign" : "StridedSliceAssign");
  op.Input(resource ? "ref: resource" : "ref: Ref(T)");
  op.Input("begin: Index").Input("end: Index").Input("strides: Index").Input("value: T");
  if (!resource) op.Output("output_ref: Ref(T)");
  op.Attr("T: type").Attr("Index: {int32, int64}");
  for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    op.Attr(StrCat(mask, ": int = 0").c_str());
  }
  r.Add(op.Stateful().Shape(SliceAssignShape).NotDifferentiable());
}

}  // namespace

void RegisterScatterOps(OpRegistry& r) {
  for (const char* name : {"ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv"}) {
    AddScatter(r, name, "T: numbertype", false);
  }
  for (const char* name : {"ScatterMin", "ScatterMax"}) {
    AddScatter(r, name, "T: {half, bfloat16, float, double, int32, int64}", false);
  }
  AddScatter(r, "ScatterUpdate", "T: type", true);
  for (const char* name : {"ScatterNdAdd", "ScatterNdSub", "ScatterNdMin", "ScatterNdMax"}) {
    AddScatterNd(r, name, "T: numbertype", false);
  }
  AddScatterNd(r, "ScatterNdUpdate", "T: type", true);
  AddStridedSliceAssign(r, false);
  AddStridedSliceAssign(r, true);
  r.Add(Op("ResourceGather")
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Output("output: dtype")
            .Attr("batch_dims: int = 0")
            .Attr("validate_indices: bool = true")
            .Attr("dtype: type")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ResourceGatherShape)
            .NotDifferentiable());
  r.Add(Op("ResourceGatherNd")
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ResourceGatherNdShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
