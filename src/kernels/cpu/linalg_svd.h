// Singular values: the kernel for any type, to be instantiated in several files as that takes long.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_SVD_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_SVD_H_

#include <Eigen/SVD>
#include <limits>
#include <type_traits>

#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {

template <typename T>
using ColumnMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// A = U diag(s) V^H, with s falling. Real matrices are divided and conquered; complex ones, which are rare and small,
// take Jacobi's rotations, a quarter of the time to compile.
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
    T* to_s = s->mutable_data<T>().data();
    T* to_u = u->mutable_data<T>().data();
    T* to_v = v->mutable_data<T>().data();
    unsigned options = 0;
    if (compute_uv_) {
      options = full_matrices_ ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
    }
    return ForEachMatrix(ctx, m.count(), 20 * CubicCost(m), [&](int64_t i) {
      MatrixMap<T> mu(to_u + i * m.rows * nu, compute_uv_ ? m.rows : 0, compute_uv_ ? nu : 0);
      MatrixMap<T> mv(to_v + i * m.columns * nv, compute_uv_ ? m.columns : 0, compute_uv_ ? nv : 0);
      if (least == 0) {
        mu.setIdentity();
        mv.setIdentity();
        return OkStatus();
      }
      const ColumnMatrix<Wide<T>> a = MatrixAtIndex<T>(ctx.input(0), m, i).template cast<Wide<T>>();
      if (!a.allFinite()) {
        const T nan(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
        std::fill(to_s + i * least, to_s + (i + 1) * least, nan);
        mu.setConstant(nan);
        mv.setConstant(nan);
        return OkStatus();
      }
      const Solver svd(a, options);
      for (int64_t k = 0; k < least; ++k) to_s[i * least + k] = static_cast<T>(svd.singularValues()(k));
      if (compute_uv_) {
        mu = svd.matrixU().template cast<T>();
        mv = svd.matrixV().template cast<T>();
      }
      return OkStatus();
    });
  }

 private:
  using Solver = std::conditional_t<Eigen::NumTraits<T>::IsComplex, Eigen::JacobiSVD<ColumnMatrix<Wide<T>>>,
                                    Eigen::BDCSVD<ColumnMatrix<Wide<T>>>>;

  const bool compute_uv_;
  const bool full_matrices_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_SVD_H_
