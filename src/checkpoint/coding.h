// How numbers and strings are written in tensor bundles.
#ifndef TENSORBRAID_CHECKPOINT_CODING_H_
#define TENSORBRAID_CHECKPOINT_CODING_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tensorbraid {

// Little endian, as every machine is that we run on.
template <typename T>
void PutFixed(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}
// REQUIRES: `bytes` has as many bytes as T from `offset` on.
template <typename T>
T GetFixed(std::string_view bytes, size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Seven bits a byte, the lowest first; the top bit says that more follow.
void PutVarint(uint64_t value, std::string* out);
// Takes one off the front of `*bytes`. False for one that is cut off, or too long for 64 bits.
bool GetVarint(std::string_view* bytes, uint64_t* value);
bool GetVarint32(std::string_view* bytes, uint32_t* value);

// Encodings whose order as bytes is that of the values.
void PutOrdered(uint64_t value, std::string* out);
void PutOrderedSigned(int64_t value, std::string* out);
void PutOrdered(std::string_view text, std::string* out);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_CODING_H_
