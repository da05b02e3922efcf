// Decodes and encodes JPEG files, through libjpeg-turbo. See pixels.h for what all decoders have in common.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_JPEG_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_JPEG_CODEC_H_

#include <optional>
#include <string>

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

struct CropWindow {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct JpegReadOptions {
  int channels = 0;                    // 1 (grey), 3 (RGB), or 0: as many as the file has, but at most 3
  int ratio = 1;                       // 1, 2, 4 or 8: height and width are divided by it
  bool fancy_upscaling = true;         // interpolates chroma
  bool try_recover_truncated = false;  // missing pixels of a truncated file become grey
  // Without try_recover_truncated: the part of the rows that a truncated file must have. The other rows become black.
  float acceptable_fraction = 1.0f;
  bool fast_dct = true;
  std::optional<CropWindow> crop = {};  // within the image after division by `ratio`
};

// Decodes to uint8_t.
Status ReadJpeg(std::string_view contents, const JpegReadOptions& options, const AllocatePixels& allocate);

// The size in the header of a JPEG file.
StatusOr<ImageSize> ReadJpegSize(std::string_view contents);

struct JpegWriteOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;  // a smaller file in more time; pixels are the same
  bool chroma_downsampling = true;
  bool density_in_cm = false;  // else in inches
  int x_density = 300, y_density = 300;
  std::string xmp_metadata;
};

// Encodes uint8_t pixels with 1 (grey) or 3 (RGB) channels. InvalidArgument for a size that JPEG cannot hold.
StatusOr<std::string> WriteJpeg(const uint8_t* pixels, const ImageSize& size, const JpegWriteOptions& options);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_JPEG_CODEC_H_
