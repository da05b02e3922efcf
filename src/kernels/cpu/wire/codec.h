// The bytes of float32 tensors on the wire (tensorbraid/core/wire.h). Pure functions.
//
// The bytes, little-endian: 'W', a version (1), the number of the type in `Wire`, the rank, four zero bytes, the sizes
// of the dimensions (int64), and the payload. For n values in blocks of kWireBlock:
//   kFloat32            n floats
//   kFloat16, kBFloat16 n values of two bytes
//   kInt8               a float32 scale for each block, and n int8: a value is the product of the two
//   kOneBit             for each block two means (float32), of the values that are not negative and of the negative
//                       values, and 8 words of 32 bits: the value with number 8 * i + j in its block is negative if
//                       bit i of word j is set
//   kTopK               WireTopKCount(n) indices (uint32), which rise, and as many floats; all other values are 0
//
// A block of kInt8 or kOneBit in which a value is not finite decodes to NaNs, so that checks for them still find them.
// kTopK sends NaNs first and infinities next.
#ifndef TENSORBRAID_KERNELS_CPU_WIRE_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_WIRE_CODEC_H_

#include <cstdint>
#include <span>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/wire.h"

namespace tensorbraid::cpu {

inline constexpr int64_t kWireBlock = 256;
// Smaller tensors are sent as float32, whatever type is requested.
inline constexpr int64_t kMinWireElements = 64;

// Whether the sender keeps the part that the type loses and adds it to the next tensor.
inline bool HasErrorFeedback(Wire wire) { return wire == Wire::kInt8 || wire == Wire::kOneBit || wire == Wire::kTopK; }

// The number of values that kTopK sends of n: 1 %, rounded up.
inline int64_t WireTopKCount(int64_t n) { return (n + 99) / 100; }

// The size of the encoded tensor. -1 if the shape is not fully defined or too large.
int64_t WireBytes(Wire wire, const Shape& shape);

struct WireHeader {
  Wire wire = Wire::kFloat32;
  Shape shape;
  size_t payload = 0;  // the offset at which the payload begins
};

// Writes one tensor. Each block must be encoded once, in any order and on any thread. kTopK needs one call for all
// blocks.
class WireEncoder {
 public:
  // `values` and `out`, which has WireBytes() bytes, must outlive the encoder. `residual`, if not null, has as many
  // elements as `values`. It is added to `values`, and then gets the part of the sum that the bytes lose. It stays
  // finite.
  WireEncoder(Wire wire, const Shape& shape, const float* values, float* residual, uint8_t* out);
  int64_t blocks() const { return (n_ + kWireBlock - 1) / kWireBlock; }
  // Whether blocks may be encoded in several calls.
  bool is_divisible() const { return wire_ != Wire::kTopK; }
  void Encode(int64_t first_block, int64_t end_block) const;

 private:
  void EncodeTopK() const;

  const Wire wire_;
  const int64_t n_;
  const float* const values_;
  float* const residual_;
  uint8_t* const payload_;
};

// Reads the header. Returns InvalidArgument if it is malformed, or if its tensor takes more or fewer bytes than there
// are.
StatusOr<WireHeader> ReadWireHeader(std::span<const uint8_t> bytes);
// Decodes the blocks [first_block, end_block) of the tensor into `out`, which has all its elements. A tensor in kTopK
// must be decoded in one call. Returns InvalidArgument if indices do not rise or are out of range.
Status DecodeWire(const WireHeader& header, std::span<const uint8_t> bytes, int64_t first_block, int64_t end_block,
                  float* out);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_WIRE_CODEC_H_
