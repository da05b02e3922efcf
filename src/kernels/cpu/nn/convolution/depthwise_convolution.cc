// Depthwise convolutions and their gradients.
#include "kernels/cpu/nn/convolution/convolution.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterNnDepthwiseConvolutionKernels(KernelRegistry& r) {
  const DTypeSet floats = {kFloat16, kBfloat16, kFloat32, kFloat64};
  AddConvolutionKernel(r, "DepthwiseConv2dNative", floats);
  AddConvolutionKernel(r, "DepthwiseConv2dNativeBackpropInput", floats);
  AddConvolutionKernel(r, "DepthwiseConv2dNativeBackpropFilter", floats);
}

}  // namespace tensorbraid::cpu
