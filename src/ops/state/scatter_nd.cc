// Ops that update slices of variables: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/state/shapes.h"

namespace tensorbraid {
namespace {

// The size of the last dimension of the indices is the number of leading dimensions of the variable that they index.
Status ScatterNdVariableShape(ShapeContext& c) {
  PassVariableShape(c);
  const Shape variable = VariableShapeOf(c);
  const Shape& updates = c.input(2);
  TF_ASSIGN_OR_RETURN(const Shape indices, c.WithRankAtLeast(1, 1));
  if (!variable.has_rank() || !indices.has_rank()) return OkStatus();
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return OkStatus();
  if (depth > variable.rank()) {
    return InvalidArgument("indices with ", depth, " components are too long for shape ", variable);
  }
  Shape wanted;
  for (int i = 0; i + 1 < indices.rank(); ++i) wanted.AddDim(indices.dim(i));
  for (int i = static_cast<int>(depth); i < variable.rank(); ++i) wanted.AddDim(variable.dim(i));
  if (!wanted.IsCompatibleWith(updates)) {
    return InvalidArgument(
        "updates must have shape ", wanted,
        " (the dimensions of the indices without the last one, followed by the shape of a slice), got ", updates);
  }
  return OkStatus();
}

// Registers an op that takes the variable by reference, and one that takes its resource handle. For the former, `types`
// is the attribute T and `locking` is the default of use_locking.
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
            .Shape(ScatterNdVariableShape)
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
            .Shape(ScatterNdVariableShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterStateScatterNdOps(OpRegistry& r) {
  for (const char* name : {"ScatterNdAdd", "ScatterNdSub", "ScatterNdMin", "ScatterNdMax"}) {
    AddScatterNd(r, name, "T: numbertype", /*locking=*/false);
  }
  AddScatterNd(r, "ScatterNdUpdate", "T: type", /*locking=*/true);
}

}  // namespace tensorbraid
