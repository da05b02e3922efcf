// Batch normalization (with given means and factors) followed by Relu and a maximum over windows, and the gradient of
// all three. The result is computed in one pass over x; the gradient needs two, one for sums and one for the gradient
// of x. No pass stores intermediate values: the gradient computes the normalized values again, which is cheaper than
// reading them. The code is for float32 with the channels last. The channels must fill whole vectors, and the windows
// must tile the image.
#ifndef TENSORBRAID_KERNELS_CPU_NN_BATCH_NORM_TILES_H_
#define TENSORBRAID_KERNELS_CPU_NN_BATCH_NORM_TILES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {

// Channels that are computed at once. The compiler splits a vector where registers are smaller.
inline constexpr int64_t kNormLanes = 16;
using NormVector [[gnu::vector_size(4 * kNormLanes), gnu::aligned(4), gnu::may_alias]] = float;

// A batch of images, divided into windows.
struct NormTiles {
  int64_t rows = 0;     // rows of windows, in all images
  int64_t windows = 0;  // in a row
  int64_t channels = 0;
  int64_t height = 1, width = 1;  // of a window, in pixels; height * width is 1, 2 or 4

  int64_t pixels() const { return height * width; }
  int64_t inputs_per_row() const { return windows * pixels() * channels; }
  int64_t outputs_per_row() const { return windows * channels; }
  // The offsets of a window's elements from its first element.
  template <int kPixels>
  std::array<int64_t, kPixels> Offsets() const {
    std::array<int64_t, kPixels> offsets;
    for (int64_t k = 0; k < kPixels; ++k) offsets[k] = (k / width * windows * width + k % width) * channels;
    return offsets;
  }
};

// An element x of a channel becomes (x - mean) * factor + offset. Each array has an element for each channel.
struct NormFactors {
  const float *mean, *factor, *offset;
};

inline const NormVector& VectorAt(const float* p) { return *reinterpret_cast<const NormVector*>(p); }
inline NormVector& VectorAt(float* p) { return *reinterpret_cast<NormVector*>(p); }

// Computes y, the maximum of Relu of the normalized elements of each window. The result equals that of the single ops
// bit for bit.
template <int kPixels>
void NormalizeTiles(KernelContext& ctx, const NormTiles& t, const NormFactors& factors, const float* x, float* y) {
  if (t.channels == 0) return;
  const std::array<int64_t, kPixels> offsets = t.Offsets<kPixels>();
  const NormVector zero = {};
  // The result for a window of several elements that are all NaN. (A window of one element passes a NaN on.)
  const NormVector lowest = zero + std::numeric_limits<float>::lowest();
  Parallel(ctx, t.rows, 0.2 * static_cast<double>(t.inputs_per_row()), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t c = 0; c < t.channels; c += kNormLanes) {
        const NormVector mean = VectorAt(factors.mean + c), factor = VectorAt(factors.factor + c);
        const NormVector offset = VectorAt(factors.offset + c);
        const float* in = x + row * t.inputs_per_row() + c;
        float* out = y + row * t.outputs_per_row() + c;
        for (int64_t w = 0; w < t.windows; ++w, in += t.width * t.channels, out += t.channels) {
          NormVector best = lowest;
#pragma GCC unroll 4
          for (int k = 0; k < kPixels; ++k) {
            NormVector z = (VectorAt(in + offsets[k]) - mean) * factor + offset;
            z = z < zero ? zero : z;
            if constexpr (kPixels == 1) {
              best = z;
            } else {
              best = best < z ? z : best;
            }
          }
          VectorAt(out) = best;
        }
      }
    }
  });
}

// The gradient of the maximum and Relu of a window, for each of kNormLanes channels. It goes to the first of the
// largest elements: `largest` is the number of this element in the window, `x` is its value before normalization, and
// `g` is its gradient, which is 0 unless its normalized value is positive.
struct NormWindow {
  NormVector g, x, largest;
};
template <int kPixels>
[[gnu::always_inline]] inline void FindLargest(const float* in, const std::array<int64_t, kPixels>& offsets,
                                               const NormVector& mean, const NormVector& factor,
                                               const NormVector& offset, const float* dy, NormWindow* window) {
  const NormVector zero = {};
  window->x = VectorAt(in + offsets[0]);
  window->largest = zero;
  NormVector best = (window->x - mean) * factor + offset;
#pragma GCC unroll 4
  for (int k = 1; k < kPixels; ++k) {
    const NormVector element = VectorAt(in + offsets[k]);
    const NormVector z = (element - mean) * factor + offset;
    const auto is_larger = z > best;
    best = is_larger ? z : best;
    window->x = is_larger ? element : window->x;
    window->largest = is_larger ? zero + static_cast<float>(k) : window->largest;
  }
  window->g = best > zero ? VectorAt(dy) : zero;
}

// Computes two sums over all windows for each channel: of the gradients that pass the maximum and Relu, and of these
// gradients times (x - mean).
template <int kPixels>
std::array<std::vector<double>, 2> SumsOfTiles(KernelContext& ctx, const NormTiles& t, const NormFactors& factors,
                                               const float* x, const float* dy) {
  std::array<std::vector<double>, 2> sums;
  for (auto& sum : sums) sum.assign(t.channels, 0.0);
  if (t.rows == 0 || t.channels == 0) return sums;
  const std::array<int64_t, kPixels> offsets = t.Offsets<kPixels>();
  // The blocks depend only on the shape, so the result does not depend on the number of threads.
  constexpr int64_t kWindows = 256;
  const int64_t block = std::max<int64_t>(1, kWindows / std::max<int64_t>(1, t.windows));
  const int64_t blocks = (t.rows + block - 1) / block;
  std::vector<float> partial(blocks * 2 * t.channels, 0.0f);
  Parallel(ctx, blocks, 0.2 * static_cast<double>(block * t.inputs_per_row()), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      float* const of_block = partial.data() + b * 2 * t.channels;
      for (int64_t row = b * block; row < std::min(t.rows, (b + 1) * block); ++row) {
        for (int64_t c = 0; c < t.channels; c += kNormLanes) {
          const NormVector mean = VectorAt(factors.mean + c), factor = VectorAt(factors.factor + c);
          const NormVector offset = VectorAt(factors.offset + c);
          NormVector sum = VectorAt(of_block + c), product = VectorAt(of_block + t.channels + c);
          const float* in = x + row * t.inputs_per_row() + c;
          const float* g = dy + row * t.outputs_per_row() + c;
          for (int64_t w = 0; w < t.windows; ++w, in += t.width * t.channels, g += t.channels) {
            NormWindow window;
            FindLargest<kPixels>(in, offsets, mean, factor, offset, g, &window);
            sum += window.g;
            product += window.g * (window.x - mean);
          }
          VectorAt(of_block + c) = sum;
          VectorAt(of_block + t.channels + c) = product;
        }
      }
    }
  });
  for (int64_t b = 0; b < blocks; ++b) {
    const float* of_block = partial.data() + b * 2 * t.channels;
    for (auto& sum : sums) {
      for (int64_t c = 0; c < t.channels; ++c) sum[c] += static_cast<double>(*of_block++);
    }
  }
  return sums;
}

// The gradient of an element of x, where g passes Relu and the maximum, is factor * (g - shift - slope * (x - mean)).
struct NormSlopes {
  const float *factor, *shift, *slope;
};
template <int kPixels>
void TileGradients(KernelContext& ctx, const NormTiles& t, const NormFactors& factors, const NormSlopes& slopes,
                   const float* x, const float* dy, float* dx) {
  if (t.channels == 0) return;
  const std::array<int64_t, kPixels> offsets = t.Offsets<kPixels>();
  const NormVector zero = {};
  Parallel(ctx, t.rows, 0.3 * static_cast<double>(t.inputs_per_row()), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t c = 0; c < t.channels; c += kNormLanes) {
        const NormVector mean = VectorAt(factors.mean + c), factor = VectorAt(factors.factor + c);
        const NormVector offset = VectorAt(factors.offset + c), scale = VectorAt(slopes.factor + c);
        const NormVector shift = VectorAt(slopes.shift + c), slope = VectorAt(slopes.slope + c);
        const float* in = x + row * t.inputs_per_row() + c;
        const float* g = dy + row * t.outputs_per_row() + c;
        float* out = dx + row * t.inputs_per_row() + c;
        const int64_t step = t.width * t.channels;
        for (int64_t w = 0; w < t.windows; ++w, in += step, out += step, g += t.channels) {
          NormWindow window;
          FindLargest<kPixels>(in, offsets, mean, factor, offset, g, &window);
#pragma GCC unroll 4
          for (int k = 0; k < kPixels; ++k) {
            const NormVector passed = window.largest == zero + static_cast<float>(k) ? window.g : zero;
            VectorAt(out + offsets[k]) = scale * (passed - shift - slope * (VectorAt(in + offsets[k]) - mean));
          }
        }
      }
    }
  });
}

// Calls f.template operator()<kPixels>() for the tiles' number of pixels.
template <typename F>
auto ForTiles(const NormTiles& t, const F& f) {
  switch (t.pixels()) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    default:
      return f.template operator()<4>();
  }
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_BATCH_NORM_TILES_H_
