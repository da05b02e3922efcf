// BiasAdd and BiasAddGrad: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

int ChannelAxis(const Node& node, int rank) {
  const AttrValue* format = node.FindAttr("data_format");
  const bool first =
      format != nullptr && format->get<std::string>() != nullptr && *format->get<std::string>() == "NCHW";
  return first ? 1 : rank - 1;
}

Status BiasAddShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape value, c.WithRankAtLeast(0, 2));
  TF_ASSIGN_OR_RETURN(const Shape bias, c.WithRank(1, 1));
  if (value.has_rank()) {
    const int at = ChannelAxis(c.node(), value.rank());
    if (!Shape({value.dim(at)}).IsCompatibleWith(bias)) {
      return InvalidArgument("bias ", bias, " must have one element for each of the ", value.dim(at), " channels of ",
                             value);
    }
    if (value.dim(at) < 0) value.set_dim(at, bias.dim(0));
  }
  c.set_output(0, std::move(value));
  return OkStatus();
}

Status BiasAddGradShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape value, c.WithRankAtLeast(0, 2));
  c.set_output(0, {value.has_rank() ? value.dim(ChannelAxis(c.node(), value.rank())) : Shape::kUnknownDim});
  return OkStatus();
}

Status BiasAddGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  NodeBuilder bias(*op.graph(), "BiasAddGrad");
  bias.Input(grads[0]);
  if (const AttrValue* format = NodeOf(op)->FindAttr("data_format")) bias.Attr("data_format", *format);
  *input_grads = {grads[0], bias.Output()};
  return OkStatus();
}

Status BiasAddGradGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "BiasAdd")
                          .Input(Node1("ZerosLike", NodeOf(op)->inputs()[0]))
                          .Input(grads[0])
                          .Attr("data_format", *NodeOf(op)->FindAttr("data_format"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterNnBiasAddOps(OpRegistry& r) {
  constexpr const char* kFormat = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
  r.Add(Op("BiasAdd")
            .Input("value: T")
            .Input("bias: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr(kFormat)
            .Shape(BiasAddShape)
            .Gradient(BiasAddGradient));
  r.Add(Op("BiasAddV1")
            .Input("value: T")
            .Input("bias: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Shape(BiasAddShape)
            .Gradient(BiasAddGradient));
  r.Add(Op("BiasAddGrad")
            .Input("out_backprop: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Attr(kFormat)
            .Shape(BiasAddGradShape)
            .Gradient(BiasAddGradGradient));
}

}  // namespace tensorbraid
