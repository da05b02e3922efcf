// Selects elements from two tensors by a condition.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

struct SelectInputs {
  stablehlo::Value condition, if_true, if_false;
};

StatusOr<SelectInputs> InputsOf(EmitContext& ctx) {
  SelectInputs in;
  TF_ASSIGN_OR_RETURN(in.condition, ctx.input(0));
  TF_ASSIGN_OR_RETURN(in.if_true, ctx.input(1));
  TF_ASSIGN_OR_RETURN(in.if_false, ctx.input(2));
  return in;
}

// The condition is a scalar, has the shape of the operands, or is a vector with one condition per row.
Status EmitSelect(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(SelectInputs in, InputsOf(ctx));
  const Shape& shape = in.if_true.shape;
  if (in.if_false.shape != shape) {
    return InvalidArgument("'then' and 'else' must have the same shape, got ", shape, " and ", in.if_false.shape);
  }
  if (!in.condition.shape.is_scalar() && in.condition.shape != shape) {
    if (in.condition.rank() != 1 || shape.rank() < 1 || in.condition.shape.dim(0) != shape.dim(0)) {
      return InvalidArgument(
          "the condition must be a scalar, a vector with one element per row, or have the shape of "
          "'then'; got ",
          in.condition.shape, " for ", shape);
    }
    in.condition = ctx.builder().BroadcastInDim(in.condition, shape, {0});
  }
  ctx.set_output(0, ctx.builder().Select(in.condition, in.if_true, in.if_false));
  return OkStatus();
}

Status EmitSelectV2(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SelectInputs in, InputsOf(ctx));
  TF_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(in.if_true.shape, in.if_false.shape));
  TF_ASSIGN_OR_RETURN(shape, BroadcastShapes(in.condition.shape, shape));
  stablehlo::Builder& b = ctx.builder();
  ctx.set_output(0, b.Select(b.BroadcastTo(in.condition, shape), b.BroadcastTo(in.if_true, shape),
                             b.BroadcastTo(in.if_false, shape)));
  return OkStatus();
}

}  // namespace

void RegisterMathSelectEmitters(EmitterRegistry& r) {
  r.Add("Select", {{"T", kTensors}}, EmitSelect);
  r.Add("SelectV2", {{"T", kTensors}}, EmitSelectV2);
}

}  // namespace tensorbraid::pjrt
