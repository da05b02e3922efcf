// Memory that a kernel uses while it runs.
#ifndef TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_SCRATCH_H_
#define TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_SCRATCH_H_

#include <algorithm>
#include <cstddef>

#include "core/memory/allocator.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::cpu {

// Returns memory from the allocator of tensors, which counts the memory and keeps it for reuse. ResourceExhausted if
// there is not enough. Thread-safe.
inline StatusOr<RefPtr<Buffer>> ScratchOf(size_t bytes) {
  RefPtr<Buffer> buffer = AllocateBuffer(std::max<size_t>(bytes, 1));
  if (!buffer) return ResourceExhausted("out of memory allocating ", bytes, " bytes of scratch space");
  return buffer;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_CONVOLUTION_SCRATCH_H_
