// Declares the functions that register the nn ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_NN_REGISTRATION_H_
#define TENSORBRAID_OPS_NN_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterNnActivationOps(OpRegistry& r);            // activation.cc
void RegisterNnBiasAddOps(OpRegistry& r);               // bias_add.cc
void RegisterNnConvolutionOps(OpRegistry& r);           // convolution.cc
void RegisterNnDepthwiseConvolutionOps(OpRegistry& r);  // depthwise_convolution.cc
void RegisterNnDilationOps(OpRegistry& r);              // dilation.cc
void RegisterNnInTopKOps(OpRegistry& r);                // in_top_k.cc
void RegisterNnIsotonicOps(OpRegistry& r);              // isotonic.cc
void RegisterNnL2LossOps(OpRegistry& r);                // l2_loss.cc
void RegisterNnSoftmaxOps(OpRegistry& r);               // softmax.cc

void RegisterNnBatchNormOps(OpRegistry& r);              // batch_norm.cc
void RegisterNnFakeQuantOps(OpRegistry& r);              // fake_quant.cc
void RegisterNnFractionalPoolingOps(OpRegistry& r);      // fractional_pooling.cc
void RegisterNnLocalResponseOps(OpRegistry& r);          // local_response.cc
void RegisterNnPoolingOps(OpRegistry& r);                // pooling.cc
void RegisterNnPooling3DOps(OpRegistry& r);              // pooling_3d.cc
void RegisterNnPoolingArgmaxOps(OpRegistry& r);          // pooling_argmax.cc
void RegisterNnQuantizeAndDequantizeOps(OpRegistry& r);  // quantize_and_dequantize.cc
void RegisterNnCtcOps(OpRegistry& r);                    // ctc.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_REGISTRATION_H_
