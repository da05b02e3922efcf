// Products of matrices: the adapter to oneDNN (float32, and 16-bit floats by way of it) and Eigen (the other types).
#ifndef TENSORBRAID_KERNELS_CPU_GEMM_H_
#define TENSORBRAID_KERNELS_CPU_GEMM_H_

#include <cstdint>

#include "core/thread_pool.h"

namespace tensorbraid::cpu {

// c[m,n] = op(a)[m,k] * op(b)[k,n], all row-major without gaps; op transposes when its flag is set. `c` overlaps
// neither input. Runs on the calling thread and, when large, on idle threads of `pool` (which may be null).
// For float, double, Float16, Bfloat16, int32_t and int64_t.
template <typename T>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
          T* c);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_GEMM_H_
