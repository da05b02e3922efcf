// Functions of two operands.
#include <cmath>

#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// In TensorFlow, an integer division by zero is an Internal error in ops that truncate, and InvalidArgument in others.
template <typename F, typename T>
Status TruncatingKernel(KernelContext& ctx) {
  const Status status = BinaryKernel<F, T>(ctx);
  return status.message() == F::kRefusal ? Internal(status.message()) : status;
}

// TruncateDiv of floats. Integer division truncates by itself.
struct TruncateDivF {
  static constexpr double kCostNs = 1;
  template <typename T>
  static T Apply(T a, T b) {
    return std::trunc(a / b);
  }
};

template <typename F, typename... T>
void AddTruncating(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, TruncatingKernel<F, T>), ...);
}

struct Atan2F {
  static constexpr double kCostNs = 20;
  template <typename T>
  static T Apply(T y, T x) {
    return std::atan2(y, x);
  }
};
struct NextAfterF {
  static constexpr double kCostNs = 5;
  template <typename T>
  static T Apply(T a, T b) {
    return std::nextafter(a, b);
  }
};

// MulNoNan is 0 where b is 0, and the other three are 0 where a is 0, even if the other operand or its logarithm is NaN
// or infinite.
struct MulNoNanF {
  template <typename T>
  static T Apply(T a, T b) {
    return b == T(0) ? T(0) : a * b;
  }
};
struct XdivyF {
  template <typename T>
  static T Apply(T a, T b) {
    return a == T(0) ? T(0) : a / b;
  }
};
struct XlogyF {
  static constexpr double kCostNs = 10;
  template <typename T>
  static T Apply(T a, T b) {
    return a == T(0) ? T(0) : a * std::log(b);
  }
};
struct Xlog1pyF {
  static constexpr double kCostNs = 15;
  template <typename T>
  static T Apply(T a, T b) {
    if (a == T(0)) return T(0);
    if constexpr (kIsComplex<T>) {
      return a * std::log(T(1) + b);
    } else {
      return a * std::log1p(b);
    }
  }
};

}  // namespace

void RegisterMathBinaryKernels(KernelRegistry& r) {
  AddBinary<AddF>(r, "Add", RealTypes{} + Types<std::string>{});
  AddBinary<AddF>(r, "AddV2", RealTypes{});
  AddBinary<SubF>(r, "Sub", RealTypes{});
  AddBinary<MulF>(r, "Mul", RealTypes{});
  AddBinary<SquaredDifferenceF>(r, "SquaredDifference", RealTypes{});
  AddBinary<DivF>(r, "Div", RealTypes{});
  AddBinary<DivF>(r, "RealDiv", FloatTypes{});
  AddTruncating<DivF>(r, "TruncateDiv", IntTypes{});
  AddBinary<TruncateDivF>(r, "TruncateDiv", FloatTypes{});
  AddTruncating<ModF>(r, "TruncateMod", Types<int32_t, int64_t>{});
  AddBinary<ModF>(r, "TruncateMod", FloatTypes{});
  AddBinary<DivNoNanF>(r, "DivNoNan", FloatTypes{});
  AddBinary<FloorDivF>(r, "FloorDiv", RealTypes{});
  AddBinary<FloorModF>(r, "FloorMod", RealTypes{});
  AddBinary<ModF>(r, "Mod", RealTypes{});
  AddBinary<PowF>(r, "Pow", RealTypes{});
  AddBinary<MaximumF>(r, "Maximum", RealTypes{});
  AddBinary<MinimumF>(r, "Minimum", RealTypes{});
  const ComplexTypes complex;
  AddBinary<AddF>(r, "Add", complex);
  AddBinary<AddF>(r, "AddV2", complex);
  AddBinary<SubF>(r, "Sub", complex);
  AddBinary<MulF>(r, "Mul", complex);
  AddBinary<DivF>(r, "Div", complex);
  AddBinary<DivF>(r, "RealDiv", complex);
  AddBinary<DivNoNanF>(r, "DivNoNan", complex);
  AddBinary<PowF>(r, "Pow", complex);
  AddBinary<SquaredDifferenceF>(r, "SquaredDifference", complex);
  const auto floating = FloatTypes{} + ComplexTypes{};
  AddBinary<Atan2F>(r, "Atan2", FloatTypes{});
  AddBinary<NextAfterF>(r, "NextAfter", Types<float, double>{});
  AddBinary<MulNoNanF>(r, "MulNoNan", floating);
  AddBinary<XdivyF>(r, "Xdivy", floating);
  AddBinary<XlogyF>(r, "Xlogy", floating);
  AddBinary<Xlog1pyF>(r, "Xlog1py", floating);
}

}  // namespace tensorbraid::cpu
