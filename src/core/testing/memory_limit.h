// Limits the memory of tensors, for tests.
#ifndef TENSORBRAID_CORE_TESTING_MEMORY_LIMIT_H_
#define TENSORBRAID_CORE_TESTING_MEMORY_LIMIT_H_

#include <cstdint>
#include <limits>

#include "core/memory/allocator.h"

namespace tensorbraid {

// While an object of this class exists, tensors can use `bytes` more than when it was created. Afterwards there is no
// limit.
class MemoryLimit {
 public:
  explicit MemoryLimit(int64_t bytes) { SetAllocatorLimit(GetAllocatorStats().bytes_in_use + bytes); }
  ~MemoryLimit() { SetAllocatorLimit(std::numeric_limits<int64_t>::max()); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TESTING_MEMORY_LIMIT_H_
