// Encodes images as PNG, through libpng.
#ifndef TENSORBRAID_IO_PNG_WRITER_H_
#define TENSORBRAID_IO_PNG_WRITER_H_

#include <cstdint>
#include <span>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Encodes pixels that are stored row by row, with 1 (grey), 2 (grey, alpha), 3 (red, green, blue) or 4 (red, green,
// blue, alpha) channels of 8 bits. InvalidArgument if the sizes and channels do not match the number of bytes, or
// height or width is 0 or more than 2^20.
StatusOr<std::string> EncodePng(std::span<const uint8_t> pixels, int64_t height, int64_t width, int64_t channels);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_PNG_WRITER_H_
