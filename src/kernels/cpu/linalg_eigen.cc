// Eigenvalues and eigenvectors.
#include <Eigen/Eigenvalues>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

// Eigenvalues in rising order, and the eigenvectors as columns.
template <typename T>
class SelfAdjointEigKernel final : public Kernel {
 public:
  explicit SelfAdjointEigKernel(const KernelConstruction& c) : compute_v_(c.attr<bool>("compute_v")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
    TF_ASSIGN_OR_RETURN(Tensor * e, ctx.AllocateOutput(0, m.With({m.rows})));
    TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(1, compute_v_ ? ctx.input(0).shape() : Shape({0})));
    T* to_e = e->mutable_data<T>().data();
    T* to_v = v->mutable_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 10 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      const Columns<Wide<T>> a = MatrixAtIndex<T>(ctx.input(0), m, i).template cast<Wide<T>>();
      const Eigen::SelfAdjointEigenSolver<Columns<Wide<T>>> solver(
          a, compute_v_ ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      if (solver.info() != Eigen::Success) return InvalidArgument("the eigenvalues do not converge");
      for (int64_t k = 0; k < m.rows; ++k) to_e[i * m.rows + k] = static_cast<T>(solver.eigenvalues()(k));
      if (compute_v_) {
        MatrixMap<T>(to_v + i * m.size(), m.rows, m.rows) = solver.eigenvectors().template cast<T>();
      }
      return OkStatus();
    });
  }

 private:
  const bool compute_v_;
};

// Of any square matrix, as complex numbers.
template <typename T>
class EigKernel final : public Kernel {
 public:
  using C = std::complex<typename Eigen::NumTraits<T>::Real>;
  explicit EigKernel(const KernelConstruction& c) : compute_v_(c.attr<bool>("compute_v")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
    TF_ASSIGN_OR_RETURN(Tensor * e, ctx.AllocateOutput(0, m.With({m.rows})));
    TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(1, compute_v_ ? ctx.input(0).shape() : Shape({0})));
    C* to_e = e->mutable_data<C>().data();
    C* to_v = v->mutable_data<C>().data();
    return ForEachMatrix(ctx, m.count(), 30 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      const Columns<Wide<C>> a = MatrixAtIndex<T>(ctx.input(0), m, i).template cast<Wide<C>>();
      if (!a.allFinite()) return InvalidArgument("the eigenvalues do not converge");
      const Eigen::ComplexEigenSolver<Columns<Wide<C>>> solver(a, compute_v_);
      if (solver.info() != Eigen::Success) return InvalidArgument("the eigenvalues do not converge");
      for (int64_t k = 0; k < m.rows; ++k) to_e[i * m.rows + k] = static_cast<C>(solver.eigenvalues()(k));
      if (compute_v_) {
        MatrixMap<C>(to_v + i * m.size(), m.rows, m.rows) = solver.eigenvectors().template cast<C>();
      }
      return OkStatus();
    });
  }

 private:
  const bool compute_v_;
};

template <typename T>
void AddEig(KernelRegistry& r) {
  r.Add<EigKernel<T>>("Eig", {{"T", {DTypeOf<T>::value}}, {"Tout", {DTypeOf<typename EigKernel<T>::C>::value}}},
                      KernelCost::kExpensive);
}

}  // namespace

void RegisterEigenKernels(KernelRegistry& r) {
  AddLinalg<SelfAdjointEigKernel>(r, "SelfAdjointEigV2", LinalgTypes{});
  AddEig<float>(r);
  AddEig<double>(r);
  AddEig<std::complex<float>>(r);
  AddEig<std::complex<double>>(r);
}

}  // namespace tensorbraid::cpu
