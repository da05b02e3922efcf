// Variables, in both of TensorFlow's spellings: by resource handle and by reference.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status ReadShape(ShapeContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  const DType held = c.input_handle_dtype(0);
  if (held != DType::kInvalid && held != dtype) {
    return InvalidArgument("the variable holds ", held, ", attribute 'dtype' says ", dtype);
  }
  c.set_output(0, c.input_handle_shape(0));
  return OkStatus();
}

// The value (input 1) must fit the variable that the handle (input 0) names.
Status UpdateShape(ShapeContext& c) {
  const DType held = c.input_handle_dtype(0);
  if (held != DType::kInvalid && held != c.input_dtype(1)) {
    return InvalidArgument("the variable holds ", held, ", the value is ", c.input_dtype(1));
  }
  const Shape shape = c.input_handle_shape(0);
  if (!shape.IsCompatibleWith(c.input(1))) {
    return InvalidArgument("the variable has shape ", shape, ", the value ", c.input(1));
  }
  return OkStatus();
}

Status ReferenceVariableShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Status AssignShape(ShapeContext& c) {
  if (!c.attr<bool>("validate_shape")) {
    c.set_output(0, c.input(1));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Shape s, c.input(0).MergeWith(c.input(1)));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status AssignUpdateShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, c.input(0).MergeWith(c.input(1)));
  c.set_output(0, std::move(s));
  return OkStatus();
}

Status VariableShapeShape(ShapeContext& c) {
  const Shape shape = c.input_handle_shape(0);
  c.set_output(0, Shape({shape.has_rank() ? shape.rank() : Shape::kUnknownDim}));
  return OkStatus();
}

// updates (input 2) has the shape of the indices followed by that of a row; a scalar goes to every row.
Status CheckScatter(const Shape& variable, const Shape& indices, const Shape& updates) {
  if (updates.is_scalar() || !variable.has_rank() || !indices.has_rank()) return OkStatus();
  if (variable.rank() < 1) return InvalidArgument("a scalar has no rows to scatter to");
  Shape wanted = indices;
  for (int i = 1; i < variable.rank(); ++i) wanted.AddDim(variable.dim(i));
  if (!wanted.IsCompatibleWith(updates)) {
    return InvalidArgument("updates must have shape ", wanted, " (that of the indices and of a row), got ", updates);
  }
  return OkStatus();
}

Status ScatterShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  return CheckScatter(c.input(0), c.input(1), c.input(2));
}

Status ResourceScatterShape(ShapeContext& c) { return CheckScatter(c.input_handle_shape(0), c.input(1), c.input(2)); }

// The gradient of what a variable is read as belongs to its handle.
Status ReadGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = grads[0];
  return OkStatus();
}

void RegisterResourceVariables(OpRegistry& r) {
  r.Add(Op("VarHandleOp")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("debug_name: string = ''")
            .Attr("dtype: type")
            .Attr("shape: shape")
            .Attr("allowed_devices: list(string) = []")
            .Output("resource: resource")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("VarIsInitializedOp")
            .Input("resource: resource")
            .Output("is_initialized: bool")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("ReadVariableOp")
            .Input("resource: resource")
            .Output("value: dtype")
            .Attr("dtype: type")
            .Stateful()
            .Shape(ReadShape)
            .Gradient(ReadGradient));
  r.Add(Op("AssignVariableOp")
            .Input("resource: resource")
            .Input("value: dtype")
            .Attr("dtype: type")
            .Attr("validate_shape: bool = false")
            .Stateful()
            .Shape(UpdateShape)
            .NotDifferentiable());
  for (const char* op : {"AssignAddVariableOp", "AssignSubVariableOp"}) {
    r.Add(Op(op)
              .Input("resource: resource")
              .Input("value: dtype")
              .Attr("dtype: type")
              .Stateful()
              .Shape(UpdateShape)
              .NotDifferentiable());
  }
  r.Add(Op("DestroyResourceOp")
            .Input("resource: resource")
            .Attr("ignore_lookup_error: bool = true")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("VariableShape")
            .Input("input: resource")
            .Output("output: out_type")
            .Attr("out_type: {int32, int64} = DT_INT32")
            .Stateful()
            .Shape(VariableShapeShape)
            .NotDifferentiable());
  for (const char* op : {"ResourceScatterAdd", "ResourceScatterSub"}) {
    r.Add(Op(op)
              .Input("resource: resource")
              .Input("indices: Tindices")
              .Input("updates: dtype")
              .Attr("dtype: numbertype")
              .Attr("Tindices: {int32, int64}")
              .Stateful()
              .Shape(ResourceScatterShape)
              .NotDifferentiable());
  }
  r.Add(Op("ResourceScatterUpdate")
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Input("updates: dtype")
            .Attr("dtype: type")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ResourceScatterShape)
            .NotDifferentiable());
}

void RegisterReferenceVariables(OpRegistry& r) {
  for (const char* op : {"VariableV2", "Variable"}) {
    r.Add(Op(op)
              .Output("ref: Ref(dtype)")
              .Attr("shape: shape")
              .Attr("dtype: type")
              .Attr("container: string = ''")
              .Attr("shared_name: string = ''")
              .Stateful()
              .Shape(ReferenceVariableShape)
              .NotDifferentiable());
  }
  r.Add(Op("IsVariableInitialized")
            .Input("ref: Ref(dtype)")
            .Output("is_initialized: bool")
            .Attr("dtype: type")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("Assign")
            .Input("ref: Ref(T)")
            .Input("value: T")
            .Output("output_ref: Ref(T)")
            .Attr("T: type")
            .Attr("validate_shape: bool = true")
            .Attr("use_locking: bool = true")
            .Stateful()
            .Shape(AssignShape)
            .NotDifferentiable());
  for (const char* op : {"AssignAdd", "AssignSub"}) {
    r.Add(Op(op)
              .Input("ref: Ref(T)")
              .Input("value: T")
              .Output("output_ref: Ref(T)")
              .Attr("T: numbertype")
              .Attr("use_locking: bool = false")
              .Stateful()
              .Shape(AssignUpdateShape)
              .NotDifferentiable());
  }
  for (const char* op : {"ScatterAdd", "ScatterSub"}) {
    r.Add(Op(op)
              .Input("ref: Ref(T)")
              .Input("indices: Tindices")
              .Input("updates: T")
              .Output("output_ref: Ref(T)")
              .Attr("T: numbertype")
              .Attr("Tindices: {int32, int64}")
              .Attr("use_locking: bool = false")
              .Stateful()
              .Shape(ScatterShape)
              .NotDifferentiable());
  }
  r.Add(Op("ScatterUpdate")
            .Input("ref: Ref(T)")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output_ref: Ref(T)")
            .Attr("T: type")
            .Attr("Tindices: {int32, int64}")
            .Attr("use_locking: bool = true")
            .Stateful()
            .Shape(ScatterShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterStateOps(OpRegistry& r) {
  RegisterResourceVariables(r);
  RegisterReferenceVariables(r);
}

}  // namespace tensorbraid
