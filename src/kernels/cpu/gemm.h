// Products of matrices: the adapter to oneDNN (float32, and 16-bit floats by way of it) and Eigen (the other types).
#ifndef TENSORBRAID_KERNELS_CPU_GEMM_H_
#define TENSORBRAID_KERNELS_CPU_GEMM_H_

#include <complex>
#include <cstdint>

#include "core/thread_pool.h"
#include "tensorbraid/shape.h"
#include "tensorbraid/status.h"

namespace tensorbraid::cpu {

// c[m,n] = op(a)[m,k] * op(b)[k,n], all row-major without gaps; op transposes when its flag is set. `c` overlaps
// neither input. Runs on the calling thread and, when large, on idle threads of `pool` (which may be null).
// For all number types; integers wrap round.
template <typename T>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
          T* c);
template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c);
template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c);

// Of products of matrices, the last two dimensions of tensors of rank 2 or more: [m,k] times [k,n].
struct MatMulSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};
// InvalidArgument when there are no matrices, or they do not fit.
StatusOr<MatMulSizes> MatMulSizesOf(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b);

// Which matrix of an operand with batch dimensions `of` goes with number i of the `batch` that they are broadcast to.
int64_t MatrixAt(const Shape& of, const Shape& batch, int64_t i);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_GEMM_H_
