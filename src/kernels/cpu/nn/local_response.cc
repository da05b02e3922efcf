// Local response normalization: each element is divided by (bias + alpha * s)^beta, where s is the sum of squares over
// the channels near its own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

class LocalResponseBase : public Kernel {
 protected:
  explicit LocalResponseBase(const KernelConstruction& c)
      : radius_(c.attr<int64_t>("depth_radius")),
        bias_(c.attr<float>("bias")),
        alpha_(c.attr<float>("alpha")),
        beta_(c.attr<float>("beta")) {}

  Status Check(const Tensor& t) const {
    if (t.shape().rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", t.shape());
    if (radius_ < 0 || radius_ > INT32_MAX) {
      return InvalidArgument("depth_radius must be between 0 and ", INT32_MAX, ", got ", radius_);
    }
    return OkStatus();
  }

  // sum[c] = the sum of x[k] for the channels k that are at most the radius away from c.
  void SumNear(const float* x, int64_t channels, float* sum) const {
    std::copy_n(x, channels, sum);
    for (int64_t k = 1; k <= std::min(radius_, channels - 1); ++k) {
#pragma GCC ivdep
      for (int64_t c = 0; c < channels - k; ++c) sum[c] += x[c + k];
#pragma GCC ivdep
      for (int64_t c = k; c < channels; ++c) sum[c] += x[c - k];
    }
  }

  // base[c] = bias + alpha * the sum of squares near c.
  void Base(const float* x, int64_t channels, float* squares, float* base) const {
    for (int64_t c = 0; c < channels; ++c) squares[c] = x[c] * x[c];
    SumNear(squares, channels, base);
    for (int64_t c = 0; c < channels; ++c) base[c] = bias_ + alpha_ * base[c];
  }

  // base to the power of -beta.
  float Power(float base) const {
    if (beta_ == 0.5f) return 1 / std::sqrt(base);
    return beta_ == 1.0f ? 1 / base : std::pow(base, -beta_);
  }

  double PixelCost(int64_t channels) const {
    return static_cast<double>(channels) * (10.0 + 0.5 * static_cast<double>(std::min(radius_, channels)));
  }

  const int64_t radius_;
  const float bias_, alpha_, beta_;
};

class LocalResponseKernel final : public LocalResponseBase {
 public:
  explicit LocalResponseKernel(const KernelConstruction& c) : LocalResponseBase(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    TF_RETURN_IF_ERROR(Check(in));
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, in));
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, in.shape()));
    if (in.num_elements() == 0) return OkStatus();
    const int64_t channels = in.shape().dim(3);
    const float* x = wide.data<float>().data();
    float* out = y.data<float>();
    Parallel(ctx, in.num_elements() / channels, PixelCost(channels), [&](int64_t begin, int64_t end) {
      std::vector<float> squares(channels), base(channels);
      for (int64_t i = begin * channels; i < end * channels; i += channels) {
        Base(x + i, channels, squares.data(), base.data());
        for (int64_t c = 0; c < channels; ++c) out[i + c] = x[i + c] * Power(base[c]);
      }
    });
    y.Finish();
    return OkStatus();
  }
};

// Computes dx from dy, x and y: dx = dy base^-beta - 2 alpha beta x * (the sum of dy y / base over the channels near
// its own).
class LocalResponseGradKernel final : public LocalResponseBase {
 public:
  explicit LocalResponseGradKernel(const KernelConstruction& c) : LocalResponseBase(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(1);
    TF_RETURN_IF_ERROR(Check(in));
    if (ctx.input(0).shape() != in.shape() || ctx.input(2).shape() != in.shape()) {
      return InvalidArgument("gradient, input and output must have the same shape, got ", ctx.input(0).shape(), ", ",
                             in.shape(), " and ", ctx.input(2).shape());
    }
    TF_ASSIGN_OR_RETURN(const Tensor wide_dy, Widen(ctx, ctx.input(0)));
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, in));
    TF_ASSIGN_OR_RETURN(const Tensor wide_y, Widen(ctx, ctx.input(2)));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, in.shape()));
    if (in.num_elements() == 0) return OkStatus();
    const int64_t channels = in.shape().dim(3);
    const float *dy = wide_dy.data<float>().data(), *x = wide_x.data<float>().data(), *y = wide_y.data<float>().data();
    float* out = dx.data<float>();
    Parallel(ctx, in.num_elements() / channels, 2 * PixelCost(channels), [&](int64_t begin, int64_t end) {
      std::vector<float> terms(channels), base(channels), sum(channels);
      for (int64_t i = begin * channels; i < end * channels; i += channels) {
        Base(x + i, channels, terms.data(), base.data());
        for (int64_t c = 0; c < channels; ++c) terms[c] = dy[i + c] * y[i + c] / base[c];
        SumNear(terms.data(), channels, sum.data());
        for (int64_t c = 0; c < channels; ++c) {
          out[i + c] = dy[i + c] * Power(base[c]) - 2 * alpha_ * beta_ * x[i + c] * sum[c];
        }
      }
    });
    dx.Finish();
    return OkStatus();
  }
};

}  // namespace

void RegisterNnLocalResponseKernels(KernelRegistry& r) {
  constexpr DTypeSet kFloats = {kFloat32, kFloat16, kBfloat16};
  r.Add<LocalResponseKernel>("LRN", {{"T", kFloats}}, ElementCost<10'000>);
  r.Add<LocalResponseGradKernel>("LRNGrad", {{"T", kFloats}}, ElementCost<15'000>);
}

}  // namespace tensorbraid::cpu
