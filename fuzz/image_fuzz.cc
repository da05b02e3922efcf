// Decodes untrusted image files: PNG, JPEG, GIF and BMP, with all options that lead to other paths through the
// decoders. An image that can be decoded is encoded as PNG and decoded again, with equal pixels.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/cpu/image/bmp_codec.h"
#include "kernels/cpu/image/gif_codec.h"
#include "kernels/cpu/image/jpeg_codec.h"
#include "kernels/cpu/image/png_codec.h"

namespace tensorbraid::cpu {
namespace {

// Images whose pixels need more bytes are refused, as a server refuses tensors that exceed the machine's memory.
constexpr int64_t kMaxPixels = int64_t{64} << 20;

struct Decoded {
  std::vector<uint8_t> pixels;
  ImageSize size;

  AllocatePixels Allocate(int64_t bytes_per_channel = 1) {
    return [this, bytes_per_channel](int64_t frames, const ImageSize& s) -> StatusOr<void*> {
      const int64_t bytes = frames * s.height * s.width * s.channels * bytes_per_channel;
      if (bytes <= 0) std::abort();
      if (bytes > kMaxPixels) return InvalidArgument("too large");
      size = s;
      pixels.assign(static_cast<size_t>(bytes), 0xaa);
      return pixels.data();
    };
  }
};

void CheckRoundTrip(const Decoded& image) {
  const auto file = WritePng(image.pixels.data(), image.size, 8, 1);
  Decoded again;
  if (!file.ok() || !ReadPng(*file, 0, 8, again.Allocate()).ok()) std::abort();
  const auto bytes = static_cast<size_t>(image.size.height * image.size.width * image.size.channels);
  if (again.pixels.size() != bytes || std::memcmp(again.pixels.data(), image.pixels.data(), bytes) != 0) std::abort();
}

void DecodeAll(std::string_view contents) {
  for (const int bits : {8, 16}) {
    for (const int channels : {0, 1, 4}) {
      Decoded image;
      const Status status = ReadPng(contents, channels, bits, image.Allocate(bits / 8));
      if (status.ok() && bits == 8) CheckRoundTrip(image);
    }
  }
  JpegReadOptions strict, lenient;
  lenient.channels = 3;
  lenient.ratio = 4;
  lenient.fancy_upscaling = false;
  lenient.try_recover_truncated = true;
  lenient.acceptable_fraction = 0.2f;
  JpegReadOptions crop;
  crop.channels = 1;
  crop.fast_dct = false;
  crop.crop = CropWindow{1, 2, 3, 4};
  for (const JpegReadOptions* options : {&strict, &lenient, &crop}) {
    Decoded image;
    if (ReadJpeg(contents, *options, image.Allocate()).ok()) CheckRoundTrip(image);
  }
  (void)ReadJpegSize(contents);
  for (const bool first_only : {false, true}) {
    Decoded image;
    if (ReadGif(contents, first_only, image.Allocate()).ok() && first_only) CheckRoundTrip(image);
  }
  Decoded bitmap;
  if (ReadBmp(contents, 4, bitmap.Allocate()).ok()) CheckRoundTrip(bitmap);
}

}  // namespace
}  // namespace tensorbraid::cpu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tensorbraid::cpu::DecodeAll({reinterpret_cast<const char*>(data), size});
  return 0;
}
