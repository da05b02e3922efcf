// Square roots and logarithms of matrices. Both are computed as complex numbers, which holds what any real matrix needs
// on the way; a real matrix whose root is not real gets NaN.
#include <complex>
#include <limits>
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

using Complex = std::complex<double>;
using ComplexMatrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;
using Function = ComplexMatrix (*)(const ComplexMatrix&);

ComplexMatrix SquareRoot(const ComplexMatrix& a) { return a.sqrt(); }
ComplexMatrix Logarithm(const ComplexMatrix& a) { return a.log(); }

template <Function F, typename T>
Status FunctionKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), 30 * CubicCost(m), [&](int64_t i) -> Status {
    if (m.rows == 0) return OkStatus();
    const ComplexMatrix a = MatrixAtIndex<T>(ctx.input(0), m, i).template cast<Wide<T>>().template cast<Complex>();
    if (!a.allFinite()) return InvalidArgument("the matrix has elements that are not finite");
    MatrixMap<T> result(to + i * m.size(), m.rows, m.rows);
    if constexpr (Eigen::NumTraits<T>::IsComplex) {
      result = F(a).template cast<T>();
    } else {
      const ComplexMatrix root = F(a);
      const bool is_real = root.imag().cwiseAbs().maxCoeff() <= 1e-7 * root.cwiseAbs().maxCoeff();
      if (is_real) {
        result = root.real().template cast<T>();
      } else {
        result.setConstant(std::numeric_limits<T>::quiet_NaN());
      }
    }
    return OkStatus();
  });
}

template <Function F, typename... T>
void AddFunction(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FunctionKernel<F, T>, KernelCost::kExpensive), ...);
}

}  // namespace

void RegisterMatrixFunctionKernels(KernelRegistry& r) {
  AddFunction<SquareRoot>(r, "MatrixSquareRoot", LinalgTypes{});
  AddFunction<Logarithm>(r, "MatrixLogarithm", ComplexTypes{});
}

}  // namespace tensorbraid::cpu
