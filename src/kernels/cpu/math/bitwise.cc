// Operations on the bits of integers.
#include <climits>

#include "kernels/cpu/math/unary.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

struct BitwiseAndF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOrF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXorF {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// C++ does not define shifts by a negative distance or by at least the number of bits. Clamps the distance to the
// defined range.
template <typename T>
int Distance(T by) {
  constexpr int kMost = sizeof(T) * CHAR_BIT - 1;
  if constexpr (std::is_signed_v<T>) {
    if (by < 0) return 0;
  }
  return by > T(kMost) ? kMost : static_cast<int>(by);
}
struct LeftShiftF {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) << Distance(b));
  }
};
struct RightShiftF {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a >> Distance(b));
  }
};
struct InvertF {
  template <typename T>
  static T Apply(T a) {
    return static_cast<T>(~a);
  }
};
struct PopulationCountF {
  template <typename T>
  static uint8_t Apply(T a) {
    return static_cast<uint8_t>(__builtin_popcountll(static_cast<uint64_t>(std::make_unsigned_t<T>(a))));
  }
};

}  // namespace

void RegisterMathBitwiseKernels(KernelRegistry& r) {
  AddBinary<BitwiseAndF>(r, "BitwiseAnd", IntTypes{});
  AddBinary<BitwiseOrF>(r, "BitwiseOr", IntTypes{});
  AddBinary<BitwiseXorF>(r, "BitwiseXor", IntTypes{});
  AddBinary<LeftShiftF>(r, "LeftShift", IntTypes{});
  AddBinary<RightShiftF>(r, "RightShift", IntTypes{});
  AddUnary<InvertF>(r, "Invert", IntTypes{});
  AddUnary<PopulationCountF>(r, "PopulationCount", IntTypes{});
}

}  // namespace tensorbraid::cpu
