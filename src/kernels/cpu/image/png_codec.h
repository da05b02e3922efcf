// Decodes and encodes PNG files, through libpng. See pixels.h for what all decoders have in common.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_

#include <string>

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes to uint8_t (if `bits` is 8) or uint16_t (16). `channels` is 1 (grey), 2 (grey and alpha), 3 (RGB), 4 (RGBA),
// or 0 for as many channels as the file has; a palette then gives RGB or RGBA. If alpha is wanted and the file has
// none, pixels are opaque. If alpha is not wanted, the file's alpha channel is dropped.
Status ReadPng(std::string_view contents, int channels, int bits, const AllocatePixels& allocate);

// Encodes uint8_t (8 bits) or uint16_t (16 bits) pixels with 1 to 4 channels. `compression` is zlib's level, -1 for its
// default. InvalidArgument for a size that PNG cannot hold.
StatusOr<std::string> WritePng(const void* pixels, const ImageSize& size, int bits, int compression);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_PNG_CODEC_H_
