// Moving elements between parts of one tensor.
#ifndef TENSORBRAID_CHECKPOINT_COPY_SLICE_H_
#define TENSORBRAID_CHECKPOINT_COPY_SLICE_H_

#include "checkpoint/tensor_slice.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Copies box `what` of a tensor from `from`, which holds box `from_slice` of it, to `*to`, which holds `to_slice`.
// REQUIRES: all three are resolved and of one rank, `what` is not empty and lies within both, shapes and dtypes fit.
void CopySlice(const Tensor& from, const TensorSlice& from_slice, const TensorSlice& what, const TensorSlice& to_slice,
               Tensor* to);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_COPY_SLICE_H_
