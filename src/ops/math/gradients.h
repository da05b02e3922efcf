// Helpers for the schemas of functions of one operand and of two operands.
#ifndef TENSORBRAID_OPS_MATH_GRADIENTS_H_
#define TENSORBRAID_OPS_MATH_GRADIENTS_H_

#include <source_location>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "ops/builder.h"

namespace tensorbraid {

// The gradients of two operands, in the shape of the result.
struct OperandGrads {
  Output x;  // invalid if no gradient flows to x
  Output y;
};

// Makes a GradientFn of a function that computes the gradients of the operands x and y from them and from the gradient
// g of the result. The op broadcasts its operands, so each gradient is then reduced to the shape of its operand.
template <OperandGrads (*gradient)(Output x, Output y, Output g)>
Status OperandGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output y = NodeOf(op)->inputs()[1];
  const OperandGrads p = gradient(x, y, grads[0]);
  if (p.x.valid()) (*input_grads)[0] = SumToOperand(p.x, x, op.output(0));
  if (p.y.valid()) (*input_grads)[1] = SumToOperand(p.y, y, op.output(0));
  return OkStatus();
}

inline constexpr const char* kFloatsAndComplex = "T: {bfloat16, half, float, double, complex64, complex128}";
inline constexpr const char* kRealFloats = "T: {bfloat16, half, float, double}";

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_MATH_GRADIENTS_H_
