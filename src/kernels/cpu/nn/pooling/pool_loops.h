// The loops of the pooling kernels, over windows in up to three axes. Each is compiled for those of float, double and
// int64_t that its kernels need. Each splits its work over the threads of the pool; the results do not depend on how it
// is split.
#ifndef TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_LOOPS_H_
#define TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_LOOPS_H_

#include <array>

#include "ops/nn/pool_window.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The form in which the loops see a tensor: [images, depth, height, width, channels]. Windows cover the three axes in
// the middle. A tensor with channels first has an image for each channel, and one channel.
struct PoolView {
  int64_t images = 1;
  int64_t channels = 1;
  std::array<WindowAxis, 3> axes;  // depth, height, width

  int64_t input_pixels() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t output_pixels() const { return axes[0].output * axes[1].output * axes[2].output; }
};
PoolView ViewOf(const PoolAttrs& attrs, const PoolWindows& windows);

// Sets y to the maximum of each window and `lowest`, which is thus the result of a window that has only NaNs.
template <typename A>
void MaxPool(KernelContext& ctx, const PoolView& p, const A* x, A lowest, A* y);
// Sets y to the mean of the elements of each window that are inside of the input.
template <typename A>
void AvgPool(KernelContext& ctx, const PoolView& p, const A* x, A* y);
// Sets dx to the gradient of AvgPool's input, given the gradient dy of its result.
template <typename A>
void AvgPoolGrad(KernelContext& ctx, const PoolView& p, const A* dy, A* dx);

// Sets y to the first of the largest elements of each window, and `at` to the number of its pixel within the image. The
// first element of the window counts as the largest until a greater one is found, even if it is NaN.
template <typename A>
void ArgMaxPool(KernelContext& ctx, const PoolView& p, const A* x, A* y, int64_t* at);
// Sets dx to 0, and then adds dy at the element that ArgMaxPool finds in each window.
template <typename A>
void MaxPoolGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx);
// The same for x = Relu(z): dx is then the gradient for z, so it is 0 where x is not positive.
template <typename A>
void MaxPoolReluGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* dy, A* dx);
// Sets dx to 0, and then adds dy at each element of the window that is equal to y.
template <typename A>
void MaxPoolGradToEqual(KernelContext& ctx, const PoolView& p, const A* x, const A* y, const A* dy, A* dx);
// Sets ddy, for each window, to ddx at the first element that is equal to y, or to 0 if there is none.
template <typename A>
void MaxPoolGradGrad(KernelContext& ctx, const PoolView& p, const A* x, const A* y, const A* ddx, A* ddy);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_POOLING_POOL_LOOPS_H_
