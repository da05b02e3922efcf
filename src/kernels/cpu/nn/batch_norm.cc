// Batch normalization. Sums over the batch are computed in float (for float64, in double) over blocks of elements, and
// the sums of the blocks are added in double. The blocks depend only on the shape, so results do not depend on the
// number of threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/batch_norm_tiles.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "ops/nn/window.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A tensor viewed as [outer, channels, inner].
struct NormView {
  int64_t outer = 1, channels = 1, inner = 1;
  int64_t elements_per_channel() const { return outer * inner; }
};

StatusOr<NormView> NormViewOf(const Shape& shape, bool channels_first) {
  if (shape.rank() != 4 && shape.rank() != 5) {
    return InvalidArgument("the input must have rank 4 or 5, got shape ", shape);
  }
  NormView v;
  const int at = channels_first ? 1 : shape.rank() - 1;
  for (int i = 0; i < shape.rank(); ++i) (i < at ? v.outer : i == at ? v.channels : v.inner) *= shape.dim(i);
  return v;
}

// `when` is what the error says before `what`: the reason why the input is needed.
Status CheckPerChannel(const char* what, const Tensor& t, const NormView& v, const char* when = "") {
  if (t.shape() == Shape({v.channels})) return OkStatus();
  return InvalidArgument(when, what, " must have the same number of elements as the channels of x, got shape ",
                         t.shape(), " and ", v.channels, " channels");
}

// Calls f(i, c) for each element i of each channel c.
template <typename F>
void ForEachElement(KernelContext& ctx, const NormView& v, double cost_ns, const F& f) {
  if (v.channels == 0 || v.inner == 0) return;
  if (v.inner == 1) {
    Parallel(ctx, v.outer, cost_ns * static_cast<double>(v.channels), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        const int64_t at = o * v.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < v.channels; ++c) f(at + c, c);
      }
    });
    return;
  }
  Parallel(ctx, v.outer * v.channels, cost_ns * static_cast<double>(v.inner), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t c = plane % v.channels, at = plane * v.inner;
#pragma GCC ivdep
      for (int64_t i = 0; i < v.inner; ++i) f(at + i, c);
    }
  });
}

// For tensors whose channels are last (inner = 1), so that a row has one element of each channel. Adds term(i, c) of
// each element i of rows [begin, end) to the sum of its channel c. Adds four rows at a time, so that an addition need
// not wait for the previous one.
template <typename A, typename Term>
void AddRows(const NormView& v, int64_t begin, int64_t end, const Term& term, A* sum) {
  const int64_t n = v.channels;
  int64_t row = begin;
  for (; row + 4 <= end; row += 4) {
    const int64_t i = row * n;
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) {
      sum[c] += (term(i + c, c) + term(i + n + c, c)) + (term(i + 2 * n + c, c) + term(i + 3 * n + c, c));
    }
  }
  for (; row < end; ++row) {
    const int64_t i = row * n;
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) sum[c] += term(i + c, c);
  }
}

// The sum of term(i, c) over the elements i of one plane: the `inner` elements that follow each other, all of channel
// c.
template <typename A, typename Term>
double SumOfPlane(const NormView& v, int64_t plane, const Term& term) {
  constexpr int64_t kLanes = 16, kBlock = 4096;
  const int64_t c = plane % v.channels, at = plane * v.inner;
  double sum = 0;
  for (int64_t block = 0; block < v.inner; block += kBlock) {
    const int64_t stop = std::min(v.inner, block + kBlock);
    A lanes[kLanes] = {};
    int64_t i = block;
    for (; i + kLanes <= stop; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] += term(at + i + l, c);
    }
    for (; i < stop; ++i) lanes[0] += term(at + i, c);
    for (const A lane : lanes) sum += static_cast<double>(lane);
  }
  return sum;
}

// For each term and each channel c, the sum of term(i, c) over the elements i of the channel. All terms are summed
// while a block of elements is in the cache.
template <typename A, typename... Terms>
std::array<std::vector<double>, sizeof...(Terms)> SumsPerChannel(KernelContext& ctx, const NormView& v,
                                                                 const Terms&... terms) {
  constexpr int64_t kTerms = sizeof...(Terms), kRows = 256;
  const int64_t channels = v.channels;
  std::array<std::vector<double>, kTerms> sums;
  for (auto& sum : sums) sum.assign(channels, 0.0);
  if (channels == 0 || v.elements_per_channel() == 0) return sums;
  if (v.inner == 1) {
    const int64_t blocks = (v.outer + kRows - 1) / kRows;
    std::vector<A> partial(blocks * kTerms * channels, A(0));
    Parallel(ctx, blocks, 0.25 * kTerms * kRows * static_cast<double>(channels), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        A* sum = partial.data() + b * kTerms * channels;
        ((AddRows(v, b * kRows, std::min(v.outer, (b + 1) * kRows), terms, sum), sum += channels), ...);
      }
    });
    for (int64_t b = 0; b < blocks; ++b) {
      const A* of_block = partial.data() + b * kTerms * channels;
      for (auto& sum : sums) {
        for (int64_t c = 0; c < channels; ++c) sum[c] += static_cast<double>(*of_block++);
      }
    }
    return sums;
  }
  const int64_t planes = v.outer * channels;
  std::vector<double> partial(planes * kTerms);
  Parallel(ctx, planes, 0.5 * kTerms * static_cast<double>(v.inner), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      double* sum = partial.data() + plane * kTerms;
      ((*sum++ = SumOfPlane<A>(v, plane, terms)), ...);
    }
  });
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t t = 0; t < kTerms; ++t) sums[t][plane % channels] += partial[plane * kTerms + t];
  }
  return sums;
}

// Mean and variance of each channel; NaN if it has no elements.
struct ChannelMoments {
  std::vector<double> mean, variance;
};

// Reads x from memory once. While a block is in the cache, sums the squares of the differences from the block's mean.
StatusOr<ChannelMoments> MomentsPerChannel(KernelContext& ctx, const NormView& v, const float* x) {
  if (v.channels == 0) return ChannelMoments();
  // If the channels are last (inner = 1), a block consists of 32 to 256 rows. Otherwise it consists of one plane of
  // each channel.
  const int64_t channels = v.channels, wanted = 16384 / std::max<int64_t>(1, channels);
  const int64_t rows = v.inner == 1 ? std::clamp<int64_t>(wanted, 32, 256) : 1;
  const int64_t blocks = v.inner == 0 ? 0 : (v.outer + rows - 1) / rows;
  const auto elements = [&](int64_t b) {  // the number of elements of a channel in block b
    return static_cast<double>((std::min(v.outer, (b + 1) * rows) - b * rows) * v.inner);
  };
  const auto center = [&](int64_t b, double sum) { return static_cast<float>(sum / elements(b)); };
  TF_ASSIGN_OR_RETURN(Tensor scratch, ctx.AllocateTemp(kFloat64, {2, blocks, channels}));
  double *const sums = scratch.inplace_data<double>().data(), *const squares = sums + blocks * channels;
  if (v.inner == 1) {
    Parallel(ctx, blocks, 0.3 * static_cast<double>(rows * channels), [&](int64_t begin, int64_t end) {
      std::vector<float> sum(channels), square(channels), mean(channels);
      for (int64_t b = begin; b < end; ++b) {
        std::fill(sum.begin(), sum.end(), 0.0f);
        std::fill(square.begin(), square.end(), 0.0f);
        const int64_t stop = std::min(v.outer, (b + 1) * rows);
        AddRows(
            v, b * rows, stop, [&](int64_t i, int64_t) { return x[i]; }, sum.data());
        for (int64_t c = 0; c < channels; ++c) mean[c] = center(b, sum[c]);
        const float* const m = mean.data();
        const auto squared = [x, m](int64_t i, int64_t c) { return (x[i] - m[c]) * (x[i] - m[c]); };
        AddRows(v, b * rows, stop, squared, square.data());
        std::copy(sum.begin(), sum.end(), sums + b * channels);
        std::copy(square.begin(), square.end(), squares + b * channels);
      }
    });
  } else {
    Parallel(ctx, blocks * channels, 0.5 * static_cast<double>(v.inner), [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        sums[plane] = SumOfPlane<float>(v, plane, [&](int64_t i, int64_t) { return x[i]; });
        const float mean = center(plane / channels, sums[plane]);
        squares[plane] =
            SumOfPlane<float>(v, plane, [x, mean](int64_t i, int64_t) { return (x[i] - mean) * (x[i] - mean); });
      }
    });
  }
  ChannelMoments m{std::vector<double>(channels), std::vector<double>(channels)};
  const auto n = static_cast<double>(v.elements_per_channel());
  for (int64_t i = 0; i < blocks * channels; ++i) m.mean[i % channels] += sums[i];
  for (double& mean : m.mean) mean /= n;
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < channels; ++c) {
      // Converts the squares around the center of the block to squares around the mean.
      const double sum = sums[b * channels + c], from = center(b, sum), shift = from - m.mean[c];
      m.variance[c] += squares[b * channels + c] + shift * (2 * (sum - elements(b) * from) + elements(b) * shift);
    }
  }
  for (double& variance : m.variance) variance = (variance < 0 ? 0 : variance) / n;
  return m;
}

// Divides images of shape `x`, [batch, height, width, channels], into windows of the size `ksize`, which must be [1,
// height, width, 1]. Returns InvalidArgument if the functions of batch_norm_tiles.h do not support these sizes.
StatusOr<NormTiles> NormTilesOf(const Shape& x, const std::vector<int64_t>& ksize) {
  if (x.rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", x);
  const bool is_window = ksize.size() == 4 && ksize[0] == 1 && ksize[3] == 1 && ksize[1] > 0 && ksize[2] > 0;
  if (!is_window || ksize[1] > 4 || ksize[2] > 4 || ksize[1] * ksize[2] == 3 || ksize[1] * ksize[2] > 4) {
    return InvalidArgument("ksize must be [1, height, width, 1] with height * width = 1, 2 or 4, got ",
                           AttrValue(ksize).ToString());
  }
  if (x.dim(1) % ksize[1] != 0 || x.dim(2) % ksize[2] != 0 || x.dim(3) % kNormLanes != 0) {
    return InvalidArgument("windows of ", ksize[1], " x ", ksize[2], " pixels and ", kNormLanes,
                           " channels must tile the input, got shape ", x);
  }
  return NormTiles{.rows = x.dim(0) * (x.dim(1) / ksize[1]),
                   .windows = x.dim(2) / ksize[2],
                   .channels = x.dim(3),
                   .height = ksize[1],
                   .width = ksize[2]};
}

// The shape of the output of _FusedBatchNormRelu for an input of shape `x`: for each channel, one maximum for each
// window.
Shape MaximaOf(const Shape& x, const NormTiles& t) {
  return {x.dim(0), x.dim(1) / t.height, x.dim(2) / t.width, x.dim(3)};
}

// The attributes of the fused ops.
struct FusedAttrs {
  explicit FusedAttrs(const KernelConstruction& c)
      : channels_first(ReadChannelsFirst(c.node())),
        epsilon(c.attr<float>("epsilon")),
        training(c.attr<bool>("is_training")),
        with_relu(c.node().type().starts_with("_FusedBatchNormRelu")) {
    if (with_relu) ksize = c.attr<std::vector<int64_t>>("ksize");
  }
  StatusOr<bool> channels_first;
  float epsilon;
  bool training;
  bool with_relu;              // whether the op also computes Relu and a maximum
  std::vector<int64_t> ksize;  // the window over which the maximum is taken
};

// For each channel, the factor by which its elements are multiplied after the mean has been subtracted.
std::vector<float> FactorsOf(const Tensor& scale, const float* variance, float epsilon) {
  std::vector<float> factors(scale.num_elements());
  for (size_t c = 0; c < factors.size(); ++c) factors[c] = scale.data<float>()[c] / std::sqrt(variance[c] + epsilon);
  return factors;
}

// FusedBatchNorm and its versions. The class is also the kernel of _FusedBatchNormRelu for float32.
class FusedBatchNormKernel final : public Kernel {
 public:
  explicit FusedBatchNormKernel(const KernelConstruction& c)
      : attrs_(c), factor_(c.attr<float>("exponential_avg_factor")) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(attrs_.channels_first.status());
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const NormView v, NormViewOf(in.shape(), *attrs_.channels_first));
    TF_RETURN_IF_ERROR(CheckPerChannel("scale", ctx.input(1), v));
    TF_RETURN_IF_ERROR(CheckPerChannel("offset", ctx.input(2), v));
    const bool reads_averages = !attrs_.training || factor_ != 1.0f;
    if (reads_averages) {
      const char* const when = attrs_.training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
      TF_RETURN_IF_ERROR(CheckPerChannel("mean", ctx.input(3), v, when));
      TF_RETURN_IF_ERROR(CheckPerChannel("variance", ctx.input(4), v, when));
    }
    Shape pooled = in.shape();
    NormTiles tiles;
    if (attrs_.with_relu) {
      TF_ASSIGN_OR_RETURN(tiles, NormTilesOf(in.shape(), attrs_.ksize));
      pooled = MaximaOf(in.shape(), tiles);
    }
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, pooled, /*reuse=*/{0}));
    float* per_channel[4];  // batch mean, batch variance, mean and variance for the gradient
    for (int i = 0; i < 4; ++i) {
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(1 + i, {v.channels}));
      per_channel[i] = out->inplace_data<float>().data();
    }
    if (ctx.num_outputs() > 5) {  // reserve_space_3 of FusedBatchNormV3, which the gradient does not read
      TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(5, {}));
      out->inplace_data<float>()[0] = 0;
    }
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, in));
    const float* x = wide.data<float>().data();
    float* const mean = per_channel[2];
    float* const variance = per_channel[3];
    const auto n = static_cast<double>(v.elements_per_channel());
    if (attrs_.training) {
      TF_ASSIGN_OR_RETURN(const ChannelMoments moments, MomentsPerChannel(ctx, v, x));
      for (int64_t c = 0; c < v.channels; ++c) {
        mean[c] = static_cast<float>(moments.mean[c]);
        variance[c] = static_cast<float>(moments.variance[c]);
      }
    } else {
      std::copy_n(ctx.input(3).data<float>().data(), v.channels, mean);
      std::copy_n(ctx.input(4).data<float>().data(), v.channels, variance);
    }
    // The outputs for the moving averages. In training they include the batch's mean and unbiased variance, otherwise
    // they are the given averages.
    for (int64_t c = 0; c < v.channels; ++c) {
      per_channel[0][c] = mean[c];
      per_channel[1][c] = variance[c];
      if (n == 0) {
        per_channel[0][c] = per_channel[1][c] = std::numeric_limits<float>::quiet_NaN();
      } else if (attrs_.training) {
        per_channel[1][c] = static_cast<float>(variance[c] * (n / std::max(n - 1, 1.0)));
        if (factor_ != 1.0f) {
          per_channel[0][c] = (1 - factor_) * ctx.input(3).data<float>()[c] + factor_ * per_channel[0][c];
          per_channel[1][c] = (1 - factor_) * ctx.input(4).data<float>()[c] + factor_ * per_channel[1][c];
        }
      }
    }
    const std::vector<float> factor = FactorsOf(ctx.input(1), variance, attrs_.epsilon);
    const float* const f = factor.data();
    const float* const offset = ctx.input(2).data<float>().data();
    float* const out = y.data<float>();
    if (attrs_.with_relu) {
      ForTiles(tiles, [&]<int kPixels>() { NormalizeTiles<kPixels>(ctx, tiles, {mean, f, offset}, x, out); });
      return OkStatus();
    }
    ForEachElement(ctx, v, 0.4, [&](int64_t i, int64_t c) { out[i] = (x[i] - mean[c]) * f[c] + offset[c]; });
    y.Finish();
    return OkStatus();
  }

 private:
  const FusedAttrs attrs_;
  const float factor_;  // the weight of this batch in the moving averages
};

// The gradients of x, scale and offset. Inputs 3 and 4 are mean and variance. In training these are the statistics of
// the batch, which depend on x; otherwise they are constants that the forward op was given. The class is also the
// kernel of _FusedBatchNormReluGrad for float32, whose input 6 is the offset.
class FusedBatchNormGradKernel final : public Kernel {
 public:
  explicit FusedBatchNormGradKernel(const KernelConstruction& c) : attrs_(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(attrs_.channels_first.status());
    const Tensor& in = ctx.input(1);
    Shape pooled = in.shape();
    NormTiles tiles;
    if (attrs_.with_relu) {
      TF_ASSIGN_OR_RETURN(tiles, NormTilesOf(in.shape(), attrs_.ksize));
      pooled = MaximaOf(in.shape(), tiles);
    }
    if (ctx.input(0).shape() != pooled && attrs_.with_relu) {
      return InvalidArgument("the gradient must have shape ", pooled, ", got ", ctx.input(0).shape());
    }
    if (ctx.input(0).shape() != pooled) {
      return InvalidArgument("x and y_backprop must have same shape, got ", pooled, " and ", ctx.input(0).shape());
    }
    TF_ASSIGN_OR_RETURN(const NormView v, NormViewOf(in.shape(), *attrs_.channels_first));
    if (attrs_.with_relu) TF_RETURN_IF_ERROR(CheckPerChannel("offset", ctx.input(6), v));
    TF_RETURN_IF_ERROR(CheckPerChannel("scale", ctx.input(2), v));
    TF_RETURN_IF_ERROR(CheckPerChannel("reserve_space_1", ctx.input(3), v));
    TF_RETURN_IF_ERROR(CheckPerChannel("reserve_space_2", ctx.input(4), v));
    WideOutput dx;
    // Reuses the memory of x if possible, since usually nothing needs x after its gradient. Memory that has just been
    // read is written fastest.
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, in.shape(), /*reuse=*/{1, 0}));
    TF_ASSIGN_OR_RETURN(Tensor * dscale, ctx.AllocateOutput(1, {v.channels}));
    TF_ASSIGN_OR_RETURN(Tensor * doffset, ctx.AllocateOutput(2, {v.channels}));
    for (int i = 3; i < 5; ++i) TF_RETURN_IF_ERROR(ctx.AllocateOutput(i, {0}).status());
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, in));
    TF_ASSIGN_OR_RETURN(const Tensor wide_dy, Widen(ctx, ctx.input(0)));
    const float* x = wide_x.data<float>().data();
    const float* dy = wide_dy.data<float>().data();
    const float* mean = ctx.input(3).data<float>().data();
    std::vector<float> forward;
    NormFactors forward_factors{mean, /*factor=*/nullptr, /*offset=*/nullptr};
    if (attrs_.with_relu) {
      forward = FactorsOf(ctx.input(2), ctx.input(4).data<float>().data(), attrs_.epsilon);
      forward_factors = {mean, forward.data(), ctx.input(6).data<float>().data()};
    }
    const auto [sums, products] =
        attrs_.with_relu
            ? ForTiles(tiles, [&]<int kPixels>() { return SumsOfTiles<kPixels>(ctx, tiles, forward_factors, x, dy); })
            : SumsPerChannel<float>(
                  ctx, v, [&](int64_t i, int64_t) { return dy[i]; },
                  [&](int64_t i, int64_t c) { return dy[i] * (x[i] - mean[c]); });
    const auto n = static_cast<double>(v.elements_per_channel());
    // dx = factor * (dy - shift - slope * (x - mean))
    std::vector<float> factor(v.channels), shift(v.channels, 0.0f), slope(v.channels, 0.0f);
    for (int64_t c = 0; c < v.channels; ++c) {
      const double rsqrt = 1 / std::sqrt(static_cast<double>(ctx.input(4).data<float>()[c]) + attrs_.epsilon);
      dscale->inplace_data<float>()[c] = n == 0 ? 0.0f : static_cast<float>(products[c] * rsqrt);
      doffset->inplace_data<float>()[c] = static_cast<float>(sums[c]);
      factor[c] = static_cast<float>(ctx.input(2).data<float>()[c] * rsqrt);
      if (!attrs_.training || n == 0) continue;
      shift[c] = static_cast<float>(sums[c] / n);
      slope[c] = static_cast<float>(products[c] / n * rsqrt * rsqrt);
    }
    const float *f = factor.data(), *m = shift.data(), *s = slope.data();
    float* const out = dx.data<float>();
    if (attrs_.with_relu) {
      ForTiles(tiles, [&]<int kPixels>() {
        TileGradients<kPixels>(ctx, tiles, forward_factors, {f, m, s}, x, dy, out);
      });
      return OkStatus();
    }
    ForEachElement(ctx, v, 0.6,
                   [&](int64_t i, int64_t c) { out[i] = f[c] * (dy[i] - m[c] - s[c] * (x[i] - mean[c])); });
    dx.Finish();
    return OkStatus();
  }

 private:
  const FusedAttrs attrs_;
};

// BatchNormWithGlobalNormalization and its gradient, the ops of the first versions of TensorFlow. Float64 is computed
// in double, all other types in float.
class GlobalBatchNormKernel : public Kernel {
 protected:
  explicit GlobalBatchNormKernel(const KernelConstruction& c)
      : epsilon_(c.attr<float>("variance_epsilon")), scales_(c.attr<bool>("scale_after_normalization")) {}

  // Checks input 0 and the per-channel inputs [1, end).
  static StatusOr<NormView> CheckInputs(KernelContext& ctx, int end) {
    if (ctx.input(0).shape().rank() != 4) {
      return InvalidArgument("the input must have rank 4, got shape ", ctx.input(0).shape());
    }
    TF_ASSIGN_OR_RETURN(const NormView v, NormViewOf(ctx.input(0).shape(), /*channels_first=*/false));
    constexpr const char* kNames[] = {"t", "the mean", "the variance", "input 3", "gamma"};
    for (int i = 1; i < end; ++i) TF_RETURN_IF_ERROR(CheckPerChannel(kNames[i], ctx.input(i), v));
    return v;
  }

  const double epsilon_;
  const bool scales_;  // whether gamma is used
};

class GlobalBatchNormForwardKernel final : public GlobalBatchNormKernel {
 public:
  explicit GlobalBatchNormForwardKernel(const KernelConstruction& c) : GlobalBatchNormKernel(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const NormView v, CheckInputs(ctx, 5));
    return ctx.input(0).dtype() == kFloat64 ? Run<double>(ctx, v) : Run<float>(ctx, v);
  }

 private:
  template <typename A>
  Status Run(KernelContext& ctx, const NormView& v) const {
    Tensor in[5];
    for (int i = 0; i < 5; ++i) {
      TF_ASSIGN_OR_RETURN(in[i], Widen(ctx, ctx.input(i)));
    }
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, in[0].shape()));
    std::vector<A> factor(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      const double gamma = scales_ ? static_cast<double>(in[4].data<A>()[c]) : 1.0;
      factor[c] = static_cast<A>(gamma / std::sqrt(static_cast<double>(in[2].data<A>()[c]) + epsilon_));
    }
    const A *x = in[0].data<A>().data(), *mean = in[1].data<A>().data(), *beta = in[3].data<A>().data();
    const A* f = factor.data();
    A* out = y.data<A>();
    ForEachElement(ctx, v, 0.4, [&](int64_t i, int64_t c) { out[i] = (x[i] - mean[c]) * f[c] + beta[c]; });
    y.Finish();
    return OkStatus();
  }
};

class GlobalBatchNormGradKernel final : public GlobalBatchNormKernel {
 public:
  explicit GlobalBatchNormGradKernel(const KernelConstruction& c) : GlobalBatchNormKernel(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const NormView v, CheckInputs(ctx, 4));
    if (ctx.input(4).shape() != ctx.input(0).shape()) {
      return InvalidArgument("the gradient must have the shape of t, ", ctx.input(0).shape(), ", got ",
                             ctx.input(4).shape());
    }
    return ctx.input(0).dtype() == kFloat64 ? Run<double>(ctx, v) : Run<float>(ctx, v);
  }

 private:
  template <typename A>
  Status Run(KernelContext& ctx, const NormView& v) const {
    Tensor in[5];
    for (int i = 0; i < 5; ++i) {
      TF_ASSIGN_OR_RETURN(in[i], Widen(ctx, ctx.input(i)));
    }
    WideOutput dx, dm, dv, db, dg;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, in[0].shape()));
    int output = 1;
    for (WideOutput* out : {&dm, &dv, &db, &dg}) TF_RETURN_IF_ERROR(out->Allocate(ctx, output++, {v.channels}));
    const A *x = in[0].data<A>().data(), *mean = in[1].data<A>().data(), *dy = in[4].data<A>().data();
    const auto [sums, products] = SumsPerChannel<A>(
        ctx, v, [&](int64_t i, int64_t) { return dy[i]; },
        [&](int64_t i, int64_t c) { return dy[i] * (x[i] - mean[c]); });
    std::vector<A> factor(v.channels);
    for (int64_t c = 0; c < v.channels; ++c) {
      const double gamma = scales_ ? static_cast<double>(in[3].data<A>()[c]) : 1.0;
      const double rsqrt = 1 / std::sqrt(static_cast<double>(in[2].data<A>()[c]) + epsilon_);
      factor[c] = static_cast<A>(gamma * rsqrt);
      dm.data<A>()[c] = static_cast<A>(-sums[c] * gamma * rsqrt);
      dv.data<A>()[c] = static_cast<A>(-0.5 * products[c] * gamma * rsqrt * rsqrt * rsqrt);
      db.data<A>()[c] = static_cast<A>(sums[c]);
      dg.data<A>()[c] = scales_ ? static_cast<A>(products[c] * rsqrt) : A(0);
    }
    const A* f = factor.data();
    A* to = dx.data<A>();
    ForEachElement(ctx, v, 0.4, [&](int64_t i, int64_t c) { to[i] = dy[i] * f[c]; });
    for (WideOutput* out : {&dx, &dm, &dv, &db, &dg}) out->Finish();
    return OkStatus();
  }
};

}  // namespace

void RegisterNnBatchNormKernels(KernelRegistry& r) {
  constexpr DTypeSet kFloats = {kFloat32, kFloat16, kBfloat16};
  constexpr DTypeSet kFloat = {kFloat32};
  constexpr DTypeSet kAllFloats = {kFloat32, kFloat64, kFloat16, kBfloat16};
  r.Add<FusedBatchNormKernel>("FusedBatchNorm", {{"T", kFloat}}, ElementCost<1000>);
  r.Add<FusedBatchNormGradKernel>("FusedBatchNormGrad", {{"T", kFloat}}, ElementCost<1500>);
  for (const char* op : {"FusedBatchNormV2", "FusedBatchNormV3"}) {
    r.Add<FusedBatchNormKernel>(op, {{"T", kFloats}, {"U", kFloat}}, ElementCost<1000>);
  }
  for (const char* op : {"FusedBatchNormGradV2", "FusedBatchNormGradV3"}) {
    r.Add<FusedBatchNormGradKernel>(op, {{"T", kFloats}, {"U", kFloat}}, ElementCost<1500>);
  }
  r.Add<FusedBatchNormKernel>("_FusedBatchNormRelu", {{"T", kFloat}, {"U", kFloat}}, ElementCost<1000>);
  r.Add<FusedBatchNormGradKernel>("_FusedBatchNormReluGrad", {{"T", kFloat}, {"U", kFloat}}, ElementCost<1500>);
  r.Add<GlobalBatchNormForwardKernel>("BatchNormWithGlobalNormalization", {{"T", kAllFloats}}, ElementCost<500>);
  r.Add<GlobalBatchNormGradKernel>("BatchNormWithGlobalNormalizationGrad", {{"T", kAllFloats}}, ElementCost<1500>);
}

}  // namespace tensorbraid::cpu
