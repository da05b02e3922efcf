// Decodes and encodes PNG, through libpng.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_

#include <string>

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes to `channels` channels (1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; 0: as many as the file has, where a palette
// counts as RGB or RGBA) of `bits` bits: uint8_t (8) or uint16_t (16). If the file has no alpha channel, pixels are
// opaque; if `channels` has none, the file's alpha channel is dropped.
Status ReadPng(std::string_view contents, int channels, int bits, const AllocatePixels& allocate);

// Encodes uint8_t (8 bits) or uint16_t (16 bits) pixels with 1 to 4 channels. `compression` is zlib's level, -1 for its
// default. InvalidArgument for a size that PNG cannot hold.
StatusOr<std::string> WritePng(const void* pixels, const ImageSize& size, int bits, int compression);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_
