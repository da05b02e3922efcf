// Each function below registers the kernels of one file. The ops of these kernels are in the file of the same name in
// ops/nn.
#ifndef TENSORBRAID_KERNELS_CPU_NN_REGISTRATION_H_
#define TENSORBRAID_KERNELS_CPU_NN_REGISTRATION_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

void RegisterNnActivationKernels(KernelRegistry& r);            // activation.cc
void RegisterNnBiasAddKernels(KernelRegistry& r);               // bias_add.cc
void RegisterNnConvolutionKernels(KernelRegistry& r);           // convolution.cc
void RegisterNnDepthwiseConvolutionKernels(KernelRegistry& r);  // depthwise_convolution.cc
void RegisterNnDilationKernels(KernelRegistry& r);              // dilation.cc
void RegisterNnInTopKKernels(KernelRegistry& r);                // in_top_k.cc
void RegisterNnIsotonicKernels(KernelRegistry& r);              // isotonic.cc
void RegisterNnL2LossKernels(KernelRegistry& r);                // l2_loss.cc
void RegisterNnSoftmaxKernels(KernelRegistry& r);               // softmax.cc

void RegisterNnBatchNormKernels(KernelRegistry& r);              // batch_norm.cc
void RegisterNnFakeQuantKernels(KernelRegistry& r);              // fake_quant.cc
void RegisterNnFractionalPoolingKernels(KernelRegistry& r);      // fractional_pooling.cc
void RegisterNnLocalResponseKernels(KernelRegistry& r);          // local_response.cc
void RegisterNnPoolingKernels(KernelRegistry& r);                // pooling.cc
void RegisterNnPooling3DKernels(KernelRegistry& r);              // pooling_3d.cc
void RegisterNnPoolingArgmaxKernels(KernelRegistry& r);          // pooling_argmax.cc
void RegisterNnQuantizeAndDequantizeKernels(KernelRegistry& r);  // quantize_and_dequantize.cc
void RegisterNnCtcKernels(KernelRegistry& r);                    // ctc.cc

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NN_REGISTRATION_H_
