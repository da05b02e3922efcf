// Functions of two operands, which broadcast. A division of integers by zero is an error, which a program cannot
// report, so the host computes divisions of integers that are known, such as sizes.
#include "kernels/pjrt/formulas.h"

namespace tensorbraid::pjrt {
namespace {

Expr EmitAdd(const Expr& x, const Expr& y) { return x + y; }
Expr EmitSub(const Expr& x, const Expr& y) { return x - y; }
Expr EmitMul(const Expr& x, const Expr& y) { return x * y; }
Expr EmitDiv(const Expr& x, const Expr& y) { return x / y; }
// The remainder with the sign of the divisor.
Expr EmitFloorMod(const Expr& x, const Expr& y) {
  const Expr r = Remainder(x, y);
  return Select(r != 0 && (r < 0) != (y < 0), r + y, r);
}
Expr EmitTruncateDiv(const Expr& x, const Expr& y) {
  const Expr q = x / y;
  return Select(q < 0, q.Unary("ceil"), Floor(q));
}

void AddForHost(EmitterRegistry& r, std::string_view op, DTypeSet types,
                std::source_location location = std::source_location::current()) {
  r.Add(op, {{"T", types}}, nullptr, location).static_inputs = {"x", "y"};
}

}  // namespace

void RegisterMathBinaryEmitters(EmitterRegistry& r) {
  AddBinary(r, "Add", kNumbers, EmitAdd);
  AddBinary(r, "AddV2", kNumbers, EmitAdd);
  AddBinary(r, "Sub", kNumbers, EmitSub);
  AddBinary(r, "Mul", kNumbers, EmitMul);
  AddBinary(r, "Div", kFloats, EmitDiv);
  AddBinary(r, "RealDiv", kFloats, EmitDiv);
  AddBinary(r, "Maximum", kReals, Max);
  AddBinary(r, "Minimum", kReals, Min);
  AddBinary(r, "SquaredDifference", kReals, [](const Expr& x, const Expr& y) {
    const Expr d = x - y;
    return d * d;
  });
  AddBinary(r, "Pow", kFloats, [](const Expr& x, const Expr& y) { return Pow(x, y); });
  AddBinary(r, "Atan2", kFloats, [](const Expr& x, const Expr& y) { return Atan2(x, y); });
  AddBinary(r, "FloorDiv", kFloats, [](const Expr& x, const Expr& y) { return Floor(x / y); });
  AddBinary(r, "FloorMod", kFloats, EmitFloorMod);
  AddBinary(r, "Mod", kFloats, [](const Expr& x, const Expr& y) { return Remainder(x, y); });
  AddBinary(r, "TruncateMod", kFloats, [](const Expr& x, const Expr& y) { return Remainder(x, y); });
  AddBinary(r, "TruncateDiv", kFloats, EmitTruncateDiv);
  for (const char* op : {"Div", "FloorDiv", "FloorMod", "TruncateDiv", "Pow"}) AddForHost(r, op, kIntegers);
  for (const char* op : {"Mod", "TruncateMod"}) AddForHost(r, op, {kInt32, kInt64});
  // These are 0 where one operand is 0, even if the other operand or its logarithm is NaN or infinite.
  AddBinary(r, "DivNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x / y); });
  AddBinary(r, "MulNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x * y); });
  AddBinary(r, "Xdivy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x / y); });
  AddBinary(r, "Xlogy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log(y)); });
  AddBinary(r, "Xlog1py", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log1p(y)); });
}

}  // namespace tensorbraid::pjrt
