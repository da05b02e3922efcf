// One owner of bytes in several buffers.
#ifndef TENSORBRAID_CORE_MEMORY_BUFFER_GROUP_H_
#define TENSORBRAID_CORE_MEMORY_BUFFER_GROUP_H_

#include <vector>

#include "tensorbraid/core/buffer.h"

namespace tensorbraid {

// Keeps buffers alive. Has no bytes of its own: data() is null. Thread-safe.
class BufferGroup final : public Buffer {
 public:
  // Takes the members of another group instead of the group.
  explicit BufferGroup(std::vector<RefPtr<Buffer>> buffers);
  // The buffer that has the byte at `data`; null if none of them has it.
  const Buffer* Find(const void* data) const;

 private:
  std::vector<RefPtr<Buffer>> buffers_;  // sorted by address
};

// A part of the bytes of `owner`, which it keeps alive. It is not writable, so that parts may overlap.
class BufferPart final : public Buffer {
 public:
  BufferPart(RefPtr<Buffer> owner, void* data, size_t size)
      : Buffer(data, size, {.space = owner->space(), .writable = false, .borrowed = owner->borrowed()}),
        owner_(std::move(owner)) {}

 private:
  const RefPtr<Buffer> owner_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_MEMORY_BUFFER_GROUP_H_
