#include "pjrt/device_buffer.h"

#include <utility>

#include "core/memory/allocator.h"
#include "core/text/strings.h"

namespace tensorbraid::pjrt {
namespace {

// No pointer of a process has this bit set. The other bits tell the buffers apart.
void* TagOf(const DeviceBuffer* buffer) {
  const auto address = reinterpret_cast<uintptr_t>(buffer);
  return reinterpret_cast<void*>((address & ~uintptr_t{kTensorAlignment - 1}) | uintptr_t{1} << 62);
}

}  // namespace

DeviceBuffer::DeviceBuffer(size_t size, const Allocator* allocator, std::shared_ptr<MemoryCount> count)
    : Buffer(TagOf(this), size, {.allocator = allocator, .space = MemorySpace::kDevice}), count_(std::move(count)) {
  count_->Add(static_cast<int64_t>(size));
}

DeviceBuffer::~DeviceBuffer() { count_->Add(-static_cast<int64_t>(size())); }

StatusOr<DeviceBuffer*> DeviceBuffer::Of(const Tensor& tensor) {
  auto* const buffer = dynamic_cast<DeviceBuffer*>(tensor.buffer().get());
  if (buffer == nullptr) {
    return Internal("a tensor ", tensor.dtype(), tensor.shape(), " is not in the memory of an accelerator");
  }
  return buffer;
}

StatusOr<Array*> ArrayOf(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(const DeviceBuffer* buffer, DeviceBuffer::Of(tensor));
  if (buffer->loss() != nullptr) TF_RETURN_IF_ERROR(buffer->loss()->status());
  if (!buffer->array()) {
    return FailedPrecondition("a tensor ", tensor.dtype(), tensor.shape(),
                              " in the memory of an accelerator has no value: it has been given to a program, or the "
                              "work that should have made it has failed");
  }
  return buffer->array().get();
}

Status WhyLost(const Tensor& tensor) {
  const auto* const buffer = dynamic_cast<const DeviceBuffer*>(tensor.buffer().get());
  return buffer == nullptr || buffer->loss() == nullptr ? OkStatus() : buffer->loss()->status();
}

}  // namespace tensorbraid::pjrt
