// ClipByValue: schema and gradient.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The gradient of a clipped element flows to the bound that replaced it. The gradient of any other element flows to t.
Status ClipByValueGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  const Output g = grads[0];
  const Output below = Less(in[0], in[1]), above = Greater(in[0], in[2]);
  (*input_grads)[0] = Select(LogicalOr(below, above), 0.0, g);
  (*input_grads)[1] = SumToOperand(Select(below, g, 0.0), in[1], op.output(0));
  (*input_grads)[2] = SumToOperand(Select(above, g, 0.0), in[2], op.output(0));
  return OkStatus();
}

}  // namespace

void RegisterMathClipOps(OpRegistry& r) {
  r.Add(Op("ClipByValue")
            .Input("t: T")
            .Input("clip_value_min: T")
            .Input("clip_value_max: T")
            .Output("output: T")
            .Attr("T: numbertype")
            .Shape(UnchangedShape)
            .Gradient(ClipByValueGradient));
}

}  // namespace tensorbraid
