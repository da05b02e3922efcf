// The lists and optionals of variant tensors, as kernels see them.
#ifndef TENSORBRAID_KERNELS_CPU_TENSOR_LIST_H_
#define TENSORBRAID_KERNELS_CPU_TENSOR_LIST_H_

#include "runtime/kernel.h"
#include "runtime/variant_values.h"

namespace tensorbraid {

// The shape that an input `element_shape` describes: a vector of sizes with -1 for unknown ones, or a scalar -1.
StatusOr<Shape> ElementShapeFrom(const Tensor& t);
// What both shapes say. InvalidArgument when they do not agree.
StatusOr<Shape> Merged(const Shape& a, const Shape& b);
Status Incompatible(const Shape& a, const Shape& b);
// The list of input i, to be changed: the input's own when nobody else holds it, else a copy. The input is gone.
StatusOr<RefPtr<TensorListValue>> TakeList(KernelContext& ctx, int i, DType dtype);
// The list of input i. InvalidArgument when it holds another dtype (`dtype` kInvalid: any will do).
StatusOr<TensorListValue*> ListOf(KernelContext& ctx, int i, DType dtype);
// A tensor of zeros (false, "").
StatusOr<Tensor> Zeros(DType dtype, const Shape& shape);

// Row i of a tensor in a buffer of its own. REQUIRES: the tensor has it.
StatusOr<Tensor> ListRow(const Tensor& t, int64_t i);

// The kernel of ZerosLike for variants.
Status VariantZerosLike(KernelContext& ctx);

void RegisterTensorListKernels(KernelRegistry& r);
// Stack, concatenate, gather, split, scatter.
void RegisterTensorListBulkKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_TENSOR_LIST_H_
