// ScatterNd, which adds slices to a tensor of zeros, and TensorScatter*, which updates slices of a tensor.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"
#include "runtime/variables/slice_indices.h"

namespace tensorbraid::pjrt {
namespace {

// The slices of a tensor of shape `shape` that updates of shape `updates` are for.
StatusOr<SelectedSlices> SlicesFor(EmitContext& ctx, const stablehlo::Value& indices, const Shape& updates,
                                   const Shape& shape) {
  if (shape.rank() < 1) return InvalidArgument("the output must have rank 1 or more, got a scalar");
  TF_ASSIGN_OR_RETURN(const Shape wanted, SlicesShape(indices.shape, shape, "shape"));
  if (wanted != updates) {
    return InvalidArgument("updates must have shape ", wanted, " for indices ", indices.shape, " into ", shape,
                           ", got ", updates);
  }
  if (shape.num_elements() == 0 && wanted.num_elements() > 0) {
    return InvalidArgument("Indices and updates specified for empty output of shape ", shape);
  }
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  // The CPU's kernel does not look at the indices of slices without elements.
  return SelectSlices(ctx, indices, shape, ignore || wanted.num_elements() == 0, "shape");
}

Status EmitScatterNd(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value updates, ctx.input(1));
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(2));
  if (sizes.shape().rank() != 1) return InvalidArgument("the shape must be a vector, got shape ", sizes.shape());
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "the sizes"));
  TF_ASSIGN_OR_RETURN(const SelectedSlices slices, SlicesFor(ctx, indices, updates.shape, shape));
  stablehlo::Builder& b = ctx.builder();
  const UpdateInputs in{.old = {b, b.Splat(updates.dtype, 0, shape)}, .indices = indices, .updates = {b, updates}};
  ctx.set_output(0, UpdateSlices(in, slices, RowUpdate::kAdd).value());
  return OkStatus();
}

// Updates slices of input 0.
Status EmitTensorScatter(EmitContext& ctx, RowUpdate how) {
  TF_ASSIGN_OR_RETURN(const UpdateInputs in, UpdateInputsOf(ctx));
  TF_ASSIGN_OR_RETURN(const SelectedSlices slices, SlicesFor(ctx, in.indices, in.updates.shape(), in.old.shape()));
  ctx.set_output(0, UpdateSlices(in, slices, how).value());
  return OkStatus();
}

}  // namespace

void RegisterArrayScatterEmitters(EmitterRegistry& r) {
  r.Add("ScatterNd", {{"T", kNumbers}}, EmitScatterNd).static_inputs = {"shape"};
  const auto add = [&r](const char* op, RowUpdate how) {
    r.Add(op, {{"T", UpdateTypesOf(how)}}, [how](EmitContext& ctx) { return EmitTensorScatter(ctx, how); });
  };
  add("TensorScatterUpdate", RowUpdate::kReplace);
  add("TensorScatterAdd", RowUpdate::kAdd);
  add("ScatterNdNonAliasingAdd", RowUpdate::kAdd);
  add("TensorScatterSub", RowUpdate::kSubtract);
  add("TensorScatterMin", RowUpdate::kMin);
  add("TensorScatterMax", RowUpdate::kMax);
}

}  // namespace tensorbraid::pjrt
