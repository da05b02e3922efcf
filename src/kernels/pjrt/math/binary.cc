// Functions of two operands, which broadcast.
#include <limits>

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/cpu/functors.h"
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

// The quotient of integers, rounded down. The op "divide" rounds towards zero.
Expr EmitIntegerFloorDiv(const Expr& x, const Expr& y) {
  const Expr q = x / y, r = x - q * y;
  return Select(r != 0 && (x < 0) != (y < 0), q - 1, q);
}

// Adds an emitter for integers. An element of y that `refuses` holds for is an error with this text.
void AddChecked(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
                Expr (*refuses)(const Expr& y), const char* text, absl::StatusCode code,
                std::source_location location = std::source_location::current()) {
  const EmitFn emit = [=](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
    TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
    TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(x.shape(), y.shape()));
    if (shape.num_elements() > 0) {
      ctx.fail_where(refuses(y).value(), {}, [=](std::span<const int64_t>) { return Status(code, text); });
    }
    SetOutput(ctx, 0, formula(x.BroadcastTo(shape), y.BroadcastTo(shape)));
    return OkStatus();
  };
  r.Add(op, {{"T", types}}, emit, location);
}

// In TensorFlow, an integer division by zero is an Internal error in ops that truncate, and InvalidArgument in others.
void AddDivision(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
                 absl::StatusCode code = absl::StatusCode::kInvalidArgument,
                 std::source_location location = std::source_location::current()) {
  AddChecked(
      r, op, types, formula, [](const Expr& y) { return y == 0; }, cpu::DivF::kRefusal, code, location);
}

// The next number after x in the direction of y. Computed with the bits as integers, since plugins may take subnormal
// numbers for zeros.
Expr EmitNextAfter(const Expr& x, const Expr& y) {
  stablehlo::Builder& b = x.builder();
  const DType bits = x.dtype() == kFloat32 ? kInt32 : kInt64;
  const auto bits_of = [&](const Expr& v) { return Expr(b, b.Op("bitcast_convert", {v.value()}, bits, v.shape())); };
  const Expr sign(b, b.Lowest(bits)), size(b, b.Highest(bits));
  const double infinity = bits == kInt32 ? 0x7F800000 : 0x7FF0'0000'0000'0000;
  // Numbers in their order: both zeros are 0, and neighbours differ by 1.
  const auto rank_of = [&](const Expr& v) { return Select(v < 0, -Binary("and", v, size), v); };
  const auto is_nan = [&](const Expr& v) { return Binary("and", v, size) > infinity; };
  const Expr from = bits_of(x), to = bits_of(y), from_rank = rank_of(from), to_rank = rank_of(to);
  const Expr rank = Select(from_rank < to_rank, from_rank + 1, from_rank - 1);
  const Expr next = Select(rank < 0 || (rank == 0 && from < 0), Binary("or", -rank, sign), rank);
  const Expr result = Select(from_rank == to_rank, to, next);
  const Expr number(b, b.Op("bitcast_convert", {result.value()}, x.dtype(), result.shape()));
  return Select(is_nan(from) || is_nan(to), number.Number(std::numeric_limits<double>::quiet_NaN()), number);
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
  AddBinary(r, "NextAfter", {kFloat32, kFloat64}, EmitNextAfter);
  AddBinary(r, "FloorDiv", kFloats, [](const Expr& x, const Expr& y) { return Floor(x / y); });
  AddBinary(r, "FloorMod", kFloats, EmitFloorMod);
  AddBinary(r, "Mod", kFloats, [](const Expr& x, const Expr& y) { return Remainder(x, y); });
  AddBinary(r, "TruncateMod", kFloats, [](const Expr& x, const Expr& y) { return Remainder(x, y); });
  AddBinary(r, "TruncateDiv", kFloats, EmitTruncateDiv);
  AddDivision(r, "Div", kIntegers, EmitDiv);
  AddDivision(r, "FloorDiv", kIntegers, EmitIntegerFloorDiv);
  AddDivision(r, "FloorMod", kIntegers, EmitFloorMod);
  AddDivision(r, "Mod", {kInt32, kInt64}, Remainder);
  AddDivision(r, "TruncateDiv", kIntegers, EmitDiv, absl::StatusCode::kInternal);
  AddDivision(r, "TruncateMod", {kInt32, kInt64}, Remainder, absl::StatusCode::kInternal);
  AddChecked(
      r, "Pow", kIntegers, Pow, [](const Expr& y) { return y < 0; }, cpu::PowF::kRefusal,
      absl::StatusCode::kInvalidArgument);
  // These are 0 where one operand is 0, even if the other operand or its logarithm is NaN or infinite.
  AddBinary(r, "DivNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x / y); });
  AddBinary(r, "MulNoNan", kFloats, [](const Expr& x, const Expr& y) { return Select(y == 0, 0, x * y); });
  AddBinary(r, "Xdivy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x / y); });
  AddBinary(r, "Xlogy", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log(y)); });
  AddBinary(r, "Xlog1py", kFloats, [](const Expr& x, const Expr& y) { return Select(x == 0, 0, x * Log1p(y)); });
}

}  // namespace tensorbraid::pjrt
