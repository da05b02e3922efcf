// Assignments to strided slices of variables.
#include "kernels/pjrt/array/slice.h"

#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/variables.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitStridedSliceAssign(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(4));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value old, VariableOfType(ctx, 0, value.dtype));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value updated, WithStridedSlice(ctx, old, value, /*is_assignment=*/true));
  return UpdateVariable(ctx, 0, updated);
}

}  // namespace

void RegisterStateSliceEmitters(EmitterRegistry& r) {
  for (const char* op : {"StridedSliceAssign", "ResourceStridedSliceAssign"}) {
    r.Add(op, {{"T", kTensors}}, EmitStridedSliceAssign).static_inputs = {"begin", "end", "strides"};
  }
}

}  // namespace tensorbraid::pjrt
