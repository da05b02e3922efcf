// A function for each op of src/ops/math; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_MATH_H_
#define TENSORBRAID_RAW_OPS_MATH_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op Abs. The usual function is Abs (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: reals.
inline Output Abs(const Operand& x, const std::string& name = "") {
  return internal::Call("Abs", name, {x}).One();
}

// Adds a node of the op AccumulateNV2. It has a gradient.
// Inputs: inputs (a list of N tensors of type T).
// Attributes: shape (shape).
// Output: sum (T).
// T: numbers.
inline Output AccumulateNV2(const std::vector<Output>& inputs, const tensorbraid::Shape& shape,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("AccumulateNV2", name, {inputs}, loc).Attr("shape", shape).One();
}

// Adds a node of the op Acos. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Acos(const Operand& x, const std::string& name = "") {
  return internal::Call("Acos", name, {x}).One();
}

// Adds a node of the op Acosh. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Acosh(const Operand& x, const std::string& name = "") {
  return internal::Call("Acosh", name, {x}).One();
}

// Adds a node of the op Add. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers string.
inline Output Add(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Add", name, {x, y}).One();
}

// Adds a node of the op AddN. The usual function is AddN (ops/math.h). It has a gradient.
// Inputs: inputs (a list of N tensors of type T).
// Output: sum (T).
// T: numbers variant.
inline Output AddN(const std::vector<Output>& inputs, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("AddN", name, {inputs}, loc).One();
}

// Adds a node of the op AddV2. The usual function is Add (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output AddV2(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("AddV2", name, {x, y}).One();
}

struct AngleOptions {
  DType tout = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op Angle. It has a gradient.
// Inputs: input (T).
// Attributes: tout (attribute Tout, dtype: float32 float64; default float32).
// Output: output (Tout).
// T: complex.
inline Output Angle(const Operand& input, const AngleOptions& options = {}) {
  return internal::Call("Angle", options.name, {input}).Attr("Tout", options.tout).One();
}

struct ApproximateEqualOptions {
  float tolerance = 1e-05f;
  std::string name = {};
};
// Adds a node of the op ApproximateEqual.
// Inputs: x (T), y (T).
// Attributes: tolerance (float; default 1e-05).
// Output: z (bool).
// T: float32 float64.
inline Output ApproximateEqual(const Operand& x, const Operand& y, const ApproximateEqualOptions& options = {}) {
  return internal::Call("ApproximateEqual", options.name, {x, y}).Attr("tolerance", options.tolerance).One();
}

// Adds a node of the op Asin. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Asin(const Operand& x, const std::string& name = "") {
  return internal::Call("Asin", name, {x}).One();
}

// Adds a node of the op Asinh. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Asinh(const Operand& x, const std::string& name = "") {
  return internal::Call("Asinh", name, {x}).One();
}

// Adds a node of the op Atan. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Atan(const Operand& x, const std::string& name = "") {
  return internal::Call("Atan", name, {x}).One();
}

// Adds a node of the op Atan2. It has a gradient.
// Inputs: y (T), x (T).
// Output: z (T).
// T: floats.
inline Output Atan2(const Operand& y, const Operand& x, const std::string& name = "") {
  return internal::Call("Atan2", name, {y, x}).One();
}

// Adds a node of the op Atanh. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Atanh(const Operand& x, const std::string& name = "") {
  return internal::Call("Atanh", name, {x}).One();
}

struct BatchMatMulOptions {
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  std::string name = {};
};
// Adds a node of the op BatchMatMul. It has a gradient.
// Inputs: x (T), y (T).
// Attributes: adj_x (bool; default false), adj_y (bool; default false), grad_x (bool; default false), grad_y (bool;
//   default false).
// Output: output (T).
// T: numbers.
inline Output BatchMatMul(const Operand& x, const Operand& y, const BatchMatMulOptions& options = {}) {
  return internal::Call("BatchMatMul", options.name, {x, y}).Attr("adj_x", options.adj_x).Attr("adj_y", options.adj_y)
      .Attr("grad_x", options.grad_x).Attr("grad_y", options.grad_y).One();
}

struct BatchMatMulV2Options {
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  std::string name = {};
};
// Adds a node of the op BatchMatMulV2. The usual function is BatchMatMul (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Attributes: adj_x (bool; default false), adj_y (bool; default false), grad_x (bool; default false), grad_y (bool;
//   default false).
// Output: output (T).
// T: numbers.
inline Output BatchMatMulV2(const Operand& x, const Operand& y, const BatchMatMulV2Options& options = {}) {
  return internal::Call("BatchMatMulV2", options.name, {x, y}).Attr("adj_x", options.adj_x).Attr("adj_y", options.adj_y)
      .Attr("grad_x", options.grad_x).Attr("grad_y", options.grad_y).One();
}

struct BatchMatMulV3Options {
  bool adj_x = false;
  bool adj_y = false;
  bool grad_x = false;
  bool grad_y = false;
  std::string name = {};
};
// Adds a node of the op BatchMatMulV3. It has a gradient.
// Inputs: x (Ta), y (Tb).
// Attributes: tout (attribute Tout, dtype: numbers), adj_x (bool; default false), adj_y (bool; default false), grad_x
//   (bool; default false), grad_y (bool; default false).
// Output: output (Tout).
// Ta: numbers; Tb: numbers.
inline Output BatchMatMulV3(const Operand& x, const Operand& y, DType tout, const BatchMatMulV3Options& options = {}) {
  return internal::Call("BatchMatMulV3", options.name, {x, y}).Attr("Tout", tout).Attr("adj_x", options.adj_x)
      .Attr("adj_y", options.adj_y).Attr("grad_x", options.grad_x).Attr("grad_y", options.grad_y).One();
}

// Adds a node of the op BesselI0. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselI0(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselI0", name, {x}).One();
}

// Adds a node of the op BesselI0e. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselI0e(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselI0e", name, {x}).One();
}

// Adds a node of the op BesselI1. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselI1(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselI1", name, {x}).One();
}

// Adds a node of the op BesselI1e. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselI1e(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselI1e", name, {x}).One();
}

// Adds a node of the op BesselJ0. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselJ0(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselJ0", name, {x}).One();
}

// Adds a node of the op BesselJ1. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselJ1(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselJ1", name, {x}).One();
}

// Adds a node of the op BesselK0. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselK0(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselK0", name, {x}).One();
}

// Adds a node of the op BesselK0e. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselK0e(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselK0e", name, {x}).One();
}

// Adds a node of the op BesselK1. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselK1(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselK1", name, {x}).One();
}

// Adds a node of the op BesselK1e. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselK1e(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselK1e", name, {x}).One();
}

// Adds a node of the op BesselY0. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselY0(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselY0", name, {x}).One();
}

// Adds a node of the op BesselY1. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output BesselY1(const Operand& x, const std::string& name = "") {
  return internal::Call("BesselY1", name, {x}).One();
}

// Adds a node of the op Betainc. It has a gradient.
// Inputs: a (T), b (T), x (T).
// Output: z (T).
// T: float32 float64.
inline Output Betainc(const Operand& a, const Operand& b, const Operand& x, const std::string& name = "") {
  return internal::Call("Betainc", name, {a, b, x}).One();
}

// Adds a node of the op BitwiseAnd.
// Inputs: x (T), y (T).
// Output: z (T).
// T: ints.
inline Output BitwiseAnd(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("BitwiseAnd", name, {x, y}).One();
}

// Adds a node of the op BitwiseOr.
// Inputs: x (T), y (T).
// Output: z (T).
// T: ints.
inline Output BitwiseOr(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("BitwiseOr", name, {x, y}).One();
}

// Adds a node of the op BitwiseXor.
// Inputs: x (T), y (T).
// Output: z (T).
// T: ints.
inline Output BitwiseXor(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("BitwiseXor", name, {x, y}).One();
}

struct CastOptions {
  bool truncate = false;
  std::string name = {};
};
// Adds a node of the op Cast. The usual function is Cast (ops/math.h). It has a gradient.
// Inputs: x (SrcT).
// Attributes: dst_t (attribute DstT, dtype: numbers quantized bool), truncate (attribute Truncate, bool; default
//   false).
// Output: y (DstT).
// SrcT: numbers quantized bool.
inline Output Cast(const Operand& x, DType dst_t, const CastOptions& options = {}) {
  return internal::Call("Cast", options.name, {x}).Attr("DstT", dst_t).Attr("Truncate", options.truncate).One();
}

// Adds a node of the op Ceil. The usual function is Ceil (ops/math.h).
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Ceil(const Operand& x, const std::string& name = "") {
  return internal::Call("Ceil", name, {x}).One();
}

// Adds a node of the op ClipByValue. It has a gradient.
// Inputs: t (T), clip_value_min (T), clip_value_max (T).
// Output: output (T).
// T: numbers.
inline Output ClipByValue(const Operand& t, const Operand& clip_value_min, const Operand& clip_value_max,
    const std::string& name = "") {
  return internal::Call("ClipByValue", name, {t, clip_value_min, clip_value_max}).One();
}

struct ComplexOptions {
  DType tout = DType::kComplex64;
  std::string name = {};
};
// Adds a node of the op Complex. It has a gradient.
// Inputs: real (T), imag (T).
// Attributes: tout (attribute Tout, dtype: complex; default complex64).
// Output: out (Tout).
// T: float32 float64.
inline Output Complex(const Operand& real, const Operand& imag, const ComplexOptions& options = {}) {
  return internal::Call("Complex", options.name, {real, imag}).Attr("Tout", options.tout).One();
}

struct ComplexAbsOptions {
  DType tout = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op ComplexAbs. It has a gradient.
// Inputs: x (T).
// Attributes: tout (attribute Tout, dtype: float32 float64; default float32).
// Output: y (Tout).
// T: complex.
inline Output ComplexAbs(const Operand& x, const ComplexAbsOptions& options = {}) {
  return internal::Call("ComplexAbs", options.name, {x}).Attr("Tout", options.tout).One();
}

// Adds a node of the op Conj. It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: complex.
inline Output Conj(const Operand& input, const std::string& name = "") {
  return internal::Call("Conj", name, {input}).One();
}

// Adds a node of the op Cos. The usual function is Cos (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Cos(const Operand& x, const std::string& name = "") {
  return internal::Call("Cos", name, {x}).One();
}

// Adds a node of the op Cosh. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Cosh(const Operand& x, const std::string& name = "") {
  return internal::Call("Cosh", name, {x}).One();
}

// Adds a node of the op Cross. It has a gradient.
// Inputs: a (T), b (T).
// Output: product (T).
// T: reals.
inline Output Cross(const Operand& a, const Operand& b, const std::string& name = "") {
  return internal::Call("Cross", name, {a, b}).One();
}

// Adds a node of the op Dawsn. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Dawsn(const Operand& x, const std::string& name = "") {
  return internal::Call("Dawsn", name, {x}).One();
}

// Adds a node of the op Digamma. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Digamma(const Operand& x, const std::string& name = "") {
  return internal::Call("Digamma", name, {x}).One();
}

// Adds a node of the op Div. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output Div(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Div", name, {x, y}).One();
}

// Adds a node of the op DivNoNan. The usual function is DivNoNan (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output DivNoNan(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("DivNoNan", name, {x, y}).One();
}

struct EqualOptions {
  bool incompatible_shape_error = true;
  std::string name = {};
};
// Adds a node of the op Equal. The usual function is Equal (ops/math.h).
// Inputs: x (T), y (T).
// Attributes: incompatible_shape_error (bool; default true).
// Output: z (bool).
// T: numbers quantized string bool.
inline Output Equal(const Operand& x, const Operand& y, const EqualOptions& options = {}) {
  return internal::Call("Equal", options.name, {x, y})
      .Attr("incompatible_shape_error", options.incompatible_shape_error).One();
}

// Adds a node of the op Erf. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Erf(const Operand& x, const std::string& name = "") {
  return internal::Call("Erf", name, {x}).One();
}

// Adds a node of the op Erfc. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Erfc(const Operand& x, const std::string& name = "") {
  return internal::Call("Erfc", name, {x}).One();
}

// Adds a node of the op Erfinv. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Erfinv(const Operand& x, const std::string& name = "") {
  return internal::Call("Erfinv", name, {x}).One();
}

// Adds a node of the op Exp. The usual function is Exp (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Exp(const Operand& x, const std::string& name = "") {
  return internal::Call("Exp", name, {x}).One();
}

// Adds a node of the op Expint. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Expint(const Operand& x, const std::string& name = "") {
  return internal::Call("Expint", name, {x}).One();
}

// Adds a node of the op Expm1. The usual function is Expm1 (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Expm1(const Operand& x, const std::string& name = "") {
  return internal::Call("Expm1", name, {x}).One();
}

// Adds a node of the op Floor. The usual function is Floor (ops/math.h).
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Floor(const Operand& x, const std::string& name = "") {
  return internal::Call("Floor", name, {x}).One();
}

// Adds a node of the op FloorDiv. The usual function is FloorDiv (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output FloorDiv(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("FloorDiv", name, {x, y}).One();
}

// Adds a node of the op FloorMod. The usual function is FloorMod (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output FloorMod(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("FloorMod", name, {x, y}).One();
}

// Adds a node of the op FresnelCos. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output FresnelCos(const Operand& x, const std::string& name = "") {
  return internal::Call("FresnelCos", name, {x}).One();
}

// Adds a node of the op FresnelSin. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output FresnelSin(const Operand& x, const std::string& name = "") {
  return internal::Call("FresnelSin", name, {x}).One();
}

// Adds a node of the op Greater. The usual function is Greater (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (bool).
// T: reals.
inline Output Greater(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Greater", name, {x, y}).One();
}

// Adds a node of the op GreaterEqual. The usual function is GreaterEqual (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (bool).
// T: reals.
inline Output GreaterEqual(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("GreaterEqual", name, {x, y}).One();
}

// Adds a node of the op Igamma. It has a gradient.
// Inputs: a (T), x (T).
// Output: z (T).
// T: floats.
inline Output Igamma(const Operand& a, const Operand& x, const std::string& name = "") {
  return internal::Call("Igamma", name, {a, x}).One();
}

// Adds a node of the op IgammaGradA.
// Inputs: a (T), x (T).
// Output: z (T).
// T: float32 float64.
inline Output IgammaGradA(const Operand& a, const Operand& x, const std::string& name = "") {
  return internal::Call("IgammaGradA", name, {a, x}).One();
}

// Adds a node of the op Igammac. It has a gradient.
// Inputs: a (T), x (T).
// Output: z (T).
// T: floats.
inline Output Igammac(const Operand& a, const Operand& x, const std::string& name = "") {
  return internal::Call("Igammac", name, {a, x}).One();
}

struct ImagOptions {
  DType tout = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op Imag. It has a gradient.
// Inputs: input (T).
// Attributes: tout (attribute Tout, dtype: float32 float64; default float32).
// Output: output (Tout).
// T: complex.
inline Output Imag(const Operand& input, const ImagOptions& options = {}) {
  return internal::Call("Imag", options.name, {input}).Attr("Tout", options.tout).One();
}

// Adds a node of the op Inv. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Inv(const Operand& x, const std::string& name = "") {
  return internal::Call("Inv", name, {x}).One();
}

// Adds a node of the op InvGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output InvGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("InvGrad", name, {y, dy}).One();
}

// Adds a node of the op Invert.
// Inputs: x (T).
// Output: y (T).
// T: ints.
inline Output Invert(const Operand& x, const std::string& name = "") {
  return internal::Call("Invert", name, {x}).One();
}

// Adds a node of the op IsFinite. The usual function is IsFinite (ops/math.h).
// Inputs: x (T).
// Output: y (bool).
// T: floats.
inline Output IsFinite(const Operand& x, const std::string& name = "") {
  return internal::Call("IsFinite", name, {x}).One();
}

// Adds a node of the op IsInf. The usual function is IsInf (ops/math.h).
// Inputs: x (T).
// Output: y (bool).
// T: floats.
inline Output IsInf(const Operand& x, const std::string& name = "") {
  return internal::Call("IsInf", name, {x}).One();
}

// Adds a node of the op IsNan. The usual function is IsNan (ops/math.h).
// Inputs: x (T).
// Output: y (bool).
// T: floats.
inline Output IsNan(const Operand& x, const std::string& name = "") {
  return internal::Call("IsNan", name, {x}).One();
}

// Adds a node of the op LeftShift.
// Inputs: x (T), y (T).
// Output: z (T).
// T: ints.
inline Output LeftShift(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("LeftShift", name, {x, y}).One();
}

// Adds a node of the op Less. The usual function is Less (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (bool).
// T: reals.
inline Output Less(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Less", name, {x, y}).One();
}

// Adds a node of the op LessEqual. The usual function is LessEqual (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (bool).
// T: reals.
inline Output LessEqual(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("LessEqual", name, {x, y}).One();
}

// Adds a node of the op Lgamma. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Lgamma(const Operand& x, const std::string& name = "") {
  return internal::Call("Lgamma", name, {x}).One();
}

// Adds a node of the op LinSpace.
// Inputs: start (T), stop (T), num (Tidx).
// Output: output (T).
// T: floats; Tidx: int32 int64.
inline Output LinSpace(const Operand& start, const Operand& stop, const Operand& num, const std::string& name = "") {
  return internal::Call("LinSpace", name, {start, stop, num}).One();
}

// Adds a node of the op Log. The usual function is Log (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Log(const Operand& x, const std::string& name = "") {
  return internal::Call("Log", name, {x}).One();
}

// Adds a node of the op Log1p. The usual function is Log1p (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Log1p(const Operand& x, const std::string& name = "") {
  return internal::Call("Log1p", name, {x}).One();
}

// Adds a node of the op LogicalAnd. The usual function is LogicalAnd (ops/math.h).
// Inputs: x (bool), y (bool).
// Output: z (bool).
inline Output LogicalAnd(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("LogicalAnd", name, {x, y}).One();
}

// Adds a node of the op LogicalNot. The usual function is LogicalNot (ops/math.h).
// Inputs: x (bool).
// Output: y (bool).
inline Output LogicalNot(const Operand& x, const std::string& name = "") {
  return internal::Call("LogicalNot", name, {x}).One();
}

// Adds a node of the op LogicalOr. The usual function is LogicalOr (ops/math.h).
// Inputs: x (bool), y (bool).
// Output: z (bool).
inline Output LogicalOr(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("LogicalOr", name, {x, y}).One();
}

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool grad_a = false;
  bool grad_b = false;
  std::string name = {};
};
// Adds a node of the op MatMul. The usual function is MatMul (ops/math.h). It has a gradient.
// Inputs: a (T), b (T).
// Attributes: transpose_a (bool; default false), transpose_b (bool; default false), grad_a (bool; default false),
//   grad_b (bool; default false).
// Output: product (T).
// T: numbers.
inline Output MatMul(const Operand& a, const Operand& b, const MatMulOptions& options = {}) {
  return internal::Call("MatMul", options.name, {a, b}).Attr("transpose_a", options.transpose_a)
      .Attr("transpose_b", options.transpose_b).Attr("grad_a", options.grad_a).Attr("grad_b", options.grad_b).One();
}

// Adds a node of the op Maximum. The usual function is Maximum (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output Maximum(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Maximum", name, {x, y}).One();
}

// Adds a node of the op Minimum. The usual function is Minimum (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output Minimum(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Minimum", name, {x, y}).One();
}

// Adds a node of the op Mod.
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output Mod(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Mod", name, {x, y}).One();
}

// Adds a node of the op Mul. The usual function is Mul (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output Mul(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Mul", name, {x, y}).One();
}

// Adds a node of the op MulNoNan. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output MulNoNan(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("MulNoNan", name, {x, y}).One();
}

// Adds a node of the op Ndtri. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Ndtri(const Operand& x, const std::string& name = "") {
  return internal::Call("Ndtri", name, {x}).One();
}

// Adds a node of the op Neg. The usual function is Neg (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: numbers.
inline Output Neg(const Operand& x, const std::string& name = "") {
  return internal::Call("Neg", name, {x}).One();
}

// Adds a node of the op NextAfter. It has a gradient.
// Inputs: x1 (T), x2 (T).
// Output: output (T).
// T: float32 float64.
inline Output NextAfter(const Operand& x1, const Operand& x2, const std::string& name = "") {
  return internal::Call("NextAfter", name, {x1, x2}).One();
}

struct NotEqualOptions {
  bool incompatible_shape_error = true;
  std::string name = {};
};
// Adds a node of the op NotEqual. The usual function is NotEqual (ops/math.h).
// Inputs: x (T), y (T).
// Attributes: incompatible_shape_error (bool; default true).
// Output: z (bool).
// T: numbers quantized string bool.
inline Output NotEqual(const Operand& x, const Operand& y, const NotEqualOptions& options = {}) {
  return internal::Call("NotEqual", options.name, {x, y})
      .Attr("incompatible_shape_error", options.incompatible_shape_error).One();
}

// Adds a node of the op Polygamma. It has a gradient.
// Inputs: a (T), x (T).
// Output: z (T).
// T: float32 float64.
inline Output Polygamma(const Operand& a, const Operand& x, const std::string& name = "") {
  return internal::Call("Polygamma", name, {a, x}).One();
}

// Adds a node of the op PopulationCount.
// Inputs: x (T).
// Output: y (uint8).
// T: ints.
inline Output PopulationCount(const Operand& x, const std::string& name = "") {
  return internal::Call("PopulationCount", name, {x}).One();
}

// Adds a node of the op Pow. The usual function is Pow (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output Pow(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Pow", name, {x, y}).One();
}

// Adds a node of the op Range. The usual function is Range (ops/math.h).
// Inputs: start (Tidx), limit (Tidx), delta (Tidx).
// Output: output (Tidx).
// Tidx: reals.
inline Output Range(const Operand& start, const Operand& limit, const Operand& delta, const std::string& name = "") {
  return internal::Call("Range", name, {start, limit, delta}).One();
}

struct RealOptions {
  DType tout = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op Real. It has a gradient.
// Inputs: input (T).
// Attributes: tout (attribute Tout, dtype: float32 float64; default float32).
// Output: output (Tout).
// T: complex.
inline Output Real(const Operand& input, const RealOptions& options = {}) {
  return internal::Call("Real", options.name, {input}).Attr("Tout", options.tout).One();
}

// Adds a node of the op RealDiv. The usual function is Div (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output RealDiv(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("RealDiv", name, {x, y}).One();
}

// Adds a node of the op Reciprocal. The usual function is Reciprocal (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Reciprocal(const Operand& x, const std::string& name = "") {
  return internal::Call("Reciprocal", name, {x}).One();
}

// Adds a node of the op ReciprocalGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output ReciprocalGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("ReciprocalGrad", name, {y, dy}).One();
}

// Adds a node of the op RightShift.
// Inputs: x (T), y (T).
// Output: z (T).
// T: ints.
inline Output RightShift(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("RightShift", name, {x, y}).One();
}

// Adds a node of the op Rint.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Rint(const Operand& x, const std::string& name = "") {
  return internal::Call("Rint", name, {x}).One();
}

// Adds a node of the op Round. The usual function is Round (ops/math.h).
// Inputs: x (T).
// Output: y (T).
// T: reals.
inline Output Round(const Operand& x, const std::string& name = "") {
  return internal::Call("Round", name, {x}).One();
}

// Adds a node of the op Rsqrt. The usual function is Rsqrt (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Rsqrt(const Operand& x, const std::string& name = "") {
  return internal::Call("Rsqrt", name, {x}).One();
}

// Adds a node of the op RsqrtGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output RsqrtGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("RsqrtGrad", name, {y, dy}).One();
}

// Adds a node of the op Select. It has a gradient.
// Inputs: condition (bool), t (T), e (T).
// Output: output (T).
// T: any.
inline Output Select(const Operand& condition, const Operand& t, const Operand& e, const std::string& name = "") {
  return internal::Call("Select", name, {condition, t, e}).One();
}

// Adds a node of the op SelectV2. The usual function is Select (ops/math.h). It has a gradient.
// Inputs: condition (bool), t (T), e (T).
// Output: output (T).
// T: any.
inline Output SelectV2(const Operand& condition, const Operand& t, const Operand& e, const std::string& name = "") {
  return internal::Call("SelectV2", name, {condition, t, e}).One();
}

// Adds a node of the op Sigmoid. The usual function is Sigmoid (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Sigmoid(const Operand& x, const std::string& name = "") {
  return internal::Call("Sigmoid", name, {x}).One();
}

// Adds a node of the op SigmoidGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output SigmoidGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("SigmoidGrad", name, {y, dy}).One();
}

// Adds a node of the op Sign. The usual function is Sign (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: numbers.
inline Output Sign(const Operand& x, const std::string& name = "") {
  return internal::Call("Sign", name, {x}).One();
}

// Adds a node of the op Sin. The usual function is Sin (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Sin(const Operand& x, const std::string& name = "") {
  return internal::Call("Sin", name, {x}).One();
}

// Adds a node of the op Sinh. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Sinh(const Operand& x, const std::string& name = "") {
  return internal::Call("Sinh", name, {x}).One();
}

struct SparseMatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool a_is_sparse = false;
  bool b_is_sparse = false;
  std::string name = {};
};
// Adds a node of the op SparseMatMul. It has a gradient.
// Inputs: a (Ta), b (Tb).
// Attributes: transpose_a (bool; default false), transpose_b (bool; default false), a_is_sparse (bool; default false),
//   b_is_sparse (bool; default false).
// Output: product (float32).
// Ta: float32 bfloat16; Tb: float32 bfloat16.
inline Output SparseMatMul(const Operand& a, const Operand& b, const SparseMatMulOptions& options = {}) {
  return internal::Call("SparseMatMul", options.name, {a, b}).Attr("transpose_a", options.transpose_a)
      .Attr("transpose_b", options.transpose_b).Attr("a_is_sparse", options.a_is_sparse)
      .Attr("b_is_sparse", options.b_is_sparse).One();
}

// Adds a node of the op Spence. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats.
inline Output Spence(const Operand& x, const std::string& name = "") {
  return internal::Call("Spence", name, {x}).One();
}

// Adds a node of the op Sqrt. The usual function is Sqrt (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Sqrt(const Operand& x, const std::string& name = "") {
  return internal::Call("Sqrt", name, {x}).One();
}

// Adds a node of the op SqrtGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output SqrtGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("SqrtGrad", name, {y, dy}).One();
}

// Adds a node of the op Square. The usual function is Square (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: numbers.
inline Output Square(const Operand& x, const std::string& name = "") {
  return internal::Call("Square", name, {x}).One();
}

// Adds a node of the op SquaredDifference. The usual function is SquaredDifference (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output SquaredDifference(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("SquaredDifference", name, {x, y}).One();
}

// Adds a node of the op Sub. The usual function is Sub (ops/math.h). It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: numbers.
inline Output Sub(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Sub", name, {x, y}).One();
}

// Adds a node of the op Tan. It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Tan(const Operand& x, const std::string& name = "") {
  return internal::Call("Tan", name, {x}).One();
}

// Adds a node of the op Tanh. The usual function is Tanh (ops/math.h). It has a gradient.
// Inputs: x (T).
// Output: y (T).
// T: floats complex.
inline Output Tanh(const Operand& x, const std::string& name = "") {
  return internal::Call("Tanh", name, {x}).One();
}

// Adds a node of the op TanhGrad. It has a gradient.
// Inputs: y (T), dy (T).
// Output: z (T).
// T: floats complex.
inline Output TanhGrad(const Operand& y, const Operand& dy, const std::string& name = "") {
  return internal::Call("TanhGrad", name, {y, dy}).One();
}

// Adds a node of the op TruncateDiv. The usual function is Div (ops/math.h).
// Inputs: x (T), y (T).
// Output: z (T).
// T: reals.
inline Output TruncateDiv(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("TruncateDiv", name, {x, y}).One();
}

// Adds a node of the op TruncateMod.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats int32 int64.
inline Output TruncateMod(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("TruncateMod", name, {x, y}).One();
}

// Adds a node of the op Xdivy. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output Xdivy(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Xdivy", name, {x, y}).One();
}

// Adds a node of the op Xlog1py. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output Xlog1py(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Xlog1py", name, {x, y}).One();
}

// Adds a node of the op Xlogy. It has a gradient.
// Inputs: x (T), y (T).
// Output: z (T).
// T: floats complex.
inline Output Xlogy(const Operand& x, const Operand& y, const std::string& name = "") {
  return internal::Call("Xlogy", name, {x, y}).One();
}

// Adds a node of the op Zeta. It has a gradient.
// Inputs: x (T), q (T).
// Output: z (T).
// T: float32 float64.
inline Output Zeta(const Operand& x, const Operand& q, const std::string& name = "") {
  return internal::Call("Zeta", name, {x, q}).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_MATH_H_
