// Optionals: variants that hold tensors or nothing: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/list/registration.h"

namespace tensorbraid {
namespace {

Status GetValueShape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  if (static_cast<int>(shapes.size()) != c.num_outputs()) {
    return InvalidArgument("there are ", c.num_outputs(), " output types, but ", shapes.size(), " shapes");
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, shapes[i]);
  return OkStatus();
}

}  // namespace

void RegisterListOptionalOps(OpRegistry& r) {
  r.Add(Op("OptionalFromValue")
            .Input("components: Toutput_types")
            .Output("optional: variant")
            .Attr("Toutput_types: list(type) >= 1")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("OptionalNone").Output("optional: variant").Shape(ScalarShape).NotDifferentiable());
  r.Add(Op("OptionalHasValue")
            .Input("optional: variant")
            .Output("has_value: bool")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("OptionalGetValue")
            .Input("optional: variant")
            .Output("components: output_types")
            .Attr("output_types: list(type) >= 1")
            .Attr("output_shapes: list(shape) >= 1")
            .Shape(GetValueShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
