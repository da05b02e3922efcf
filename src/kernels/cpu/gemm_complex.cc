// The Gemm functions (gemm.h) for complex matrices. They use Eigen.
#include <Eigen/Core>
#include <algorithm>
#include <complex>
#include <functional>

#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {
namespace {

template <typename T>
void ComplexGemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a,
                 const T* b, T* c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  using Const = Eigen::Map<const Matrix, 0, Stride>;
  if (m == 0 || n == 0) return;
  if (k == 0) {
    std::fill(c, c + m * n, T());
    return;
  }
  const Const ma(a, m, k, transpose_a ? Stride(1, m) : Stride(k, 1));
  const Const mb(b, k, n, transpose_b ? Stride(1, k) : Stride(n, 1));
  Eigen::Map<Matrix> mc(c, m, n);
  const double ns = 0.2 * m * n * k;
  if (pool == nullptr || ns < 100'000 || m < 64) {
    mc.noalias() = ma * mb;
    return;
  }
  constexpr int64_t kGrain = 32;
  const int64_t pieces = (m + kGrain - 1) / kGrain;
  const auto body = [&](int64_t begin, int64_t end) {
    const int64_t from = begin * kGrain, rows = std::min(m, end * kGrain) - from;
    mc.middleRows(from, rows).noalias() = ma.middleRows(from, rows) * mb;
  };
  pool->ParallelFor(pieces, ns / pieces, body);
}

}  // namespace

template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c) {
  ComplexGemm(pool, transpose_a, transpose_b, m, n, k, a, b, c);
}
template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c) {
  ComplexGemm(pool, transpose_a, transpose_b, m, n, k, a, b, c);
}

}  // namespace tensorbraid::cpu
