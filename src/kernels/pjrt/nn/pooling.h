// Maximum and mean over windows, and their gradients, of images and volumes.
#ifndef TENSORBRAID_KERNELS_PJRT_NN_POOLING_H_
#define TENSORBRAID_KERNELS_PJRT_NN_POOLING_H_

#include "kernels/pjrt/expression.h"
#include "ops/nn/pool_window.h"

namespace tensorbraid::pjrt {

// Emitters for windows in `spatial` axes. A V2 op of images has its sizes and strides as inputs.
Status EmitMaxPool(EmitContext& ctx, int spatial);
Status EmitAvgPool(EmitContext& ctx, int spatial);
Status EmitAvgPoolGrad(EmitContext& ctx, int spatial);
// Of images: the first of several equal elements of a window gets the gradient. Also the emitter of _MaxPoolReluGrad.
Status EmitMaxPoolGrad(EmitContext& ctx);
// Of volumes: each of several equal elements gets the gradient.
Status EmitMaxPool3DGrad(EmitContext& ctx);
// The gradients of these two. As with images, the first one of equal elements counts.
Status EmitMaxPoolGradGrad(EmitContext& ctx, int spatial);

// Windows on a tensor.
struct PlacedPool {
  PoolAttrs attrs;
  PoolWindows windows;
};
// Windows of the size `ksize` that tile images. InvalidArgument if PlacePool refuses them.
StatusOr<PlacedPool> PlaceTiles(const Shape& images, const std::vector<int64_t>& ksize);
// The maximum of each window of images, and its gradient, as by the emitters above.
Expr MaxOfImage(const Expr& x, const PlacedPool& pool);
Expr GradientOfMax(const Expr& x, const Expr& dy, const PlacedPool& pool);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_NN_POOLING_H_
