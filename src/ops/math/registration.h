// Declares the functions that register the math ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_MATH_REGISTRATION_H_
#define TENSORBRAID_OPS_MATH_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterMathAddNOps(OpRegistry& r);        // add_n.cc
void RegisterMathBesselOps(OpRegistry& r);      // bessel.cc
void RegisterMathBinaryOps(OpRegistry& r);      // binary.cc
void RegisterMathBitwiseOps(OpRegistry& r);     // bitwise.cc
void RegisterMathCastOps(OpRegistry& r);        // cast.cc
void RegisterMathClipOps(OpRegistry& r);        // clip.cc
void RegisterMathComparisonOps(OpRegistry& r);  // comparison.cc
void RegisterMathComplexOps(OpRegistry& r);     // complex.cc
void RegisterMathCrossOps(OpRegistry& r);       // cross.cc
void RegisterMathLogicalOps(OpRegistry& r);     // logical.cc
void RegisterMathMatmulOps(OpRegistry& r);      // matmul.cc
void RegisterMathRangeOps(OpRegistry& r);       // range.cc
void RegisterMathSelectOps(OpRegistry& r);      // select.cc
void RegisterMathSpecialOps(OpRegistry& r);     // special.cc
void RegisterMathUnaryOps(OpRegistry& r);       // unary.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_MATH_REGISTRATION_H_
