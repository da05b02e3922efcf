// Bitwise operations, and the rarer functions of two operands.
#include <climits>
#include <cmath>

#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/unary.h"

namespace tensorbraid::cpu {
namespace {

struct BitwiseAndF {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOrF {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXorF {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// C++ does not define shifts by less than 0 or by all bits; the distance is kept between.
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

// Products and quotients that are 0 where one side is, whatever the other side is.
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

// |x - y| < tolerance, for operands of one shape.
template <typename T>
class ApproximateEqualKernel final : public Kernel {
 public:
  explicit ApproximateEqualKernel(const KernelConstruction& c) : tolerance_(c.attr<float>("tolerance")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const Tensor& y = ctx.input(1);
    if (x.shape() != y.shape()) {
      return InvalidArgument("x and y must have the same shape, got ", x.shape(), " and ", y.shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, x.shape()));
    const T* a = x.data<T>().data();
    const T* b = y.data<T>().data();
    bool* z = out->mutable_data<bool>().data();
    const T tolerance = static_cast<T>(tolerance_);
    Parallel(ctx, x.num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) z[i] = std::abs(a[i] - b[i]) < tolerance;
    });
    return OkStatus();
  }

 private:
  const float tolerance_;
};

}  // namespace

void RegisterBitwiseKernels(KernelRegistry& r) {
  AddBinary<BitwiseAndF>(r, "BitwiseAnd", IntTypes{});
  AddBinary<BitwiseOrF>(r, "BitwiseOr", IntTypes{});
  AddBinary<BitwiseXorF>(r, "BitwiseXor", IntTypes{});
  AddBinary<LeftShiftF>(r, "LeftShift", IntTypes{});
  AddBinary<RightShiftF>(r, "RightShift", IntTypes{});
  AddUnary<InvertF>(r, "Invert", IntTypes{});
  AddUnary<PopulationCountF>(r, "PopulationCount", IntTypes{});
}

void RegisterMoreBinaryKernels(KernelRegistry& r) {
  const auto floating = FloatTypes{} + ComplexTypes{};
  AddBinary<Atan2F>(r, "Atan2", FloatTypes{});
  AddBinary<NextAfterF>(r, "NextAfter", Types<float, double>{});
  AddBinary<MulNoNanF>(r, "MulNoNan", floating);
  AddBinary<XdivyF>(r, "Xdivy", floating);
  AddBinary<XlogyF>(r, "Xlogy", floating);
  AddBinary<Xlog1pyF>(r, "Xlog1py", floating);
  AddSameShape<ReciprocalGradF>(r, "InvGrad", floating);
  r.Add<ApproximateEqualKernel<float>>("ApproximateEqual", {{"T", {kFloat32}}});
  r.Add<ApproximateEqualKernel<double>>("ApproximateEqual", {{"T", {kFloat64}}});
}

// What binary.cc and comparison.cc have for real numbers.
void RegisterComplexBinaryKernels(KernelRegistry& r) {
  const ComplexTypes types;
  AddBinary<AddF>(r, "Add", types);
  AddBinary<AddF>(r, "AddV2", types);
  AddBinary<SubF>(r, "Sub", types);
  AddBinary<MulF>(r, "Mul", types);
  AddBinary<DivF>(r, "Div", types);
  AddBinary<DivF>(r, "RealDiv", types);
  AddBinary<DivNoNanF>(r, "DivNoNan", types);
  AddBinary<PowF>(r, "Pow", types);
  AddBinary<SquaredDifferenceF>(r, "SquaredDifference", types);
  AddSameShape<TanhGradF>(r, "TanhGrad", types);
  AddSameShape<SigmoidGradF>(r, "SigmoidGrad", types);
  AddSameShape<ReciprocalGradF>(r, "ReciprocalGrad", types);
  AddSameShape<SqrtGradF>(r, "SqrtGrad", types);
  AddSameShape<RsqrtGradF>(r, "RsqrtGrad", types);
}

}  // namespace tensorbraid::cpu
