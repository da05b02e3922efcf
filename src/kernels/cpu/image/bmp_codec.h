// Decodes BMP.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes uncompressed pixels of 8 (grey; a colour map is ignored, as in TensorFlow), 24 (RGB) or 32 (RGBA) bits to
// uint8_t with `channels` channels: 3, 4, or 0 for as many as the file has.
Status ReadBmp(std::string_view contents, int channels, const AllocatePixels& allocate);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_BMP_CODEC_H_
