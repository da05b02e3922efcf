// Counts the characters of UTF-8 text and moves over them. Every byte that is not a continuation byte begins a
// character, so malformed text has characters too.
#ifndef TENSORBRAID_CORE_TEXT_UTF8_H_
#define TENSORBRAID_CORE_TEXT_UTF8_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace tensorbraid {

constexpr bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

inline int64_t Utf8Length(std::string_view text) { return std::count_if(text.begin(), text.end(), BeginsCharacter); }

// Moves `*offset` forward or back by `count` characters. If the text has fewer, moves to its end or beginning and
// returns false. Offset 0 begins a character even if its byte is a continuation byte.
inline bool Utf8Forward(std::string_view text, int64_t count, size_t* offset) {
  for (; count > 0 && *offset < text.size(); --count) {
    do {
      ++*offset;
    } while (*offset < text.size() && !BeginsCharacter(text[*offset]));
  }
  return count <= 0;
}
inline bool Utf8Back(std::string_view text, int64_t count, size_t* offset) {
  for (; count > 0 && *offset > 0; --count) {
    do {
      --*offset;
    } while (*offset > 0 && !BeginsCharacter(text[*offset]));
  }
  return count <= 0;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_UTF8_H_
