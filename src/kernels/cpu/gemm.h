// Matrix products: the adapter to oneDNN (float32, and 16-bit floats converted to float32) and Eigen (other types).
#ifndef TENSORBRAID_KERNELS_CPU_GEMM_H_
#define TENSORBRAID_KERNELS_CPU_GEMM_H_

#include <complex>
#include <cstdint>

#include "core/threads/thread_pool.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::cpu {

// c[m,n] = op(a)[m,k] * op(b)[k,n], all row-major without gaps; op transposes if its flag is set. `c` must not overlap
// an input. Runs on the calling thread and, for large products, also on idle threads of `pool` (which may be null).
// Works for all number types; integers wrap around.
template <typename T>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
          T* c);
template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c);
template <>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
          const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c);

// A product of matrices that may be parts of larger ones: c[m,n] = op(a)[m,k] * op(b)[k,n]. The strides are the
// lengths of the rows of a, b and c as they are stored.
struct GemmPart {
  bool transpose_a = false;
  bool transpose_b = false;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t a_stride = 0;
  int64_t b_stride = 0;
  int64_t c_stride = 0;
  bool add = false;  // adds the product to c
};
// As above, for float and double.
template <typename T>
void Gemm(ThreadPool* pool, const GemmPart& part, const T* a, const T* b, T* c);

// The sizes of a product of tensors of rank 2 or more, whose last two dimensions are matrices [m,k] and [k,n].
struct MatMulSizes {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
};
// Gemm for callers that are compiled once for all types: a, b and c point to elements of type T.
using AnyGemm = void (*)(ThreadPool* pool, bool transpose_a, bool transpose_b, const MatMulSizes& sizes, const void* a,
                         const void* b, void* c);
template <typename T>
void GemmOf(ThreadPool* pool, bool transpose_a, bool transpose_b, const MatMulSizes& sizes, const void* a,
            const void* b, void* c) {
  Gemm<T>(pool, transpose_a, transpose_b, sizes.m, sizes.n, sizes.k, static_cast<const T*>(a), static_cast<const T*>(b),
          static_cast<T*>(c));
}

// Returns InvalidArgument if a rank is below 2 or the inner dimensions differ.
StatusOr<MatMulSizes> MatMulSizesOf(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b);

// Product i of a batch uses one matrix of each operand. Returns the index of this matrix in an operand whose batch
// dimensions `of` are broadcast to `batch`.
int64_t MatrixAt(const Shape& of, const Shape& batch, int64_t i);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_GEMM_H_
