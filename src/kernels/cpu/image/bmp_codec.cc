#include "kernels/cpu/image/bmp_codec.h"

namespace tensorbraid::cpu {
namespace {

// `bytes` little-endian bytes from `at` on.
uint32_t BmpNumber(std::string_view contents, size_t at, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= uint32_t{static_cast<uint8_t>(contents[at + i])} << (8 * i);
  return v;
}

}  // namespace

Status ReadBmp(std::string_view contents, int channels, const AllocatePixels& allocate) {
  constexpr size_t kHeader = 32;  // the fields that are read here end at byte 30
  if (contents.size() < kHeader) {
    return InvalidArgument("Invalid BMP data: the header has ", kHeader, " bytes or more, got ", contents.size());
  }
  const auto start = static_cast<int32_t>(BmpNumber(contents, 10, 4));
  const auto width = static_cast<int32_t>(BmpNumber(contents, 18, 4));
  const int64_t height = static_cast<int32_t>(BmpNumber(contents, 22, 4));  // negative: the first row is the top one
  const auto bits = static_cast<int16_t>(BmpNumber(contents, 28, 2));
  if (bits != 8 && bits != 24 && bits != 32) {
    return InvalidArgument("Invalid BMP data: pixels must have 8, 24 or 32 bits, got ", static_cast<int>(bits));
  }
  if (start < 0) return InvalidArgument("Invalid BMP data: the pixels start at byte ", start);
  const int64_t from_channels = bits / 8;
  const bool top_down = height < 0;
  const ImageSize size{top_down ? -height : height, width, channels != 0 ? channels : from_channels};
  TF_RETURN_IF_ERROR(CheckImageSize("BMP", 1, size));
  // Rows are padded to multiples of four bytes, except that the last one may end with its last pixel.
  const int64_t row_bytes = (from_channels * width + 3) / 4 * 4;
  const int64_t end = start + (size.height - 1) * row_bytes + width * from_channels;
  if (end > static_cast<int64_t>(contents.size())) {
    return InvalidArgument("Invalid BMP data: an image of ", size.height, " x ", size.width, " pixels of ",
                           static_cast<int>(bits), " bits needs ", end, " bytes, got ", contents.size());
  }
  TF_ASSIGN_OR_RETURN(void* const memory, allocate(1, size));
  auto* to = static_cast<uint8_t*>(memory);
  const auto* const pixels = reinterpret_cast<const uint8_t*>(contents.data()) + start;
  for (int64_t y = 0; y < size.height; ++y) {
    const uint8_t* from = pixels + (top_down ? y : size.height - 1 - y) * row_bytes;
    for (int64_t x = 0; x < width; ++x, from += from_channels, to += size.channels) {
      if (size.channels == 1) {
        to[0] = from[0];
        continue;
      }
      const bool is_grey = from_channels == 1;
      for (int c = 0; c < 3; ++c) to[c] = is_grey ? from[0] : from[2 - c];  // the file has blue first
      if (size.channels == 4) to[3] = from_channels == 4 ? from[3] : 255;
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
