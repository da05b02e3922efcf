// Helpers for kernels that work on lists in variant tensors.
#ifndef TENSORBRAID_KERNELS_CPU_LIST_TENSOR_LIST_H_
#define TENSORBRAID_KERNELS_CPU_LIST_TENSOR_LIST_H_

#include <vector>

#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The most elements that a list may have. There is a limit because a graph can reserve elements that are not set, and
// these take memory, too.
inline constexpr int64_t kMaxListElements = 1 << 24;

// The shape in an `element_shape` input: a vector of sizes where -1 is an unknown size, or a scalar -1 for unknown
// rank.
StatusOr<Shape> ElementShapeFrom(const Tensor& t);
// The shape that combines the known sizes of `a` and `b`. Returns InvalidArgument if they are incompatible.
StatusOr<Shape> Merged(const Shape& a, const Shape& b);
// The InvalidArgument error about shapes that are incompatible.
Status Incompatible(const Shape& a, const Shape& b);
// Takes the list of input i to modify it: the list itself if the input holds the only reference, otherwise a copy. The
// input must not be used afterwards.
StatusOr<RefPtr<TensorListValue>> TakeList(KernelContext& ctx, int i, DType dtype);
// The list of input i. Returns InvalidArgument if its dtype is not `dtype`; kInvalid accepts any dtype.
StatusOr<TensorListValue*> ListOf(KernelContext& ctx, int i, DType dtype);
// A tensor of zeros (for bools, false; for strings, "").
StatusOr<Tensor> Zeros(DType dtype, const Shape& shape);

// The same in the memory of the node's device.
StatusOr<Tensor> Zeros(KernelContext& ctx, DType dtype, const Shape& shape);

// Divides the elements of a tensor, in their order, into tensors of these shapes, each with a buffer of its own, so
// that a list does not keep the whole tensor alive. REQUIRES: the shapes have as many elements as `t`.
StatusOr<std::vector<Tensor>> Divided(KernelContext& ctx, const Tensor& t, const std::vector<Shape>& shapes);
// The rows of a tensor, which has rank 1 at least.
StatusOr<std::vector<Tensor>> ListRows(KernelContext& ctx, const Tensor& t);

// The kernels of ZerosLike and AddN for variants (variant.cc).
Status VariantZerosLike(KernelContext& ctx);
Status VariantAddN(KernelContext& ctx);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_LIST_TENSOR_LIST_H_
