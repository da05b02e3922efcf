// Operations on the bits of integers.
#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

// A distance that is negative or at least the number of bits is limited, as by the kernel of the CPU.
Expr Distance(const Expr& by) { return Min(Max(by, 0), static_cast<double>(8 * DTypeSize(by.dtype()) - 1)); }
bool IsSigned(DType dtype) { return dtype == kInt8 || dtype == kInt16 || dtype == kInt32 || dtype == kInt64; }

Expr EmitRightShift(const Expr& x, const Expr& y) {
  return Binary(IsSigned(x.dtype()) ? "shift_right_arithmetic" : "shift_right_logical", x, Distance(y));
}

}  // namespace

void RegisterMathBitwiseEmitters(EmitterRegistry& r) {
  AddBinary(r, "BitwiseAnd", kIntegers, [](const Expr& x, const Expr& y) { return x && y; });
  AddBinary(r, "BitwiseOr", kIntegers, [](const Expr& x, const Expr& y) { return x || y; });
  AddBinary(r, "BitwiseXor", kIntegers, [](const Expr& x, const Expr& y) { return Binary("xor", x, y); });
  AddBinary(r, "LeftShift", kIntegers,
            [](const Expr& x, const Expr& y) { return Binary("shift_left", x, Distance(y)); });
  AddBinary(r, "RightShift", kIntegers, EmitRightShift);
  AddUnary(r, "Invert", kIntegers, [](const Expr& x) { return !x; });
  AddUnary(r, "PopulationCount", kIntegers, [](const Expr& x) { return x.Unary("popcnt"); });
}

}  // namespace tensorbraid::pjrt
