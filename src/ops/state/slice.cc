// Ops that assign to strided slices of variables: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/state/shapes.h"

namespace tensorbraid {
namespace {

Status SliceAssignShape(ShapeContext& c) {
  PassVariableShape(c);
  return OkStatus();
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

void RegisterStateSliceOps(OpRegistry& r) {
  AddStridedSliceAssign(r, /*resource=*/false);
  AddStridedSliceAssign(r, /*resource=*/true);
}

}  // namespace tensorbraid
