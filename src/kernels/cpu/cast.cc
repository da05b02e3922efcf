// Conversion between element types: floats to integers truncate, anything but zero is true.
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"

namespace tensorbraid::cpu {
namespace {

template <typename From, typename To>
void CastRow(const void* inv, void* outv, int64_t n) {
  if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    // The real part is what remains.
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
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<To>(in[i]);
  }
}

class CastKernel final : public Kernel {
 public:
  CastKernel(UnaryRow row, int in_size, int out_size, bool truncate)
      : row_(row), in_size_(in_size), out_size_(out_size), truncate_(truncate) {}

  Status Compute(KernelContext& ctx) override {
    if (row_ == nullptr) {
      ctx.set_output(0, ctx.input(0));
      return OkStatus();
    }
    if (truncate_) return Unimplemented("Cast rounds to nearest; Truncate = true is not supported");
    return RunUnary(ctx, row_, in_size_, out_size_, 0.5);
  }

 private:
  const UnaryRow row_;  // null: nothing to convert
  const int in_size_;
  const int out_size_;
  const bool truncate_;
};

template <typename From, typename To>
void AddCast(KernelRegistry& r) {
  r.AddDef({.op = "Cast",
            .types = {{"SrcT", {DTypeOf<From>::value}}, {"DstT", {DTypeOf<To>::value}}},
            .create = [](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
              UnaryRow row = nullptr;
              if constexpr (!std::is_same_v<From, To>) row = CastRow<From, To>;
              return std::unique_ptr<Kernel>(
                  std::make_unique<CastKernel>(row, sizeof(From), sizeof(To), c.attr<bool>("Truncate")));
            }});
}

template <typename From, typename... To>
void AddCastsFrom(KernelRegistry& r, Types<To...>) {
  (AddCast<From, To>(r), ...);
}

template <typename... From>
void AddCasts(KernelRegistry& r, Types<From...> types) {
  (AddCastsFrom<From>(r, types), ...);
}

}  // namespace

void RegisterCastKernels(KernelRegistry& r) { AddCasts(r, NumberTypes{} + Types<bool>{}); }

}  // namespace tensorbraid::cpu
