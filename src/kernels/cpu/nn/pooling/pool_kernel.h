// What the kernels of pooling ops share: a base class that reads attributes and checks shapes, and the kernels that
// differ only in the number of axes.
#ifndef TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_KERNEL_H_
#define TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_KERNEL_H_

#include <limits>
#include <optional>

#include "core/text/strings.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "kernels/cpu/nn/pooling/pool_loops.h"
#include "ops/nn/pool_window.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The cost of a kernel that reads each element once for each window that covers it.
Cost PoolCost(const CostContext& c);

inline constexpr DTypeSet kPoolTypes = {kFloat32, kFloat64, kFloat16, kBfloat16, kInt8,   kInt16,
                                        kInt32,   kInt64,   kUint8,   kUint16,   kUint32, kUint64};

// Base of the pooling kernels. Attributes are read once; an error in them is reported when the node runs.
class PoolKernel : public Kernel {
 public:
  PoolKernel(const KernelConstruction& c, int spatial) : attrs_(ReadPoolAttrs(c.node(), spatial)) {}

 protected:
  struct Placed {
    PoolWindows windows;
    PoolView view;
  };

  // Returns the windows on an input of this shape. If the op takes ksize and strides as inputs, `sizes` is the number
  // of the input ksize, which strides follow.
  StatusOr<Placed> Place(KernelContext& ctx, const Shape& input, bool pools_channels = false, int sizes = -1) const {
    TF_RETURN_IF_ERROR(attrs_.status());
    PoolAttrs attrs = *attrs_;
    attrs.pools_channels = pools_channels;
    if (sizes >= 0) TF_RETURN_IF_ERROR(SetPoolSizes(ctx.input(sizes), ctx.input(sizes + 1), &attrs));
    TF_ASSIGN_OR_RETURN(PoolWindows windows, PlacePool(attrs, input));
    const int64_t outputs = windows.output.num_elements();
    if (outputs < 0) return InvalidArgument("the output ", windows.output, " is too large");
    if (input.num_elements() == 0) {
      if (outputs > 0) return InvalidArgument("the input ", input, " is empty, so windows would be over padding alone");
      return Placed{std::move(windows),
                    PoolView{.images = 0, .channels = 0, .axes = {}}};  // products of its sizes might overflow
    }
    const PoolView view = ViewOf(attrs, windows);
    if (view.input_pixels() > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("an image has too many pixels: ", input);
    }
    return Placed{std::move(windows), view};
  }

  static Status CheckShape(const char* what, const Tensor& t, const Shape& wanted) {
    if (t.shape() == wanted) return OkStatus();
    return InvalidArgument(what, " must have shape ", wanted, ", got ", t.shape());
  }

 private:
  const StatusOr<PoolAttrs> attrs_;
};

// The shape of the input of an average, which the gradient op gets as the vector `t`. Returns InvalidArgument unless
// this is a vector of `rank` sizes.
inline StatusOr<Shape> OriginalShape(const Tensor& t, int rank) {
  if (t.shape() != Shape({rank})) {
    return InvalidArgument("the shape of the original input must be a vector of ", rank, " sizes, got shape ",
                           t.shape());
  }
  Shape shape;
  for (const int32_t size : t.data<int32_t>()) {
    if (size < 0) return InvalidArgument("the shape of the original input must not be negative, got ", t.ToString());
    shape.AddDim(size);
  }
  if (shape.num_elements() < 0) return InvalidArgument("the original input ", shape, " has too many elements");
  return shape;
}

// The maximum over windows in kSpatial axes. Only windows of images may have the size and strides as inputs 1 and 2
// (MaxPoolV2) and may cover channels. As in TensorFlow, the result of a window with only NaNs is the lowest finite
// number for images and minus infinity for volumes.
template <int kSpatial>
class MaxPoolKernel final : public PoolKernel {
 public:
  explicit MaxPoolKernel(const KernelConstruction& c) : PoolKernel(c, kSpatial) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed,
                        Place(ctx, x.shape(), /*pools_channels=*/kSpatial == 2, ctx.num_inputs() == 3 ? 1 : -1));
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, x));
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, placed.windows.output));
    return ForWideType(x.dtype(), [&]<typename A>() {
      using Limits = std::numeric_limits<A>;
      const A lowest = kSpatial == 2 || !Limits::has_infinity ? Limits::lowest() : -Limits::infinity();
      MaxPool<A>(ctx, placed.view, wide.data<A>().data(), lowest, y.data<A>());
      y.Finish();
      return OkStatus();
    });
  }
};

// The gradient of MaxPoolGrad for dy: computes ddy from x, y and ddx. Inputs 3 and 4 of MaxPoolGradGradV2 are ksize and
// strides.
template <int kSpatial>
class MaxPoolGradGradKernel final : public PoolKernel {
 public:
  explicit MaxPoolGradGradKernel(const KernelConstruction& c) : PoolKernel(c, kSpatial) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed,
                        Place(ctx, x.shape(), /*pools_channels=*/false, ctx.num_inputs() == 5 ? 3 : -1));
    TF_RETURN_IF_ERROR(CheckShape("the original output", ctx.input(1), placed.windows.output));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", ctx.input(2), x.shape()));
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, x));
    TF_ASSIGN_OR_RETURN(const Tensor wide_y, Widen(ctx, ctx.input(1)));
    TF_ASSIGN_OR_RETURN(const Tensor wide_ddx, WidenSummands(ctx, ctx.input(2)));
    WideOutput ddy;
    TF_RETURN_IF_ERROR(ddy.Allocate(ctx, 0, placed.windows.output));
    return ForWideType(x.dtype(), [&]<typename A>() {
      MaxPoolGradGrad<A>(ctx, placed.view, wide_x.data<A>().data(), wide_y.data<A>().data(), wide_ddx.data<A>().data(),
                         ddy.data<A>());
      ddy.FinishSums();
      return OkStatus();
    });
  }
};

// The mean over windows in kSpatial axes.
template <int kSpatial>
class AvgPoolKernel final : public PoolKernel {
 public:
  explicit AvgPoolKernel(const KernelConstruction& c) : PoolKernel(c, kSpatial) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, x.shape()));
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, x));
    WideOutput y;
    TF_RETURN_IF_ERROR(y.Allocate(ctx, 0, placed.windows.output));
    if (x.dtype() == kFloat64) {
      AvgPool(ctx, placed.view, wide.data<double>().data(), y.data<double>());
    } else {
      AvgPool(ctx, placed.view, wide.data<float>().data(), y.data<float>());
    }
    y.Finish();
    return OkStatus();
  }
};

// Computes dx from the shape of x and dy.
template <int kSpatial>
class AvgPoolGradKernel final : public PoolKernel {
 public:
  explicit AvgPoolGradKernel(const KernelConstruction& c) : PoolKernel(c, kSpatial) {}

  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const Shape shape, OriginalShape(ctx.input(0), kSpatial + 2));
    const Tensor& dy = ctx.input(1);
    if (dy.shape().rank() == shape.rank() && dy.shape().dim(0) > shape.dim(0) && dy.num_elements() > 0) {
      const int64_t outputs = shape.num_elements(), images = dy.shape().dim(0);
      return InvalidArgument("Output only has ", outputs, " elements but computation requested would use element with ",
                             "index=", outputs == 0 ? 0 : outputs / shape.dim(0) * (images - 1), ": the gradient ",
                             dy.shape(), " has more images than the original input ", shape);
    }
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, shape));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", dy, placed.windows.output));
    TF_ASSIGN_OR_RETURN(const Tensor wide, Widen(ctx, dy));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, shape));
    if (dy.dtype() == kFloat64) {
      AvgPoolGrad(ctx, placed.view, wide.data<double>().data(), dx.data<double>());
    } else {
      AvgPoolGrad(ctx, placed.view, wide.data<float>().data(), dx.data<float>());
    }
    dx.Finish();
    return OkStatus();
  }
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_KERNEL_H_
