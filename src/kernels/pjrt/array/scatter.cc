// ScatterNd, which adds slices to a tensor of zeros.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"
#include "runtime/variables/slice_indices.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitScatterNd(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Expr updates, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(2));
  if (sizes.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", sizes.shape());
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "the sizes"));
  if (shape.rank() < 1) return InvalidArgument("the output must have rank 1 or more, got a scalar");
  TF_ASSIGN_OR_RETURN(const Shape wanted, SlicesShape(indices.shape, shape, "shape"));
  if (wanted != updates.shape()) {
    return InvalidArgument("updates must have shape ", wanted, " for indices ", indices.shape, " into ", shape,
                           ", got ", updates.shape());
  }
  if (shape.num_elements() == 0 && wanted.num_elements() > 0) {
    return InvalidArgument("Indices and updates specified for empty output of shape ", shape);
  }
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  const SelectedSlices slices = SelectSlices(ctx, indices, shape, ignore, "shape");
  const Expr out = ScatterAddRows(slices.num_slices, slices.numbers, updates.Reshape({slices.count, slices.size}));
  SetOutput(ctx, 0, out.Reshape(shape));
  return OkStatus();
}

}  // namespace

void RegisterArrayScatterEmitters(EmitterRegistry& r) {
  r.Add("ScatterNd", {{"T", kNumbers}}, EmitScatterNd).static_inputs = {"shape"};
}

}  // namespace tensorbraid::pjrt
