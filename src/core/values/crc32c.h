// Computes CRC-32C (Castagnoli), the checksum of TFRecord files and tensor bundles.
#ifndef TENSORBRAID_CORE_VALUES_CRC32C_H_
#define TENSORBRAID_CORE_VALUES_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tensorbraid {

// Returns the checksum of `bytes`. If `crc` is the checksum of earlier data, returns the checksum of that data followed
// by `bytes`. Thread-safe.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

// Files store checksums masked, because the checksum of data that contains its own checksum detects little.
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
constexpr uint32_t UnmaskCrc(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_VALUES_CRC32C_H_
