// The small matrix products between the transforms of Winograd's convolutions. Each takes less than a microsecond, so
// the overhead of a call of oneDNN would be too large.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_PRODUCTS_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_PRODUCTS_H_

#include <cstdint>

#include "kernels/cpu/nn/convolution/winograd_transforms.h"

namespace tensorbraid::cpu {

// A matrix that is read element by element: element (row, k) is data[row * row_stride + k * k_stride].
struct WinogradLeft {
  const float* data;
  int64_t row_stride, k_stride;
};

// Rows of a product that are computed at once. With two vectors of columns, the sums fill the registers.
#if defined(__AVX512F__)
inline constexpr int kWinogradRows = 14;
#else
inline constexpr int kWinogradRows = 6;
#endif

// kRows rows and kVectors vectors of columns of c = a * b, or with kAdd of c += a * b. The rows of b and c have
// `columns` elements.
template <int kRows, int kVectors, bool kAdd>
void MultiplyBlock(const WinogradLeft& a, const float* b, int64_t columns, int64_t depth, float* c) {
  WinogradVector sums[kRows][kVectors];
#pragma GCC unroll 14
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      sums[row][v] = kAdd ? LoadVector(c + row * columns + v * kWinogradLanes) : WinogradVector{};
    }
  }
  const float* left = a.data;
  for (int64_t k = 0; k < depth; ++k, left += a.k_stride, b += columns) {
    WinogradVector of_b[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) of_b[v] = LoadVector(b + v * kWinogradLanes);
#pragma GCC unroll 14
    for (int row = 0; row < kRows; ++row) {
      const float of_a = left[row * a.row_stride];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[row][v] += of_a * of_b[v];
    }
  }
#pragma GCC unroll 14
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) StoreVector(c + row * columns + v * kWinogradLanes, sums[row][v]);
  }
}

// MultiplyBlock of 1 to kMost rows.
template <int kMost, int kVectors, bool kAdd>
void MultiplyRows(int64_t rows, const WinogradLeft& a, const float* b, int64_t columns, int64_t depth, float* c) {
  if (rows == kMost) return MultiplyBlock<kMost, kVectors, kAdd>(a, b, columns, depth, c);
  if constexpr (kMost > 1) MultiplyRows<kMost - 1, kVectors, kAdd>(rows, a, b, columns, depth, c);
}

// c[rows, columns] = a[rows, depth] * b[depth, columns], or with kAdd it is added to c. b and c have no gaps. On the
// calling thread. The sum of an element is in the order of k, whatever the number of rows. REQUIRES: `columns` is a
// multiple of kWinogradLanes.
template <bool kAdd>
void MultiplyShort(int64_t rows, int64_t columns, int64_t depth, const WinogradLeft& a, const float* b, float* c) {
  const int64_t blocks = (rows + kWinogradRows - 1) / kWinogradRows;
  for (int64_t column = 0; column < columns;) {
    const bool two = column + 2 * kWinogradLanes <= columns;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t from = rows * block / blocks, size = rows * (block + 1) / blocks - from;
      const WinogradLeft left{a.data + from * a.row_stride, a.row_stride, a.k_stride};
      float* const to = c + from * columns + column;
      if (two) {
        MultiplyRows<kWinogradRows, 2, kAdd>(size, left, b + column, columns, depth, to);
      } else {
        MultiplyRows<kWinogradRows, 1, kAdd>(size, left, b + column, columns, depth, to);
      }
    }
    column += (two ? 2 : 1) * kWinogradLanes;
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_PRODUCTS_H_
