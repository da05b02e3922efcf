// Decodes GIF files, through giflib. See pixels.h for what all decoders have in common.
#ifndef TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_
#define TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_

#include "kernels/cpu/image/pixels.h"

namespace tensorbraid::cpu {

// Decodes the frames, or with `first_only` the first one, to RGB in uint8_t. Each frame is drawn over the frame before;
// pixels that no frame covers are black. The images have the size of the largest frame, even if only the first frame is
// decoded. A truncated frame ends the animation; a truncated first frame is an error.
Status ReadGif(std::string_view contents, bool first_only, const AllocatePixels& allocate);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IMAGE_GIF_CODEC_H_
