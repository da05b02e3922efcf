// Formulas of emitters, written with the operators of C++: `var - rate * grad / (Sqrt(sum) + 1e-8)`.
#ifndef TENSORBRAID_KERNELS_PJRT_EXPRESSION_H_
#define TENSORBRAID_KERNELS_PJRT_EXPRESSION_H_

#include <string_view>
#include <vector>

#include "pjrt/emitter.h"
#include "pjrt/stablehlo.h"

namespace tensorbraid::pjrt {

// A tensor in a formula. Both operands of an operator have the same dtype, and shapes that broadcast, as NumPy's do. A
// number takes the dtype of the other operand. Copied like a number.
class Expr {
 public:
  Expr(stablehlo::Builder& builder, stablehlo::Value value) : builder_(&builder), value_(std::move(value)) {}

  stablehlo::Builder& builder() const { return *builder_; }
  const stablehlo::Value& value() const { return value_; }
  DType dtype() const { return value_.dtype; }
  const Shape& shape() const { return value_.shape; }

  Expr Convert(DType dtype) const { return {*builder_, builder_->Convert(value_, dtype)}; }
  Expr Reshape(const Shape& shape) const { return {*builder_, builder_->Reshape(value_, shape)}; }
  Expr BroadcastTo(const Shape& shape) const { return {*builder_, builder_->BroadcastTo(value_, shape)}; }
  Expr Unary(std::string_view name) const { return {*builder_, builder_->Unary(name, value_)}; }
  // The number as a scalar of this dtype.
  Expr Number(double number) const { return {*builder_, builder_->Splat(dtype(), number)}; }

 private:
  stablehlo::Builder* builder_;
  stablehlo::Value value_;
};

// An elementwise op of two operands, and a comparison (EQ, NE, GE, GT, LE, LT).
Expr Binary(std::string_view name, const Expr& x, const Expr& y);
Expr Compare(std::string_view direction, const Expr& x, const Expr& y);

// Operators with a number on one side.
#define TB_WITH_NUMBERS(function)                                                    \
  inline Expr function(const Expr& x, double y) { return function(x, x.Number(y)); } \
  inline Expr function(double x, const Expr& y) { return function(y.Number(x), y); }
#define TB_BINARY(function, name)                                                   \
  inline Expr function(const Expr& x, const Expr& y) { return Binary(name, x, y); } \
  TB_WITH_NUMBERS(function)
TB_BINARY(operator+, "add")
TB_BINARY(operator-, "subtract")
TB_BINARY(operator*, "multiply")
TB_BINARY(operator/, "divide")
TB_BINARY(Pow, "power")
TB_BINARY(Remainder, "remainder")
TB_BINARY(Atan2, "atan2")
TB_BINARY(operator&&, "and")
TB_BINARY(operator||, "or")
#undef TB_BINARY
#define TB_COMPARISON(function, direction)                                                \
  inline Expr function(const Expr& x, const Expr& y) { return Compare(direction, x, y); } \
  TB_WITH_NUMBERS(function)
TB_COMPARISON(operator==, "EQ")
TB_COMPARISON(operator!=, "NE")
TB_COMPARISON(operator<, "LT")
TB_COMPARISON(operator<=, "LE")
TB_COMPARISON(operator>, "GT")
TB_COMPARISON(operator>=, "GE")
#undef TB_COMPARISON

// The maximum and minimum; NaN if an operand is NaN. (The ops "maximum" and "minimum" of the CPU plugins lose NaNs.)
Expr Max(const Expr& x, const Expr& y);
Expr Min(const Expr& x, const Expr& y);
TB_WITH_NUMBERS(Max)
TB_WITH_NUMBERS(Min)
#undef TB_WITH_NUMBERS

inline Expr operator-(const Expr& x) { return x.Unary("negate"); }
inline Expr operator!(const Expr& x) { return x.Unary("not"); }
inline Expr Abs(const Expr& x) { return x.Unary("abs"); }
inline Expr Sign(const Expr& x) { return x.Unary("sign"); }
inline Expr Exp(const Expr& x) { return x.Unary("exponential"); }
inline Expr Expm1(const Expr& x) { return x.Unary("exponential_minus_one"); }
inline Expr Log(const Expr& x) { return x.Unary("log"); }
inline Expr Log1p(const Expr& x) { return x.Unary("log_plus_one"); }
inline Expr Sqrt(const Expr& x) { return x.Unary("sqrt"); }
inline Expr Rsqrt(const Expr& x) { return x.Unary("rsqrt"); }
inline Expr Tanh(const Expr& x) { return x.Unary("tanh"); }
inline Expr Sigmoid(const Expr& x) { return x.Unary("logistic"); }
inline Expr Floor(const Expr& x) { return x.Unary("floor"); }

// Complex numbers and their parts. The part of a number is an op of StableHLO: "real", "imag" or "abs".
Expr PartOf(const Expr& x, std::string_view part);
Expr ComplexOf(const Expr& real, const Expr& imag);
// A tensor that is not complex is returned as it is.
Expr Conjugate(const Expr& x);

// The elements of `if_true` where the condition holds, else those of `if_false`.
Expr Select(const Expr& condition, const Expr& if_true, const Expr& if_false);
inline Expr Select(const Expr& condition, const Expr& x, double y) { return Select(condition, x, x.Number(y)); }
inline Expr Select(const Expr& condition, double x, const Expr& y) { return Select(condition, y.Number(x), y); }

// The sum, product, maximum and so on of the elements along `axes`, which become dimensions of size 1. `initial` is the
// result for no elements.
using Combination = Expr (*)(const Expr& x, const Expr& y);
Expr Reduce(const Expr& x, const std::vector<int64_t>& axes, const Expr& initial, Combination combine);
Expr Sum(const Expr& x, const std::vector<int64_t>& axes);
// -infinity, or the least integer, for no elements.
Expr MaxOf(const Expr& x, const std::vector<int64_t>& axes);

// The dtype in which an element of this dtype is computed: float32 for the 16-bit floats, as by the CPU's kernels.
inline DType ComputeDType(DType dtype) { return dtype == kFloat16 || dtype == kBfloat16 ? kFloat32 : dtype; }

// Input i, converted to the dtype that it is computed in.
StatusOr<Expr> WideInput(const EmitContext& ctx, int i);
// Sets output i to the value, converted to the node's dtype.
void SetOutput(EmitContext& ctx, int i, const Expr& value);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_EXPRESSION_H_
