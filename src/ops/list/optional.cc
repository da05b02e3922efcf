// Optionals (variants that hold tensors or nothing): schemas, shape rules, gradients. The gradient of an optional is an
// optional of the gradients of its tensors.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

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

Status FromValueGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  std::vector<DType> types;
  std::vector<Shape> shapes;
  for (const Output& component : in) {
    types.push_back(component.dtype());
    shapes.push_back(component.shape());
  }
  const Operation values = NodeBuilder(*op.graph(), "OptionalGetValue")
                               .Input(grads[0])
                               .Attr("output_types", types)
                               .Attr("output_shapes", shapes)
                               .Finish();
  if (!values.valid()) return OkStatus();
  for (size_t i = 0; i < in.size(); ++i) {
    if (IsFloating(types[i]) || IsComplex(types[i])) (*input_grads)[i] = values.output(static_cast<int>(i));
  }
  return OkStatus();
}

Status GetValueGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "OptionalFromValue").InputList(FilledGradients(op, grads)).Output();
  return OkStatus();
}

}  // namespace

void RegisterListOptionalOps(OpRegistry& r) {
  r.Add(Op("OptionalFromValue")
            .Input("components: Toutput_types")
            .Output("optional: variant")
            .Attr("Toutput_types: list(type) >= 1")
            .Shape(ScalarShape)
            .Gradient(FromValueGradient));
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
            .Gradient(GetValueGradient));
}

}  // namespace tensorbraid
