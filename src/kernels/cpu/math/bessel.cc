// Bessel functions, computed by Eigen.
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/math/unary.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

#define TB_BESSEL(name, function)         \
  struct name {                           \
    static constexpr double kCostNs = 40; \
    template <typename T>                 \
    static T Apply(T x) {                 \
      return Eigen::numext::function(x);  \
    }                                     \
  };
TB_BESSEL(BesselI0F, bessel_i0)
TB_BESSEL(BesselI0eF, bessel_i0e)
TB_BESSEL(BesselI1F, bessel_i1)
TB_BESSEL(BesselI1eF, bessel_i1e)
TB_BESSEL(BesselJ0F, bessel_j0)
TB_BESSEL(BesselJ1F, bessel_j1)
TB_BESSEL(BesselK0F, bessel_k0)
TB_BESSEL(BesselK0eF, bessel_k0e)
TB_BESSEL(BesselK1F, bessel_k1)
TB_BESSEL(BesselK1eF, bessel_k1e)
TB_BESSEL(BesselY0F, bessel_y0)
TB_BESSEL(BesselY1F, bessel_y1)
#undef TB_BESSEL

}  // namespace

void RegisterMathBesselKernels(KernelRegistry& r) {
  const FloatTypes floats;
  AddUnary<BesselI0F>(r, "BesselI0", floats);
  AddUnary<BesselI0eF>(r, "BesselI0e", floats);
  AddUnary<BesselI1F>(r, "BesselI1", floats);
  AddUnary<BesselI1eF>(r, "BesselI1e", floats);
  AddUnary<BesselJ0F>(r, "BesselJ0", floats);
  AddUnary<BesselJ1F>(r, "BesselJ1", floats);
  AddUnary<BesselK0F>(r, "BesselK0", floats);
  AddUnary<BesselK0eF>(r, "BesselK0e", floats);
  AddUnary<BesselK1F>(r, "BesselK1", floats);
  AddUnary<BesselK1eF>(r, "BesselK1e", floats);
  AddUnary<BesselY0F>(r, "BesselY0", floats);
  AddUnary<BesselY1F>(r, "BesselY1", floats);
}

}  // namespace tensorbraid::cpu
