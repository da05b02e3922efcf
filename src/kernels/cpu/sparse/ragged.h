// Row splits of ragged tensors.
#ifndef TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_
#define TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_

#include "kernels/cpu/elements.h"

namespace tensorbraid::cpu {

// Reads the row splits of one level from a vector. Returns InvalidArgument unless they begin with 0, never decrease and
// end with `count`, the number of elements (-1: any number).
StatusOr<IntVector> SplitsOf(const Tensor& t, int64_t count);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SPARSE_RAGGED_H_
