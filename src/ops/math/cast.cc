// Cast: schema and gradient.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status CastGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const DType from = NodeOf(op)->attr<DType>("SrcT");
  const auto differentiable = [](DType t) { return IsFloating(t) || IsComplex(t); };
  // If the gradient is complex and x is real, Cast takes the real part of the gradient.
  if (differentiable(from) && differentiable(NodeOf(op)->attr<DType>("DstT"))) {
    (*input_grads)[0] = Cast(grads[0], from);
  }
  return OkStatus();
}

}  // namespace

void RegisterMathCastOps(OpRegistry& r) {
  r.Add(Op("Cast")
            .Input("x: SrcT")
            .Output("y: DstT")
            .Attr("SrcT: type")
            .Attr("DstT: type")
            .Attr("Truncate: bool = false")
            .Shape(UnchangedShape)
            .Gradient(CastGradient));
}

}  // namespace tensorbraid
