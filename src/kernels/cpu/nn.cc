// Biases and losses.
#include <cmath>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace cpu {
namespace {

// The place of the channels, and how many elements lie behind each.
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
template <typename T>
class BiasAddKernel final : public Kernel {
 public:
  explicit BiasAddKernel(const KernelConstruction& c) : channels_first_(ChannelsFirst(c.node())) {}

  Status Compute(KernelContext& ctx) override {
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
    constexpr BinaryLoop loop = MakeBinaryLoop<AddF, T>();
    const T* x = value.data<T>().data();
    const T* b = bias.data<T>().data();
    T* y = out->mutable_data<T>().data();
    if (c.inner == 1) {
      Parallel(ctx, c.outer, 3 + loop.cost_ns * c.channels, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin * c.channels; i < end * c.channels; i += c.channels) {
          loop.row(x + i, b, y + i, c.channels, Spread::kNone);
        }
      });
    } else {
      Parallel(ctx, c.outer * c.channels, 3 + loop.cost_ns * c.inner, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          loop.row(x + i * c.inner, b + i % c.channels, y + i * c.inner, c.inner, Spread::kRight);
        }
      });
    }
    return OkStatus();
  }

 private:
  const bool channels_first_;
};

// The sum over everything but the channels.
template <typename T>
class BiasAddGradKernel final : public Kernel {
 public:
  explicit BiasAddGradKernel(const KernelConstruction& c) : channels_first_(ChannelsFirst(c.node())) {}

  Status Compute(KernelContext& ctx) override {
    using A = cpu::Compute<T>;
    const Tensor& in = ctx.input(0);
    if (in.shape().rank() < 2) return InvalidArgument("the gradient must have rank 2 or more, got shape ", in.shape());
    const Channels c = ChannelsOf(in.shape(), channels_first_);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {c.channels}));
    const T* x = in.data<T>().data();
    T* y = out->mutable_data<T>().data();
    // Channels go to threads; a thread reads its columns of all rows.
    Parallel(ctx, c.channels, 0.5 * c.outer * c.inner, [&](int64_t begin, int64_t end) {
      std::vector<A> sums(end - begin, A(0));
      for (int64_t o = 0; o < c.outer; ++o) {
        const T* row = x + (o * c.channels + begin) * c.inner;
        if (c.inner == 1) {
#pragma GCC ivdep
          for (int64_t j = 0; j < end - begin; ++j) sums[j] = Sum(sums[j], static_cast<A>(row[j]));
        } else {
          for (int64_t j = 0; j < end - begin; ++j) {
            A sum = 0;
            for (int64_t i = 0; i < c.inner; ++i) sum = Sum(sum, static_cast<A>(row[j * c.inner + i]));
            sums[j] = Sum(sums[j], sum);
          }
        }
      }
      for (int64_t j = begin; j < end; ++j) y[j] = static_cast<T>(sums[j - begin]);
    });
    return OkStatus();
  }

 private:
  template <typename A>
  static A Sum(A a, A b) {
    return AddF::Apply(a, b);
  }
  const bool channels_first_;
};

// Half the sum of squares.
template <typename T>
Status L2LossKernel(KernelContext& ctx) {
  using A = Compute<T>;
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
  const T* x = in.data<T>().data();
  constexpr int64_t kPiece = 1 << 14;
  const int64_t pieces = (in.num_elements() + kPiece - 1) / kPiece;
  std::vector<A> sums(pieces, A(0));
  Parallel(ctx, pieces, 0.3 * kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      A lanes[16] = {};
      const int64_t stop = std::min(in.num_elements(), (p + 1) * kPiece);
      int64_t i = p * kPiece;
      for (; i + 16 <= stop; i += 16) {
        for (int l = 0; l < 16; ++l) lanes[l] += static_cast<A>(x[i + l]) * static_cast<A>(x[i + l]);
      }
      for (; i < stop; ++i) lanes[0] += static_cast<A>(x[i]) * static_cast<A>(x[i]);
      for (A lane : lanes) sums[p] += lane;
    }
  });
  A total = 0;
  for (A s : sums) total += s;
  out->mutable_data<T>()[0] = static_cast<T>(total / A(2));
  return OkStatus();
}

// Whether the target's prediction is among the k largest of its row; targets out of range and rows that are not finite
// are not.
template <typename L>
Status InTopKKernel(KernelContext& ctx) {
  const Tensor& predictions = ctx.input(0);
  const Tensor& targets = ctx.input(1);
  if (predictions.shape().rank() != 2) {
    return InvalidArgument("predictions must be a matrix, got shape ", predictions.shape());
  }
  if (targets.shape().rank() != 1) return InvalidArgument("targets must be a vector, got shape ", targets.shape());
  if (predictions.shape().dim(0) != targets.shape().dim(0)) {
    return InvalidArgument("predictions ", predictions.shape(), " and targets ", targets.shape(),
                           " must have the same number of rows");
  }
  int64_t k;
  if (ctx.num_inputs() == 2) {  // InTopK; InTopKV2 takes a tensor
    k = ctx.node().attr<int64_t>("k");
  } else if (ctx.input(2).num_elements() == 1) {
    k = ctx.input(2).data<L>()[0];
  } else {
    return InvalidArgument("k must be a scalar, got shape ", ctx.input(2).shape());
  }
  const int64_t rows = predictions.shape().dim(0), classes = predictions.shape().dim(1);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows}));
  const float* x = predictions.data<float>().data();
  const L* target = targets.data<L>().data();
  bool* y = out->mutable_data<bool>().data();
  Parallel(ctx, rows, 2.0 + classes, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* row = x + r * classes;
      bool finite = target[r] >= 0 && target[r] < classes && std::isfinite(row[target[r]]);
      int64_t larger = 0;
      for (int64_t j = 0; finite && j < classes; ++j) {
        if (!std::isfinite(row[j])) finite = false;
        if (row[j] > row[target[r]]) ++larger;
      }
      y[r] = finite && larger < k;
    }
  });
  return OkStatus();
}

template <typename... T>
void AddBias(KernelRegistry& r, Types<T...>) {
  (r.Add<BiasAddKernel<T>>("BiasAdd", {{"T", {DTypeOf<T>::value}}}), ...);
  (r.Add<BiasAddKernel<T>>("BiasAddV1", {{"T", {DTypeOf<T>::value}}}), ...);
  (r.Add<BiasAddGradKernel<T>>("BiasAddGrad", {{"T", {DTypeOf<T>::value}}}), ...);
}
template <typename... T>
void AddL2Loss(KernelRegistry& r, Types<T...>) {
  (r.Add("L2Loss", {{"T", {DTypeOf<T>::value}}}, L2LossKernel<T>), ...);
}

}  // namespace
}  // namespace cpu

void RegisterNnKernels(KernelRegistry& r) {
  using namespace cpu;  // NOLINT: the family's own
  AddBias(r, RealTypes{});
  AddL2Loss(r, FloatTypes{});
  r.Add("InTopK", {{"T", {kInt32}}}, InTopKKernel<int32_t>);
  r.Add("InTopK", {{"T", {kInt64}}}, InTopKKernel<int64_t>);
  r.Add("InTopKV2", {{"T", {kInt32}}}, InTopKKernel<int32_t>);
  r.Add("InTopKV2", {{"T", {kInt64}}}, InTopKKernel<int64_t>);
  RegisterActivationKernels(r);
  RegisterSoftmaxKernels(r);
}

}  // namespace tensorbraid
