// Ops that create, read and assign variables: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status ReadVariableShape(ShapeContext& c) {
  const DType dtype = c.attr<DType>("dtype");
  const DType held = c.input_handle_dtype(0);
  if (held != DType::kInvalid && held != dtype) {
    return InvalidArgument("the variable has dtype ", held, ", but attribute 'dtype' is ", dtype);
  }
  c.set_output(0, c.input_handle_shape(0));
  return OkStatus();
}

// The value (input 1) must have the dtype and shape of the variable whose handle is input 0.
Status UpdateShape(ShapeContext& c) {
  const DType held = c.input_handle_dtype(0);
  if (held != DType::kInvalid && held != c.input_dtype(1)) {
    return InvalidArgument("the variable has dtype ", held, ", but the value has ", c.input_dtype(1));
  }
  const Shape shape = c.input_handle_shape(0);
  if (!shape.IsCompatibleWith(c.input(1))) {
    return InvalidArgument("the variable has shape ", shape, ", but the value has shape ", c.input(1));
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

// The counter and the output are scalars.
Status CountUpToShape(ShapeContext& c) {
  const Shape counter = c.input_dtype(0) == DType::kResource ? c.input_handle_shape(0) : c.input(0);
  if (!counter.IsCompatibleWith(Shape())) return InvalidArgument("a counter must be a scalar, got shape ", counter);
  c.set_output(0, Shape());
  return OkStatus();
}

}  // namespace

void RegisterStateOps(OpRegistry& r) {
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
  // Stands for the VarHandleOp `variable` in a step that feeds the variable; see graph/model/fed_variables.h.
  r.Add(Op("_FedVariable")
            .Input("value: dtype")
            .Output("resource: resource")
            .Attr("dtype: type")
            .Attr("shape: shape")
            .Attr("variable: string")
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
            .Shape(ReadVariableShape)
            .Gradient(PassSlices));  // from the value to the handle
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
  r.Add(Op("_VarHandlesOp")
            .Attr("containers: list(string)")
            .Attr("shared_names: list(string)")
            .Attr("N: int >= 0")
            .Attr("dtypes: list(type)")
            .Attr("shapes: list(shape)")
            .Output("resources: N * resource")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("_ReadVariablesOp")
            .Attr("N: int >= 0")
            .Attr("dtypes: list(type)")
            .Input("resources: N * resource")
            .Output("values: dtypes")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("DisableCopyOnRead").Input("resource: resource").Stateful().Shape(NoOutputs).NotDifferentiable());
  r.Add(Op("ResourceCountUpTo")
            .Input("resource: resource")
            .Output("output: T")
            .Attr("limit: int")
            .Attr("T: {int32, int64}")
            .Stateful()
            .Shape(CountUpToShape)
            .NotDifferentiable());
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
  r.Add(Op("CountUpTo")
            .Input("ref: Ref(T)")
            .Output("output: T")
            .Attr("limit: int")
            .Attr("T: {int32, int64}")
            .Stateful()
            .Shape(CountUpToShape)
            .NotDifferentiable());
  r.Add(Op("TemporaryVariable")
            .Output("ref: Ref(dtype)")
            .Attr("shape: shape")
            .Attr("dtype: type")
            .Attr("var_name: string = ''")
            .Stateful()
            .Shape(ReferenceVariableShape)
            .NotDifferentiable());
  r.Add(Op("DestroyTemporaryVariable")
            .Input("ref: Ref(T)")
            .Output("value: T")
            .Attr("T: type")
            .Attr("var_name: string")
            .Stateful()
            .Shape(UnchangedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
