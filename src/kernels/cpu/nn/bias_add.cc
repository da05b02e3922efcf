// BiasAdd and its gradient.
#include <algorithm>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A tensor viewed as [outer, channels, inner].
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
};

Channels ChannelsOf(const Shape& shape, bool channels_first) {
  Channels c;
  const int at = channels_first ? 1 : shape.rank() - 1;
  for (int i = 0; i < shape.rank(); ++i) (i < at ? c.outer : i == at ? c.channels : c.inner) *= shape.dim(i);
  return c;
}

bool ChannelsFirst(const Node& node) {
  const AttrValue* format = node.FindAttr("data_format");
  return format != nullptr && format->get<std::string>() != nullptr && *format->get<std::string>() == "NCHW";
}

// value[..., channels] + bias[channels]; with NCHW the channels are dimension 1.
class BiasAddKernel : public Kernel {
 public:
  Status Compute(KernelContext& ctx) final {
    const Tensor& value = ctx.input(0);
    const Tensor& bias = ctx.input(1);
    if (value.shape().rank() < 2) return InvalidArgument("value must have rank 2 or more, got shape ", value.shape());
    if (bias.shape().rank() != 1) return InvalidArgument("bias must be a vector, got shape ", bias.shape());
    const Channels c = ChannelsOf(value.shape(), channels_first_);
    if (bias.shape().dim(0) != c.channels) {
      return InvalidArgument("bias ", bias.shape(), " must have one element for each of the ", c.channels,
                             " channels of ", value.shape());
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, value.shape()));
    if (out->num_elements() == 0) return OkStatus();
    const int64_t size = loop_.in_size;
    const char* x = static_cast<const char*>(value.raw_data());
    const char* b = static_cast<const char*>(bias.raw_data());
    char* y = static_cast<char*>(out->inplace_raw_data());
    if (c.inner == 1) {
      Parallel(ctx, c.outer, 3 + loop_.cost_ns * c.channels, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * c.channels; i < end * c.channels; i += c.channels) {
          loop_.row(x + i * size, b, y + i * size, c.channels, Spread::kNone);
        }
      });
    } else {
      Parallel(ctx, c.outer * c.channels, 3 + loop_.cost_ns * c.inner, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          loop_.row(x + i * c.inner * size, b + i % c.channels * size, y + i * c.inner * size, c.inner, Spread::kRight);
        }
      });
    }
    return OkStatus();
  }

 protected:
  BiasAddKernel(const KernelConstruction& c, const BinaryLoop& loop)
      : loop_(loop), channels_first_(ChannelsFirst(c.node())) {}

 private:
  const BinaryLoop loop_;
  const bool channels_first_;
};

template <typename T>
class BiasAddKernelOf final : public BiasAddKernel {
 public:
  explicit BiasAddKernelOf(const KernelConstruction& c) : BiasAddKernel(c, MakeBinaryLoop<AddF, T>()) {}
};

// The sum over all dimensions except the channels.
template <typename T>
class BiasAddGradKernel final : public Kernel {
 public:
  explicit BiasAddGradKernel(const KernelConstruction& c) : channels_first_(ChannelsFirst(c.node())) {}

  Status Compute(KernelContext& ctx) override {
    using A = ComputeType<T>;
    const Tensor& in = ctx.input(0);
    if (in.shape().rank() < 2) return InvalidArgument("the gradient must have rank 2 or more, got shape ", in.shape());
    const Channels c = ChannelsOf(in.shape(), channels_first_);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {c.channels}));
    const T* x = in.data<T>().data();
    T* y = out->inplace_data<T>().data();
    if (c.channels == 0) return OkStatus();
    std::vector<A> sums(c.channels, A(0));
    if (in.num_elements() > 0) c.inner == 1 ? SumRows(ctx, x, c, sums) : SumPlanes(ctx, x, c, sums);
    for (int64_t j = 0; j < c.channels; ++j) y[j] = static_cast<T>(sums[j]);
    return OkStatus();
  }

 private:
  template <typename A>
  static A Sum(A a, A b) {
    return AddF::Apply(a, b);
  }
  // For channels last. Each block of rows has its own sums, which are added at the end. The number of blocks depends
  // only on the shape, so the result does not depend on the number of threads.
  template <typename A>
  static void SumRows(KernelContext& ctx, const T* x, const Channels& c, std::vector<A>& sums) {
    constexpr int64_t kMostBlocks = 64;
    constexpr int64_t kLeastElements = 1 << 14;  // of a block
    const int64_t least_rows = std::max<int64_t>(4, kLeastElements / c.channels);
    const int64_t blocks = std::clamp<int64_t>(c.outer / least_rows, 1, kMostBlocks);
    std::vector<A> of_blocks(blocks * c.channels, A(0));
    const double cost = 0.15 * static_cast<double>(c.outer * c.channels) / static_cast<double>(blocks);
    Parallel(ctx, blocks, cost, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        A* const to = of_blocks.data() + block * c.channels;
        for (int64_t row = c.outer * block / blocks; row < c.outer * (block + 1) / blocks; ++row) {
          const T* from = x + row * c.channels;
#pragma GCC ivdep
          for (int64_t j = 0; j < c.channels; ++j) to[j] = Sum(to[j], static_cast<A>(from[j]));
        }
      }
    });
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t j = 0; j < c.channels; ++j) sums[j] = Sum(sums[j], of_blocks[block * c.channels + j]);
    }
  }

  // Each channel of an image is a plane of `inner` elements. Threads share the channels.
  template <typename A>
  static void SumPlanes(KernelContext& ctx, const T* x, const Channels& c, std::vector<A>& sums) {
    Parallel(ctx, c.channels, 0.5 * static_cast<double>(c.outer * c.inner), [&](int64_t begin, int64_t end) {
      for (int64_t o = 0; o < c.outer; ++o) {
        for (int64_t j = begin; j < end; ++j) {
          const T* plane = x + (o * c.channels + j) * c.inner;
          A sum = 0;
          for (int64_t i = 0; i < c.inner; ++i) sum = Sum(sum, static_cast<A>(plane[i]));
          sums[j] = Sum(sums[j], sum);
        }
      }
    });
  }

  const bool channels_first_;
};

template <typename... T>
void AddBias(KernelRegistry& r, Types<T...>) {
  (r.Add<BiasAddKernelOf<T>>("BiasAdd", {{"T", {DTypeOf<T>::value}}}), ...);
  (r.Add<BiasAddKernelOf<T>>("BiasAddV1", {{"T", {DTypeOf<T>::value}}}), ...);
  (r.Add<BiasAddGradKernel<T>>("BiasAddGrad", {{"T", {DTypeOf<T>::value}}}), ...);
}

}  // namespace

void RegisterNnBiasAddKernels(KernelRegistry& r) { AddBias(r, RealTypes{}); }

}  // namespace tensorbraid::cpu
