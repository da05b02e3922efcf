// Products over axes, and whether all or any elements are true.
#include "kernels/cpu/families.h"
#include "kernels/cpu/reduction.h"

namespace tensorbraid::cpu {
namespace {

struct ProdR {
  template <typename A>
  static constexpr A Identity() {
    return A(1);
  }
  template <typename A>
  static A Join(A a, A b) {
    return static_cast<A>(Wrapping<A>(a) * Wrapping<A>(b));
  }
};
struct AllR {
  template <typename A>
  static constexpr A Identity() {
    return true;
  }
  static bool Join(bool a, bool b) { return a & b; }
};
struct AnyR {
  template <typename A>
  static constexpr A Identity() {
    return false;
  }
  static bool Join(bool a, bool b) { return a | b; }
};

}  // namespace

void RegisterProductKernels(KernelRegistry& r) {
  AddReduction<ProdR>(r, "Prod", NumberTypes{});
  r.Add<ReductionKernel<AllR, bool>>("All");
  r.Add<ReductionKernel<AnyR, bool>>("Any");
}

}  // namespace tensorbraid::cpu
