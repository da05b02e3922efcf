// MaxPoolWithArgmax and its gradients. An index in argmax is (height * image width + width) * channels + channel within
// its image; with include_batch_in_index, it is an index into the whole batch.
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "kernels/cpu/nn/pooling/pool_kernel.h"
#include "kernels/cpu/nn/pooling/pool_loops.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

class MaxPoolWithArgmaxKernel final : public PoolKernel {
 public:
  explicit MaxPoolWithArgmaxKernel(const KernelConstruction& c)
      : PoolKernel(c, /*spatial=*/2), with_batch_(c.attr<bool>("include_batch_in_index")) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    if (x.num_elements() == 0) return InvalidArgument("tensor_in must not be empty, got shape ", x.shape());
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, x.shape()));
    const Shape& shape = placed.windows.output;
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, x));
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, shape));
    TF_ASSIGN_OR_RETURN(Tensor * argmax, ctx.AllocateOutput(1, shape));
    TF_ASSIGN_OR_RETURN(Tensor pixels, ctx.AllocateTemp(kInt64, shape));
    const PoolView& view = placed.view;
    if (argmax->dtype() == kInt32 && x.num_elements() > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("indices into ", x.shape(), " do not fit int32; use int64 for argmax");
    }
    TF_RETURN_IF_ERROR(ForWideType(x.dtype(), [&]<typename A>() {
      ArgMaxPool<A>(ctx, view, wide.data<A>().data(), y.data<A>(), pixels.inplace_data<int64_t>().data());
      y.Finish();
      return OkStatus();
    }));
    const int64_t* pixel = pixels.data<int64_t>().data();
    const int64_t image_outputs = view.output_pixels() * view.channels;
    const int64_t image_size = with_batch_ ? view.input_pixels() * view.channels : 0;
    for (int64_t i = 0; i < pixels.num_elements(); ++i) {
      const int64_t index = i / image_outputs * image_size + pixel[i] * view.channels + i % view.channels;
      if (argmax->dtype() == kInt32) {
        argmax->inplace_data<int32_t>()[i] = static_cast<int32_t>(index);
      } else {
        argmax->inplace_data<int64_t>()[i] = index;
      }
    }
    return OkStatus();
  }

 private:
  const bool with_batch_;
};

// The gradient ops. Both take x, a gradient and argmax, and visit the elements of argmax.
class ArgmaxGradKernel : public PoolKernel {
 protected:
  explicit ArgmaxGradKernel(const KernelConstruction& c)
      : PoolKernel(c, /*spatial=*/2), with_batch_(c.attr<bool>("include_batch_in_index")) {}

  // Calls move(i, j) for each element i of argmax, where j is the element of x that it names. Returns InvalidArgument,
  // before the first call, if argmax does not have the shape of the pooled output, or if an index is outside of x (or,
  // without include_batch_in_index, outside of an image).
  template <typename Move>
  Status ForEachIndex(KernelContext& ctx, const PoolWindows& windows, const Move& move) const {
    const Tensor& argmax = ctx.input(2);
    TF_RETURN_IF_ERROR(CheckShape("argmax", argmax, windows.output));
    return argmax.dtype() == kInt32 ? ForEach<int32_t>(ctx.input(0), argmax, windows, move)
                                    : ForEach<int64_t>(ctx.input(0), argmax, windows, move);
  }

 private:
  template <typename I, typename Move>
  Status ForEach(const Tensor& x, const Tensor& argmax, const PoolWindows& windows, const Move& move) const {
    const int64_t n = argmax.num_elements();
    if (n == 0) return OkStatus();
    const I* index = argmax.data<I>().data();
    const int64_t image_outputs = n / windows.batch, image_size = x.num_elements() / windows.batch;
    const int64_t limit = with_batch_ ? x.num_elements() : image_size;
    for (int64_t i = 0; i < n; ++i) {
      if (index[i] < 0 || index[i] >= limit) {
        return InvalidArgument("argmax has index ", index[i], ", but there are ", limit, " elements ",
                               with_batch_ ? "in" : "in an image of", " input ", x.shape());
      }
    }
    for (int64_t i = 0; i < n; ++i) move(i, index[i] + (with_batch_ ? 0 : i / image_outputs * image_size));
    return OkStatus();
  }

  const bool with_batch_;
};

// Computes dx from x, dy and argmax.
class MaxPoolGradWithArgmaxKernel final : public ArgmaxGradKernel {
 public:
  explicit MaxPoolGradWithArgmaxKernel(const KernelConstruction& c) : ArgmaxGradKernel(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, x.shape()));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", ctx.input(1), placed.windows.output));
    TF_ASSIGN_OR_RETURN(const Tensor dy, WidenSummands(ctx, ctx.input(1)));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, x.shape()));
    return ForWideType(x.dtype(), [&]<typename A>() {
      const A* g = dy.data<A>().data();
      A* to = dx.data<A>();
      std::fill_n(to, x.num_elements(), A(0));
      TF_RETURN_IF_ERROR(ForEachIndex(ctx, placed.windows, [&](int64_t i, int64_t j) { to[j] = Plus(to[j], g[i]); }));
      dx.FinishSums();
      return OkStatus();
    });
  }
};

// Computes ddy from x, ddx and argmax.
class MaxPoolGradGradWithArgmaxKernel final : public ArgmaxGradKernel {
 public:
  explicit MaxPoolGradGradWithArgmaxKernel(const KernelConstruction& c) : ArgmaxGradKernel(c) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, x.shape()));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", ctx.input(1), x.shape()));
    TF_ASSIGN_OR_RETURN(const Tensor ddx, WidenSummands(ctx, ctx.input(1)));
    WideOutput ddy;
    TF_RETURN_IF_ERROR(ddy.Allocate(ctx, 0, placed.windows.output));
    return ForWideType(x.dtype(), [&]<typename A>() {
      const A* g = ddx.data<A>().data();
      A* to = ddy.data<A>();
      TF_RETURN_IF_ERROR(ForEachIndex(ctx, placed.windows, [&](int64_t i, int64_t j) { to[i] = g[j]; }));
      ddy.FinishSums();
      return OkStatus();
    });
  }
};

}  // namespace

void RegisterNnPoolingArgmaxKernels(KernelRegistry& r) {
  constexpr DTypeSet kIndices = {kInt32, kInt64};
  r.Add<MaxPoolWithArgmaxKernel>("MaxPoolWithArgmax", {{"T", kPoolTypes}, {"Targmax", kIndices}}, PoolCost);
  r.Add<MaxPoolGradWithArgmaxKernel>("MaxPoolGradWithArgmax", {{"T", kPoolTypes}, {"Targmax", kIndices}}, PoolCost);
  r.Add<MaxPoolGradGradWithArgmaxKernel>("MaxPoolGradGradWithArgmax", {{"T", kPoolTypes}, {"Targmax", kIndices}},
                                         PoolCost);
}

}  // namespace tensorbraid::cpu
