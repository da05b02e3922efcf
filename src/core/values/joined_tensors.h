// Several tensors that travel to another task in one message (docs/design/0037-joined-messages.md).
#ifndef TENSORBRAID_CORE_VALUES_JOINED_TENSORS_H_
#define TENSORBRAID_CORE_VALUES_JOINED_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/values/variant.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Bytes that are in several places, one after the other. `owner` keeps them alive.
struct JoinedBytes {
  RefPtr<Buffer> owner;
  std::vector<std::span<const std::byte>> pieces;
};

// Tensors of plain dtypes, as the value of a variant. On the task that sends, they have the memory in which they were
// computed. On the task that receives, they are views of the bytes that have arrived. Immutable, so thread-safe.
//
// The bytes, in words of 8, little endian: a magic number; the number of tensors; for each tensor its dtype, rank,
// dimensions, and the byte at which its elements begin; then the elements of each tensor, which begin at multiples of
// kTensorAlignment.
class JoinedTensors final : public VariantValue {
 public:
  static constexpr const char* kTypeName = "joined tensors";

  // REQUIRES: the tensors have plain dtypes.
  explicit JoinedTensors(std::vector<Tensor> tensors);
  // Whether bytes that encode a variant encode joined tensors. `begin` has their first bytes, as many as there are up
  // to 8.
  static bool Begins(std::span<const std::byte> begin);
  // Views of `bytes`. InvalidArgument, which says what is wrong, for bytes that are no encoding; they may come from a
  // faulty task. REQUIRES: bytes.owner.
  static StatusOr<RefPtr<JoinedTensors>> Decode(JoinedBytes bytes);

  size_t size() const { return parts_.size(); }
  // Tensor number `index`. Copies elements only if they are not aligned, or if another process may change them and not
  // all bits are valid values. InvalidArgument if there are fewer tensors.
  StatusOr<Tensor> Take(int64_t index) const;
  // The elements stay where they are. ResourceExhausted without memory for the descriptions.
  StatusOr<JoinedBytes> Encode() const;
  std::string DebugString() const override;

 private:
  struct Part {
    DType dtype;
    Shape shape;
    RefPtr<Buffer> owner;
    std::vector<std::span<const std::byte>> pieces;  // the elements
  };
  explicit JoinedTensors(std::vector<Part> parts) : parts_(std::move(parts)) {}

  const std::vector<Part> parts_;
};

// The size of the encoding of tensors of these sizes and ranks, in bytes.
struct JoinedPart {
  int64_t bytes;
  int rank;
};
int64_t BytesOfJoined(std::span<const JoinedPart> parts);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_JOINED_TENSORS_H_
