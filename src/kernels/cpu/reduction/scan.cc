// Cumulative sums, products and log-sum-exps along an axis.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

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
    return -std::numeric_limits<A>::infinity();
  }
  template <typename A>
  static A Apply(A a, A b) {
    const A most = a > b ? a : b;
    const A least = a > b ? b : a;
    if (std::isinf(most)) return most;  // infinity minus infinity would be NaN
    return most + std::log1p(std::exp(least - most));
  }
};

constexpr int64_t kScanColumns = 64;  // the most columns that are scanned together

// Scans n <= kScanColumns adjacent columns of `size` elements, from element `at` on. The elements of a column are
// `inner` elements apart.
template <typename F, typename T>
void ScanColumns(const void* in, void* out, int64_t at, int64_t size, int64_t inner, int64_t n, bool exclusive,
                 bool reverse) {
  using A = ComputeType<T>;
  const T* const from = static_cast<const T*>(in) + at;
  T* const to = static_cast<T*>(out) + at;
  A sums[kScanColumns];
  std::fill(sums, sums + n, F::template Identity<A>());
  for (int64_t k = 0; k < size; ++k) {
    const int64_t row = (reverse ? size - 1 - k : k) * inner;
    for (int64_t j = 0; j < n; ++j) {
      if (exclusive) to[row + j] = static_cast<T>(sums[j]);
      const A value = static_cast<A>(from[row + j]);
      sums[j] = k == 0 ? value : F::Apply(sums[j], value);
      if (!exclusive) to[row + j] = static_cast<T>(sums[j]);
    }
  }
}

class ScanKernel : public Kernel {
 public:
  using Scan = void (*)(const void* in, void* out, int64_t at, int64_t size, int64_t inner, int64_t n, bool exclusive,
                        bool reverse);

  Status Compute(KernelContext& ctx) final {
    const Tensor& in = ctx.input(0);
    if (!ctx.input(1).shape().is_scalar()) {
      return InvalidArgument("the axis must be a scalar, got shape ", ctx.input(1).shape());
    }
    TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(ctx.input(1), "the axis"));
    const int rank = in.shape().rank();
    if (named < -rank || named >= rank) {
      return InvalidArgument("axis ", named, " is out of bounds: Expected scan axis in the range [", -rank, ", ", rank,
                             ")");
    }
    const int axis = static_cast<int>(named < 0 ? named + rank : named);
    const int64_t size = in.shape().dim(axis);
    const int64_t inner = SizeOf(in.shape(), axis + 1, in.shape().rank());
    const int64_t outer = SizeOf(in.shape(), 0, axis);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    if (in.num_elements() == 0) return OkStatus();
    void* const to = out->inplace_raw_data();
    Parallel(ctx, outer * inner, 2.0 * size, [&](int64_t begin, int64_t end) {
      // Scan adjacent columns together, so that memory is accessed sequentially.
      for (int64_t i = begin; i < end;) {
        const int64_t n = std::min({kScanColumns, end - i, inner - i % inner});
        scan_(in.raw_data(), to, i / inner * size * inner + i % inner, size, inner, n, exclusive_, reverse_);
        i += n;
      }
    });
    return OkStatus();
  }

 protected:
  ScanKernel(const KernelConstruction& c, Scan scan)
      : scan_(scan), exclusive_(c.attr<bool>("exclusive")), reverse_(c.attr<bool>("reverse")) {}

 private:
  const Scan scan_;
  const bool exclusive_;
  const bool reverse_;
};

template <typename F, typename T>
class ScanKernelOf final : public ScanKernel {
 public:
  explicit ScanKernelOf(const KernelConstruction& c) : ScanKernel(c, ScanColumns<F, T>) {}
};

template <typename F, typename... T>
void AddScan(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add<ScanKernelOf<F, T>>(op, {{"T", {DTypeOf<T>::value}}}, ElementCost<2000>), ...);
}

}  // namespace

void RegisterReductionScanKernels(KernelRegistry& r) {
  AddScan<CumsumF>(r, "Cumsum", NumberTypes{});
  AddScan<CumprodF>(r, "Cumprod", NumberTypes{});
  AddScan<LogsumexpF>(r, "CumulativeLogsumexp", FloatTypes{});
}

}  // namespace tensorbraid::cpu
