// Ops that read and assign variables, by handle and by reference. What creates a variable runs on the host.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/variables.h"

namespace tensorbraid::pjrt {
namespace {

// ReadVariableOp, and _ReadVariablesOp, which has as many handles as outputs.
Status EmitReads(EmitContext& ctx) {
  if (ctx.num_inputs() != ctx.num_outputs()) {
    return InvalidArgument("the op has ", ctx.num_inputs(), " variables, but ", ctx.num_outputs(), " outputs");
  }
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.variable(i));
    if (value.dtype != ctx.node().output_type(i)) {
      return InvalidArgument("the variable of input ", i, " holds ", value.dtype, ", not ", ctx.node().output_type(i));
    }
    ctx.set_output(i, value);
  }
  return OkStatus();
}

Status EmitAssign(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(1));
  if (ctx.variable_has_value(0)) {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value old, ctx.variable(0));
    if (old.dtype != value.dtype) {
      return InvalidArgument("the variable holds ", old.dtype, " and cannot be assigned ", value.dtype);
    }
    if (ctx.attr<bool>("validate_shape") && old.shape != value.shape) {
      return InvalidArgument("the variable has shape ", old.shape, " and cannot be assigned ", value.shape);
    }
  }
  return UpdateVariable(ctx, 0, value);
}

// variable = variable op input 1.
Status EmitAssignUpdate(EmitContext& ctx, std::string_view op) {
  TF_ASSIGN_OR_RETURN(const Expr old, WideVariable(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr delta, WideInput(ctx, 1));
  if (old.shape() != delta.shape()) {
    return InvalidArgument("the variable has shape ", old.shape(), ", but the update has shape ", delta.shape());
  }
  return UpdateVariable(ctx, 0, Binary(op, old, delta));
}

Status EmitIsInitialized(EmitContext& ctx) {
  ctx.set_constant(0, Tensor::Scalar(ctx.variable_has_value(0)));
  return OkStatus();
}

}  // namespace

void RegisterStateEmitters(EmitterRegistry& r) {
  r.Add("ReadVariableOp", {{"dtype", kTensors}}, EmitReads);
  r.Add("_ReadVariablesOp", {}, EmitReads);
  r.Add("AssignVariableOp", {{"dtype", kTensors}}, EmitAssign);
  r.Add("Assign", {{"T", kTensors}}, EmitAssign);
  r.Add("VarIsInitializedOp", {}, EmitIsInitialized);
  r.Add("IsVariableInitialized", {{"dtype", kTensors}}, EmitIsInitialized);
  const EmitFn add = [](EmitContext& ctx) { return EmitAssignUpdate(ctx, "add"); };
  const EmitFn subtract = [](EmitContext& ctx) { return EmitAssignUpdate(ctx, "subtract"); };
  r.Add("AssignAddVariableOp", {{"dtype", kNumbers}}, add);
  r.Add("AssignSubVariableOp", {{"dtype", kNumbers}}, subtract);
  r.Add("AssignAdd", {{"T", kNumbers}}, add);
  r.Add("AssignSub", {{"T", kNumbers}}, subtract);
}

}  // namespace tensorbraid::pjrt
