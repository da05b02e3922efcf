// Convolutions and their gradients, in 2 and 3 spatial axes, whole and depthwise, from one emitter.
#ifndef TENSORBRAID_KERNELS_PJRT_NN_CONVOLUTION_H_
#define TENSORBRAID_KERNELS_PJRT_NN_CONVOLUTION_H_

#include <source_location>
#include <string_view>

#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

// Adds the emitter of a convolution op.
EmitterDef& AddConvolution(EmitterRegistry& r, std::string_view op, DTypeSet types,
                           std::source_location location = std::source_location::current());

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_NN_CONVOLUTION_H_
