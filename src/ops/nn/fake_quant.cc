// Fake quantization: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Output WithQuantAttrs(NodeBuilder& builder, const Node& node) {
  for (const char* attr : {"min", "max", "num_bits", "narrow_range"}) {
    if (const AttrValue* value = node.FindAttr(attr)) builder.Attr(attr, *value);
  }
  return builder.Output();
}

Status QuantArgsGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  NodeBuilder builder(*op.graph(), "FakeQuantWithMinMaxArgsGradient");
  builder.Input(grads[0]).Input(NodeOf(op)->inputs()[0]);
  (*input_grads)[0] = WithQuantAttrs(builder, *NodeOf(op));
  return OkStatus();
}

constexpr char kVarsGradient[] = "FakeQuantWithMinMaxVarsGradient";
constexpr char kPerChannelGradient[] = "FakeQuantWithMinMaxVarsPerChannelGradient";

template <const char* name>
Status QuantVarsGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  NodeBuilder builder(*op.graph(), name);
  builder.Input(grads[0]).Input(in[0]).Input(in[1]).Input(in[2]);
  const Output first = WithQuantAttrs(builder, *NodeOf(op));
  if (first.valid()) *input_grads = {first, first.op().output(1), first.op().output(2)};
  return OkStatus();
}

Status QuantVarsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status QuantVarsGradientShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape both, c.input(0).MergeWith(c.input(1)));
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(0, std::move(both));
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return OkStatus();
}

// Checks that input number `first` and the input after it are vectors with one element for each channel; the channels
// are the last axis of *values. Sets *channels to [number of channels], and the last size of *values to that number.
Status MergeQuantChannels(ShapeContext& c, int first, Shape* values, Shape* channels) {
  if (values->has_rank() && values->rank() == 0) return InvalidArgument("the input must have channels, got a scalar");
  *channels = Shape({values->has_rank() ? values->dim(values->rank() - 1) : Shape::kUnknownDim});
  for (int i = first; i < first + 2; ++i) {
    TF_ASSIGN_OR_RETURN(const Shape limits, c.WithRank(i, 1));
    TF_ASSIGN_OR_RETURN(*channels, channels->MergeWith(limits));
  }
  if (values->has_rank()) values->set_dim(values->rank() - 1, channels->dim(0));
  return OkStatus();
}

Status QuantPerChannelShape(ShapeContext& c) {
  Shape values = c.input(0), channels;
  TF_RETURN_IF_ERROR(MergeQuantChannels(c, 1, &values, &channels));
  c.set_output(0, std::move(values));
  return OkStatus();
}

Status QuantPerChannelGradientShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape values, c.input(0).MergeWith(c.input(1)));
  Shape channels;
  TF_RETURN_IF_ERROR(MergeQuantChannels(c, 2, &values, &channels));
  c.set_output(0, std::move(values));
  c.set_output(1, channels);
  c.set_output(2, std::move(channels));
  return OkStatus();
}

}  // namespace

void RegisterNnFakeQuantOps(OpRegistry& r) {
  r.Add(Op("FakeQuantWithMinMaxArgs")
            .Input("inputs: float")
            .Output("outputs: float")
            .Attr("min: float = -6.0")
            .Attr("max: float = 6.0")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(UnchangedShape)
            .Gradient(QuantArgsGradient));
  r.Add(Op("FakeQuantWithMinMaxArgsGradient")
            .Input("gradients: float")
            .Input("inputs: float")
            .Output("backprops: float")
            .Attr("min: float = -6.0")
            .Attr("max: float = 6.0")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(SameShapes)
            .NotDifferentiable());
  r.Add(Op("FakeQuantWithMinMaxVars")
            .Input("inputs: float")
            .Input("min: float")
            .Input("max: float")
            .Output("outputs: float")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(QuantVarsShape)
            .Gradient(QuantVarsGradient<kVarsGradient>));
  r.Add(Op(kVarsGradient)
            .Input("gradients: float")
            .Input("inputs: float")
            .Input("min: float")
            .Input("max: float")
            .Output("backprops_wrt_input: float")
            .Output("backprop_wrt_min: float")
            .Output("backprop_wrt_max: float")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(QuantVarsGradientShape)
            .NotDifferentiable());
  r.Add(Op("FakeQuantWithMinMaxVarsPerChannel")
            .Input("inputs: float")
            .Input("min: float")
            .Input("max: float")
            .Output("outputs: float")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(QuantPerChannelShape)
            .Gradient(QuantVarsGradient<kPerChannelGradient>));
  r.Add(Op(kPerChannelGradient)
            .Input("gradients: float")
            .Input("inputs: float")
            .Input("min: float")
            .Input("max: float")
            .Output("backprops_wrt_input: float")
            .Output("backprop_wrt_min: float")
            .Output("backprop_wrt_max: float")
            .Attr("num_bits: int = 8")
            .Attr("narrow_range: bool = false")
            .Shape(QuantPerChannelGradientShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
