// The Philox 4x32-10 counter-based random generator: number n of a stream is a function of (key, n), so that threads
// can begin anywhere. Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#ifndef TENSORBRAID_KERNELS_CPU_PHILOX_H_
#define TENSORBRAID_KERNELS_CPU_PHILOX_H_

#include <array>
#include <cstdint>

namespace tensorbraid::cpu {

// Value type; not thread-safe.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  // Streams of different (seed, seed2) are independent.
  Philox(uint64_t seed, uint64_t seed2)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, stream_(seed2) {}

  // Block number `n` of the stream.
  Block At(uint64_t n) const {
    Block x = {static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), static_cast<uint32_t>(stream_),
               static_cast<uint32_t>(stream_ >> 32)};
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
  uint64_t stream_;
};

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PHILOX_H_
