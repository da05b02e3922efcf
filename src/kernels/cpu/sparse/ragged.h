// Row splits of ragged tensors.
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_

#include "kernels/cpu/elements.h"

namespace tensorbraid::cpu {

// The row splits of one level, which must end with `count` elements; if `count` is -1, any number of elements is valid.
// InvalidArgument, with the values that are wrong, for splits that do not begin with 0 or that decrease.
StatusOr<IntVector> SplitsOf(const Tensor& t, int64_t count);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_
