// Constants, placeholders and ops that pass tensors through: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/array/integers.h"
#include "ops/builder.h"

namespace tensorbraid {

std::optional<std::vector<int64_t>> IntegersOf(const Tensor& t) {
  if (!t.is_valid()) return std::nullopt;
  if (t.dtype() == kInt32) return std::vector<int64_t>(t.data<int32_t>().begin(), t.data<int32_t>().end());
  if (t.dtype() == kInt64) return std::vector<int64_t>(t.data<int64_t>().begin(), t.data<int64_t>().end());
  return std::nullopt;
}

namespace {

// The output has the shape in attribute "shape".
Status PlaceholderShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Status PreventedGradient(const Operation& op, const std::vector<Output>&, std::vector<Output>*) {
  const auto& message = NodeOf(op)->attr<std::string>("message");
  return FailedPrecondition("cannot take a gradient through ", NodeOf(op)->Describe(), message.empty() ? "" : ": ",
                            message);
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
    return InvalidArgument("the value has dtype ", value.dtype(), ", but attribute 'dtype' is ",
                           c.attr<DType>("dtype"));
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
  r.Add(
      Op("Identity").Input("input: T").Output("output: T").Attr("T: type").Shape(UnchangedShape).Gradient(PassSlices));
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
  r.Add(Op("PlaceholderV2")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("shape: shape")
            .Shape(PlaceholderShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
