// Running sums, products and logarithms of sums of exponentials along an axis.
#include <cmath>
#include <limits>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"

namespace tensorbraid::cpu {
namespace {

struct CumsumF : AddF {
  template <typename A>
  static A Identity() {
    return A(0);
  }
};
struct CumprodF : MulF {
  template <typename A>
  static A Identity() {
    return A(1);
  }
};
struct LogsumexpF {
  template <typename A>
  static A Identity() {
    return std::numeric_limits<A>::lowest();
  }
  template <typename A>
  static A Apply(A a, A b) {
    const A most = a > b ? a : b;
    const A least = a > b ? b : a;
    if (std::isinf(most)) return most;
    return most + std::log1p(std::exp(least - most));
  }
};

template <typename F, typename T>
class ScanKernel final : public Kernel {
 public:
  explicit ScanKernel(const KernelConstruction& c)
      : exclusive_(c.attr<bool>("exclusive")), reverse_(c.attr<bool>("reverse")) {}

  Status Compute(KernelContext& ctx) override {
    using A = cpu::Compute<T>;
    const Tensor& in = ctx.input(0);
    if (!ctx.input(1).shape().is_scalar()) {
      return InvalidArgument("the axis must be a scalar, got shape ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(ctx.input(1), "the axis"));
    TF_ASSIGN_OR_RETURN(const int axis, AxisOf(named, in.shape().rank()));
    const int64_t size = in.shape().dim(axis);
    const int64_t inner = SizeOf(in.shape(), axis + 1, in.shape().rank());
    const int64_t outer = SizeOf(in.shape(), 0, axis);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    if (in.num_elements() == 0) return OkStatus();
    const T* from = in.data<T>().data();
    T* to = out->mutable_data<T>().data();
    const int64_t step = reverse_ ? -inner : inner;
    Parallel(ctx, outer * inner, 2.0 * size, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at = i / inner * size * inner + i % inner + (reverse_ ? (size - 1) * inner : 0);
        A sum = F::template Identity<A>();
        for (int64_t k = 0; k < size; ++k, at += step) {
          if (exclusive_) to[at] = static_cast<T>(sum);
          const A value = static_cast<A>(from[at]);
          sum = k == 0 ? value : F::Apply(sum, value);
          if (!exclusive_) to[at] = static_cast<T>(sum);
        }
      }
    });
    return OkStatus();
  }

 private:
  const bool exclusive_;
  const bool reverse_;
};

template <typename F, typename... T>
void AddScan(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add<ScanKernel<F, T>>(op, {{"T", {DTypeOf<T>::value}}}), ...);
}

}  // namespace

void RegisterScanKernels(KernelRegistry& r) {
  AddScan<CumsumF>(r, "Cumsum", NumberTypes{});
  AddScan<CumprodF>(r, "Cumprod", NumberTypes{});
  AddScan<LogsumexpF>(r, "CumulativeLogsumexp", FloatTypes{});
}

}  // namespace tensorbraid::cpu
