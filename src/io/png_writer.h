// Images as PNG files, by libpng.
#ifndef TENSORBRAID_IO_PNG_WRITER_H_
#define TENSORBRAID_IO_PNG_WRITER_H_

#include <cstdint>
#include <span>
#include <string>

#include "tensorbraid/status.h"

namespace tensorbraid {

// Pixels row after row, with 1 (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (and alpha) channels of 8 bits.
// InvalidArgument when sizes, channels and number of bytes do not fit each other, or there are no pixels.
StatusOr<std::string> EncodePng(std::span<const uint8_t> pixels, int64_t height, int64_t width, int64_t channels);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_PNG_WRITER_H_
