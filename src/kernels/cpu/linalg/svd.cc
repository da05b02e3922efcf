// The kernel of Svd, the singular value decomposition.
#include <limits>

#include "kernels/cpu/linalg/lapack.h"
#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A = U diag(s) V^H, with s in descending order. All results are NaN if A has elements that are not finite.
template <typename T>
class SvdKernel final : public Kernel {
 public:
  explicit SvdKernel(const KernelConstruction& c)
      : compute_uv_(c.attr<bool>("compute_uv")), full_matrices_(c.attr<bool>("full_matrices")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(ctx.input(0), "input"));
    const int64_t least = std::min(m.rows, m.columns);
    const int64_t nu = full_matrices_ ? m.rows : least, nv = full_matrices_ ? m.columns : least;
    TF_ASSIGN_OR_RETURN(Tensor * s, ctx.AllocateOutput(0, m.With({least})));
    TF_ASSIGN_OR_RETURN(Tensor * u, ctx.AllocateOutput(1, compute_uv_ ? m.With({m.rows, nu}) : Shape({0})));
    TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(2, compute_uv_ ? m.With({m.columns, nv}) : Shape({0})));
    T* s_data = s->inplace_data<T>().data();
    T* u_data = u->inplace_data<T>().data();
    T* v_data = v->inplace_data<T>().data();
    SingularVectors which = SingularVectors::kNone;
    if (compute_uv_) which = full_matrices_ ? SingularVectors::kFull : SingularVectors::kThin;
    return ForEachMatrix(ctx, m.count(), 20 * CubicCost(m), [&](int64_t i) -> Status {
      const int64_t u_size = compute_uv_ ? m.rows * nu : 0, v_size = compute_uv_ ? m.columns * nv : 0;
      T* const to_s = s_data + i * least;
      T* const to_u = u_data + i * u_size;
      T* const to_v = v_data + i * v_size;
      if (least == 0) {
        if (compute_uv_) {
          StoreIdentity(m.rows, nu, to_u);
          StoreIdentity(m.columns, nv, to_v);
        }
        return OkStatus();
      }
      const Matrix<Wide<T>> a = WideMatrixAtIndex<T>(ctx.input(0), m, i);
      if (!AllFinite(a)) {
        const T nan(std::numeric_limits<Real<T>>::quiet_NaN());
        std::fill_n(to_s, least, nan);
        std::fill_n(to_u, u_size, nan);
        std::fill_n(to_v, v_size, nan);
        return OkStatus();
      }
      std::vector<double> values;
      Matrix<Wide<T>> left, right;
      TF_RETURN_IF_ERROR(SingularValues(a, which, &values, &left, &right));
      std::transform(values.begin(), values.end(), to_s, [](double value) { return static_cast<T>(value); });
      Store(left, to_u);
      Store(right, to_v);
      return OkStatus();
    });
  }

 private:
  const bool compute_uv_;
  const bool full_matrices_;
};

}  // namespace

void RegisterLinalgSvdKernels(KernelRegistry& r) { AddLinalg<SvdKernel>(r, "Svd", LinalgTypes{}); }

}  // namespace tensorbraid::cpu
