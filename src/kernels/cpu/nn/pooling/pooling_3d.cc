// Maximum and mean over windows of volumes, and their gradients. As in TensorFlow, and unlike images, each of several
// equal maxima gets the gradient.
#include "kernels/cpu/costs.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "kernels/cpu/nn/pooling/pool_kernel.h"
#include "kernels/cpu/nn/pooling/pool_loops.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Computes dx from x, y and dy.
class MaxPool3DGradKernel final : public PoolKernel {
 public:
  explicit MaxPool3DGradKernel(const KernelConstruction& c) : PoolKernel(c, /*spatial=*/3) {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(ctx, x.shape()));
    TF_RETURN_IF_ERROR(CheckShape("the original output", ctx.input(1), placed.windows.output));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", ctx.input(2), placed.windows.output));
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, x));
    TF_ASSIGN_OR_RETURN(const Tensor wide_y, Widen(ctx, ctx.input(1)));
    TF_ASSIGN_OR_RETURN(const Tensor wide_dy, Widen(ctx, ctx.input(2)));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, x.shape()));
    MaxPoolGradToEqual(ctx, placed.view, wide_x.data<float>().data(), wide_y.data<float>().data(),
                       wide_dy.data<float>().data(), dx.data<float>());
    dx.Finish();
    return OkStatus();
  }
};

}  // namespace

void RegisterNnPooling3DKernels(KernelRegistry& r) {
  constexpr DTypeSet kFloats = {kFloat32, kFloat16, kBfloat16};
  constexpr DTypeSet kAverageTypes = {kFloat32, kFloat64, kFloat16, kBfloat16};
  r.Add<MaxPoolKernel<3>>("MaxPool3D", {{"T", kFloats}}, PoolCost);
  r.Add<MaxPool3DGradKernel>("MaxPool3DGrad", {{"T", kFloats}, {"TInput", kFloats}}, PoolCost);
  r.Add<MaxPoolGradGradKernel<3>>("MaxPool3DGradGrad", {{"T", kFloats}}, PoolCost);
  r.Add<AvgPoolKernel<3>>("AvgPool3D", {{"T", kAverageTypes}}, PoolCost);
  r.Add<AvgPoolGradKernel<3>>("AvgPool3DGrad", {{"T", kAverageTypes}}, PoolCost);
}

}  // namespace tensorbraid::cpu
