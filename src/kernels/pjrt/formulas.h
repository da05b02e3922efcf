// Emitters of elementwise ops, made from formulas.
#ifndef TENSORBRAID_KERNELS_PJRT_FORMULAS_H_
#define TENSORBRAID_KERNELS_PJRT_FORMULAS_H_

#include <source_location>
#include <string_view>

#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {

using UnaryFormula = Expr (*)(const Expr& x);
using BinaryFormula = Expr (*)(const Expr& x, const Expr& y);

// Adds an emitter for an op whose dtypes are those of attribute T. Elements are computed in their compute dtype, and
// converted to the dtype of the output at the end.
void AddUnary(EmitterRegistry& r, std::string_view op, DTypeSet types, UnaryFormula formula,
              std::source_location location = std::source_location::current());
// The operands broadcast.
void AddBinary(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
               std::source_location location = std::source_location::current());
// The operands have the same shape.
void AddSameShape(EmitterRegistry& r, std::string_view op, DTypeSet types, BinaryFormula formula,
                  std::source_location location = std::source_location::current());

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_FORMULAS_H_
