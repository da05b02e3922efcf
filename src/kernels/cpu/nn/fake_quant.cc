// Fake quantization: rounds floats to the values that an integer of a few bits can represent.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The values that the integers of [low, high] represent. The range is moved such that it contains 0 exactly.
struct QuantGrid {
  QuantGrid(float min, float max, float low, float high) : only_zero(min == 0 && max == 0) {
    scale = (max - min) / (high - low);
    inverse = 1 / scale;
    const float zero = low - min / scale;  // which integer stands for 0
    const float nearest = zero < low ? low : zero > high ? high : std::round(zero);
    first = (low - nearest) * scale;
    last = (high - nearest) * scale;
  }

  float Nearest(float x) const {
    if (only_zero) return 0;
    const float below_last = last < x ? last : x;
    const float clamped = below_last < first ? first : below_last;
    const float steps = divides ? (clamped - first) / scale : (clamped - first) * inverse;
    return std::floor(steps + 0.5f) * scale + first;
  }
  bool Contains(float x) const { return only_zero || (x >= first && x <= last); }
  bool IsBelowFirst(float x) const { return !only_zero && x < first; }
  bool IsAboveLast(float x) const { return !only_zero && x > last; }

  bool only_zero;
  // Whether Nearest divides by the scale, as TensorFlow does for scalar limits, instead of multiplying by its inverse.
  bool divides = false;
  float scale, inverse, first, last;
};

class FakeQuantBase : public Kernel {
 protected:
  explicit FakeQuantBase(const KernelConstruction& c)
      : bits_(c.attr<int64_t>("num_bits")), low_(c.attr<bool>("narrow_range") ? 1 : 0) {}

  Status CheckBits() const {
    if (bits_ >= 2 && bits_ <= 16) return OkStatus();
    return InvalidArgument("num_bits must be between 2 and 16, got ", bits_);
  }
  QuantGrid Grid(float min, float max) const {
    return {min, max, static_cast<float>(low_), static_cast<float>((1 << bits_) - 1)};
  }

  // Makes a grid for each element of the tensors of minima and maxima, which must have the shape `shape`.
  StatusOr<std::vector<QuantGrid>> GridsOf(const Tensor& min, const Tensor& max, const Shape& shape) const {
    TF_RETURN_IF_ERROR(CheckBits());
    if (min.shape() != shape || max.shape() != shape) {
      return InvalidArgument("min and max must have shape ", shape, ", got ", min.shape(), " and ", max.shape());
    }
    std::vector<QuantGrid> grids;
    for (int64_t i = 0; i < min.num_elements(); ++i) grids.push_back(Grid(min.data<float>()[i], max.data<float>()[i]));
    return grids;
  }

  static Status CheckSameShape(const Tensor& gradients, const Tensor& inputs) {
    if (gradients.shape() == inputs.shape()) return OkStatus();
    return InvalidArgument("gradients and inputs must have the same shape, got ", gradients.shape(), " and ",
                           inputs.shape());
  }

  // Element i is rounded on grid i % grids.size().
  static Status Quantize(KernelContext& ctx, const std::vector<QuantGrid>& grids) {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, in.shape()));
    const float* x = in.data<float>().data();
    float* y = out->inplace_data<float>().data();
    const auto channels = static_cast<int64_t>(grids.size());
    Parallel(ctx, in.num_elements(), 2.0, [&](int64_t begin, int64_t end) {
      if (channels == 1) {
        const QuantGrid grid = grids[0];
        for (int64_t i = begin; i < end; ++i) y[i] = grid.Nearest(x[i]);
        return;
      }
      for (int64_t i = begin; i < end; ++i) y[i] = grids[i % channels].Nearest(x[i]);
    });
    return OkStatus();
  }

  // The gradients of the inputs, and of the minimum and maximum of each grid. A minimum gets the sum of the gradients
  // of the elements below it, a maximum the sum for the elements above it.
  static Status QuantizeGradient(KernelContext& ctx, const std::vector<QuantGrid>& grids, const Shape& limits) {
    const Tensor& gradients = ctx.input(0);
    const Tensor& inputs = ctx.input(1);
    TF_ASSIGN_OR_RETURN(Tensor * dx, ctx.AllocateOutput(0, inputs.shape()));
    TF_ASSIGN_OR_RETURN(Tensor * dmin, ctx.AllocateOutput(1, limits));
    TF_ASSIGN_OR_RETURN(Tensor * dmax, ctx.AllocateOutput(2, limits));
    const float* g = gradients.data<float>().data();
    const float* x = inputs.data<float>().data();
    float* to = dx->inplace_data<float>().data();
    const int64_t n = inputs.num_elements(), channels = static_cast<int64_t>(grids.size());
    std::vector<double> below(channels, 0.0), above(channels, 0.0);
    // Blocks of fixed size, so that the order of the sums does not depend on the number of threads. There are at most
    // as many partial sums as there are elements.
    const int64_t block = std::max<int64_t>(4096, channels);
    const int64_t blocks = (n + block - 1) / block;
    std::vector<float> partial(2 * blocks * channels, 0.0f);
    Parallel(ctx, blocks, 3.0 * static_cast<double>(block), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        float* sums = partial.data() + 2 * b * channels;
        for (int64_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
          const int64_t c = channels == 1 ? 0 : i % channels;
          to[i] = grids[c].Contains(x[i]) ? g[i] : 0;
          if (grids[c].IsBelowFirst(x[i])) sums[2 * c] += g[i];
          if (grids[c].IsAboveLast(x[i])) sums[2 * c + 1] += g[i];
        }
      }
    });
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t c = 0; c < channels; ++c) {
        below[c] += partial[2 * (b * channels + c)];
        above[c] += partial[2 * (b * channels + c) + 1];
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      dmin->inplace_data<float>()[c] = static_cast<float>(below[c]);
      dmax->inplace_data<float>()[c] = static_cast<float>(above[c]);
    }
    return OkStatus();
  }

  // The shape [channels], where the channels are the last axis of `t`. Returns InvalidArgument for a scalar.
  static StatusOr<Shape> ChannelsOfLast(const Tensor& t) {
    const Shape& shape = t.shape();
    if (shape.rank() == 0) return InvalidArgument("the input must have channels, got a scalar");
    return Shape({shape.dim(shape.rank() - 1)});
  }

 private:
  const int64_t bits_;
  const int low_;
};

// The op whose min and max are attributes, and its gradient op, which has two inputs: gradients and inputs.
class FakeQuantArgsKernel final : public FakeQuantBase {
 public:
  explicit FakeQuantArgsKernel(const KernelConstruction& c)
      : FakeQuantBase(c), min_(c.attr<float>("min")), max_(c.attr<float>("max")) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(CheckBits());
    if (!(min_ < max_)) return InvalidArgument("min must be smaller than max, got ", min_, " and ", max_);
    const QuantGrid grid = Grid(min_, max_);
    if (ctx.num_inputs() == 1) return Quantize(ctx, {grid});
    TF_RETURN_IF_ERROR(CheckSameShape(ctx.input(0), ctx.input(1)));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0, 1}, 0, ctx.input(0).shape()));
    const float* g = ctx.input(0).data<float>().data();
    const float* x = ctx.input(1).data<float>().data();
    float* to = out->inplace_data<float>().data();
    Parallel(ctx, out->num_elements(), 0.5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = grid.Contains(x[i]) ? g[i] : 0;
    });
    return OkStatus();
  }

 private:
  const float min_, max_;
};

// The ops whose min and max are inputs. These are scalars, or vectors with one element for each channel (the last
// axis).
template <bool kPerChannel>
class FakeQuantVarsKernel final : public FakeQuantBase {
 public:
  explicit FakeQuantVarsKernel(const KernelConstruction& c) : FakeQuantBase(c) {}

  Status Compute(KernelContext& ctx) override {
    Shape limits;
    if (kPerChannel) {
      TF_ASSIGN_OR_RETURN(limits, ChannelsOfLast(ctx.input(0)));
    }
    TF_ASSIGN_OR_RETURN(std::vector<QuantGrid> grids, GridsOf(ctx.input(1), ctx.input(2), limits));
    if (!kPerChannel) grids[0].divides = true;
    return Quantize(ctx, grids);
  }
};

template <bool kPerChannel>
class FakeQuantVarsGradientKernel final : public FakeQuantBase {
 public:
  explicit FakeQuantVarsGradientKernel(const KernelConstruction& c) : FakeQuantBase(c) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(CheckSameShape(ctx.input(0), ctx.input(1)));
    Shape limits;
    if (kPerChannel) {
      TF_ASSIGN_OR_RETURN(limits, ChannelsOfLast(ctx.input(1)));
    }
    TF_ASSIGN_OR_RETURN(const std::vector<QuantGrid> grids, GridsOf(ctx.input(2), ctx.input(3), limits));
    return QuantizeGradient(ctx, grids, limits);
  }
};

}  // namespace

void RegisterNnFakeQuantKernels(KernelRegistry& r) {
  r.Add<FakeQuantArgsKernel>("FakeQuantWithMinMaxArgs", {}, ElementCost<2000>);
  r.Add<FakeQuantArgsKernel>("FakeQuantWithMinMaxArgsGradient");
  r.Add<FakeQuantVarsKernel<false>>("FakeQuantWithMinMaxVars", {}, ElementCost<2000>);
  r.Add<FakeQuantVarsGradientKernel<false>>("FakeQuantWithMinMaxVarsGradient", {}, ElementCost<3000>);
  r.Add<FakeQuantVarsKernel<true>>("FakeQuantWithMinMaxVarsPerChannel", {}, ElementCost<3000>);
  r.Add<FakeQuantVarsGradientKernel<true>>("FakeQuantWithMinMaxVarsPerChannelGradient", {}, ElementCost<3000>);
}

}  // namespace tensorbraid::cpu
