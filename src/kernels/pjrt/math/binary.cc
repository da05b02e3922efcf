// Functions of two operands, which broadcast. Integer division has no emitter: a division by zero is an error, which a
// program cannot report.
#include "graph/model/op_registry.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using BinaryFormula = Expr (*)(const Expr& x, const Expr& y);

// Adds an emitter for a formula of two operands of the same shape, which broadcast. Elements are computed in their
// compute dtype.
void AddBinary(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
               std::source_location location = std::source_location::current()) {
  const EmitFn emit = [formula](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
    TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
    TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(x.shape(), y.shape()));
    SetOutput(ctx, 0, formula(x.BroadcastTo(shape), y.BroadcastTo(shape)));
    return OkStatus();
  };
  r.Add(op, {{"T", types}}, emit, location);
}

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

}  // namespace

void RegisterMathBinaryEmitters(EmitterRegistry& r) {
  AddBinary(r, "Add", kNumbers, EmitAdd);
  AddBinary(r, "AddV2", kNumbers, EmitAdd);
  AddBinary(r, "Sub", kNumbers, EmitSub);
  AddBinary(r, "Mul", kNumbers, EmitMul);
  AddBinary(r, "Div", kFloats, EmitDiv);
  AddBinary(r, "RealDiv", kFloats, EmitDiv);
  AddBinary(r, "Maximum", kReals, [](const Expr& x, const Expr& y) { return Max(x, y); });
  AddBinary(r, "Minimum", kReals, [](const Expr& x, const Expr& y) { return Min(x, y); });
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
  // These are 0 where one operand is 0, even if the other operand or its logarithm is NaN or infinite.
  AddBinary(r, "DivNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x / y); });
  AddBinary(r, "MulNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x * y); });
  AddBinary(r, "Xdivy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x / y); });
  AddBinary(r, "Xlogy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log(y)); });
  AddBinary(r, "Xlog1py", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log1p(y)); });
}

}  // namespace tensorbraid::pjrt
