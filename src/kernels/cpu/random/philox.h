// The Philox 4x32-10 counter-based random generator: number n of a stream is a function of (key, n), so threads can
// start anywhere in the stream. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_PHILOX_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_PHILOX_H_

#include <array>
#include <cstdint>
#include <cstring>

namespace tensorbraid::cpu {

// A number in [0, 1): the bits fill the mantissa of a number in [1, 2), and 1 is subtracted.
inline float UnitFloat(uint32_t bits) {
  const uint32_t u = (bits & 0x7fffff) | 0x3f800000;
  float f;
  std::memcpy(&f, &u, sizeof f);
  return f - 1.0f;
}
inline double UnitDouble(uint32_t high, uint32_t low) {
  const uint64_t u = (uint64_t{high & 0xfffff} << 32 | low) | uint64_t{0x3ff} << 52;
  double d;
  std::memcpy(&d, &u, sizeof d);
  return d - 1.0;
}

// Value type; not thread-safe.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  // Streams of different (seed, seed2) are independent.
  Philox(uint64_t seed, uint64_t seed2) : Philox(seed, 0, seed2) {}
  // The stream of `key`, starting at the 128-bit counter (low, high).
  Philox(uint64_t key, uint64_t low, uint64_t high)
      : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}, low_(low), high_(high) {}

  // Block number `n` of the stream.
  Block At(uint64_t n) const {
    const uint64_t low = low_ + n;
    const uint64_t high = high_ + (low < n ? 1 : 0);
    Block x = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
               static_cast<uint32_t>(high >> 32)};
    uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * x[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * x[2];
      x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return x;
  }

 private:
  std::array<uint32_t, 2> key_;
  uint64_t low_, high_;
};

// Reads the numbers of a stream in order. Value type; not thread-safe.
class PhiloxReader {
 public:
  explicit PhiloxReader(const Philox& philox, uint64_t first_block = 0) : philox_(philox), next_(first_block) {}

  // The number of 32-bit numbers before the next one, in the whole stream.
  uint64_t position() const { return 4 * next_ - (4 - static_cast<uint64_t>(used_)); }
  void set_position(uint64_t position) {
    next_ = position / 4;
    used_ = 4;
    for (uint64_t i = 0; i < position % 4; ++i) Next32();
  }

  uint32_t Next32() {
    if (used_ == 4) {
      block_ = philox_.At(next_++);
      used_ = 0;
    }
    return block_[used_++];
  }
  uint64_t Next64() {
    const uint64_t low = Next32();
    return low | uint64_t{Next32()} << 32;
  }
  // A number in [0, 1).
  double NextDouble() {
    const uint32_t high = Next32();
    return UnitDouble(high, Next32());
  }
  // A uniformly distributed integer in [0, n). Draws 32 bits, and redraws when they would bias the remainder by n.
  // REQUIRES: n > 0.
  uint32_t NextBelow32(uint32_t n) {
    if ((n & (n - 1)) == 0) return Next32() & (n - 1);
    const uint32_t uneven = ~uint32_t{0} % n + 1;
    while (true) {
      const uint32_t v = Next32();
      if (v >= uneven) return v % n;
    }
  }
  // Like NextBelow32, but draws 64 bits.
  uint64_t NextBelow(uint64_t n) {
    if ((n & (n - 1)) == 0) return Next64() & (n - 1);
    // The draws below 2^64 mod n are rejected, so that each remainder is equally likely.
    const uint64_t uneven = ~uint64_t{0} % n + 1;
    while (true) {
      const uint64_t v = Next64();
      if (v >= uneven) return v % n;
    }
  }

 private:
  Philox philox_;
  uint64_t next_;
  Philox::Block block_{};
  int used_ = 4;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_PHILOX_H_
