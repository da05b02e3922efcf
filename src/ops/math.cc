// The mathematical ops; their schemas, shape rules and gradients are in math_*.cc.
#include "ops/builder.h"
#include "ops/register.h"

namespace tensorbraid {

void RegisterMathOps(OpRegistry& r) {
  RegisterUnaryOps(r);
  RegisterBinaryOps(r);
  RegisterMatrixOps(r);
  RegisterSelectOps(r);
  RegisterSpecialOps(r);
  RegisterSequenceOps(r);
}

}  // namespace tensorbraid
