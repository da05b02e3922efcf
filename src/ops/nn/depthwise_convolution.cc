// Depthwise convolutions and their gradients: schemas.
#include "graph/model/op_registry.h"
#include "ops/nn/convolution.h"

namespace tensorbraid {

void RegisterNnDepthwiseConvolutionOps(OpRegistry& r) {
  const auto add = [&r](const char* op, const char* first, const char* second, bool backprop) {
    Op def(op);
    def.Input(first).Input(second);
    if (backprop) def.Input("out_backprop: T");
    def.Output("output: T")
        .Attr("T: {half, bfloat16, float, double}")
        .Attr("strides: list(int)")
        .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
        .Attr("explicit_paddings: list(int) = []")
        .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
        .Attr("dilations: list(int) = [1, 1, 1, 1]")
        .Shape(ConvolutionShape)
        .Gradient(ConvolutionGradient);
    r.Add(def);
  };
  add("DepthwiseConv2dNative", "input: T", "filter: T", /*backprop=*/false);
  add("DepthwiseConv2dNativeBackpropInput", "input_sizes: int32", "filter: T", /*backprop=*/true);
  add("DepthwiseConv2dNativeBackpropFilter", "input: T", "filter_sizes: int32", /*backprop=*/true);
}

}  // namespace tensorbraid
