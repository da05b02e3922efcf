// The largest and the smallest element over axes.
#include "kernels/cpu/families.h"
#include "kernels/cpu/reduction.h"

namespace tensorbraid::cpu {
namespace {

struct MaxR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a > b || a != a) ? a : b;  // a NaN wins
  }
};
struct MinR {
  template <typename A>
  static constexpr A Identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  template <typename A>
  static A Join(A a, A b) {
    return (a < b || a != a) ? a : b;
  }
};

}  // namespace

void RegisterExtremeKernels(KernelRegistry& r) {
  AddReduction<MaxR>(r, "Max", RealTypes{});
  AddReduction<MinR>(r, "Min", RealTypes{});
}

}  // namespace tensorbraid::cpu
