// Conversion between element types. Floats are truncated to integers; every value except zero converts to true.
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A float that the integer type cannot hold gives what the processor's instruction gives, as in TensorFlow.
template <typename From, typename To>
__attribute__((no_sanitize("float-cast-overflow"))) void CastRow(const void* inv, void* outv, int64_t n) {
  if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    // Keeps the real part.
    using Part = typename From::value_type;
    Part block[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t m = std::min<int64_t>(256, n - i);
      const From* in = static_cast<const From*>(inv) + i;
      for (int64_t k = 0; k < m; ++k) block[k] = in[k].real();
      CastRow<Part, To>(block, static_cast<To*>(outv) + i, m);
    }
  } else if constexpr (kIsComplex<To> && !kIsComplex<From>) {
    using Part = typename To::value_type;
    Part block[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t m = std::min<int64_t>(256, n - i);
      CastRow<From, Part>(static_cast<const From*>(inv) + i, block, m);
      To* out = static_cast<To*>(outv) + i;
      for (int64_t k = 0; k < m; ++k) out[k] = block[k];
    }
  } else if constexpr (std::is_same_v<From, To>) {
    std::copy_n(static_cast<const From*>(inv), n, static_cast<To*>(outv));
  } else if constexpr (kIsHalf<From>) {
    float block[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t m = std::min<int64_t>(256, n - i);
      ToFloat(static_cast<const From*>(inv) + i, block, m);
      CastRow<float, To>(block, static_cast<To*>(outv) + i, m);
    }
  } else if constexpr (std::is_same_v<From, float> && kIsHalf<To>) {
    FromFloat(static_cast<const float*>(inv), static_cast<To*>(outv), n);
  } else if constexpr (kIsHalf<To>) {
    float block[256];
    for (int64_t i = 0; i < n; i += 256) {
      const int64_t m = std::min<int64_t>(256, n - i);
      CastRow<From, float>(static_cast<const From*>(inv) + i, block, m);
      FromFloat(block, static_cast<To*>(outv) + i, m);
    }
  } else {
    const From* in = static_cast<const From*>(inv);
    To* out = static_cast<To*>(outv);
    // Floats are converted to uint32 by way of int64, so that a number that uint32 cannot hold gives the low bits of
    // the int64. For such numbers, a direct conversion gives different results in vectorised code and in the rest of a
    // loop.
    using Between = std::conditional_t<std::is_floating_point_v<From> && std::is_same_v<To, uint32_t>, int64_t, To>;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(static_cast<Between>(in[i]));
  }
}

using CastTypes = decltype(NumberTypes{} + Types<bool>{});

struct CastLoop {
  UnaryRow row = nullptr;
  int in_size = 0;
  int out_size = 0;
};

template <typename From, typename... To>
CastLoop CastFrom(DType to, Types<To...>) {
  CastLoop cast;
  ((DTypeOf<To>::value == to ? void(cast = {CastRow<From, To>, sizeof(From), sizeof(To)}) : void()), ...);
  return cast;
}

template <typename... From>
CastLoop CastBetween(DType from, DType to, Types<From...>) {
  CastLoop cast;
  ((DTypeOf<From>::value == from ? void(cast = CastFrom<From>(to, CastTypes{})) : void()), ...);
  return cast;
}

// A quantized type is converted like the integer type in which it is stored.
class CastKernel final : public Kernel {
 public:
  explicit CastKernel(const KernelConstruction& c)
      : converts_(c.attr<DType>("SrcT") != c.attr<DType>("DstT")), truncate_(c.attr<bool>("Truncate")) {
    if (converts_) {
      cast_ = CastBetween(StorageType(c.attr<DType>("SrcT")), StorageType(c.attr<DType>("DstT")), CastTypes{});
    }
  }

  Status Compute(KernelContext& ctx) override {
    if (!converts_) {
      ctx.set_output(0, ctx.input(0));
      return OkStatus();
    }
    if (truncate_) return Unimplemented("Cast with Truncate = true is not supported; Cast rounds to nearest");
    return RunUnary(ctx, cast_.row, cast_.in_size, cast_.out_size, 0.5);
  }

 private:
  const bool converts_;
  const bool truncate_;
  CastLoop cast_;
};

template <typename... T>
DTypeSet AllDTypesStoredAs(Types<T...>) {
  return (DTypesStoredAs<T>() | ...);
}

}  // namespace

void RegisterMathCastKernels(KernelRegistry& r) {
  const DTypeSet types = AllDTypesStoredAs(CastTypes{});
  r.Add<CastKernel>("Cast", {{"SrcT", types}, {"DstT", types}});
}

}  // namespace tensorbraid::cpu
