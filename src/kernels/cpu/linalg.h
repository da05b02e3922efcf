// What the kernels of linear algebra share: tensors seen as batches of row-major matrices.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_H_

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <complex>

#include "core/mutex.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {

template <typename T>
using MatrixOf = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using ConstMatrixMap = Eigen::Map<const MatrixOf<T>>;
template <typename T>
using MatrixMap = Eigen::Map<MatrixOf<T>>;

using LinalgTypes = Types<float, double, std::complex<float>, std::complex<double>>;

// What decompositions compute in: double precision for all. It costs little, and Eigen's templates take half as long to
// compile.
template <typename T>
struct WideOf {
  using type = double;
};
template <typename T>
struct WideOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <typename T>
using Wide = typename WideOf<T>::type;

// The last two dimensions of a tensor, and those before.
struct Matrices {
  Shape batch;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t count() const { return batch.num_elements(); }
  int64_t size() const { return rows * columns; }
  // The batch with other last dimensions.
  Shape With(std::initializer_list<int64_t> last) const {
    Shape shape = batch;
    for (int64_t d : last) shape.AddDim(d);
    return shape;
  }
};

// InvalidArgument, naming `what`, below rank 2.
inline StatusOr<Matrices> MatricesOf(const Tensor& t, const char* what) {
  const int rank = t.shape().rank();
  if (rank < 2) return InvalidArgument(what, " must have rank 2 or more, got shape ", t.shape());
  return Matrices{Shape(t.shape().dims().first(rank - 2)), t.shape().dim(rank - 2), t.shape().dim(rank - 1)};
}

// InvalidArgument also unless the matrices are square.
inline StatusOr<Matrices> SquareMatricesOf(const Tensor& t, const char* what) {
  TF_ASSIGN_OR_RETURN(Matrices m, MatricesOf(t, what));
  if (m.rows != m.columns) return InvalidArgument(what, " must be square, got shape ", t.shape());
  return m;
}

template <typename T>
ConstMatrixMap<T> MatrixAtIndex(const Tensor& t, const Matrices& m, int64_t i) {
  return {t.data<T>().data() + i * m.size(), m.rows, m.columns};
}

template <typename T>
MatrixOf<Wide<T>> WideMatrixAtIndex(const Tensor& t, const Matrices& m, int64_t i) {
  return MatrixAtIndex<T>(t, m, i).template cast<Wide<T>>();
}

// Runs body(i) for each matrix, shared among threads. The first error that is met is returned.
template <typename Body>
Status ForEachMatrix(KernelContext& ctx, int64_t count, double cost_ns, const Body& body) {
  Mutex mutex;
  Status status;
  Parallel(ctx, count, cost_ns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Status one = body(i);
      if (one.ok()) continue;
      MutexLock lock(mutex);
      if (status.ok()) status = std::move(one);
      return;
    }
  });
  return status;
}

// An estimate for algorithms of cubic cost.
inline double CubicCost(const Matrices& m) { return 50 + 1.0 * m.rows * m.columns * std::min(m.rows, m.columns); }

template <template <typename> typename K, typename... T>
void AddLinalg(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add<K<T>>(op, {{"T", {DTypeOf<T>::value}}}, KernelCost::kExpensive), ...);
}

// Parts of the family that take long to compile.
void RegisterSvdKernels(KernelRegistry& r);         // linalg_svd.cc
void RegisterComplexSvdKernels(KernelRegistry& r);  // linalg_svd_complex.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_H_
