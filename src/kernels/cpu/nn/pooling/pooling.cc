// Maximum and mean over windows of images, and their gradients.
#include "kernels/cpu/costs.h"
#include "kernels/cpu/nn/convolution/wide_tensor.h"
#include "kernels/cpu/nn/pooling/pool_kernel.h"
#include "kernels/cpu/nn/pooling/pool_loops.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Computes dx from x, y and dy. In V2, inputs 3 and 4 are ksize and strides. The values of y are not used: the maxima
// are found in x again, because only the first of several equal elements gets the gradient. The class is also the
// kernel of _MaxPoolReluGrad for float32.
class MaxPoolGradKernel final : public PoolKernel {
 public:
  explicit MaxPoolGradKernel(const KernelConstruction& c)
      : PoolKernel(c, /*spatial=*/2), of_relu_(c.node().type() == "_MaxPoolReluGrad") {}

  Status Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const Placed placed,
                        Place(ctx, x.shape(), /*pools_channels=*/false, ctx.num_inputs() == 5 ? 3 : -1));
    TF_RETURN_IF_ERROR(CheckShape("the original output", ctx.input(1), placed.windows.output));
    TF_RETURN_IF_ERROR(CheckShape("the gradient", ctx.input(2), placed.windows.output));
    TF_ASSIGN_OR_RETURN(const Tensor wide_x, Widen(ctx, x));
    TF_ASSIGN_OR_RETURN(const Tensor wide_dy, WidenSummands(ctx, ctx.input(2)));
    WideOutput dx;
    TF_RETURN_IF_ERROR(dx.Allocate(ctx, 0, x.shape()));
    if (of_relu_) {
      MaxPoolReluGrad(ctx, placed.view, x.data<float>().data(), ctx.input(2).data<float>().data(), dx.data<float>());
      return OkStatus();
    }
    return ForWideType(x.dtype(), [&]<typename A>() {
      MaxPoolGrad<A>(ctx, placed.view, wide_x.data<A>().data(), wide_dy.data<A>().data(), dx.data<A>());
      dx.FinishSums();
      return OkStatus();
    });
  }

 private:
  const bool of_relu_;
};

}  // namespace

void RegisterNnPoolingKernels(KernelRegistry& r) {
  constexpr DTypeSet kFloats = {kFloat32, kFloat64, kFloat16, kBfloat16};
  constexpr DTypeSet kMaxTypes = {kFloat32, kFloat64, kFloat16, kBfloat16, kInt8,
                                  kInt16,   kInt32,   kInt64,   kUint8,    kUint16};
  for (const char* op : {"MaxPool", "MaxPoolV2"}) r.Add<MaxPoolKernel<2>>(op, {{"T", kMaxTypes}}, PoolCost);
  for (const char* op : {"MaxPoolGrad", "MaxPoolGradV2"}) r.Add<MaxPoolGradKernel>(op, {{"T", kPoolTypes}}, PoolCost);
  r.Add<MaxPoolGradKernel>("_MaxPoolReluGrad", {{"T", {kFloat32}}}, PoolCost);
  for (const char* op : {"MaxPoolGradGrad", "MaxPoolGradGradV2"}) {
    r.Add<MaxPoolGradGradKernel<2>>(op, {{"T", kPoolTypes}}, PoolCost);
  }
  r.Add<AvgPoolKernel<2>>("AvgPool", {{"T", kFloats}}, PoolCost);
  r.Add<AvgPoolGradKernel<2>>("AvgPoolGrad", {{"T", kFloats}}, PoolCost);
}

}  // namespace tensorbraid::cpu
