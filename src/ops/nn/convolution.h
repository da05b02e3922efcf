// Works out what a convolution op computes from its attributes and shapes, for shape rules and kernels.
#ifndef TENSORBRAID_OPS_NN_CONVOLUTION_H_
#define TENSORBRAID_OPS_NN_CONVOLUTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/model/op_registry.h"
#include "ops/nn/window.h"

namespace tensorbraid {

// A convolution relates three tensors. Each op computes one of them from the other two.
enum class ConvolutionResult {
  kOutput,  // the convolution itself
  kInput,   // the gradient for its input
  kFilter,  // the gradient for its filter
};

// The properties of a convolution op that follow from its name, such as "DepthwiseConv2dNativeBackpropFilter".
struct ConvolutionTraits {
  ConvolutionResult result = ConvolutionResult::kOutput;
  int spatial = 2;  // the number of spatial axes
  bool depthwise = false;

  WindowUse use() const { return result == ConvolutionResult::kOutput ? WindowUse::kForward : WindowUse::kGradient; }
};
ConvolutionTraits ConvolutionTraitsOf(std::string_view op);

// The attributes of a convolution op. (The number of spatial axes of Conv follows from its strides.) Returns the errors
// of ReadWindowAttrs, and InvalidArgument for a Conv that does not have 2 or 3 spatial axes.
StatusOr<WindowAttrs> ReadConvolutionAttrs(const Node& node);

// The attributes of FusedPadConv2D or FusedResizeAndPadConv2D. Returns the errors of ReadWindowAttrs.
StatusOr<WindowAttrs> ReadFusedConvolutionAttrs(const Node& node);

// The mirrored pixels that these two ops add around an image, for height and width.
struct MirrorPaddings {
  int64_t before[2] = {0, 0}, after[2] = {0, 0};
};
// InvalidArgument unless `t` has shape [4, 2], no negative elements, and zeros for the batch and the channels.
StatusOr<MirrorPaddings> ReadMirrorPaddings(const Tensor& t);

// The op Conv has any number of batch axes, and an attribute with the number of groups. Every other op has one batch
// axis.
struct ConvolutionBatch {
  int64_t axes = 1;
  int64_t groups = 0;  // 0 if only the shapes of input and filter determine it
};
// InvalidArgument if batch_dims is out of range or the groups are not positive.
StatusOr<ConvolutionBatch> ReadConvolutionBatch(const Node& node);
// Returns the shape of the input after its batch axes are combined into one. InvalidArgument unless the input has these
// batch axes and the axes of `attrs`.
StatusOr<Shape> FoldBatch(const ConvolutionBatch& batch, const WindowAttrs& attrs, const Shape& input);
// Returns the shape of the output with the batch axes of the input in place of its single batch axis.
Shape UnfoldBatch(const ConvolutionBatch& batch, const Shape& input, const Shape& output);
// InvalidArgument if the attribute of the op is not equal to `groups`, the number of groups that follows from the
// shapes.
Status CheckGroups(const ConvolutionBatch& batch, const Shape& input, const Shape& filter, int64_t groups);

// The sizes of one convolution. Input and output are [batch, spatial..., channels], or [batch, channels, spatial...].
// The filter is [spatial..., in_channels / groups, out_channels], and the output channels of group g are those from
// g * out_channels / groups. A depthwise convolution has groups = in_channels. Its filter has the shape
// [spatial..., in_channels, multiplier], with the same elements in the same order as [spatial..., 1, out_channels].
// Sizes are Shape::kUnknownDim if they are unknown.
struct Convolution {
  bool channels_first = false;
  int64_t batch = Shape::kUnknownDim;
  int64_t in_channels = Shape::kUnknownDim;
  int64_t out_channels = Shape::kUnknownDim;
  int64_t groups = Shape::kUnknownDim;
  std::vector<WindowAxis> axes;  // one for each spatial axis

  Shape OutputShape() const;

  friend bool operator==(const Convolution&, const Convolution&) = default;
};

// Checks that the shapes of input, filter and output can belong to one convolution, and combines what they tell about
// it. `output` is unknown for the convolution itself. InvalidArgument, with the shapes, for wrong ranks, channels that
// do not fit, a filter without elements (which gradient ops accept), or what WindowAttrs::Place refuses.
StatusOr<Convolution> MakeConvolution(const WindowAttrs& attrs, const ConvolutionTraits& traits, const Shape& input,
                                      const Shape& filter, const Shape& output);

// The shape of the input, where `sizes` is the value of argument `input_sizes` of a gradient op. Usually `sizes` is
// that shape. For Conv2D it may also be the height and width alone; then the batch and the channels are taken from the
// gradient and the filter. InvalidArgument for another number of elements.
StatusOr<Shape> ConvolutionInputShape(const WindowAttrs& attrs, bool depthwise, const Shape& sizes, const Shape& filter,
                                      const Shape& output);

// The shape rule and the gradient of every convolution op.
Status ConvolutionShape(ShapeContext& c);
Status ConvolutionGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_CONVOLUTION_H_
