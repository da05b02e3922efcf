// Allocates the memory of tensors.
#ifndef TENSORBRAID_CORE_MEMORY_ALLOCATOR_H_
#define TENSORBRAID_CORE_MEMORY_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensorbraid/core/buffer.h"

namespace tensorbraid {

inline constexpr size_t kTensorAlignment = 64;

struct AllocatorStats {
  int64_t bytes_in_use = 0;
  int64_t bytes_cached = 0;
};

// A source of buffers in one memory space. A device owns its allocators (runtime/kernel/device.h). Tensors may outlive
// the device and its allocators, so a buffer must not use its allocator once the device is destroyed. Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  virtual std::string_view name() const = 0;  // for example "host"
  virtual MemorySpace space() const = 0;
  // Returns an uninitialised, 64-byte-aligned buffer of at least `size` bytes whose allocator() is this one, or null
  // when there is not enough memory. A block is used again only after the device has finished all work on it.
  virtual RefPtr<Buffer> Allocate(size_t size) = 0;
  virtual AllocatorStats stats() const = 0;
};

// The allocator of this process's memory. It exists until the program's end. Freed blocks are cached by size class (at
// most 12.5 % apart) and reused, so that a repeated training step touches no fresh pages. The cache holds at most four
// times the largest block so far and at most an eighth of the limit, but 256 MiB are always allowed. It is emptied when
// an allocation would otherwise pass the limit. Besides, each thread keeps up to 512 KiB of small blocks, so that
// threads that run many small ops do not wait for each other.
Allocator& HostAllocator();

// HostAllocator().Allocate(size).
RefPtr<Buffer> AllocateBuffer(size_t size);

AllocatorStats GetAllocatorStats();

// Sets how many bytes may be in use. A graph that needs more gets an error; without the limit, the system would kill
// the process. The default is the memory of the machine, or of this process's control group if that has less.
// Thread-safe.
void SetAllocatorLimit(int64_t bytes);

// Counts `bytes` as in use. For memory that HostAllocator() does not provide, such as the elements of string tensors
// and shared memory. Returns false and counts nothing if the limit would be exceeded. Thread-safe.
bool CountMemory(int64_t bytes);
// Undoes CountMemory(bytes), which returned true. Thread-safe.
void UncountMemory(int64_t bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_ALLOCATOR_H_
