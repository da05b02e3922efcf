// Makes memory that several processes of one machine can map.
#ifndef TENSORBRAID_CORE_MEMORY_SHARED_MEMORY_H_
#define TENSORBRAID_CORE_MEMORY_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/memory/allocator.h"
#include "core/system/fd.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A file in memory (memfd), mapped by this process. Its size is sealed, so no process can shrink it and make another
// process fault. It has no name in the file system and disappears with its last mapping and descriptor. Its pages take
// memory only once they have been touched. Thread-safe.
class SharedSegment {
 public:
  enum class Others { kMayRead, kMayWrite };  // what other processes may do with the bytes

  // Creates a segment that this process may write. Unavailable if the system does not offer such memory (old kernels,
  // seccomp), ResourceExhausted if there is not enough memory.
  static StatusOr<std::shared_ptr<SharedSegment>> Create(size_t size, Others others);
  // Maps a segment that another process has created. InvalidArgument unless its size is sealed and is `size`.
  static StatusOr<std::shared_ptr<SharedSegment>> Map(Fd fd, size_t size, Others others);

  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  // The mapped bytes, never null. A segment that another process has created may be written only if it was mapped with
  // kMayWrite.
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  // The descriptor of the segment, which can be passed to another process; -1 for a segment that another process has
  // created.
  int fd() const { return fd_.get(); }
  // Identifies a segment among those that this process has created; 0 for one that another process has created.
  uint64_t id() const { return id_; }

  // Calls `end` when the segment ends, before it is unmapped. `end` must return soon. Thread-safe.
  void AtEnd(std::function<void()> end);

 private:
  SharedSegment(std::byte* data, size_t size, Fd fd, uint64_t id);

  std::byte* const data_;
  const size_t size_;
  const Fd fd_;
  const uint64_t id_;
  Mutex mu_;
  std::vector<std::function<void()>> ends_ TB_GUARDED_BY(mu_);
};

// The place of a buffer's bytes in a segment that other processes may map.
struct SharedPlace {
  std::shared_ptr<SharedSegment> segment;  // null if the buffer is not in shared memory of this process
  size_t offset = 0;
};
// Returns the place of `data`, which must point into `buffer`, or into a member of a BufferGroup.
SharedPlace SharedPlaceOf(const Buffer& buffer, const void* data);

// Host memory that neighbours (other processes of this machine) may map for reading. Blocks are cached by size class
// and used again, because the first touch of shared memory is slow: 1 ms for a megabyte. Blocks count towards the limit
// of HostAllocator() while they are in use and while they are cached. A freed block of more than 1 MiB is given back to
// the system instead of being cached if the memory in use and the cached memory would together exceed twice the largest
// amount in use so far. If the system has no shared memory or no descriptors left, buffers come from HostAllocator().
Allocator& SharedAllocator();

// Whether this process has neighbours that map its memory. Then tensors that are sent to other tasks should be
// allocated in shared memory. False until SetHasNeighbours is called.
bool HasNeighbours();
void SetHasNeighbours();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_SHARED_MEMORY_H_
