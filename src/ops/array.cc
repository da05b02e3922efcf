// Array ops: constants, placeholders and what passes tensors on. The other parts are listed in array_families.h.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/array_families.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status PassGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  for (size_t i = 0; i < grads.size(); ++i) (*input_grads)[i] = grads[i];
  return OkStatus();
}

Status PreventedGradient(const Operation& op, const std::vector<Output>&, std::vector<Output>*) {
  const auto& message = op.node()->attr<std::string>("message");
  return FailedPrecondition("no gradient may be taken through ", op.node()->Describe(), message.empty() ? "" : ": ",
                            message);
}

Status PlaceholderShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Status PlaceholderWithDefaultShape(ShapeContext& c) {
  const Shape& shape = c.attr<Shape>("shape");
  TF_RETURN_IF_ERROR(shape.MergeWith(c.input(0)));
  c.set_output(0, shape);
  return OkStatus();
}

Status ConstShape(ShapeContext& c) {
  const Tensor& value = c.attr<Tensor>("value");
  if (value.dtype() != c.attr<DType>("dtype")) {
    return InvalidArgument("the value is ", value.dtype(), ", attribute 'dtype' says ", c.attr<DType>("dtype"));
  }
  c.set_output(0, value.shape());
  return OkStatus();
}

Status UnchangedShapes(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(i));
  return OkStatus();
}

}  // namespace

void RegisterArrayOps(OpRegistry& r) {
  r.Add(Op("Placeholder")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("shape: shape = { unknown_rank: true }")
            .Shape(PlaceholderShape)
            .NotDifferentiable());
  r.Add(Op("PlaceholderWithDefault")
            .Input("input: dtype")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("shape: shape")
            .Shape(PlaceholderWithDefaultShape)
            .Gradient(PassGradient));
  r.Add(Op("Const")
            .Output("output: dtype")
            .Attr("value: tensor")
            .Attr("dtype: type")
            .Shape(ConstShape)
            .NotDifferentiable());
  r.Add(Op("Identity")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(UnchangedShape)
            .Gradient(PassGradient));
  r.Add(Op("IdentityN")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: list(type) >= 1")
            .Shape(UnchangedShapes)
            .Gradient(PassGradient));
  r.Add(Op("StopGradient")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("PreventGradient")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: type")
            .Attr("message: string = ''")
            .Shape(UnchangedShape)
            .Gradient(PreventedGradient));
  r.Add(Op("NoOp").Shape(NoOutputs).NotDifferentiable());
  RegisterShapeOps(r);
  RegisterJoinOps(r);
  RegisterSliceOps(r);
  RegisterRearrangeOps(r);
  RegisterPassOps(r);
  RegisterSearchOps(r);
  RegisterArrayScatterOps(r);
  RegisterBlockOps(r);
}

}  // namespace tensorbraid
