// The arithmetic of Winograd's convolutions, on tiles of images whose channels are last.
//
// A convolution of one axis with r taps that computes m outputs multiplies two polynomials. The method evaluates both
// at m + r - 1 points, multiplies the values, and interpolates: m + r - 1 products take the place of m * r. For an
// image, it does so along both axes. The points here are 0, 1, -1, p, -p and infinity, so m + r = 7: windows of 5 x 5
// compute 2 x 2 pixels with 36 products instead of 100, windows of 3 x 3 compute 4 x 4 pixels with 36 instead of 144.
// The gradient of a window of r taps is the convolution of the image with m taps, of which r outputs are computed.
// Source: Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_TRANSFORMS_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_TRANSFORMS_H_

#include <cstdint>

namespace tensorbraid::cpu {

inline constexpr int kWinogradPoints = 6;  // of an axis

// A register of floats: channels that are computed at once.
#if defined(__AVX512F__)
inline constexpr int64_t kWinogradLanes = 16;
#elif defined(__AVX__)
inline constexpr int64_t kWinogradLanes = 8;
#else
inline constexpr int64_t kWinogradLanes = 4;
#endif
using WinogradVector [[gnu::vector_size(4 * kWinogradLanes)]] = float;
using WinogradVectorInMemory [[gnu::vector_size(4 * kWinogradLanes), gnu::aligned(4), gnu::may_alias]] = float;

inline WinogradVector LoadVector(const float* p) { return *reinterpret_cast<const WinogradVectorInMemory*>(p); }
inline void StoreVector(float* p, WinogradVector v) { *reinterpret_cast<WinogradVectorInMemory*>(p) = v; }

// The point p. Every p between 1/2 and 2 gives correct results. 5/8 has the smallest rounding errors of those that were
// measured, and its powers are exact.
inline constexpr float kWinogradPoint = 0.625F, kWinogradPoint2 = kWinogradPoint * kWinogradPoint;

// Each transform of one axis reads kFrom values and writes kTo.

// The transform of six neighbours in an image.
struct WinogradImage {
  static constexpr int kFrom = kWinogradPoints, kTo = kWinogradPoints;
  [[gnu::always_inline]] static inline void Apply(const WinogradVector* d, WinogradVector* v) {
    constexpr float p = kWinogradPoint, p2 = kWinogradPoint2;
    const WinogradVector even_1 = d[4] - p2 * d[2], odd_1 = d[3] - p2 * d[1];
    const WinogradVector even_p = d[4] - d[2], odd_p = p * (d[3] - d[1]);
    v[0] = even_1 + p2 * d[0] - d[2];
    v[1] = even_1 + odd_1;
    v[2] = even_1 - odd_1;
    v[3] = even_p + odd_p;
    v[4] = even_p - odd_p;
    v[5] = d[5] - d[3] - p2 * (d[3] - d[1]);
  }
};

// The transform of the kTaps taps of a window: their polynomial at each point, divided so that the products interpolate
// to the outputs.
template <int kTaps>
struct WinogradTaps {
  static constexpr int kFrom = kTaps, kTo = kWinogradPoints;
  [[gnu::always_inline]] static inline void Apply(const WinogradVector* g, WinogradVector* u) {
    constexpr float p = kWinogradPoint, p2 = kWinogradPoint2;
    constexpr float at_0 = 1 / p2, at_1 = 1 / (2 * (1 - p2)), at_p = 1 / (2 * p2 * (p2 - 1));
    WinogradVector even_1 = g[0], odd_1 = g[1], even_p = g[0], odd_p = p * g[1];
    if constexpr (kTaps > 2) {
      even_1 += g[2];
      even_p += p2 * g[2];
    }
    if constexpr (kTaps > 3) {
      odd_1 += g[3];
      odd_p += p * p2 * g[3];
    }
    if constexpr (kTaps > 4) {
      even_1 += g[4];
      even_p += p2 * p2 * g[4];
    }
    u[0] = at_0 * g[0];
    u[1] = at_1 * (even_1 + odd_1);
    u[2] = at_1 * (even_1 - odd_1);
    u[3] = at_p * (even_p + odd_p);
    u[4] = at_p * (even_p - odd_p);
    u[5] = g[kTaps - 1];
  }
};

// kOutputs outputs, from the products of the two transforms' results. The products are summed over channels.
template <int kOutputs>
struct WinogradOutputs {
  static constexpr int kFrom = kWinogradPoints, kTo = kOutputs;
  [[gnu::always_inline]] static inline void Apply(const WinogradVector* m, WinogradVector* y) {
    constexpr float p = kWinogradPoint, p2 = kWinogradPoint2;
    const WinogradVector even_1 = m[1] + m[2], odd_1 = m[1] - m[2], even_p = m[3] + m[4], odd_p = m[3] - m[4];
    y[0] = m[0] + even_1 + even_p;
    y[1] = odd_1 + p * odd_p;
    if constexpr (kOutputs > 2) y[2] = even_1 + p2 * even_p;
    if constexpr (kOutputs > 3) y[3] = odd_1 + p * p2 * odd_p;
    if constexpr (kOutputs > 4) y[4] = even_1 + p2 * p2 * even_p;
    y[kOutputs - 1] += m[5];
  }
};

// Transforms both axes: calls in(i, j) for each of kFrom x kFrom vectors, and out(i, j, vector) for kTo x kTo.
template <typename Transform, typename In, typename Out>
[[gnu::always_inline]] inline void TransformBothAxes(const In& in, const Out& out) {
  constexpr int kFrom = Transform::kFrom, kTo = Transform::kTo;
  WinogradVector rows[kFrom][kTo];
#pragma GCC unroll 6
  for (int i = 0; i < kFrom; ++i) {
    WinogradVector row[kFrom];
#pragma GCC unroll 6
    for (int j = 0; j < kFrom; ++j) row[j] = in(i, j);
    Transform::Apply(row, rows[i]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < kTo; ++j) {
    WinogradVector column[kFrom], result[kTo];
#pragma GCC unroll 6
    for (int i = 0; i < kFrom; ++i) column[i] = rows[i][j];
    Transform::Apply(column, result);
#pragma GCC unroll 6
    for (int i = 0; i < kTo; ++i) out(i, j, result[i]);
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_WINOGRAD_TRANSFORMS_H_
