// Shared code of the linear algebra kernels, which view tensors as batches of row-major matrices.
#ifndef TENSORBRAID_KERNELS_CPU_LINALG_LINALG_H_
#define TENSORBRAID_KERNELS_CPU_LINALG_LINALG_H_

#include <algorithm>
#include <complex>
#include <vector>

#include "core/threads/mutex.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {

using LinalgTypes = Types<float, double, std::complex<float>, std::complex<double>>;

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
// The type of the real part of a number.
template <typename T>
using Real = typename RealOf<T>::type;

// The type in which decompositions compute: always double precision.
template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

// A row-major matrix, zero at first.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t columns) : rows_(rows), columns_(columns), elements_(rows * columns) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t size() const { return rows_ * columns_; }
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }
  T* row(int64_t i) { return data() + i * columns_; }
  const T* row(int64_t i) const { return data() + i * columns_; }
  T& operator()(int64_t i, int64_t j) { return elements_[i * columns_ + j]; }
  const T& operator()(int64_t i, int64_t j) const { return elements_[i * columns_ + j]; }

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  std::vector<T> elements_;
};

template <typename T>
Matrix<T> Transpose(const Matrix<T>& a) {
  Matrix<T> result(a.columns(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) result(j, i) = a(i, j);
  }
  return result;
}

// The conjugate transpose; for a real matrix, the transpose.
template <typename T>
Matrix<T> Adjoint(const Matrix<T>& a) {
  Matrix<T> result(a.columns(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) result(j, i) = Conjugate(a(i, j));
  }
  return result;
}

template <typename T>
Matrix<T> Product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.rows(), b.columns());
  Gemm(nullptr, /*transpose_a=*/false, /*transpose_b=*/false, a.rows(), b.columns(), a.columns(), a.data(), b.data(),
       result.data());
  return result;
}

template <typename T>
bool AllFinite(const Matrix<T>& a) {
  return std::all_of(a.data(), a.data() + a.size(),
                     [](T v) { return std::isfinite(std::real(v)) && std::isfinite(std::imag(v)); });
}

// Copies the elements of `from` to `to`, a matrix in a tensor.
template <typename W, typename T>
void Store(const Matrix<W>& from, T* to) {
  std::transform(from.data(), from.data() + from.size(), to, [](W v) { return static_cast<T>(v); });
}

// Fills the matrix at `to` with ones on the main diagonal and zeros elsewhere.
template <typename T>
void StoreIdentity(int64_t rows, int64_t columns, T* to) {
  std::fill_n(to, rows * columns, T(0));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) to[i * columns + i] = T(1);
}

// The shape of a tensor of matrices: its last two dimensions, and the batch dimensions before them.
struct Matrices {
  Shape batch;
  int64_t rows = 0;
  int64_t columns = 0;

  int64_t count() const { return batch.num_elements(); }
  int64_t size() const { return rows * columns; }
  // The batch dimensions followed by `last`.
  Shape With(std::initializer_list<int64_t> last) const {
    Shape shape = batch;
    for (int64_t d : last) shape.AddDim(d);
    return shape;
  }
};

// Returns InvalidArgument, with `what` as the name of the tensor, if its rank is below 2.
inline StatusOr<Matrices> MatricesOf(const Tensor& t, const char* what) {
  const int rank = t.shape().rank();
  if (rank < 2) return InvalidArgument(what, " must have rank 2 or more, got shape ", t.shape());
  return Matrices{Shape(t.shape().dims().first(rank - 2)), t.shape().dim(rank - 2), t.shape().dim(rank - 1)};
}

// Like MatricesOf; also returns InvalidArgument if the matrices are not square.
inline StatusOr<Matrices> SquareMatricesOf(const Tensor& t, const char* what) {
  TF_ASSIGN_OR_RETURN(Matrices m, MatricesOf(t, what));
  if (m.rows != m.columns) return InvalidArgument(what, " must be square, got shape ", t.shape());
  return m;
}

// Matrix i of the tensor, converted to W.
template <typename W, typename T>
Matrix<W> LoadMatrix(const Tensor& t, const Matrices& m, int64_t i) {
  Matrix<W> result(m.rows, m.columns);
  const T* from = t.data<T>().data() + i * m.size();
  std::transform(from, from + m.size(), result.data(), [](T v) { return static_cast<W>(v); });
  return result;
}
template <typename T>
Matrix<Wide<T>> WideMatrixAtIndex(const Tensor& t, const Matrices& m, int64_t i) {
  return LoadMatrix<Wide<T>, T>(t, m, i);
}

// Runs body(i) for each matrix, split over threads, and returns the first error that occurs. Does nothing if the
// outputs have no elements, because the number of matrices is not bounded then. REQUIRES: the outputs are allocated.
template <typename Body>
Status ForEachMatrix(KernelContext& ctx, int64_t count, double cost_ns, const Body& body) {
  bool empty = true;
  for (int i = 0; i < ctx.num_outputs(); ++i) empty = empty && ctx.output(i).num_elements() == 0;
  if (empty) return OkStatus();
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

// The estimated cost per matrix of algorithms with cubic complexity.
inline double CubicCost(const Matrices& m) { return 50 + 1.0 * m.rows * m.columns * std::min(m.rows, m.columns); }

template <template <typename> typename K, typename... T>
void AddLinalg(KernelRegistry& r, const char* op, Types<T...>,
               std::source_location location = std::source_location::current()) {
  (r.Add<K<T>>(op, {{"T", {DTypeOf<T>::value}}}, LinalgCost, location), ...);
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LINALG_LINALG_H_
