// L2Loss: schema and gradient.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status L2LossGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeOf(op)->inputs()[0] * grads[0];
  return OkStatus();
}

}  // namespace

void RegisterNnL2LossOps(OpRegistry& r) {
  constexpr const char* kFloats = "T: {half, bfloat16, float, double}";
  r.Add(Op("L2Loss").Input("t: T").Output("output: T").Attr(kFloats).Shape(ScalarShape).Gradient(L2LossGradient));
}

}  // namespace tensorbraid
