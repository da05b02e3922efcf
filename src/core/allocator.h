// Host memory for tensors: 64-byte aligned, freed blocks kept for the next step.
#ifndef TENSORBRAID_CORE_ALLOCATOR_H_
#define TENSORBRAID_CORE_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

#include "tensorbraid/buffer.h"

namespace tensorbraid {

inline constexpr size_t kTensorAlignment = 64;

struct AllocatorStats {
  int64_t bytes_in_use = 0;
  int64_t bytes_cached = 0;
};

// A buffer of at least `size` bytes, uninitialised; null when the system has no more memory, or the limit is reached.
// Freed blocks are kept by size class (at most 12.5 % apart) and handed out again, so that a training step touches no
// fresh pages once it has run before. What is kept is bounded by four times the largest block so far and an eighth of
// the limit (256 MiB are always allowed), and is let go when the limit would be passed with it. Thread-safe.
RefPtr<Buffer> AllocateBuffer(size_t size);

AllocatorStats GetAllocatorStats();

// How many bytes may be in use: a graph that asks for more gets an error, where the system would kill the process. What
// the machine, or the control group of this process, has unless told otherwise. Thread-safe.
void SetAllocatorLimit(int64_t bytes);

// For buffers that are not made of plain bytes and get their memory elsewhere: it counts as in use. False, and nothing
// is counted, beyond the limit. Thread-safe.
bool CountMemory(int64_t bytes);
void UncountMemory(int64_t bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_ALLOCATOR_H_
