#include "core/memory/buffer_group.h"

#include <algorithm>
#include <functional>

namespace tensorbraid {

BufferGroup::BufferGroup(std::vector<RefPtr<Buffer>> buffers) : Buffer(nullptr, 0, {.writable = false}) {
  for (RefPtr<Buffer>& buffer : buffers) {
    if (const auto* group = dynamic_cast<const BufferGroup*>(buffer.get())) {
      buffers_.insert(buffers_.end(), group->buffers_.begin(), group->buffers_.end());
    } else {
      buffers_.push_back(std::move(buffer));
    }
  }
  std::ranges::sort(buffers_, std::less<>(), [](const RefPtr<Buffer>& buffer) { return buffer->data(); });
}

const Buffer* BufferGroup::Find(const void* data) const {
  const auto after = std::ranges::upper_bound(buffers_, data, std::less<const void*>(),
                                              [](const RefPtr<Buffer>& buffer) { return buffer->data(); });
  if (after == buffers_.begin()) return nullptr;
  const Buffer* const buffer = std::prev(after)->get();
  return static_cast<const char*>(data) < static_cast<const char*>(buffer->data()) + buffer->size() ? buffer : nullptr;
}

}  // namespace tensorbraid
