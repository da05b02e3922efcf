// Copying elements between slices of one tensor.
#ifndef TENSORBRAID_CHECKPOINT_COPY_SLICE_H_
#define TENSORBRAID_CHECKPOINT_COPY_SLICE_H_

#include "checkpoint/tensor_slice.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Copies the slice `what` of a tensor T from `from`, which holds the slice `from_slice` of T, to `*to`, which holds the
// slice `to_slice` of T.
// REQUIRES: all three slices are resolved and have the same rank, `what` is not empty and lies within both others, and
// the shapes and dtypes match.
void CopySlice(const Tensor& from, const TensorSlice& from_slice, const TensorSlice& what, const TensorSlice& to_slice,
               Tensor* to);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_COPY_SLICE_H_
