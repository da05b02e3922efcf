// Pooling over windows whose sizes vary at random. A pooling sequence consists of the starts of the windows along an
// axis, followed by the end of the last window. Source: Graham, "Fractional max-pooling", 2014.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "kernels/cpu/random/distributions.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using Sequence = std::vector<int64_t>;

// Makes a sequence from random numbers: blocks of 4 numbers of the stream `philox` (see random/philox.h), from block
// *next_block on. Advances *next_block past the blocks that it used. Equal seeds give TensorFlow's sequences.
Sequence MakeSequence(int64_t input, int64_t output, bool pseudo_random, const Philox& philox, uint64_t* next_block) {
  std::vector<int64_t> lengths(output, input / output);
  if (input % output != 0 && pseudo_random) {
    PhiloxReader reader(philox, *next_block);
    *next_block += 1;
    const double ratio = static_cast<double>(input) / static_cast<double>(output);
    const auto shortest = static_cast<double>(input / output);
    // Window i starts at ceil(ratio * (i + u)). The limit of u keeps the first and the last window from being too long.
    const double limit = std::min((shortest + 2) / ratio - 1, (static_cast<double>(input) + 1 - shortest) / ratio -
                                                                  (static_cast<double>(output) - 1));
    const double u = reader.NextDouble() * limit;
    int64_t start = 1;
    for (int64_t i = 1; i <= output; ++i) {
      const int64_t next =
          i == output ? input + 1 : static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i) + u)));
      lengths[i - 1] = next - start;
      start = next;
    }
  } else if (input % output != 0) {
    PhiloxReader reader(philox, *next_block);
    *next_block += static_cast<uint64_t>(output + 3) / 4;
    for (int64_t i = 0; i < input % output; ++i) ++lengths[i];
    for (int64_t i = 0; i + 1 < output; ++i) {
      std::swap(lengths[i], lengths[i + static_cast<int64_t>(reader.Next32() % static_cast<uint32_t>(output - i))]);
    }
  }
  Sequence sequence(output + 1, 0);
  for (int64_t i = 0; i < output; ++i) sequence[i + 1] = sequence[i] + lengths[i];
  return sequence;
}

// Windows over an image [rows, columns, channels].
struct FractionalWindows {
  Sequence rows, columns;
  bool overlapping;  // each window includes the first row or column of the next one

  int64_t output_rows() const { return static_cast<int64_t>(rows.size()) - 1; }
  int64_t output_columns() const { return static_cast<int64_t>(columns.size()) - 1; }
  int64_t End(const Sequence& starts, int64_t i, int64_t input) const {
    return std::min(starts[i + 1] + (overlapping ? 1 : 0), input);
  }
};

// Calls pixel(in, out, size) for every pixel under every window of the images [first, last): the pixel's index, the
// window's index and the window's number of pixels.
template <typename Pixel>
void ForEachPixel(const FractionalWindows& w, const Shape& input, int64_t first, int64_t last, const Pixel& pixel) {
  const int64_t height = input.dim(1), width = input.dim(2);
  for (int64_t image = first; image < last; ++image) {
    for (int64_t r = 0; r < w.output_rows(); ++r) {
      for (int64_t c = 0; c < w.output_columns(); ++c) {
        const int64_t out = (image * w.output_rows() + r) * w.output_columns() + c;
        const int64_t bottom = w.End(w.rows, r, height), right = w.End(w.columns, c, width);
        const int64_t size = (bottom - w.rows[r]) * (right - w.columns[c]);
        for (int64_t y = w.rows[r]; y < bottom; ++y) {
          for (int64_t x = w.columns[c]; x < right; ++x) pixel((image * height + y) * width + x, out, size);
        }
      }
    }
  }
}

void ForImages(KernelContext& ctx, const Shape& input, absl::FunctionRef<void(int64_t, int64_t)> body) {
  const int64_t images = input.dim(0);
  if (input.num_elements() == 0) return;
  Parallel(ctx, images, 2.0 * static_cast<double>(input.num_elements() / images), body);
}

// FractionalMaxPool (kMax) and FractionalAvgPool.
template <bool kMax>
class FractionalPoolKernel final : public Kernel, public StatefulKernel {
 public:
  explicit FractionalPoolKernel(const KernelConstruction& c)
      : generator_(c),
        ratios_(c.attr<std::vector<float>>("pooling_ratio")),
        pseudo_random_(c.attr<bool>("pseudo_random")),
        overlapping_(c.attr<bool>("overlapping")),
        deterministic_(c.attr<bool>("deterministic")),
        seeded_(c.attr<int64_t>("seed") != 0 || c.attr<int64_t>("seed2") != 0) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    if (in.shape().rank() != 4) return InvalidArgument("value must have rank 4, got shape ", in.shape());
    TF_RETURN_IF_ERROR(CheckAttrs());
    Shape shape;
    for (int i = 0; i < 4; ++i) {
      const auto size = static_cast<float>(in.shape().dim(i));
      if (size < ratios_[i] || in.shape().dim(i) > std::numeric_limits<int32_t>::max()) {
        return InvalidArgument("Pooling ratio is higher than input dimension size for dimension ", i, ": the ratio is ",
                               ratios_[i], ", the shape is ", in.shape());
      }
      // Limited to the input's size, because sizes above 2^24 are rounded as floats, perhaps upwards.
      shape.AddDim(std::min(in.shape().dim(i), static_cast<int64_t>(std::floor(size / ratios_[i]))));
    }
    // Without `deterministic` every run continues the stream; the blocks of one run are reserved at once, so this is an
    // upper bound.
    const auto most_blocks = static_cast<uint64_t>(shape.dim(1) + shape.dim(2) + 8) / 4 + 2;
    uint64_t block = deterministic_ ? 0 : generator_.Reserve(most_blocks);
    FractionalWindows windows{/*rows=*/{}, /*columns=*/{}, overlapping_};
    windows.rows = MakeSequence(in.shape().dim(1), shape.dim(1), pseudo_random_, generator_.philox(), &block);
    windows.columns = MakeSequence(in.shape().dim(2), shape.dim(2), pseudo_random_, generator_.philox(), &block);
    for (int i = 1; i < 3; ++i) {
      const Sequence& sequence = i == 1 ? windows.rows : windows.columns;
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, {static_cast<int64_t>(sequence.size())}));
      std::copy(sequence.begin(), sequence.end(), out->inplace_data<int64_t>().begin());
    }
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, in));
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, shape));
    return ForWideType(in.dtype(), [&]<typename A>() {
      Pool<A>(ctx, windows, wide, shape, y.data<A>());
      y.Finish();
      return OkStatus();
    });
  }

  KernelState* state() override { return &generator_; }

 private:
  Status CheckAttrs() const {
    if (ratios_.size() != 4) {
      return InvalidArgument("pooling_ratio must have one element for each of the 4 axes, got ", ratios_.size());
    }
    for (const float ratio : ratios_) {
      if (!(ratio >= 1)) return InvalidArgument("pooling_ratio must be at least 1, got ", ratio);
    }
    if (ratios_[0] != 1 || ratios_[3] != 1) {
      return Unimplemented(
          "pooling over the batch or the channels is not supported: their pooling_ratio must be 1, got ", ratios_[0],
          " and ", ratios_[3]);
    }
    if (seeded_ && !deterministic_) {
      return InvalidArgument("seed and seed2 must be 0 unless deterministic is true");
    }
    return OkStatus();
  }

  template <typename A>
  static void Pool(KernelContext& ctx, const FractionalWindows& windows, const Tensor& in, const Shape& output, A* y) {
    const A* x = in.data<A>().data();
    const int64_t channels = in.shape().dim(3), image_outputs = output.dim(1) * output.dim(2) * channels;
    std::fill_n(y, output.num_elements(), kMax ? std::numeric_limits<A>::lowest() : A(0));
    ForImages(ctx, in.shape(), [&](int64_t first, int64_t last) {
      ForEachPixel(windows, in.shape(), first, last, [&](int64_t pixel, int64_t out, int64_t) {
        const A* from = x + pixel * channels;
        A* to = y + out * channels;
        for (int64_t c = 0; c < channels; ++c) {
          if constexpr (kMax) {
            to[c] = to[c] < from[c] ? from[c] : to[c];
          } else {
            to[c] = Plus(to[c], from[c]);
          }
        }
      });
      if (kMax) return;
      for (int64_t i = first * image_outputs; i < last * image_outputs; ++i) {
        const int64_t c = i / channels % output.dim(2), r = i / channels / output.dim(2) % output.dim(1);
        const int64_t size = (windows.End(windows.rows, r, in.shape().dim(1)) - windows.rows[r]) *
                             (windows.End(windows.columns, c, in.shape().dim(2)) - windows.columns[c]);
        y[i] /= static_cast<A>(std::max<int64_t>(size, 1));
      }
    });
  }

  Generator generator_;
  const std::vector<float> ratios_;
  const bool pseudo_random_, overlapping_, deterministic_, seeded_;
};

// Reads a sequence from an input of the op. Returns InvalidArgument unless it has output + 1 elements, which rise from
// at least 0 to at most `input`.
StatusOr<Sequence> ReadSequence(const char* what, const Tensor& t, int64_t output, int64_t input) {
  if (t.shape().rank() != 1) return InvalidArgument(what, " must be a vector, got shape ", t.shape());
  if (t.shape() != Shape({output + 1})) {
    return InvalidArgument(what, " must have ", output + 1, " elements, the starts of ", output,
                           " windows and the end of the last, got shape ", t.shape());
  }
  Sequence sequence(t.data<int64_t>().begin(), t.data<int64_t>().end());
  for (size_t i = 0; i < sequence.size(); ++i) {
    const int64_t least = i == 0 ? 0 : sequence[i - 1] + 1;
    if (sequence[i] < least || sequence[i] > input) {
      return InvalidArgument(what, " must rise from at least 0 to at most the size of the input, ", input, ", but has ",
                             sequence[i], " at ", i, i == 0 ? "" : StrCat(", after ", sequence[i - 1]));
    }
  }
  return sequence;
}

// Checks the shapes of an input and an output, and reads the sequences in inputs 3 and 4, or 2 and 3.
StatusOr<FractionalWindows> ReadWindows(KernelContext& ctx, const Shape& input, const Shape& output, bool overlapping) {
  const int first = ctx.num_inputs() - 2;
  for (int i = 0; i < 2; ++i) {
    for (const int64_t start : ctx.input(first + i).data<int64_t>()) {
      if (start >= 0) continue;
      return InvalidArgument(i == 0 ? "Row" : "Column", " sequence tensor values must not be negative, got ", start);
    }
  }
  if (input.rank() != 4 || output.rank() != 4 || input.dim(0) != output.dim(0) || input.dim(3) != output.dim(3)) {
    return InvalidArgument("input and output must have rank 4, and equal batches and channels, got ", input, " and ",
                           output);
  }
  FractionalWindows w{/*rows=*/{}, /*columns=*/{}, overlapping};
  TF_ASSIGN_OR_RETURN(w.rows, ReadSequence("row_pooling_sequence", ctx.input(first), output.dim(1), input.dim(1)));
  TF_ASSIGN_OR_RETURN(w.columns,
                      ReadSequence("col_pooling_sequence", ctx.input(first + 1), output.dim(2), input.dim(2)));
  return w;
}

// Computes dx from x, y, dy and the sequences: dy at the first of the largest elements of each window.
class FractionalMaxPoolGradKernel final : public Kernel {
 public:
  explicit FractionalMaxPoolGradKernel(const KernelConstruction& c) : overlapping_(c.attr<bool>("overlapping")) {}

  Status Compute(KernelContext& ctx) override {
    const Shape &input = ctx.input(0).shape(), &output = ctx.input(1).shape();
    TF_ASSIGN_OR_RETURN(const FractionalWindows windows, ReadWindows(ctx, input, output, overlapping_));
    if (ctx.input(2).shape() != output) {
      return InvalidArgument("the gradient must have shape ", output, ", got ", ctx.input(2).shape());
    }
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, ctx.input(0)));
    TF_ASSIGN_OR_RETURN(const Tensor wide_y, Widen(ctx, ctx.input(1)));
    TF_ASSIGN_OR_RETURN(const Tensor wide_dy, Widen(ctx, ctx.input(2)));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, input));
    TF_ASSIGN_OR_RETURN(Tensor places, ctx.AllocateTemp(kInt64, output));
    return ForWideType(ctx.input(0).dtype(), [&]<typename A>() {
      const A *x = wide_x.data<A>().data(), *y = wide_y.data<A>().data(), *dy = wide_dy.data<A>().data();
      A* to = dx.data<A>();
      int64_t* place = places.inplace_data<int64_t>().data();
      std::fill_n(to, input.num_elements(), A(0));
      std::fill_n(place, output.num_elements(), int64_t{-1});
      const int64_t channels = input.dim(3), image_outputs = output.dim(1) * output.dim(2) * channels;
      std::atomic<bool> is_maximum{true};
      ForImages(ctx, input, [&](int64_t first, int64_t last) {
        ForEachPixel(windows, input, first, last, [&](int64_t pixel, int64_t out, int64_t) {
          for (int64_t c = 0; c < channels; ++c) {
            int64_t& best = place[out * channels + c];
            if (best < 0 || x[pixel * channels + c] > x[best]) best = pixel * channels + c;
          }
        });
        for (int64_t i = first * image_outputs; i < last * image_outputs; ++i) {
          if (x[place[i]] != y[i]) is_maximum = false;
          to[place[i]] = Plus(to[place[i]], dy[i]);
        }
      });
      if (!is_maximum) {
        return InvalidArgument("orig_output must be the maxima of orig_input over the windows of the sequences");
      }
      dx.Finish();
      return OkStatus();
    });
  }

 private:
  const bool overlapping_;
};

// Computes dx from the shape of x, dy and the sequences: dy divided by the window's size, at each element of the
// window.
class FractionalAvgPoolGradKernel final : public Kernel {
 public:
  explicit FractionalAvgPoolGradKernel(const KernelConstruction& c) : overlapping_(c.attr<bool>("overlapping")) {}

  Status Compute(KernelContext& ctx) override {
    if (ctx.input(0).shape() != Shape({4})) {
      return InvalidArgument("the shape of the original input must be a vector of 4 sizes, got shape ",
                             ctx.input(0).shape());
    }
    Shape input;
    for (const int64_t size : ctx.input(0).data<int64_t>()) {
      if (size < 0) return InvalidArgument("the original input has a negative size: ", ctx.input(0).ToString());
      input.AddDim(size);
    }
    if (input.num_elements() < 0) return InvalidArgument("the original input ", input, " has too many elements");
    const Tensor& gradient = ctx.input(1);
    TF_ASSIGN_OR_RETURN(const FractionalWindows windows, ReadWindows(ctx, input, gradient.shape(), overlapping_));
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, gradient));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, input));
    return ForWideType(gradient.dtype(), [&]<typename A>() {
      const A* dy = wide.data<A>().data();
      A* to = dx.data<A>();
      std::fill_n(to, input.num_elements(), A(0));
      const int64_t channels = input.dim(3);
      ForImages(ctx, input, [&](int64_t first, int64_t last) {
        ForEachPixel(windows, input, first, last, [&](int64_t pixel, int64_t out, int64_t size) {
          const A* g = dy + out * channels;
          A* element = to + pixel * channels;
          for (int64_t c = 0; c < channels; ++c)
            element[c] = Plus(element[c], static_cast<A>(g[c] / static_cast<A>(size)));
        });
      });
      dx.Finish();
      return OkStatus();
    });
  }

 private:
  const bool overlapping_;
};

}  // namespace

void RegisterNnFractionalPoolingKernels(KernelRegistry& r) {
  constexpr DTypeSet kTypes = {kFloat32, kFloat64, kInt32, kInt64};
  r.Add<FractionalPoolKernel<true>>("FractionalMaxPool", {{"T", kTypes}}, ElementCost<2000>);
  r.Add<FractionalPoolKernel<false>>("FractionalAvgPool", {{"T", kTypes}}, ElementCost<2000>);
  r.Add<FractionalMaxPoolGradKernel>("FractionalMaxPoolGrad", {{"T", kTypes}}, ElementCost<3000>);
  r.Add<FractionalAvgPoolGradKernel>("FractionalAvgPoolGrad", {{"T", kTypes}}, ElementCost<3000>);
}

}  // namespace tensorbraid::cpu
