// Special functions: gamma, beta and zeta functions and their kin, through Eigen.
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/cpu/families.h"
#include "kernels/cpu/unary.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

struct LgammaF {
  static constexpr double kCostNs = 30;
  template <typename T>
  static T Apply(T x) {
    return Eigen::numext::lgamma(x);
  }
};
struct DigammaF {
  static constexpr double kCostNs = 40;
  template <typename T>
  static T Apply(T x) {
    if (x <= 0 && x == std::floor(x)) return kNan<T>;  // a pole
    return Eigen::numext::digamma(x);
  }
};
// The inverse of the normal distribution's cumulative function.
struct NdtriF {
  static constexpr double kCostNs = 40;
  template <typename T>
  static T Apply(T x) {
    if (!(x >= 0 && x <= 1)) return kNan<T>;
    return Eigen::numext::ndtri(x);
  }
};
struct ErfinvF {
  static constexpr double kCostNs = 50;
  template <typename T>
  static T Apply(T x) {
    // Near 0 (x + 1) / 2 would lose all of x.
    if (std::abs(x) < T(1e-3)) {
      const T t = x * T(0.88622692545275801365);  // sqrt(pi) / 2
      return t * (1 + t * t / 3 * (1 + t * t * T(0.7)));
    }
    return NdtriF::Apply((x + 1) / 2) * T(0.70710678118654752440);
  }
};
struct ZetaF {
  static constexpr double kCostNs = 100;
  template <typename T>
  static T Apply(T x, T q) {
    return Eigen::numext::zeta(x, q);
  }
};
struct PolygammaF {
  static constexpr double kCostNs = 150;
  template <typename T>
  static T Apply(T n, T x) {
    return Eigen::numext::polygamma(n, x);
  }
};
struct IgammaF {
  static constexpr double kCostNs = 200;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igamma(a, x);
  }
};
struct IgammacF {
  static constexpr double kCostNs = 200;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igammac(a, x);
  }
};
struct IgammaGradAF {
  static constexpr double kCostNs = 300;
  template <typename T>
  static T Apply(T a, T x) {
    return Eigen::numext::igamma_der_a(a, x);
  }
};

// The regularised incomplete beta function. All operands have one shape but for scalars.
template <typename T>
Status BetaincKernel(KernelContext& ctx) {
  Shape shape;
  for (int i = 0; i < 3; ++i) {
    const Shape& own = ctx.input(i).shape();
    if (own.is_scalar()) continue;
    if (!shape.is_scalar() && shape != own) {
      return InvalidArgument("a, b and x must have the same shape or be scalars, got ", ctx.input(0).shape(), ", ",
                             ctx.input(1).shape(), " and ", ctx.input(2).shape());
    }
    shape = own;
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const T* in[3];
  int64_t step[3];
  for (int i = 0; i < 3; ++i) {
    in[i] = ctx.input(i).data<T>().data();
    step[i] = ctx.input(i).shape().is_scalar() ? 0 : 1;
  }
  T* to = out->mutable_data<T>().data();
  Parallel(ctx, shape.num_elements(), 300, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = Eigen::numext::betainc(in[0][i * step[0]], in[1][i * step[1]], in[2][i * step[2]]);
    }
  });
  return OkStatus();
}

}  // namespace

void RegisterSpecialKernels(KernelRegistry& r) {
  const FloatTypes floats;
  const Types<float, double> wide;
  AddUnary<LgammaF>(r, "Lgamma", floats);
  AddUnary<DigammaF>(r, "Digamma", floats);
  AddUnary<NdtriF>(r, "Ndtri", floats);
  AddUnary<ErfinvF>(r, "Erfinv", floats);
  AddBinary<ZetaF>(r, "Zeta", wide);
  AddBinary<PolygammaF>(r, "Polygamma", wide);
  AddBinary<IgammaF>(r, "Igamma", floats);
  AddBinary<IgammacF>(r, "Igammac", floats);
  AddBinary<IgammaGradAF>(r, "IgammaGradA", wide);
  r.Add("Betainc", {{"T", {kFloat32}}}, BetaincKernel<float>);
  r.Add("Betainc", {{"T", {kFloat64}}}, BetaincKernel<double>);
}

}  // namespace tensorbraid::cpu
