// Decodes GIF, through giflib.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes the frames, or with `first_only` the first one, to RGB in uint8_t. Each frame is drawn over the frame before;
// what no frame covers is black. The size is that of the largest frame, even if only the first is decoded. A frame that
// is truncated ends the animation, and it is an error if it is the first.
Status ReadGif(std::string_view contents, bool first_only, const AllocatePixels& allocate);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_
