// Ops that update rows of variables: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/state/shapes.h"

namespace tensorbraid {
namespace {

// Input 2, the updates, has the shape of the indices followed by the shape of a row. Or it is a scalar, which updates
// every element of the rows that the indices name.
Status ScatterVariableShape(ShapeContext& c) {
  PassVariableShape(c);
  const Shape variable = VariableShapeOf(c);
  const Shape& indices = c.input(1);
  const Shape& updates = c.input(2);
  if (updates.is_scalar() || !variable.has_rank() || !indices.has_rank()) return OkStatus();
  if (variable.rank() < 1) return InvalidArgument("a scalar has no rows to scatter to");
  Shape wanted = indices;
  for (int i = 1; i < variable.rank(); ++i) wanted.AddDim(variable.dim(i));
  if (!wanted.IsCompatibleWith(updates)) {
    return InvalidArgument("updates must have shape ", wanted,
                           " (the shape of the indices, followed by the shape of a row), got ", updates);
  }
  return OkStatus();
}

// Registers an op that takes the variable by reference, and one that takes its resource handle. For the former, `types`
// is the attribute T and `locking` is the default of use_locking.
void AddScatter(OpRegistry& r, const std::string& name, const char* types, bool locking) {
  r.Add(Op(name)
            .Input("ref: Ref(T)")
            .Input("indices: Tindices")
            .Input("updates: T")
            .Output("output_ref: Ref(T)")
            .Attr(types)
            .Attr("Tindices: {int32, int64}")
            .Attr(locking ? "use_locking: bool = true" : "use_locking: bool = false")
            .Stateful()
            .Shape(ScatterVariableShape)
            .NotDifferentiable());
  r.Add(Op("Resource" + name)
            .Input("resource: resource")
            .Input("indices: Tindices")
            .Input("updates: dtype")
            .Attr(name == "ScatterUpdate" ? "dtype: type" : "dtype: numbertype")
            .Attr("Tindices: {int32, int64}")
            .Stateful()
            .Shape(ScatterVariableShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterStateScatterOps(OpRegistry& r) {
  for (const char* name : {"ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv"}) {
    AddScatter(r, name, "T: numbertype", /*locking=*/false);
  }
  for (const char* name : {"ScatterMin", "ScatterMax"}) {
    AddScatter(r, name, "T: {half, bfloat16, float, double, int32, int64}", /*locking=*/false);
  }
  AddScatter(r, "ScatterUpdate", "T: type", /*locking=*/true);
}

}  // namespace tensorbraid
