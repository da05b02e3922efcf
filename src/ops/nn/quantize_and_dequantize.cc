// Ops that round numbers to those that an integer of a few bits can represent, with one scale for the whole tensor or
// one for each slice along an axis: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

// Checks the minimum and the maximum, inputs `first` and `first` + 1. They must be scalars, or, if the op has an axis,
// vectors with one element for each slice of input number `values`. Returns their shape.
StatusOr<Shape> RangeShape(ShapeContext& c, int values, int first) {
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return InvalidArgument("axis must be at least -1, which stands for no axis, got ", axis);
  if (axis == -1) {
    TF_RETURN_IF_ERROR(c.WithRank(first, 0).status());
    TF_RETURN_IF_ERROR(c.WithRank(first + 1, 0).status());
    return Shape();
  }
  const Shape& shape = c.input(values);
  if (!shape.has_rank()) return Shape::UnknownOfRank(1);
  if (axis >= shape.rank()) return InvalidArgument("axis ", axis, " is out of range for shape ", shape);
  Shape slices({shape.dim(static_cast<int>(axis))});
  for (int i = first; i < first + 2; ++i) {
    TF_ASSIGN_OR_RETURN(const Shape limits, c.WithRank(i, 1));
    TF_ASSIGN_OR_RETURN(slices, slices.MergeWith(limits));
  }
  return slices;
}

Status RoundTripShape(ShapeContext& c) {
  const AttrValue* given = c.node().FindAttr("range_given");
  if (given != nullptr && *given->get<bool>()) {
    TF_RETURN_IF_ERROR(RangeShape(c, 0, 1).status());
  } else if (c.attr<int64_t>("axis") < -1) {
    return InvalidArgument("axis must be at least -1, which stands for no axis, got ", c.attr<int64_t>("axis"));
  }
  if (c.num_inputs() > 3) TF_RETURN_IF_ERROR(c.WithRank(3, 0).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status RoundTripGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape values, c.input(0).MergeWith(c.input(1)));
  TF_ASSIGN_OR_RETURN(Shape range, RangeShape(c, 1, 2));
  c.set_output(0, std::move(values));
  c.set_output(1, range);
  c.set_output(2, std::move(range));
  return OkStatus();
}

// As in TensorFlow, the versions before V4 pass the gradient on unchanged, as if they did not round. V4 does so only
// for values inside the range.
Status RoundTripV4Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const std::vector<Output>& in = NodeOf(op)->inputs();
  const Operation gradient = NodeBuilder(*op.graph(), "QuantizeAndDequantizeV4Grad")
                                 .Input(grads[0])
                                 .Input(in[0])
                                 .Input(in[1])
                                 .Input(in[2])
                                 .Attr("axis", NodeOf(op)->attr<int64_t>("axis"))
                                 .Finish();
  if (!gradient.valid()) return OkStatus();
  *input_grads = {gradient.output(0), gradient.output(1), gradient.output(2)};
  return OkStatus();
}

}  // namespace

void RegisterNnQuantizeAndDequantizeOps(OpRegistry& r) {
  constexpr const char* kTypes = "T: {bfloat16, half, float, double}";
  r.Add(Op("QuantizeAndDequantize")
            .Input("input: T")
            .Output("output: T")
            .Attr("signed_input: bool = true")
            .Attr("num_bits: int = 8")
            .Attr("range_given: bool = false")
            .Attr("input_min: float = 0.0")
            .Attr("input_max: float = 0.0")
            .Attr(kTypes)
            .Shape(UnchangedShape)
            .Gradient(PassGradient));
  r.Add(Op("QuantizeAndDequantizeV2")
            .Input("input: T")
            .Input("input_min: T")
            .Input("input_max: T")
            .Output("output: T")
            .Attr("signed_input: bool = true")
            .Attr("num_bits: int = 8")
            .Attr("range_given: bool = false")
            .Attr(kTypes)
            .Attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
            .Attr("narrow_range: bool = false")
            .Attr("axis: int = -1")
            .Shape(RoundTripShape)
            .Gradient(PassGradient));
  r.Add(Op("QuantizeAndDequantizeV3")
            .Input("input: T")
            .Input("input_min: T")
            .Input("input_max: T")
            .Input("num_bits: int32")
            .Output("output: T")
            .Attr("signed_input: bool = true")
            .Attr("range_given: bool = true")
            .Attr(kTypes)
            .Attr("narrow_range: bool = false")
            .Attr("axis: int = -1")
            .Shape(RoundTripShape)
            .Gradient(PassGradient));
  r.Add(Op("QuantizeAndDequantizeV4")
            .Input("input: T")
            .Input("input_min: T")
            .Input("input_max: T")
            .Output("output: T")
            .Attr("signed_input: bool = true")
            .Attr("num_bits: int = 8")
            .Attr("range_given: bool = false")
            .Attr(kTypes)
            .Attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
            .Attr("narrow_range: bool = false")
            .Attr("axis: int = -1")
            .Shape(RoundTripShape)
            .Gradient(RoundTripV4Gradient));
  r.Add(Op("QuantizeAndDequantizeV4Grad")
            .Input("gradients: T")
            .Input("input: T")
            .Input("input_min: T")
            .Input("input_max: T")
            .Output("input_backprop: T")
            .Output("input_min_backprop: T")
            .Output("input_max_backprop: T")
            .Attr(kTypes)
            .Attr("axis: int = -1")
            .Shape(RoundTripGradShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
