#include "io/png_writer.h"

#include <png.h>

#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<std::string> EncodePng(std::span<const uint8_t> pixels, int64_t height, int64_t width, int64_t channels) {
  constexpr int64_t kMaxSide = 1 << 20;  // pixels in a row or column
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  if (channels < 1 || channels > 4 || height < 1 || width < 1 || height > kMaxSide || width > kMaxSide ||
      static_cast<int64_t>(pixels.size()) != height * width * channels) {
    return InvalidArgument("cannot encode as PNG: ", height, " x ", width, " pixels of ", channels, " channels in ",
                           pixels.size(), " bytes");
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = kFormats[channels - 1];
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    return Internal("cannot encode as PNG: ", std::string(image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace tensorbraid
