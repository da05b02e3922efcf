#include "kernels/cpu/nn/convolution/winograd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/convolution/read_ahead.h"
#include "kernels/cpu/nn/convolution/scratch.h"
#include "kernels/cpu/nn/convolution/winograd_products.h"
#include "kernels/cpu/nn/convolution/winograd_transforms.h"

namespace tensorbraid::cpu {
namespace {

constexpr int64_t kWinogradMatrices = kWinogradPoints * kWinogradPoints;
constexpr double kWinogradFlopsPerNs = 150;  // an estimate, for the costs of products

// The sizes of one image of a batch.
struct WinogradSizes {
  int64_t height, width, channels;

  int64_t elements() const { return height * width * channels; }
};

// The division of the output into tiles. Tiles are numbered row by row, through all images.
struct WinogradGrid {
  int64_t images, rows, columns;

  struct Place {
    int64_t image, row, column;
  };
  int64_t tiles() const { return images * rows * columns; }
  Place At(int64_t tile) const { return {tile / (rows * columns), tile / columns % rows, tile % columns}; }
};

// Some of the pixels under a tile, as the sum of their PixelOfTile.
using WinogradPixelSet = uint64_t;
WinogradPixelSet PixelOfTile(int row, int column) { return WinogradPixelSet{1} << (row * kWinogradPoints + column); }

// Whether an element of a pixel is not 0. Most pixels have one among their first elements.
bool HasNonzero(const float* pixel, int64_t channels) {
  return std::any_of(pixel, pixel + channels, [](float element) { return element != 0; });
}

bool AllFinite(const float* values, int64_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

// Transforms the pixels under each tile: kFrom x kFrom pixels, of which those outside of the image are 0. A range of
// tiles is transformed by one thread, in increasing order.
template <typename Transform>
class WinogradPixels {
 public:
  // Tile (row, column) of the grid begins at pixel (row * step - pad_rows, column * step - pad_columns). `zeros` has as
  // many zeros as an image has channels.
  WinogradPixels(const float* images, const WinogradSizes& sizes, const WinogradGrid& grid, int64_t step,
                 int64_t pad_rows, int64_t pad_columns, const float* zeros)
      : images_(images),
        sizes_(sizes),
        grid_(grid),
        step_(step),
        pad_rows_(pad_rows),
        pad_columns_(pad_columns),
        zeros_(zeros),
        read_(images) {}

  // The results for tile first + t at point k are `channels` elements at out + k * stride + t * channels. If `nonzero`
  // is not null, nonzero[t] gets the pixels under the tile that have an element which is not 0.
  void ToPoints(int64_t first, int64_t tiles, float* out, int64_t stride, WinogradPixelSet* nonzero = nullptr) {
    // Without this, half of the time is spent waiting for pixels that are not in the cache.
    const float* const end = Row(first + tiles - 1, Transform::kFrom);
    BringIntoCache(std::max(read_, Row(first, 0)), end);
    read_ = end;
    for (int64_t t = 0; t < tiles; ++t) {
      ToPoints(grid_.At(first + t), out + t * sizes_.channels, stride, nonzero == nullptr ? nullptr : nonzero + t);
    }
  }

 private:
  // The beginning of a row of the tile's image, where row 0 is the first row under the tile. A row outside of the image
  // is replaced by the nearest one, or the image's end.
  const float* Row(int64_t tile, int64_t row) const {
    const WinogradGrid::Place at = grid_.At(tile);
    const int64_t in_image = std::clamp<int64_t>(at.row * step_ - pad_rows_ + row, 0, sizes_.height);
    return images_ + at.image * sizes_.elements() + in_image * sizes_.width * sizes_.channels;
  }

  void ToPoints(const WinogradGrid::Place& at, float* out, int64_t stride, WinogradPixelSet* nonzero) const {
    const int64_t row = at.row * step_ - pad_rows_, column = at.column * step_ - pad_columns_;
    const float* const image = images_ + at.image * sizes_.elements();
    const float* pixels[Transform::kFrom][Transform::kFrom];
    for (int i = 0; i < Transform::kFrom; ++i) {
      const bool has_row = row + i >= 0 && row + i < sizes_.height;
      for (int j = 0; j < Transform::kFrom; ++j) {
        const bool has_pixel = has_row && column + j >= 0 && column + j < sizes_.width;
        pixels[i][j] = has_pixel ? image + ((row + i) * sizes_.width + column + j) * sizes_.channels : zeros_;
      }
    }
    for (int64_t c = 0; c < sizes_.channels; c += kWinogradLanes) {
      TransformBothAxes<Transform>(
          [&](int i, int j) { return LoadVector(pixels[i][j] + c); },
          [&](int i, int j, WinogradVector v) { StoreVector(out + (i * kWinogradPoints + j) * stride + c, v); });
    }
    if (nonzero == nullptr) return;
    *nonzero = 0;
    for (int i = 0; i < Transform::kFrom; ++i) {
      for (int j = 0; j < Transform::kFrom; ++j) {
        if (pixels[i][j] != zeros_ && HasNonzero(pixels[i][j], sizes_.channels)) *nonzero |= PixelOfTile(i, j);
      }
    }
  }

  const float* const images_;
  const WinogradSizes sizes_;
  const WinogradGrid grid_;
  const int64_t step_, pad_rows_, pad_columns_;
  const float* const zeros_;
  const float* read_;  // the pixels before this one are in the cache
};

// The pixels of a tile of the output whose windows have none of the pixels `nonzero` under the tile.
template <int kWindow>
WinogradPixelSet ZeroOutputs(WinogradPixelSet nonzero) {
  WinogradPixelSet window = 0, zero = 0;
  for (int i = 0; i < kWindow; ++i) {
    for (int j = 0; j < kWindow; ++j) window |= PixelOfTile(i, j);
  }
  constexpr int kTile = kWinogradPoints + 1 - kWindow;
  for (int i = 0; i < kTile; ++i) {
    for (int j = 0; j < kTile; ++j) {
      if ((nonzero & (window << (i * kWinogradPoints + j))) == 0) zero |= PixelOfTile(i, j);
    }
  }
  return zero;
}

// The transform back: writes kTo x kTo pixels of an image from (row, column) on, as far as they exist. The pixels
// `zero` are 0 before the bias is added: the transform would leave rounding errors there, where a sum of products is
// exactly 0, and Relu would pass on the gradients of half of them.
template <typename Transform>
void TransformToPixels(const float* products, int64_t stride, const BiasRelu* bias, WinogradPixelSet zero,
                       const WinogradSizes& sizes, int64_t row, int64_t column, float* image) {
  const int64_t rows = sizes.height - row, columns = sizes.width - column;
  float* const first = image + (row * sizes.width + column) * sizes.channels;
  for (int64_t c = 0; c < sizes.channels; c += kWinogradLanes) {
    TransformBothAxes<Transform>(
        [&](int i, int j) { return LoadVector(products + (i * kWinogradPoints + j) * stride + c); },
        [&](int i, int j, WinogradVector v) {
          if (i >= rows || j >= columns) return;
          if ((zero & PixelOfTile(i, j)) != 0) v = WinogradVector{};
          if (bias != nullptr) {
            v += LoadVector(bias->bias + c);
            if (bias->relu) v = v < 0 ? WinogradVector{} : v;  // keeps NaNs
          }
          StoreVector(first + (i * sizes.width + j) * sizes.channels + c, v);
        });
  }
}

// The number of tiles that are transformed before they are multiplied. They should fit into the cache of a core, but
// with fewer than 28 tiles, reading the other factor of the products takes too long.
int64_t TilesAtOnce(int64_t bytes, int64_t channels) {
  const int64_t tiles = bytes / (kWinogradMatrices * channels * static_cast<int64_t>(sizeof(float)));
  return std::max<int64_t>(tiles / kWinogradRows * kWinogradRows, 28);
}

// to[columns, rows]: the transposed matrix from[rows, columns]. Both are multiples of kWinogradLanes.
void TransposeMatrix(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t row = 0; row < rows; row += kWinogradLanes) {
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t r = row; r < row + kWinogradLanes; ++r) to[column * rows + r] = from[r * columns + column];
    }
  }
}

template <int kWindow>
class WinogradConvolution {
 public:
  WinogradConvolution(KernelContext& ctx, const Convolution& c)
      : ctx_(ctx),
        batch_(c.batch),
        x_{c.axes[0].input, c.axes[1].input, c.in_channels},
        y_{c.axes[0].output, c.axes[1].output, c.out_channels},
        pad_rows_(c.axes[0].pad_before),
        pad_columns_(c.axes[1].pad_before),
        zeros_(std::max(c.in_channels, c.out_channels)) {}

  Status Output(const float* x, const float* filter, const BiasRelu* bias, float* y) const {
    return Convolve(x, x_, pad_rows_, pad_columns_, filter, bias, y, y_);
  }

  // The convolution of the gradient with the window turned around, its input and output channels exchanged.
  Status InputGradient(const float* dy, const float* filter, float* dx) const {
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> buffer, ScratchOf(kTaps * matrix() * sizeof(float)));
    float* const turned = static_cast<float*>(buffer->data());
    Parallel(ctx_, kTaps, 1.0 * static_cast<double>(matrix()), [&](int64_t begin, int64_t end) {
      for (int64_t tap = begin; tap < end; ++tap) {
        TransposeMatrix(filter + (kTaps - 1 - tap) * matrix(), x_.channels, y_.channels, turned + tap * matrix());
      }
    });
    return Convolve(dy, y_, kWindow - 1 - pad_rows_, kWindow - 1 - pad_columns_, turned, /*bias=*/nullptr, dx, x_);
  }

  // Each part of the tiles has its own sum; the sums are added before they are transformed. The number of parts depends
  // only on the sizes.
  Status FilterGradient(const float* x, const float* dy, float* df) const {
    const WinogradGrid grid = Grid(y_);
    constexpr int64_t kMostParts = 16, kMostElements = 1 << 24;  // of the sums
    constexpr int64_t kLeastTiles = 256;  // of a part; with fewer, adding up takes longer than a twentieth of the time
    const int64_t sum_size = kWinogradMatrices * matrix();
    const int64_t parts =
        std::clamp<int64_t>(std::min(grid.tiles() / kLeastTiles, kMostElements / sum_size), 1, kMostParts);
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> buffer, ScratchOf(parts * sum_size * sizeof(float)));
    float* const sums = static_cast<float*>(buffer->data());
    const double part_ns = 2.0 * static_cast<double>(sum_size) * static_cast<double>(grid.tiles()) /
                           static_cast<double>(parts) / kWinogradFlopsPerNs;
    TF_RETURN_IF_ERROR(ForRanges(parts, part_ns, [&](int64_t begin, int64_t end) -> Status {
      for (int64_t part = begin; part < end; ++part) {
        TF_RETURN_IF_ERROR(SumOfTiles(x, dy, grid, grid.tiles() * part / parts, grid.tiles() * (part + 1) / parts,
                                      sums + part * sum_size));
      }
      return OkStatus();
    }));
    Parallel(ctx_, matrix() / kWinogradLanes, 2.0 * kWinogradMatrices * static_cast<double>(parts),
             [&](int64_t begin, int64_t end) {
               for (int64_t at = begin * kWinogradLanes; at < end * kWinogradLanes; at += kWinogradLanes) {
                 TransformBothAxes<WinogradOutputs<kWindow>>(
                     [&](int i, int j) {
                       const float* from = sums + (i * kWinogradPoints + j) * matrix() + at;
                       WinogradVector sum = LoadVector(from);
                       for (int64_t part = 1; part < parts; ++part) sum += LoadVector(from + part * sum_size);
                       return sum;
                     },
                     [&](int i, int j, WinogradVector v) { StoreVector(df + (i * kWindow + j) * matrix() + at, v); });
               }
             });
    return OkStatus();
  }

 private:
  static constexpr int kTile = kWinogradPoints + 1 - kWindow;  // outputs of a tile in each axis
  static constexpr int64_t kTaps = kWindow * kWindow;

  int64_t matrix() const { return x_.channels * y_.channels; }
  WinogradGrid Grid(const WinogradSizes& output) const {
    return {batch_, (output.height + kTile - 1) / kTile, (output.width + kTile - 1) / kTile};
  }

  // Runs body(begin, end) over [0, total) on the threads of the pool. Returns its first error.
  template <typename Body>
  Status ForRanges(int64_t total, double cost_ns, const Body& body) const {
    Mutex mu;
    Status status;
    Parallel(ctx_, total, cost_ns, [&](int64_t begin, int64_t end) {
      const Status done = body(begin, end);
      if (done.ok()) return;
      MutexLock lock(mu);
      if (status.ok()) status = done;
    });
    return status;
  }

  // Sets `to` to the convolution of `from` with `filter` [kWindow, kWindow, channels of from, channels of to]. `from`
  // has pad_rows rows of zeros before its first row, and pad_columns columns before its first column.
  Status Convolve(const float* from, const WinogradSizes& from_sizes, int64_t pad_rows, int64_t pad_columns,
                  const float* filter, const BiasRelu* bias, float* to, const WinogradSizes& to_sizes) const {
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> filter_buffer, ScratchOf(kWinogradMatrices * matrix() * sizeof(float)));
    float* const transformed = static_cast<float*>(filter_buffer->data());
    Parallel(ctx_, matrix() / kWinogradLanes, 3.0 * kWinogradMatrices, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin * kWinogradLanes; at < end * kWinogradLanes; at += kWinogradLanes) {
        TransformBothAxes<WinogradTaps<kWindow>>(
            [&](int i, int j) { return LoadVector(filter + (i * kWindow + j) * matrix() + at); },
            [&](int i, int j, WinogradVector v) {
              StoreVector(transformed + (i * kWinogradPoints + j) * matrix() + at, v);
            });
      }
    });
    // The product of 0 and an infinity is a NaN.
    const bool zeros_give_zero = AllFinite(filter, kTaps * matrix());
    const WinogradGrid grid = Grid(to_sizes);
    const int64_t in = from_sizes.channels, out = to_sizes.channels;
    const int64_t at_once = TilesAtOnce(/*bytes=*/400 << 10, in + out);
    const int64_t blocks = (grid.tiles() + at_once - 1) / at_once;
    const double block_ns = 2.0 * kWinogradMatrices * static_cast<double>(at_once * matrix()) / kWinogradFlopsPerNs;
    return ForRanges(blocks, block_ns, [&](int64_t begin, int64_t end) -> Status {
      const int64_t image_stride = at_once * in, product_stride = at_once * out;  // between two points
      TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> buffer,
                          ScratchOf(kWinogradMatrices * (image_stride + product_stride) * sizeof(float)));
      float* const image = static_cast<float*>(buffer->data());
      float* const products = image + kWinogradMatrices * image_stride;
      WinogradPixels<WinogradImage> pixels(from, from_sizes, grid, kTile, pad_rows, pad_columns, zeros_.data());
      std::vector<WinogradPixelSet> nonzero(at_once);
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * at_once, tiles = std::min(at_once, grid.tiles() - first);
        pixels.ToPoints(first, tiles, image, image_stride, nonzero.data());
        for (int64_t k = 0; k < kWinogradMatrices; ++k) {
          MultiplyShort<false>(tiles, out, in, {image + k * image_stride, in, 1}, transformed + k * matrix(),
                               products + k * product_stride);
        }
        for (int64_t t = 0; t < tiles; ++t) {
          const WinogradGrid::Place at = grid.At(first + t);
          const WinogradPixelSet zero = zeros_give_zero ? ZeroOutputs<kWindow>(nonzero[t]) : 0;
          TransformToPixels<WinogradOutputs<kTile>>(products + t * out, product_stride, bias, zero, to_sizes,
                                                    at.row * kTile, at.column * kTile,
                                                    to + at.image * to_sizes.elements());
        }
      }
      return OkStatus();
    });
  }

  // Sets `sum` to the sum over the tiles in [begin, end): for each point, a matrix [channels of x, channels of dy].
  Status SumOfTiles(const float* x, const float* dy, const WinogradGrid& grid, int64_t begin, int64_t end,
                    float* sum) const {
    const int64_t in = x_.channels, out = y_.channels;
    const int64_t at_once = TilesAtOnce(/*bytes=*/600 << 10, in + out), x_stride = at_once * in,
                  dy_stride = at_once * out;
    TF_ASSIGN_OR_RETURN(const RefPtr<Buffer> buffer,
                        ScratchOf(kWinogradMatrices * (x_stride + dy_stride) * sizeof(float)));
    float* const of_x = static_cast<float*>(buffer->data());
    float* const of_dy = of_x + kWinogradMatrices * x_stride;
    WinogradPixels<WinogradImage> pixels(x, x_, grid, kTile, pad_rows_, pad_columns_, zeros_.data());
    WinogradPixels<WinogradTaps<kTile>> gradients(dy, y_, grid, kTile, /*pad_rows=*/0, /*pad_columns=*/0,
                                                  zeros_.data());
    for (int64_t first = begin; first < end; first += at_once) {
      const int64_t tiles = std::min(at_once, end - first);
      pixels.ToPoints(first, tiles, of_x, x_stride);
      gradients.ToPoints(first, tiles, of_dy, dy_stride);
      for (int64_t k = 0; k < kWinogradMatrices; ++k) {
        const WinogradLeft left{of_x + k * x_stride, 1, in};
        const float* right = of_dy + k * dy_stride;
        if (first == begin) {
          MultiplyShort<false>(in, out, tiles, left, right, sum + k * matrix());
        } else {
          MultiplyShort<true>(in, out, tiles, left, right, sum + k * matrix());
        }
      }
    }
    return OkStatus();
  }

  KernelContext& ctx_;
  const int64_t batch_;
  const WinogradSizes x_, y_;
  const int64_t pad_rows_, pad_columns_;
  const std::vector<float> zeros_;
};

}  // namespace

bool WinogradPays(const Convolution& c) {
#if !defined(__AVX512F__) && !(defined(__AVX2__) && defined(__FMA__))
  return false;
#endif
  constexpr int64_t kMostMatrix = 128 * 128, kLeastTiles = 128;
  if (c.channels_first || c.groups != 1 || c.axes.size() != 2) return false;
  const int64_t window = c.axes[0].window;
  if (window != 3 && window != 5) return false;
  int64_t tiles = c.batch, pixels = c.batch;
  for (const WindowAxis& a : c.axes) {
    if (a.window != window || a.stride != 1 || a.dilation != 1) return false;
    if (std::max(a.input, a.output) > (1 << 24) || std::max(a.pad_before, a.pad_after) >= window) return false;
    const int64_t tile = kWinogradPoints + 1 - window;
    tiles *= (std::max(a.input, a.output) + tile - 1) / tile;
    pixels *= a.output;
  }
  for (const int64_t channels : {c.in_channels, c.out_channels}) {
    if (channels < 16 || channels % kWinogradLanes != 0) return false;
  }
  // The transforms cost about half as much as the products, hence the factor 1.5.
  return c.in_channels * c.out_channels <= kMostMatrix && tiles >= kLeastTiles &&
         1.5 * static_cast<double>(tiles * kWinogradMatrices) < static_cast<double>(pixels * window * window);
}

Status ConvolveByWinograd(KernelContext& ctx, ConvolutionResult result, const Convolution& c, float* x, float* filter,
                          float* y, const BiasRelu* bias) {
  const auto convolve = [&](const auto& convolution) -> Status {
    switch (result) {
      case ConvolutionResult::kOutput:
        return convolution.Output(x, filter, bias, y);
      case ConvolutionResult::kInput:
        return convolution.InputGradient(y, filter, x);
      case ConvolutionResult::kFilter:
        return convolution.FilterGradient(x, y, filter);
    }
    return OkStatus();
  };
  return c.axes[0].window == 3 ? convolve(WinogradConvolution<3>(ctx, c)) : convolve(WinogradConvolution<5>(ctx, c));
}

}  // namespace tensorbraid::cpu
