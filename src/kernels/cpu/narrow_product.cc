#include "kernels/cpu/narrow_product.h"

#include <algorithm>

namespace tensorbraid::cpu {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMostColumns = 16;
// 3 vectors of rows times 8 columns are 24 sums, which fit into the 32 registers of AVX-512 with their operands.
constexpr int kMostVectors = 3;
constexpr int kMostColumnsAtOnce = 8;

// Attributes of the name of an alias: Clang ignores the alignment when it stands behind the type.
using Lanes [[gnu::vector_size(4 * kLanes)]] = float;
using UnalignedLanes [[gnu::vector_size(4 * kLanes), gnu::aligned(4), gnu::may_alias]] = float;

// Rows [0, kVectors * kLanes) and columns [0, kColumns) of the result.
template <int kVectors, int kColumns>
void MultiplyBlock(const GemmPart& s, const float* a, const float* b, float* c) {
  Lanes sums[kVectors][kColumns] = {};
  for (int64_t p = 0; p < s.k; ++p) {
    Lanes x[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      x[v] = *reinterpret_cast<const UnalignedLanes*>(a + p * s.a_stride + v * kLanes);
    }
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) {
      const float y = b[p * s.b_stride + j];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[v][j] += x[v] * y;
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    for (int64_t i = 0; i < kLanes; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) c[(v * kLanes + i) * s.c_stride + j] = sums[v][j][i];
    }
  }
}

template <int kVectors, int kColumns = kMostColumnsAtOnce>
void MultiplyColumns(int columns, const GemmPart& s, const float* a, const float* b, float* c) {
  if (columns == kColumns) return MultiplyBlock<kVectors, kColumns>(s, a, b, c);
  if constexpr (kColumns > 1) MultiplyColumns<kVectors, kColumns - 1>(columns, s, a, b, c);
}

}  // namespace

bool IsNarrowProduct(const GemmPart& s) {
#ifdef __AVX512F__
  return s.transpose_a && !s.transpose_b && !s.add && s.n <= kMostColumns && s.m >= kLanes;
#else
  (void)s;
  return false;
#endif
}

void MultiplyNarrow(const GemmPart& s, const float* a, const float* b, float* c) {
  const int64_t blocks = (s.n + kMostColumnsAtOnce - 1) / kMostColumnsAtOnce;
  for (int64_t row = 0; row < s.m;) {
    const bool wide = s.m - row >= kMostVectors * kLanes;
    // The last vector overlaps the one before it when the rows do not fill it.
    const int64_t at = wide ? row : std::min(row, s.m - kLanes);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = s.n * block / blocks;
      const int columns = static_cast<int>(s.n * (block + 1) / blocks - first);
      const auto multiply = wide ? MultiplyColumns<kMostVectors> : MultiplyColumns<1>;
      multiply(columns, s, a + at, b + first, c + at * s.c_stride + first);
    }
    row = at + (wide ? kMostVectors * kLanes : kLanes);
  }
}

}  // namespace tensorbraid::cpu
