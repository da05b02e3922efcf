#include "kernels/cpu/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <Eigen/Core>
#include <algorithm>
#include <functional>
#include <type_traits>
#include <vector>

#include "core/text/logging.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/narrow_product.h"
#include "kernels/cpu/onednn_thread.h"

namespace tensorbraid::cpu {
namespace {

// Multiplies with oneDNN, except for the products that MultiplyNarrow computes faster. Measured on one thread of a Zen
// 4 core, with the first factor transposed: [784,100]x[100,10] takes 15 us in MultiplyNarrow and 31 us in oneDNN;
// [1024,128]x[128,10] takes 27 us and 78 us. If the first factor is not transposed, as in [100,784]x[784,10] (32 us in
// oneDNN), the gain is small.
void Multiply(const GemmPart& s, const float* a, const float* b, float* c) {
  if (IsNarrowProduct(s)) return MultiplyNarrow(s, a, b, c);
  UseOneOpenMpThread();
  const dnnl_status_t status = dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a,
                                          s.a_stride, b, s.b_stride, s.add ? 1.0f : 0.0f, c, s.c_stride);
  TB_CHECK(status == dnnl_success);
}

// Integers. Only the strides of the operands depend on whether they are transposed, so this function is compiled once
// per type.
template <typename T>
requires std::is_integral_v<T>
void Multiply(const GemmPart& s, const T* a, const T* b, T* c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  using Const = Eigen::Map<const Matrix, 0, Stride>;
  const Const ma(a, s.m, s.k, s.transpose_a ? Stride(1, s.a_stride) : Stride(s.a_stride, 1));
  const Const mb(b, s.k, s.n, s.transpose_b ? Stride(1, s.b_stride) : Stride(s.b_stride, 1));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> mc(c, s.m, s.n, Eigen::OuterStride<>(s.c_stride));
  mc.noalias() = ma * mb;
}

void Multiply(const GemmPart& s, const double* a, const double* b, double* c) {
  using T = double;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  using Const = Eigen::Map<const Matrix, 0, Stride>;
  const Const ma(a, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, Stride(s.a_stride));
  const Const mb(b, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, Stride(s.b_stride));
  Eigen::Map<Matrix, 0, Stride> mc(c, s.m, s.n, Stride(s.c_stride));
  const auto set = [&](const auto& product) {
    if (s.add) {
      mc.noalias() += product;
    } else {
      mc.noalias() = product;
    }
  };
  if (s.transpose_a && s.transpose_b) {
    set(ma.transpose() * mb.transpose());
  } else if (s.transpose_a) {
    set(ma.transpose() * mb);
  } else if (s.transpose_b) {
    set(ma * mb.transpose());
  } else {
    set(ma * mb);
  }
}

// Computes the product; large products are split over the pool along the longer side of c.
template <typename T>
void Shared(ThreadPool* pool, const GemmPart& s, const T* a, const T* b, T* c) {
  constexpr double kFlopsPerNs = 100;
  // With fewer rows or columns than this per range, the inner loops are inefficient.
  constexpr int64_t kGrain = 32;
  const double ns = 2.0 * s.m * s.n * s.k / kFlopsPerNs;
  if (pool == nullptr || ns < 100'000 || std::max(s.m, s.n) < 2 * kGrain) {
    Multiply(s, a, b, c);
    return;
  }
  const bool by_rows = s.m >= s.n;
  const int64_t length = by_rows ? s.m : s.n;
  const int64_t pieces = (length + kGrain - 1) / kGrain;
  const auto body = [&](int64_t begin, int64_t end) {
    const int64_t from = begin * kGrain;
    const int64_t size = std::min(length, end * kGrain) - from;
    GemmPart part = s;
    (by_rows ? part.m : part.n) = size;
    const int64_t a_at = by_rows ? from * (s.transpose_a ? 1 : s.a_stride) : 0;
    const int64_t b_at = by_rows ? 0 : from * (s.transpose_b ? s.b_stride : 1);
    Multiply(part, a + a_at, b + b_at, c + from * (by_rows ? s.c_stride : 1));
  };
  pool->ParallelFor(pieces, ns / pieces, body);
}

}  // namespace

template <typename T>
void Gemm(ThreadPool* pool, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
          T* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    std::fill(c, c + m * n, T());
    return;
  }
  const GemmPart s{transpose_a, transpose_b, m, n, k, transpose_a ? m : k, transpose_b ? k : n, n};
  if constexpr (kIsHalf<T>) {
    std::vector<float> wide(m * k + k * n + m * n);
    float* fa = wide.data();
    float* fb = fa + m * k;
    float* fc = fb + k * n;
    ToFloat(a, fa, m * k);
    ToFloat(b, fb, k * n);
    Shared(pool, s, fa, fb, fc);
    FromFloat(fc, c, m * n);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(uint32_t)) {
    // Computes in a wider type. The low bits of its result equal the result of the narrow type, which wraps around.
    const std::vector<uint32_t> wa(a, a + m * k), wb(b, b + k * n);
    std::vector<uint32_t> wc(m * n);
    Shared(pool, s, wa.data(), wb.data(), wc.data());
    for (int64_t i = 0; i < m * n; ++i) c[i] = static_cast<T>(wc[i]);
  } else if constexpr (std::is_integral_v<T>) {
    // Compute as unsigned, because unsigned arithmetic wraps and signed overflow is undefined.
    using U = std::make_unsigned_t<T>;
    Shared(pool, s, reinterpret_cast<const U*>(a), reinterpret_cast<const U*>(b), reinterpret_cast<U*>(c));
  } else {
    Shared(pool, s, a, b, c);
  }
}

template <typename T>
void Gemm(ThreadPool* pool, const GemmPart& part, const T* a, const T* b, T* c) {
  if (part.m == 0 || part.n == 0) return;
  if (part.k > 0) return Shared(pool, part, a, b, c);
  for (int64_t row = 0; !part.add && row < part.m; ++row) std::fill_n(c + row * part.c_stride, part.n, T(0));
}
template void Gemm(ThreadPool*, const GemmPart&, const float*, const float*, float*);
template void Gemm(ThreadPool*, const GemmPart&, const double*, const double*, double*);

#define TB_GEMM(T) template void Gemm<T>(ThreadPool*, bool, bool, int64_t, int64_t, int64_t, const T*, const T*, T*);
TB_GEMM(float)
TB_GEMM(double)
TB_GEMM(Float16)
TB_GEMM(Bfloat16)
TB_GEMM(int8_t)
TB_GEMM(int16_t)
TB_GEMM(int32_t)
TB_GEMM(int64_t)
TB_GEMM(uint8_t)
TB_GEMM(uint16_t)
TB_GEMM(uint32_t)
TB_GEMM(uint64_t)
#undef TB_GEMM

}  // namespace tensorbraid::cpu
