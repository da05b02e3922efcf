// What the codecs of this folder (*_codec.h) share. They decode files that are not trusted. A malformed file is an
// InvalidArgument error, and the memory of a decoder is limited by kMaxImageBytes and by the amount of data that a file
// of this size can hold. All functions are thread-safe.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_PIXELS_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_PIXELS_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "core/text/strings.h"

namespace tensorbraid::cpu {

// Pixels are stored row by row; the channels of a pixel are adjacent.
struct ImageSize {
  int64_t height = 0, width = 0, channels = 0;
};

// Returns the memory for `frames` images of this size. A decoder calls it once, when it knows the size.
using AllocatePixels = std::function<StatusOr<void*>(int64_t frames, const ImageSize& size)>;

// A decoded image has fewer bytes than this, as in TensorFlow.
inline constexpr int64_t kMaxImageBytes = int64_t{1} << 29;

// InvalidArgument if a size is not positive, or the frames have kMaxImageBytes or more. `format` is for the message.
inline Status CheckImageSize(const char* format, int64_t frames, const ImageSize& size, int64_t bytes_per_channel = 1) {
  int64_t bytes = frames;
  bool fits = true;
  for (const int64_t factor : {size.height, size.width, size.channels, bytes_per_channel}) {
    if (factor <= 0) {
      return InvalidArgument("the ", format, " image is empty: ", size.height, " x ", size.width, " pixels");
    }
    fits = fits && !__builtin_mul_overflow(bytes, factor, &bytes) && bytes < kMaxImageBytes;
  }
  if (fits) return OkStatus();
  return InvalidArgument("the ", format, " image is too large: ", frames, " frames of ", size.height, " x ", size.width,
                         " pixels with ", size.channels, " channels; decoded images must have fewer than ",
                         kMaxImageBytes, " bytes");
}

// InvalidArgument if `contents` is too short to hold `units` units of image data (bytes, pixels or blocks, as the
// format needs). So a file that only claims to have a large image costs no memory. `units_per_byte` is the best ratio
// that the format's compression reaches.
inline Status CheckHolds(const char* format, std::string_view contents, double units, double units_per_byte) {
  if (units <= units_per_byte * static_cast<double>(contents.size())) return OkStatus();
  return InvalidArgument("the ", format, " image is truncated: ", contents.size(),
                         " bytes cannot hold an image of the size in its header");
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_PIXELS_H_
