// Updates of slices of variables, by handle and by reference. The leading coordinates of a slice select it.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"
#include "kernels/pjrt/variables.h"
#include "runtime/variables/slice_indices.h"

namespace tensorbraid::pjrt {
namespace {

Status EmitScatterNdInto(EmitContext& ctx, RowUpdate how) {
  TF_ASSIGN_OR_RETURN(const UpdateInputs in, UpdateInputsOf(ctx));
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  const Shape& shape = in.old.shape();
  const std::string what = StrCat(VariableText(ctx, 0), " of shape");
  if (shape.rank() < 1) return InvalidArgument("Output must be at least 1-D: ", what, " ", shape, " is a scalar");
  TF_ASSIGN_OR_RETURN(const Shape wanted, SlicesShape(in.indices.shape, shape, what));
  if (in.updates.shape() != wanted) {
    return InvalidArgument("updates of ", VariableText(ctx, 0), " must have shape ", wanted, ", got ",
                           in.updates.shape());
  }
  if (in.indices.shape.num_elements() == 0 && in.updates.shape().num_elements() > 0) {
    return InvalidArgument("indices of shape ", in.indices.shape, " select no slices, but updates have shape ",
                           in.updates.shape());
  }
  return UpdateSlicesOfVariable(ctx, in, SelectSlices(ctx, in.indices, shape, ignore, "shape"), how);
}

}  // namespace

void RegisterStateScatterNdEmitters(EmitterRegistry& r) {
  const auto add = [&r](const char* name, RowUpdate how) {
    for (const char* by : {"ScatterNd", "ResourceScatterNd"}) {
      r.Add(StrCat(by, name), {{"T", UpdateTypesOf(how)}},
            [how](EmitContext& ctx) { return EmitScatterNdInto(ctx, how); });
    }
  };
  add("Update", RowUpdate::kReplace);
  add("Add", RowUpdate::kAdd);
  add("Sub", RowUpdate::kSubtract);
  add("Min", RowUpdate::kMin);
  add("Max", RowUpdate::kMax);
}

}  // namespace tensorbraid::pjrt
