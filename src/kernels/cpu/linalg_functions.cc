// Square roots and logarithms of matrices.
#include <unsupported/Eigen/MatrixFunctions>

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg.h"

namespace tensorbraid::cpu {
namespace {

struct SquareRoot {
  template <typename M>
  static M Of(const M& a) {
    return a.sqrt();
  }
};
struct Logarithm {
  template <typename M>
  static M Of(const M& a) {
    return a.log();
  }
};

template <typename F, typename T>
Status FunctionKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* to = out->mutable_data<T>().data();
  return ForEachMatrix(ctx, m.count(), 30 * CubicCost(m), [&](int64_t i) -> Status {
    if (m.rows == 0) return OkStatus();
    const Eigen::Matrix<Wide<T>, Eigen::Dynamic, Eigen::Dynamic> a =
        MatrixAtIndex<T>(ctx.input(0), m, i).template cast<Wide<T>>();
    if (!a.allFinite()) return InvalidArgument("the matrix has elements that are not finite");
    MatrixMap<T>(to + i * m.size(), m.rows, m.rows) = F::Of(a).template cast<T>();
    return OkStatus();
  });
}

template <typename F, typename... T>
void AddFunction(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FunctionKernel<F, T>, KernelCost::kExpensive), ...);
}

}  // namespace

void RegisterMatrixFunctionKernels(KernelRegistry& r) {
  AddFunction<SquareRoot>(r, "MatrixSquareRoot", LinalgTypes{});
  AddFunction<Logarithm>(r, "MatrixLogarithm", ComplexTypes{});
}

}  // namespace tensorbraid::cpu
