// Encodings of numbers and strings in tensor bundles.
#ifndef TENSORBRAID_CHECKPOINT_CODING_H_
#define TENSORBRAID_CHECKPOINT_CODING_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tensorbraid {

// Numbers of a fixed size, little endian. Every supported machine is little endian.
template <typename T>
void PutFixed(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
// REQUIRES: `bytes` has at least sizeof(T) bytes from `offset` on.
template <typename T>
T GetFixed(std::string_view bytes, size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Varints: seven bits per byte, lowest bits first. The top bit says that more bytes follow.
void PutVarint(uint64_t value, std::string* out);
// Removes a varint from the front of `*bytes`. Returns false if the varint is truncated, or does not fit in 64 bits
// (GetVarint) or 32 bits (GetVarint32).
bool GetVarint(std::string_view* bytes, uint64_t* value);
bool GetVarint32(std::string_view* bytes, uint32_t* value);

// Encodings that sort, compared byte by byte, in the order of their values.
void PutOrdered(uint64_t value, std::string* out);
void PutOrderedSigned(int64_t value, std::string* out);
void PutOrdered(std::string_view text, std::string* out);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_CODING_H_
