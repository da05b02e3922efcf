// Buffers of tensors that are in the memory of a device.
#ifndef TENSORBRAID_PJRT_DEVICE_BUFFER_H_
#define TENSORBRAID_PJRT_DEVICE_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "pjrt/array.h"
#include "pjrt/loss.h"
#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::pjrt {

// Counts the memory of one device that tensors hold. Shared by a device's allocator and its buffers.
class MemoryCount {
 public:
  void Add(int64_t bytes) { in_use_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> in_use_{0};
};

// The place of a device tensor's elements. A device's allocator makes it empty, since a plugin makes arrays only with
// their elements; Set then puts in the array that a copy or a program makes. Until then the tensor has no value, like
// any fresh tensor. data() is no address: an access to it faults. A device tensor has no offset within its buffer, and
// its shape may differ from the array's (Reshape), never its number of bytes.
//
// Set, Take and Lose are for the holder of the only reference, before other threads see the tensor or while the lock of
// its variable is held; the other functions are thread-safe beside each other.
class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(size_t size, const Allocator* allocator, std::shared_ptr<MemoryCount> count);

  // The buffer of a tensor. Internal error if the tensor is not in the memory of a device of a plugin.
  static StatusOr<DeviceBuffer*> Of(const Tensor& tensor);

  // Null while there is no value.
  const RefPtr<Array>& array() const { return array_; }
  // Replaces the value. `loss` tells whether it is lost, if the value is an output of a program that updates variables.
  void Set(RefPtr<Array> array, std::shared_ptr<const Loss> loss = nullptr) {
    array_ = std::move(array);
    loss_ = std::move(loss);
  }
  // Takes the value out: afterwards the tensor has none.
  RefPtr<Array> Take() { return std::move(array_); }
  // The value is lost.
  void Lose(std::shared_ptr<const Loss> loss) { Set(nullptr, std::move(loss)); }
  // Null if the value cannot be lost.
  const std::shared_ptr<const Loss>& loss() const { return loss_; }
  // Whether nothing else holds the elements, so that a program may consume them: neither another tensor nor another
  // buffer, which shares the array after a copy within the device.
  bool IsSole() const { return IsUnique() && array_ && array_->IsUnique(); }

 private:
  ~DeviceBuffer() override;
  RefPtr<Array> array_;
  std::shared_ptr<const Loss> loss_;
  const std::shared_ptr<MemoryCount> count_;
};

// The array of a tensor. FailedPrecondition if the tensor has no value (a program has consumed it, or the copy that
// should have made it has failed); Aborted if it is lost (Loss); Internal if the tensor is not in the memory of a
// device of a plugin.
StatusOr<Array*> ArrayOf(const Tensor& tensor);

// Aborted if the tensor is in the memory of a device of a plugin, and its value is lost (Loss).
Status WhyLost(const Tensor& tensor);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_DEVICE_BUFFER_H_
