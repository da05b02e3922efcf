#include "checkpoint/coding.h"

#include <bit>
#include <limits>

namespace tensorbraid {

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

bool GetVarint(std::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const uint64_t byte = static_cast<unsigned char>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;
    *value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool GetVarint32(std::string_view* bytes, uint32_t* value) {
  uint64_t wide;
  if (!GetVarint(bytes, &wide) || wide > std::numeric_limits<uint32_t>::max()) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

// The number of significant bytes, then these bytes, highest first.
void PutOrdered(uint64_t value, std::string* out) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out->push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// Two's complement, highest byte first, in as few bytes as hold the value and a header. In an encoding of n bytes, the
// header is the first n bits: all are the inverse of the sign bit. The bit after them is the sign bit. So n bytes have
// 7 n - 1 bits for the magnitude.
void PutOrderedSigned(int64_t value, std::string* out) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int bytes = std::bit_width(magnitude) / 7 + 1;
  unsigned char encoded[10];
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (bytes - 1 - i);
    encoded[i] = static_cast<unsigned char>(shift >= 64 ? (value < 0 ? 0xff : 0) : value >> shift);
  }
  // The first `bytes` bits are copies of the sign bit; inverted, they are the header.
  for (int bit = 0; bit < bytes; ++bit) encoded[bit / 8] ^= static_cast<unsigned char>(0x80 >> (bit % 8));
  out->append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(bytes));
}

// A byte 00 or ff is followed by its inverse. So the end mark, 00 01, sorts before anything that could follow the text.
void PutOrdered(std::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->push_back('\0');
  out->push_back('\x01');
}

}  // namespace tensorbraid
