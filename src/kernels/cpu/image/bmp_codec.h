// Decodes BMP files. See pixels.h for what all decoders have in common.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes uncompressed pixels of 8 bits (grey), 24 bits (RGB) or 32 bits (RGBA) to uint8_t. A colour map is ignored, as
// in TensorFlow. `channels` is 3, 4, or 0 for as many channels as the file has.
Status ReadBmp(std::string_view contents, int channels, const AllocatePixels& allocate);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_
