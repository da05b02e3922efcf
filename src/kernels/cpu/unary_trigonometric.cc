// Trigonometric and hyperbolic functions, and the error functions.
#include <cmath>

#include "kernels/cpu/families.h"
#include "kernels/cpu/unary.h"

namespace tensorbraid::cpu {
namespace {

#define TB_UNARY(name, cost, function)      \
  struct name {                             \
    static constexpr double kCostNs = cost; \
    template <typename T>                   \
    static T Apply(T x) {                   \
      return std::function(x);              \
    }                                       \
  };
TB_UNARY(TanF, 15, tan)
TB_UNARY(AsinF, 10, asin)
TB_UNARY(AcosF, 10, acos)
TB_UNARY(AtanF, 10, atan)
TB_UNARY(SinhF, 15, sinh)
TB_UNARY(CoshF, 15, cosh)
TB_UNARY(AsinhF, 20, asinh)
TB_UNARY(AcoshF, 20, acosh)
TB_UNARY(AtanhF, 20, atanh)
TB_UNARY(ErfF, 15, erf)
TB_UNARY(ErfcF, 15, erfc)
#undef TB_UNARY

}  // namespace

void RegisterTrigonometricKernels(KernelRegistry& r) {
  const FloatTypes floats;
  AddUnary<TanF>(r, "Tan", floats);
  AddUnary<AsinF>(r, "Asin", floats);
  AddUnary<AcosF>(r, "Acos", floats);
  AddUnary<AtanF>(r, "Atan", floats);
  AddUnary<SinhF>(r, "Sinh", floats);
  AddUnary<CoshF>(r, "Cosh", floats);
  AddUnary<AsinhF>(r, "Asinh", floats);
  AddUnary<AcoshF>(r, "Acosh", floats);
  AddUnary<AtanhF>(r, "Atanh", floats);
  AddUnary<ErfF>(r, "Erf", floats);
  AddUnary<ErfcF>(r, "Erfc", floats);
}

}  // namespace tensorbraid::cpu
