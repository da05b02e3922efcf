// Operations on the bits of integers: schemas.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

constexpr const char* kIntegers = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}";

}  // namespace

void RegisterMathBitwiseOps(OpRegistry& r) {
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"}) {
    r.Add(
        Op(name).Input("x: T").Input("y: T").Output("z: T").Attr(kIntegers).Shape(BroadcastShape).NotDifferentiable());
  }
  r.Add(Op("Invert").Input("x: T").Output("y: T").Attr(kIntegers).Shape(UnchangedShape).NotDifferentiable());
  r.Add(
      Op("PopulationCount").Input("x: T").Output("y: uint8").Attr(kIntegers).Shape(UnchangedShape).NotDifferentiable());
}

}  // namespace tensorbraid
