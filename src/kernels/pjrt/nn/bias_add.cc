// BiasAdd and its gradient.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The dimension of the channels: the last one, or dimension 1 with NCHW.
int ChannelAxis(const Node& node, int rank) {
  const AttrValue* format = node.FindAttr("data_format");
  const bool first =
      format != nullptr && format->get<std::string>() != nullptr && *format->get<std::string>() == "NCHW";
  return first ? 1 : rank - 1;
}

Status EmitBiasAdd(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr value, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr bias, WideInput(ctx, 1));
  const int rank = value.shape().rank();
  if (rank < 2) return InvalidArgument("value must have rank 2 or more, got shape ", value.shape());
  if (bias.shape().rank() != 1) return InvalidArgument("bias must be a vector, got shape ", bias.shape());
  const int axis = ChannelAxis(ctx.node(), rank);
  if (bias.shape().dim(0) != value.shape().dim(axis)) {
    return InvalidArgument("bias ", bias.shape(), " must have one element for each of the ", value.shape().dim(axis),
                           " channels of ", value.shape());
  }
  const Expr wide(ctx.builder(), ctx.builder().BroadcastInDim(bias.value(), value.shape(), {axis}));
  SetOutput(ctx, 0, value + wide);
  return OkStatus();
}

// The sum over all dimensions except the channels.
Status EmitBiasAddGrad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr grad, WideInput(ctx, 0));
  const int rank = grad.shape().rank();
  if (rank < 2) return InvalidArgument("the gradient must have rank 2 or more, got shape ", grad.shape());
  const int axis = ChannelAxis(ctx.node(), rank);
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) axes.push_back(i);
  }
  SetOutput(ctx, 0, Sum(grad, axes).Reshape({grad.shape().dim(axis)}));
  return OkStatus();
}

}  // namespace

void RegisterNnBiasAddEmitters(EmitterRegistry& r) {
  r.Add("BiasAdd", {{"T", kReals}}, EmitBiasAdd);
  r.Add("BiasAddV1", {{"T", kReals}}, EmitBiasAdd);
  r.Add("BiasAddGrad", {{"T", kReals}}, EmitBiasAddGrad);
}

}  // namespace tensorbraid::pjrt
