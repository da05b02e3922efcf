#include "kernels/cpu/nn/convolution/convolution_columns.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {
namespace {

// The distances, in elements, between neighbours along each axis of a tensor of images.
struct ImageStrides {
  int64_t image, pixel, channel;
};

// Moves the elements of a convolution between its tensors and the matrices that are multiplied. One group of one image
// is convolved at a time, in blocks of output pixels. An output pixel is a row of the matrices. Two spatial axes are
// treated as three. A "tap" is one position in the window.
template <typename T>
class Columns {
 public:
  explicit Columns(const Convolution& c) : c_(c), in_channels_(c.in_channels / c.groups) {
    std::copy(c.axes.begin(), c.axes.end(), axes_.end() - c.axes.size());
    for (const WindowAxis& a : axes_) {
      in_pixels_ *= a.input;
      rows_ *= a.output;
      taps_ *= a.window;
    }
    in_ = StridesOf(in_pixels_, c.in_channels);
    out_ = StridesOf(rows_, c.out_channels);
    // About a megabyte of columns: it stays in the cache until it has been multiplied.
    constexpr int64_t kElements = (1 << 20) / sizeof(T);
    block_ = std::clamp<int64_t>(kElements / depth(), 16, std::max<int64_t>(16, rows_));
  }

  int64_t rows() const { return rows_; }
  int64_t block() const { return block_; }
  int64_t depth() const { return taps_ * in_channels_; }  // columns of the matrix: the inner size of the product
  int64_t out_channels() const { return c_.out_channels / c_.groups; }  // of a group
  int64_t input_elements() const { return c_.batch * c_.in_channels * in_pixels_; }
  // Multiplications of one group of one image.
  double products() const { return static_cast<double>(rows_) * depth() * out_channels(); }

  // The address of the first channel of group `g` of image `n`.
  template <typename P>
  P Input(P x, int64_t n, int64_t g) const {
    return x + n * in_.image + g * in_channels_ * in_.channel;
  }
  template <typename P>
  P Output(P y, int64_t n, int64_t g) const {
    return y + n * out_.image + g * out_channels() * out_.channel;
  }
  // Whether rows [begin, end) of the output of a group are a matrix without gaps.
  bool OutputIsMatrix() const { return out_.channel == 1 && c_.groups == 1; }

  // Gather copies the input under the window at output pixels [begin, end) to the rows of `columns`; ScatterAdd adds
  // the rows to that input.
  void Gather(const T* x, int64_t begin, int64_t end, T* columns) const { Visit<true>(x, begin, end, columns); }
  void ScatterAdd(T* x, int64_t begin, int64_t end, const T* columns) const { Visit<false>(x, begin, end, columns); }

  // ReadRows copies rows [begin, end) of the output to a matrix, WriteRows copies a matrix to these rows.
  void ReadRows(const T* y, int64_t begin, int64_t end, T* rows) const {
    const int64_t n = out_channels();
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t o = 0; o < n; ++o) *rows++ = y[r * out_.pixel + o * out_.channel];
    }
  }
  void WriteRows(T* y, int64_t begin, int64_t end, const T* rows) const {
    const int64_t n = out_channels();
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t o = 0; o < n; ++o) y[r * out_.pixel + o * out_.channel] = *rows++;
    }
  }

 private:
  ImageStrides StridesOf(int64_t pixels, int64_t channels) const {
    return {pixels * channels, c_.channels_first ? 1 : channels, c_.channels_first ? pixels : 1};
  }

  // Calls Run for each run of neighbouring taps on the last axis.
  template <bool gather, typename X, typename C>
  void Visit(X* x, int64_t begin, int64_t end, C* columns) const {
    const auto& [d, h, w] = axes_;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t ow = r % w.output, oh = r / w.output % h.output, od = r / w.output / h.output;
      const int64_t w_end = std::max<int64_t>(0, w.EndInside(ow));
      const int64_t w_first = std::min(w.FirstInside(ow), w_end);
      const int64_t d_first = d.FirstInside(od), d_end = d.EndInside(od);
      const int64_t h_first = h.FirstInside(oh), h_end = h.EndInside(oh);
      for (int64_t i = 0; i < d.window; ++i) {
        for (int64_t j = 0; j < h.window; ++j) {
          const bool inside = i >= d_first && i < d_end && j >= h_first && j < h_end;
          const int64_t first = inside ? w_first : 0, stop = inside ? w_end : 0;
          if constexpr (gather) {
            std::fill_n(columns, first * in_channels_, T());
            std::fill(columns + stop * in_channels_, columns + w.window * in_channels_, T());
          }
          if (first < stop) {
            const int64_t id = od * d.stride - d.pad_before + i * d.dilation;
            const int64_t ih = oh * h.stride - h.pad_before + j * h.dilation;
            const int64_t iw = ow * w.stride - w.pad_before + first * w.dilation;
            Run<gather>(x + ((id * h.input + ih) * w.input + iw) * in_.pixel, stop - first,
                        columns + first * in_channels_);
          }
          columns += w.window * in_channels_;
        }
      }
    }
  }

  template <bool gather, typename X, typename C>
  void Run(X* x, int64_t taps, C* columns) const {
    const int64_t step = axes_[2].dilation * in_.pixel;
    int64_t channels = in_channels_;
    if (in_.channel == 1 && step == channels) {
      channels *= taps;
      taps = 1;
    }
    for (int64_t t = 0; t < taps; ++t, x += step, columns += channels) {
      for (int64_t k = 0; k < channels; ++k) {
        if constexpr (gather) {
          columns[k] = x[k * in_.channel];
        } else {
          x[k * in_.channel] = Plus(x[k * in_.channel], columns[k]);
        }
      }
    }
  }

  const Convolution& c_;
  const int64_t in_channels_;  // of a group
  std::array<WindowAxis, 3> axes_;
  int64_t in_pixels_ = 1, rows_ = 1, taps_ = 1;
  int64_t block_;
  ImageStrides in_, out_;
};

// The filters of the groups, each [depth, out_channels] without gaps: `filter` itself if there is one group, else a
// copy in `copy`.
template <typename T>
const T* SplitFilter(const Convolution& c, const Columns<T>& columns, const T* filter, std::vector<T>* copy) {
  if (c.groups == 1) return filter;
  const int64_t n = columns.out_channels(), depth = columns.depth();
  copy->resize(c.groups * depth * n);
  T* to = copy->data();
  for (int64_t g = 0; g < c.groups; ++g) {
    for (int64_t k = 0; k < depth; ++k, to += n) std::copy_n(filter + k * c.out_channels + g * n, n, to);
  }
  return copy->data();
}

// Runs body(image, group, pool) for all groups of all images. If there is just one group of one image, the products in
// the body may use the pool themselves.
template <typename Body>
void ForEachImage(KernelContext& ctx, const Convolution& c, double products, const Body& body) {
  const int64_t total = c.batch * c.groups;
  Parallel(ctx, total, 0.1 * products + 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      body(i / c.groups, i % c.groups, total > 1 ? nullptr : ctx.env().pool);
    }
  });
}

// c = a b, where a is [rows, depth] and b is [depth, n]. Products are added in the order of `depth`, so sums have the
// rounding errors that a program by the definition of the op has. Gemm would be faster only for wider matrices.
void MultiplyInOrder(int64_t rows, int64_t n, int64_t depth, const double* a, const double* b, double* c) {
  for (int64_t r = 0; r < rows; ++r, a += depth, c += n) {
    std::fill_n(c, n, 0.0);
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < n; ++j) c[j] += a[k] * b[k * n + j];
    }
  }
}

template <typename T>
void OutputByColumns(KernelContext& ctx, const Convolution& c, const T* x, const T* filter, T* y) {
  const Columns<T> columns(c);
  std::vector<T> copy;
  const T* filters = SplitFilter(c, columns, filter, &copy);
  const int64_t n = columns.out_channels(), depth = columns.depth();
  ForEachImage(ctx, c, columns.products(), [&](int64_t image, int64_t g, ThreadPool* pool) {
    std::vector<T> matrix(columns.block() * depth);
    std::vector<T> product(columns.OutputIsMatrix() ? 0 : columns.block() * n);
    T* out = columns.Output(y, image, g);
    for (int64_t begin = 0; begin < columns.rows(); begin += columns.block()) {
      const int64_t end = std::min(columns.rows(), begin + columns.block());
      columns.Gather(columns.Input(x, image, g), begin, end, matrix.data());
      T* to = columns.OutputIsMatrix() ? out + begin * n : product.data();
      const T* const group_filter = filters + g * depth * n;
      bool done = false;
      if constexpr (std::is_same_v<T, double>) {
        done = c.groups == c.in_channels && n <= 4;  // a depthwise convolution
        if (done) MultiplyInOrder(end - begin, n, depth, matrix.data(), group_filter, to);
      }
      if (!done) {
        Gemm<T>(pool, /*transpose_a=*/false, /*transpose_b=*/false, end - begin, n, depth, matrix.data(), group_filter,
                to);
      }
      if (!columns.OutputIsMatrix()) columns.WriteRows(out, begin, end, to);
    }
  });
}

template <typename T>
void InputByColumns(KernelContext& ctx, const Convolution& c, const T* filter, const T* y, T* x) {
  const Columns<T> columns(c);
  std::vector<T> copy;
  const T* filters = SplitFilter(c, columns, filter, &copy);
  const int64_t n = columns.out_channels(), depth = columns.depth();
  std::fill_n(x, columns.input_elements(), T());
  ForEachImage(ctx, c, columns.products(), [&](int64_t image, int64_t g, ThreadPool* pool) {
    std::vector<T> matrix(columns.block() * depth);
    std::vector<T> rows(columns.OutputIsMatrix() ? 0 : columns.block() * n);
    const T* out = columns.Output(y, image, g);
    for (int64_t begin = 0; begin < columns.rows(); begin += columns.block()) {
      const int64_t end = std::min(columns.rows(), begin + columns.block());
      if (!columns.OutputIsMatrix()) columns.ReadRows(out, begin, end, rows.data());
      const T* from = columns.OutputIsMatrix() ? out + begin * n : rows.data();
      Gemm<T>(pool, /*transpose_a=*/false, /*transpose_b=*/true, end - begin, depth, n, from, filters + g * depth * n,
              matrix.data());
      columns.ScatterAdd(columns.Input(x, image, g), begin, end, matrix.data());
    }
  });
}

template <typename T>
void FilterByColumns(KernelContext& ctx, const Convolution& c, const T* x, const T* y, T* filter) {
  const Columns<T> columns(c);
  const int64_t n = columns.out_channels(), depth = columns.depth(), size = c.groups * depth * n;
  // The split into parts depends only on the number of images, so that sums are always added in the same order.
  const int64_t parts = std::min<int64_t>(c.batch, 8);
  std::vector<T> sums(parts * size);  // [parts, groups, depth, n]
  Parallel(ctx, parts * c.groups, 0.1 * columns.products() * c.batch / parts, [&](int64_t begin, int64_t end) {
    std::vector<T> matrix(columns.block() * depth);
    std::vector<T> rows(columns.OutputIsMatrix() ? 0 : columns.block() * n);
    std::vector<T> product(depth * n);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t part = i / c.groups, g = i % c.groups;
      T* sum = sums.data() + i * depth * n;
      for (int64_t image = c.batch * part / parts; image < c.batch * (part + 1) / parts; ++image) {
        const T* out = columns.Output(y, image, g);
        for (int64_t from = 0; from < columns.rows(); from += columns.block()) {
          const int64_t to = std::min(columns.rows(), from + columns.block());
          columns.Gather(columns.Input(x, image, g), from, to, matrix.data());
          if (!columns.OutputIsMatrix()) columns.ReadRows(out, from, to, rows.data());
          const T* gradient = columns.OutputIsMatrix() ? out + from * n : rows.data();
          Gemm<T>(/*pool=*/nullptr, /*transpose_a=*/true, /*transpose_b=*/false, depth, n, to - from, matrix.data(),
                  gradient, product.data());
          for (int64_t k = 0; k < depth * n; ++k) sum[k] = Plus(sum[k], product[k]);
        }
      }
    }
  });
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t k = 0; k < size; ++k) sums[k] = Plus(sums[k], sums[part * size + k]);
  }
  const T* from = sums.data();
  for (int64_t g = 0; g < c.groups; ++g) {
    for (int64_t k = 0; k < depth; ++k, from += n) std::copy_n(from, n, filter + k * c.out_channels + g * n);
  }
}

}  // namespace

template <typename T>
void ConvolveByColumns(KernelContext& ctx, ConvolutionResult result, const Convolution& c, T* x, T* filter, T* y) {
  switch (result) {
    case ConvolutionResult::kOutput:
      return OutputByColumns<T>(ctx, c, x, filter, y);
    case ConvolutionResult::kInput:
      return InputByColumns<T>(ctx, c, filter, y, x);
    case ConvolutionResult::kFilter:
      return FilterByColumns<T>(ctx, c, x, y, filter);
  }
}

template void ConvolveByColumns(KernelContext&, ConvolutionResult, const Convolution&, float*, float*, float*);
template void ConvolveByColumns(KernelContext&, ConvolutionResult, const Convolution&, double*, double*, double*);
template void ConvolveByColumns(KernelContext&, ConvolutionResult, const Convolution&, int32_t*, int32_t*, int32_t*);

}  // namespace tensorbraid::cpu
