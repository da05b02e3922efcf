// Converts images of any of kPixelTypes to float32, in which the kernels of this folder compute, and results back.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_FLOATS_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_FLOATS_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The dtypes that WidenToFloat converts.
inline constexpr DTypeSet kPixelTypes = {kInt8,  kUint8,    kInt16,   kUint16,  kInt32,
                                         kInt64, kBfloat16, kFloat16, kFloat32, kFloat64};

// `t` itself if it is float32, else a converted copy.
StatusOr<Tensor> WidenToFloat(KernelContext& ctx, const Tensor& t);

// Stores n float32 numbers in the elements from `begin` on of `out`, a tensor of a floating dtype.
void NarrowFromFloat(const float* in, int64_t n, Tensor* out, int64_t begin = 0);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_FLOATS_H_
