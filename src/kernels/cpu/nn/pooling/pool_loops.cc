#include "kernels/cpu/nn/pooling/pool_loops.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cpu/elementwise.h"

namespace tensorbraid::cpu {
namespace {

// Indices [begin, end) along an axis.
struct PoolRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// The input elements under the window of output element o.
PoolRange Under(const WindowAxis& w, int64_t o) {
  const int64_t start = o * w.stride - w.pad_before;
  const int64_t begin = std::clamp<int64_t>(start, 0, w.input);
  return {begin, std::clamp<int64_t>(start + w.window, begin, w.input)};
}

// The output elements whose windows cover input element i.
PoolRange Covering(const WindowAxis& w, int64_t i) {
  const int64_t last = (i + w.pad_before) / w.stride + 1;
  const int64_t before = i + w.pad_before - w.window + 1;
  const int64_t first = before <= 0 ? 0 : (before + w.stride - 1) / w.stride;
  return {std::min(first, w.output), std::min(last, w.output)};
}

// The input elements from the start of window o up to the start of window o + 1, so that each element belongs to one
// window. REQUIRES: windows do not overlap.
PoolRange OwnedBy(const WindowAxis& w, int64_t o) {
  const auto start = [&](int64_t of) {
    if (of == 0) return int64_t{0};
    return of == w.output ? w.input : std::clamp<int64_t>(of * w.stride - w.pad_before, 0, w.input);
  };
  return {start(o), start(o + 1)};
}

// Position of a row of outputs among all rows: [image, depth, height].
struct OutputRow {
  OutputRow(const PoolView& p, int64_t row)
      : image(row / (p.axes[0].output * p.axes[1].output)),
        depth(row / p.axes[1].output % p.axes[0].output),
        height(row % p.axes[1].output) {}
  int64_t image, depth, height;
};

double WindowElements(const PoolView& p) {
  return static_cast<double>(p.axes[0].window) * static_cast<double>(p.axes[1].window) *
         static_cast<double>(p.axes[2].window);
}

// Combines the elements of each window, starting at `start`. First combines the rows under a window into one row, in
// loops over contiguous memory even if there are few channels. Then combines the columns of this row.
template <typename A, typename F, typename Finish>
void CombineWindows(KernelContext& ctx, const PoolView& p, const A* x, A start, A* y, const F& f,
                    const Finish& finish) {
  const auto& [depth, height, width] = p.axes;
  const int64_t channels = p.channels, row = width.input * channels;
  const int64_t rows = p.images * depth.output * height.output;
  if (rows == 0 || channels == 0) return;
  const double cost = 0.1 * static_cast<double>(row) * static_cast<double>(depth.window * height.window) +
                      static_cast<double>(width.output) * (1.0 + 0.3 * static_cast<double>(width.window * channels));
  Parallel(ctx, rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<A> columns(row);
    A* const column = columns.data();
    for (int64_t r = begin; r < end; ++r) {
      const OutputRow at(p, r);
      const PoolRange ds = Under(p.axes[0], at.depth), hs = Under(p.axes[1], at.height);
      std::fill(columns.begin(), columns.end(), start);
      for (int64_t d = ds.begin; d < ds.end; ++d) {
        for (int64_t h = hs.begin; h < hs.end; ++h) {
          const A* in = x + ((at.image * p.axes[0].input + d) * p.axes[1].input + h) * row;
#pragma GCC ivdep
          for (int64_t i = 0; i < row; ++i) column[i] = f(column[i], in[i]);
        }
      }
      A* out = y + r * p.axes[2].output * channels;
      for (int64_t w = 0; w < p.axes[2].output; ++w, out += channels) {
        const PoolRange ws = Under(p.axes[2], w);
        if (channels == 1) {
          A value = start;
          for (int64_t i = ws.begin; i < ws.end; ++i) value = f(value, column[i]);
          *out = value;
        } else {
          std::fill_n(out, channels, start);
          for (int64_t i = ws.begin; i < ws.end; ++i) {
            const A* in = column + i * channels;
#pragma GCC ivdep
            for (int64_t c = 0; c < channels; ++c) out[c] = f(out[c], in[c]);
          }
        }
        finish(out, ds.size() * hs.size() * ws.size());
      }
    }
  });
}

// Channels are handled in blocks of this size, so that the intermediate results of a block stay in the first cache.
constexpr int64_t kPoolBlock = 64;

// Finds, for n channels from x on, the first of the largest elements among the pixels of a window. Pixel number p of
// the image is at x + p * channels, and `pixels` has the numbers of the window's pixels.
template <typename A>
void FirstLargest(const A* x, const std::vector<int64_t>& pixels, int64_t channels, int64_t n, A* best, int32_t* at) {
  const A* first = x + pixels[0] * channels;
  for (int64_t c = 0; c < n; ++c) {
    best[c] = first[c];
    at[c] = 0;
  }
  for (size_t k = 1; k < pixels.size(); ++k) {
    const A* in = x + pixels[k] * channels;
    const auto number = static_cast<int32_t>(k);
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) {
      const bool larger = in[c] > best[c];
      best[c] = larger ? in[c] : best[c];
      at[c] = larger ? number : at[c];
    }
  }
}

// Whether each element of the input is under exactly one window.
bool WindowsTile(const PoolView& p) {
  return std::all_of(p.axes.begin(), p.axes.end(), [](const WindowAxis& w) {
    return w.window == w.stride && w.pad_before == 0 && w.input == w.output * w.window;
  });
}

// Computes MaxPoolGrad, or with kRelu MaxPoolReluGrad, of one window of 2 or 4 elements, whose `offsets` from x and dx
// are given. Writes every element of dx. The code has a variable for each element, because GCC does not vectorise a
// loop over arrays of them.
template <int kPixels, bool kRelu, typename A>
void MaxPoolGradOfWindow(const A* x, const std::array<int64_t, kPixels>& offsets, int64_t channels, const A* dy,
                         A* dx) {
  const int64_t o1 = offsets[1], o2 = offsets[kPixels == 4 ? 2 : 1], o3 = offsets[kPixels == 4 ? 3 : 1];
  const A *x1 = x + o1, *x2 = x + o2, *x3 = x + o3;
  A *dx1 = dx + o1, *dx2 = dx + o2, *dx3 = dx + o3;
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; ++c) {
    A best = x[c];
    A largest = 0;  // the number of the first of the largest elements; an A, so that all lanes have one width
    largest = x1[c] > best ? A(1) : largest;
    best = x1[c] > best ? x1[c] : best;
    if constexpr (kPixels == 4) {
      largest = x2[c] > best ? A(2) : largest;
      best = x2[c] > best ? x2[c] : best;
      largest = x3[c] > best ? A(3) : largest;
      best = x3[c] > best ? x3[c] : best;
    }
    // Adds to 0, as the general code does, so that -0 becomes 0 here, too.
    const A g = !kRelu || best > A(0) ? Plus(A(0), dy[c]) : A(0);
    dx[c] = largest == A(0) ? g : A(0);
    dx1[c] = largest == A(1) ? g : A(0);
    if constexpr (kPixels == 4) {
      dx2[c] = largest == A(2) ? g : A(0);
      dx3[c] = largest == A(3) ? g : A(0);
    }
  }
}

// Computes MaxPoolGrad or MaxPoolReluGrad for windows of kPixels elements that tile the input, so dx need not be set to
// 0 first.
template <int kPixels, bool kRelu, typename A>
void MaxPoolGradOfTiles(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx) {
  const auto& [depth, height, width] = p.axes;
  std::array<int64_t, kPixels> offsets;  // of the elements under a window, from its first one
  int64_t* next = offsets.data();
  for (int64_t d = 0; d < depth.window; ++d) {
    for (int64_t h = 0; h < height.window; ++h) {
      for (int64_t w = 0; w < width.window; ++w) *next++ = ((d * height.input + h) * width.input + w) * p.channels;
    }
  }
  const double cost = static_cast<double>(width.output) * (2.0 + 0.2 * kPixels * static_cast<double>(p.channels));
  Parallel(ctx, p.images * depth.output * height.output, cost, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const OutputRow at(p, r);
      const int64_t row =
          (at.image * p.axes[0].input + at.depth * p.axes[0].window) * p.axes[1].input + at.height * p.axes[1].window;
      for (int64_t w = 0; w < p.axes[2].output; ++w) {
        const int64_t first = (row * p.axes[2].input + w * p.axes[2].window) * p.channels;
        MaxPoolGradOfWindow<kPixels, kRelu>(x + first, offsets, p.channels,
                                            dy + (r * p.axes[2].output + w) * p.channels, dx + first);
      }
    }
  });
}

// Computes MaxPoolGrad or MaxPoolReluGrad if there is fast code for these windows; otherwise returns false.
template <bool kRelu, typename A>
bool MaxPoolGradIfTiles(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx) {
  const double elements = WindowElements(p);
  if (p.channels < 4 || (elements != 2 && elements != 4) || !WindowsTile(p)) return false;
  elements == 2 ? MaxPoolGradOfTiles<2, kRelu>(ctx, p, x, dy, dx) : MaxPoolGradOfTiles<4, kRelu>(ctx, p, x, dy, dx);
  return true;
}

// The pixels under a window, within their image.
void PixelsUnder(const PoolView& p, int64_t depth, int64_t height, int64_t width, std::vector<int64_t>* pixels) {
  const PoolRange ds = Under(p.axes[0], depth), hs = Under(p.axes[1], height), ws = Under(p.axes[2], width);
  pixels->clear();
  for (int64_t d = ds.begin; d < ds.end; ++d) {
    for (int64_t h = hs.begin; h < hs.end; ++h) {
      for (int64_t w = ws.begin; w < ws.end; ++w) {
        pixels->push_back((d * p.axes[1].input + h) * p.axes[2].input + w);
      }
    }
  }
}

// Calls window(image, pixels, output pixel, first channel, number of channels) for every window and every block of its
// channels, in parallel over rows of the output.
template <typename Window>
void ForEachWindow(KernelContext& ctx, const PoolView& p, const Window& window) {
  const int64_t rows = p.images * p.axes[0].output * p.axes[1].output;
  if (rows == 0) return;
  const double cost =
      static_cast<double>(p.axes[2].output) * (5.0 + 0.5 * static_cast<double>(p.channels) * WindowElements(p));
  Parallel(ctx, rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> pixels;
    for (int64_t r = begin; r < end; ++r) {
      const OutputRow at(p, r);
      for (int64_t w = 0; w < p.axes[2].output; ++w) {
        PixelsUnder(p, at.depth, at.height, w, &pixels);
        if (pixels.empty()) continue;
        for (int64_t c = 0; c < p.channels; c += kPoolBlock) {
          window(at.image, pixels, r * p.axes[2].output + w, c, std::min(kPoolBlock, p.channels - c));
        }
      }
    }
  });
}

// Like ForEachWindow, for functions `window` that add to dx, which is set to 0 first. No two threads add to the same
// element: work is split over rows of the output if their windows do not overlap, otherwise over images and blocks of
// channels.
template <typename A, typename Window>
void ForEachWindowInto(KernelContext& ctx, const PoolView& p, A* dx, const Window& window) {
  const WindowAxis &depth = p.axes[0], &height = p.axes[1], &width = p.axes[2];
  const int64_t channels = p.channels, image_size = p.input_pixels() * channels;
  if (p.output_pixels() == 0 || p.images == 0 || channels == 0) {
    std::fill_n(dx, p.images * image_size, A(0));
    return;
  }
  const auto add_row = [&](int64_t row, int64_t first, int64_t last, std::vector<int64_t>* pixels) {
    const OutputRow at(p, row);
    for (int64_t w = 0; w < p.axes[2].output; ++w) {
      PixelsUnder(p, at.depth, at.height, w, pixels);
      if (pixels->empty()) continue;
      for (int64_t c = first; c < last; c += kPoolBlock) {
        window(at.image, *pixels, row * p.axes[2].output + w, c, std::min(kPoolBlock, last - c));
      }
    }
  };
  const double row_cost =
      static_cast<double>(width.output) * (5.0 + 0.7 * static_cast<double>(channels) * WindowElements(p));
  const int64_t image_rows = depth.output * height.output;
  if (depth.stride >= depth.window && height.stride >= height.window) {
    Parallel(ctx, p.images * image_rows, row_cost, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> pixels;
      for (int64_t r = begin; r < end; ++r) {
        const OutputRow at(p, r);
        const PoolRange ds = OwnedBy(p.axes[0], at.depth), hs = OwnedBy(p.axes[1], at.height);
        const int64_t row = p.axes[2].input * channels;
        for (int64_t d = ds.begin; d < ds.end; ++d) {
          std::fill_n(dx + at.image * image_size + (d * p.axes[1].input + hs.begin) * row, hs.size() * row, A(0));
        }
        add_row(r, 0, channels, &pixels);
      }
    });
    return;
  }
  const int64_t blocks = (channels + kPoolBlock - 1) / kPoolBlock;
  Parallel(ctx, p.images * blocks, row_cost * static_cast<double>(image_rows) / static_cast<double>(blocks),
           [&](int64_t begin, int64_t end) {
             std::vector<int64_t> pixels;
             for (int64_t unit = begin; unit < end; ++unit) {
               const int64_t image = unit / blocks, first = unit % blocks * kPoolBlock;
               const int64_t last = std::min(first + kPoolBlock, channels);
               A* to = dx + image * image_size;
               for (int64_t i = 0; i < p.input_pixels(); ++i)
                 std::fill(to + i * channels + first, to + i * channels + last, A(0));
               for (int64_t r = image * image_rows; r < (image + 1) * image_rows; ++r) add_row(r, first, last, &pixels);
             }
           });
}

}  // namespace

PoolView ViewOf(const PoolAttrs& attrs, const PoolWindows& windows) {
  PoolView p{.images = windows.batch, .channels = windows.channels, .axes = windows.axes};
  if (windows.channel_window > 1) {  // the channels become the width
    p.images *= attrs.channels_first ? 1 : p.input_pixels();
    p.axes = {};
    p.axes[2] = {.input = windows.channels,
                 .window = windows.channel_window,
                 .stride = windows.channel_window,
                 .output = windows.channels / windows.channel_window};
    p.channels = 1;
    if (attrs.channels_first) {  // [batch, channels, pixels]
      p.axes[1] = p.axes[2];
      p.axes[2] = {};
      p.channels = windows.axes[0].input * windows.axes[1].input * windows.axes[2].input;
    }
  } else if (attrs.channels_first) {
    p.images *= p.channels;
    p.channels = 1;
  }
  return p;
}

template <typename A>
void MaxPool(KernelContext& ctx, const PoolView& p, const A* x, A lowest, A* y) {
  CombineWindows(
      ctx, p, x, lowest, y, [](A a, A b) { return a < b ? b : a; }, [](A*, int64_t) {});
}

template <typename A>
void AvgPool(KernelContext& ctx, const PoolView& p, const A* x, A* y) {
  CombineWindows(
      ctx, p, x, A(0), y, [](A a, A b) { return a + b; },
      [&](A* out, int64_t elements) {
        const A n = static_cast<A>(elements);
#pragma GCC ivdep
        for (int64_t c = 0; c < p.channels; ++c) out[c] /= n;
      });
}

template <typename A>
void AvgPoolGrad(KernelContext& ctx, const PoolView& p, const A* dy, A* dx) {
  const int64_t channels = p.channels;
  const int64_t rows = p.images * p.axes[0].input * p.axes[1].input, out_row = p.axes[2].output * channels;
  const double cost = 0.3 * static_cast<double>(channels) * static_cast<double>(p.axes[2].input + p.axes[2].output);
  // Every row of dx is the sum of the rows of dy whose windows cover it.
  Parallel(ctx, rows, 3.0 + cost, [&](int64_t begin, int64_t end) {
    std::vector<A> sums(out_row);
    for (int64_t r = begin; r < end; ++r) {
      const int64_t h = r % p.axes[1].input, d = r / p.axes[1].input % p.axes[0].input;
      const int64_t image = r / p.axes[1].input / p.axes[0].input;
      std::fill(sums.begin(), sums.end(), A(0));
      const PoolRange ds = Covering(p.axes[0], d), hs = Covering(p.axes[1], h);
      for (int64_t od = ds.begin; od < ds.end; ++od) {
        for (int64_t oh = hs.begin; oh < hs.end; ++oh) {
          const A n = static_cast<A>(Under(p.axes[0], od).size() * Under(p.axes[1], oh).size());
          const A* g = dy + ((image * p.axes[0].output + od) * p.axes[1].output + oh) * out_row;
          A* const sum = sums.data();
#pragma GCC ivdep
          for (int64_t i = 0; i < out_row; ++i) sum[i] += g[i] / n;
        }
      }
      A* const to = dx + r * p.axes[2].input * channels;
      std::fill_n(to, p.axes[2].input * channels, A(0));
      for (int64_t w = 0; w < p.axes[2].output; ++w) {
        const PoolRange ws = Under(p.axes[2], w);
        const A n = static_cast<A>(ws.size());
        const A* g = sums.data() + w * channels;
        for (int64_t i = ws.begin; i < ws.end; ++i) {
          A* pixel = to + i * channels;
#pragma GCC ivdep
          for (int64_t c = 0; c < channels; ++c) pixel[c] += g[c] / n;
        }
      }
    }
  });
}

template <typename A>
void ArgMaxPool(KernelContext& ctx, const PoolView& p, const A* x, A* y, int64_t* at) {
  const int64_t image_size = p.input_pixels() * p.channels;
  ForEachWindow(
      ctx, p, [&](int64_t image, const std::vector<int64_t>& pixels, int64_t out, int64_t channel, int64_t n) {
        int32_t found[kPoolBlock];
        FirstLargest(x + image * image_size + channel, pixels, p.channels, n, y + out * p.channels + channel, found);
        int64_t* to = at + out * p.channels + channel;
        for (int64_t c = 0; c < n; ++c) to[c] = pixels[found[c]];
      });
}

template <typename A>
void MaxPoolGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx) {
  if (MaxPoolGradIfTiles<false>(ctx, p, x, dy, dx)) return;
  const int64_t image_size = p.input_pixels() * p.channels;
  ForEachWindowInto(ctx, p, dx,
                    [&](int64_t image, const std::vector<int64_t>& pixels, int64_t out, int64_t channel, int64_t n) {
                      const A* from = x + image * image_size + channel;
                      const A* g = dy + out * p.channels + channel;
                      A* to = dx + image * image_size + channel;
                      A best[kPoolBlock];
                      int32_t found[kPoolBlock];
                      FirstLargest(from, pixels, p.channels, n, best, found);
                      // With few channels or many pixels, the vectorised loop over all pixels below would take longer
                      // than this.
                      if (n < 4 || pixels.size() > 16) {
                        for (int64_t c = 0; c < n; ++c) {
                          A& element = to[pixels[found[c]] * p.channels + c];
                          element = Plus(element, g[c]);
                        }
                        return;
                      }
                      for (size_t k = 0; k < pixels.size(); ++k) {
                        A* pixel = to + pixels[k] * p.channels;
                        const auto number = static_cast<int32_t>(k);
#pragma GCC ivdep
                        for (int64_t c = 0; c < n; ++c) pixel[c] = found[c] == number ? Plus(pixel[c], g[c]) : pixel[c];
                      }
                    });
}

template <typename A>
void MaxPoolReluGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx) {
  if (MaxPoolGradIfTiles<true>(ctx, p, x, dy, dx)) return;
  MaxPoolGrad(ctx, p, x, dy, dx);
  Parallel(ctx, p.images * p.input_pixels() * p.channels, 0.3, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) dx[i] = x[i] > A(0) ? dx[i] : A(0);
  });
}

template <typename A>
void MaxPoolGradToEqual(KernelContext& ctx, const PoolView& p, const A* x, const A* y, const A* dy, A* dx) {
  const int64_t image_size = p.input_pixels() * p.channels;
  ForEachWindowInto(ctx, p, dx,
                    [&](int64_t image, const std::vector<int64_t>& pixels, int64_t out, int64_t channel, int64_t n) {
                      const A* g = dy + out * p.channels + channel;
                      const A* largest = y + out * p.channels + channel;
                      for (const int64_t pixel : pixels) {
                        const int64_t offset = image * image_size + pixel * p.channels + channel;
                        const A* in = x + offset;
                        A* to = dx + offset;
#pragma GCC ivdep
                        for (int64_t c = 0; c < n; ++c) to[c] = in[c] == largest[c] ? Plus(to[c], g[c]) : to[c];
                      }
                    });
}

template <typename A>
void MaxPoolGradGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* y, const A* ddx, A* ddy) {
  const int64_t image_size = p.input_pixels() * p.channels;
  ForEachWindow(ctx, p,
                [&](int64_t image, const std::vector<int64_t>& pixels, int64_t out, int64_t channel, int64_t n) {
                  const A* largest = y + out * p.channels + channel;
                  A* to = ddy + out * p.channels + channel;
                  bool found[kPoolBlock] = {};
                  std::fill_n(to, n, A(0));
                  for (const int64_t pixel : pixels) {
                    const int64_t offset = image * image_size + pixel * p.channels + channel;
                    for (int64_t c = 0; c < n; ++c) {
                      if (found[c] || x[offset + c] != largest[c]) continue;
                      found[c] = true;
                      to[c] = ddx[offset + c];
                    }
                  }
                });
}

#define TENSORBRAID_POOL_LOOPS(A)                                                                   \
  template void MaxPool(KernelContext& ctx, const PoolView& p, const A* x, A lowest, A* y);         \
  template void ArgMaxPool(KernelContext& ctx, const PoolView& p, const A* x, A* y, int64_t* at);   \
  template void MaxPoolGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx); \
  template void MaxPoolGradGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* y, const A* ddx, A* ddy);
TENSORBRAID_POOL_LOOPS(float)
TENSORBRAID_POOL_LOOPS(double)
TENSORBRAID_POOL_LOOPS(int64_t)
#undef TENSORBRAID_POOL_LOOPS

template void AvgPool(KernelContext& ctx, const PoolView& p, const float* x, float* y);
template void AvgPool(KernelContext& ctx, const PoolView& p, const double* x, double* y);
template void AvgPoolGrad(KernelContext& ctx, const PoolView& p, const float* dy, float* dx);
template void AvgPoolGrad(KernelContext& ctx, const PoolView& p, const double* dy, double* dx);
template void MaxPoolReluGrad(KernelContext& ctx, const PoolView& p, const float* x, const float* dy, float* dx);
template void MaxPoolGradToEqual(KernelContext& ctx, const PoolView& p, const float* x, const float* y, const float* dy,
                                 float* dx);

}  // namespace tensorbraid::cpu
