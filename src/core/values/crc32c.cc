#include "core/values/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "core/values/load.h"

namespace tensorbraid {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78u;

// tables[k][b] is the effect of byte b on the checksum when k zero bytes follow it. With them, eight bytes are
// processed at once.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kReversedPolynomial : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (uint32_t b = 0; b < 256; ++b) tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t ByTables(const char* p, size_t size, uint32_t crc) {
  for (; size >= 8; p += 8, size -= 8) {
    const uint64_t v = Load64(p) ^ crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= kTables[7 - i][(v >> (8 * i)) & 0xff];
  }
  for (; size > 0; ++p, --size) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
constexpr size_t kLane = 1024;
using Skips = std::array<std::array<uint32_t, 256>, 4>;

// skips[k][b] is the effect of byte b, at place k of a checksum, when kLane zero bytes follow.
constexpr Skips MakeSkips() {
  std::array<uint32_t, 32> bits{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    uint32_t crc = uint32_t{1} << bit;
    for (size_t i = 0; i < kLane; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
    bits[bit] = crc;
  }
  Skips skips{};
  for (uint32_t k = 0; k < 4; ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      for (uint32_t bit = 0; bit < 8; ++bit) skips[k][b] ^= (b >> bit & 1) != 0 ? bits[8 * k + bit] : 0;
    }
  }
  return skips;
}

constexpr Skips kSkips = MakeSkips();

// Continues the checksum `crc` over kLane zero bytes.
uint32_t SkipLane(uint32_t crc) {
  return kSkips[0][crc & 0xff] ^ kSkips[1][crc >> 8 & 0xff] ^ kSkips[2][crc >> 16 & 0xff] ^ kSkips[3][crc >> 24];
}

// The instruction takes three cycles, but the processor can start one in each cycle. So the checksums of three
// neighbouring lanes of kLane bytes are computed side by side, and then combined.
__attribute__((target("sse4.2"))) uint32_t ByInstruction(const char* p, size_t size, uint32_t crc) {
  for (; size >= 3 * kLane; p += 3 * kLane, size -= 3 * kLane) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < kLane; i += 8) {
      a = _mm_crc32_u64(a, Load64(p + i));
      b = _mm_crc32_u64(b, Load64(p + kLane + i));
      c = _mm_crc32_u64(c, Load64(p + 2 * kLane + i));
    }
    crc = SkipLane(SkipLane(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^ static_cast<uint32_t>(c);
  }
  uint64_t wide = crc;
  for (; size >= 8; p += 8, size -= 8) wide = _mm_crc32_u64(wide, Load64(p));
  crc = static_cast<uint32_t>(wide);
  for (; size > 0; ++p, --size) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(*p));
  return crc;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~ByInstruction(bytes.data(), bytes.size(), ~crc);
#endif
  return ~ByTables(bytes.data(), bytes.size(), ~crc);
}

}  // namespace tensorbraid
