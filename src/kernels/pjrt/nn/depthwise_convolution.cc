// Depthwise convolutions of images, and their gradients.
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/nn/convolution.h"

namespace tensorbraid::pjrt {

void RegisterNnDepthwiseConvolutionEmitters(EmitterRegistry& r) {
  AddConvolution(r, "DepthwiseConv2dNative", kFloats);
  AddConvolution(r, "DepthwiseConv2dNativeBackpropInput", kFloats);
  AddConvolution(r, "DepthwiseConv2dNativeBackpropFilter", kFloats);
}

}  // namespace tensorbraid::pjrt
