#include "core/values/repeated_tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "core/memory/allocator.h"
#include "core/memory/shared_memory.h"
#include "core/values/tensor_bytes.h"
#include "core/values/tensor_limit.h"

namespace tensorbraid {
namespace {

constexpr size_t kSmallestMapped = size_t{1} << 20;
constexpr size_t kSmallestBlock = size_t{256} << 10;
constexpr size_t kMappingsPerTensor = 64;
// The kernel allows 65,530 mappings per process by default. Most of them are left to the rest of the process.
constexpr size_t kMaxMappings = 16 << 10;

std::atomic<size_t> all_mappings{0};

// Counts the mappings and bytes of one buffer against the limits of the process, until this object is destroyed.
class Share {
 public:
  // Returns null if the limits do not allow so many mappings or bytes.
  static std::unique_ptr<Share> Take(size_t mappings, size_t bytes) {
    if (!CountMemory(static_cast<int64_t>(bytes))) return nullptr;
    std::unique_ptr<Share> share(new Share(mappings, bytes));
    return (all_mappings += mappings) <= kMaxMappings ? std::move(share) : nullptr;
  }
  ~Share() {
    all_mappings -= mappings_;
    UncountMemory(static_cast<int64_t>(bytes_));
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  Share(size_t mappings, size_t bytes) : mappings_(mappings), bytes_(bytes) {}

  const size_t mappings_;
  const size_t bytes_;
};

// Fills the `size` bytes at `out` with copies of the element. REQUIRES: `size` is a multiple of `element_size`.
void FillWith(const void* element, size_t element_size, void* out, size_t size) {
  if (size == 0) return;
  auto* bytes = static_cast<std::byte*>(out);
  std::memcpy(bytes, element, element_size);
  for (size_t done = element_size; done < size; done *= 2)
    std::memcpy(bytes + done, bytes, std::min(done, size - done));
}

class RepeatedBuffer final : public Buffer {
 public:
  // Null if the system refuses the memory or the mappings.
  static RefPtr<RepeatedBuffer> New(const void* element, size_t element_size, size_t size) {
    const size_t block = std::max(kSmallestBlock, std::bit_ceil(size / kMappingsPerTensor));
    auto share = Share::Take((size + block - 1) / block, block);
    if (share == nullptr) return nullptr;
    const auto segment = SharedSegment::Create(block, SharedSegment::Others::kMayRead);
    if (!segment.ok()) return nullptr;
    FillWith(element, element_size, (*segment)->data(), block);
    void* all = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    for (size_t at = 0; at < size; at += block) {
      if (mmap(static_cast<std::byte*>(all) + at, std::min(block, size - at), PROT_READ, MAP_SHARED | MAP_FIXED,
               (*segment)->fd(), 0) == MAP_FAILED) {
        munmap(all, size);
        return nullptr;
      }
    }
    return RefPtr<RepeatedBuffer>::Adopt(new RepeatedBuffer(all, size, element_size, std::move(share)));
  }

  // The size of the value that the buffer repeats.
  size_t element_size() const { return element_size_; }

 private:
  RepeatedBuffer(void* data, size_t size, size_t element_size, std::unique_ptr<Share> share)
      : Buffer(data, size, {.writable = false}), element_size_(element_size), share_(std::move(share)) {}
  ~RepeatedBuffer() override { munmap(data(), size()); }

  const size_t element_size_;
  const std::unique_ptr<Share> share_;
};

}  // namespace

StatusOr<Tensor> RepeatedTensor(DType dtype, const Shape& shape, const void* element) {
  TF_RETURN_IF_ERROR(CheckTensorSize(dtype, shape));
  const auto size = static_cast<size_t>(TensorBytes(shape, dtype));
  if (size >= kSmallestMapped) {
    auto buffer = RepeatedBuffer::New(element, DTypeSize(dtype), size);
    if (buffer) return Tensor::FromBuffer(std::move(buffer), 0, dtype, shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(dtype, shape));
  FillWith(element, DTypeSize(dtype), tensor.inplace_raw_data(), size);
  return tensor;
}

const void* RepeatedElement(const Tensor& tensor) {
  const auto* buffer = dynamic_cast<const RepeatedBuffer*>(tensor.buffer().get());
  if (buffer == nullptr || tensor.num_elements() == 0 || DTypeSize(tensor.dtype()) != buffer->element_size()) {
    return nullptr;
  }
  const auto offset = static_cast<const std::byte*>(tensor.raw_data()) - static_cast<const std::byte*>(buffer->data());
  return static_cast<size_t>(offset) % buffer->element_size() == 0 ? tensor.raw_data() : nullptr;
}

}  // namespace tensorbraid
