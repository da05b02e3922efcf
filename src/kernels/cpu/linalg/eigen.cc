// Kernels that compute eigenvalues and eigenvectors.
#include <numeric>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/linalg/lapack.h"
#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The eigenvalues of a Hermitian matrix in ascending order, and the eigenvectors as columns.
template <typename T>
class SelfAdjointEigKernel final : public Kernel {
 public:
  explicit SelfAdjointEigKernel(const KernelConstruction& c) : compute_v_(c.attr<bool>("compute_v")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
    TF_ASSIGN_OR_RETURN(Tensor * e, ctx.AllocateOutput(0, m.With({m.rows})));
    TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(1, compute_v_ ? ctx.input(0).shape() : Shape({0})));
    T* to_e = e->inplace_data<T>().data();
    T* to_v = v->inplace_data<T>().data();
    return ForEachMatrix(ctx, m.count(), 10 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      std::vector<double> values;
      Matrix<Wide<T>> vectors;
      TF_RETURN_IF_ERROR(
          SelfAdjointEigen(WideMatrixAtIndex<T>(ctx.input(0), m, i), &values, compute_v_ ? &vectors : nullptr));
      for (int64_t k = 0; k < m.rows; ++k) to_e[i * m.rows + k] = static_cast<T>(values[k]);
      if (compute_v_) Store(vectors, to_v + i * m.size());
      return OkStatus();
    });
  }

 private:
  const bool compute_v_;
};

// Eigenvalues and eigenvectors of any square matrix, as complex numbers, in ascending order of the moduli.
template <typename T>
class EigKernel final : public Kernel {
 public:
  using C = std::complex<Real<T>>;
  explicit EigKernel(const KernelConstruction& c) : compute_v_(c.attr<bool>("compute_v")) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
    TF_ASSIGN_OR_RETURN(Tensor * e, ctx.AllocateOutput(0, m.With({m.rows})));
    TF_ASSIGN_OR_RETURN(Tensor * v, ctx.AllocateOutput(1, compute_v_ ? ctx.input(0).shape() : Shape({0})));
    C* e_data = e->inplace_data<C>().data();
    C* v_data = v->inplace_data<C>().data();
    return ForEachMatrix(ctx, m.count(), 30 * CubicCost(m), [&](int64_t i) -> Status {
      if (m.rows == 0) return OkStatus();
      const Matrix<Wide<C>> a = LoadMatrix<Wide<C>, T>(ctx.input(0), m, i);
      if (!AllFinite(a)) return InvalidArgument("the matrix has elements that are not finite");
      std::vector<Wide<C>> values;
      Matrix<Wide<C>> vectors;
      TF_RETURN_IF_ERROR(GeneralEigen(a, &values, compute_v_ ? &vectors : nullptr));
      std::vector<int64_t> order(m.rows);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return std::abs(values[a]) < std::abs(values[b]); });
      for (int64_t k = 0; k < m.rows; ++k) {
        e_data[i * m.rows + k] = static_cast<C>(values[order[k]]);
        if (!compute_v_) continue;
        C* const column = v_data + i * m.size() + k;
        for (int64_t row = 0; row < m.rows; ++row) column[row * m.rows] = static_cast<C>(vectors(row, order[k]));
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
                      LinalgCost);
}

}  // namespace

void RegisterLinalgEigenKernels(KernelRegistry& r) {
  AddLinalg<SelfAdjointEigKernel>(r, "SelfAdjointEigV2", LinalgTypes{});
  AddEig<float>(r);
  AddEig<double>(r);
  AddEig<std::complex<float>>(r);
  AddEig<std::complex<double>>(r);
}

}  // namespace tensorbraid::cpu
