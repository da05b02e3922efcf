// Several tensors as the bytes of one, in which they travel to another task.
#ifndef TENSORBRAID_KERNELS_CPU_WIRE_JOINED_TENSORS_H_
#define TENSORBRAID_KERNELS_CPU_WIRE_JOINED_TENSORS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/memory/allocator.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// The format, in words of 8 bytes, little endian: a magic number; the number of tensors; for each tensor the word at
// which its description begins; the descriptions, which are dtype, rank, dimensions, and the byte at which the elements
// begin; then the elements of each tensor, which begin at multiples of kTensorAlignment.
class JoinedLayout {
 public:
  // REQUIRES: the dtypes are plain.
  explicit JoinedLayout(std::span<const Tensor* const> tensors);

  int64_t bytes() const { return bytes_; }  // a multiple of kTensorAlignment
  const std::vector<int64_t>& header() const { return header_; }
  int64_t begin_of(size_t tensor) const { return begins_[tensor]; }  // of its elements, in bytes

 private:
  std::vector<int64_t> header_;
  std::vector<int64_t> begins_;
  int64_t bytes_ = 0;
};

// The size of the joined tensor, in bytes, for tensors of these sizes and ranks.
struct JoinedPart {
  int64_t bytes;
  int rank;
};
int64_t JoinedBytes(std::span<const JoinedPart> parts);

// Tensor number `index` in `joined`, a vector of floats that holds bytes as above. Uses its memory where this is
// possible. InvalidArgument, which says what is wrong, for other bytes, which may come from a faulty task.
StatusOr<Tensor> TakeJoined(const Tensor& joined, int64_t index);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_WIRE_JOINED_TENSORS_H_
