// The windows of the pooling ops: the attributes of the ops, and the places of the windows on an input. Shape rules and
// kernels use the same functions. window.h has the geometry of one axis.
#ifndef TENSORBRAID_OPS_NN_POOL_WINDOW_H_
#define TENSORBRAID_OPS_NN_POOL_WINDOW_H_

#include <array>
#include <cstdint>
#include <vector>

#include "ops/nn/window.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

class Node;

// The attributes of a pooling op. Lists have one element for each axis of the input, in the order of its axes.
struct PoolAttrs {
  int spatial = 2;
  bool channels_first = false;
  bool pools_channels = false;  // whether the op may pool over channels instead of over the spatial axes
  // Whether the op accepts windows over channels, but treats them as windows of one channel. TensorFlow's ops with
  // argmax do so: each element is then its own maximum.
  bool ignores_channel_window = false;
  WindowUse use = WindowUse::kForward;
  WindowPadding padding = WindowPadding::kValid;
  std::vector<int64_t> ksize;     // empty if an input of the op gives it
  std::vector<int64_t> strides;   // empty if an input of the op gives it
  std::vector<int64_t> paddings;  // two elements for each axis; empty unless the padding is EXPLICIT

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first ? 1 : rank() - 1; }
  int spatial_axis(int i) const { return i + (channels_first ? 2 : 1); }
};

// The windows on an input. Sizes that are unknown are Shape::kUnknownDim.
struct PoolWindows {
  int64_t batch = 1;
  int64_t channels = 1;
  std::array<WindowAxis, 3> axes;  // depth (1 for images), height, width
  int64_t channel_window = 1;      // the number of channels that become one channel
  Shape output;
};

// Reads the attributes that the node has of padding, data_format, ksize, strides and explicit_paddings. An op whose
// name has "Grad" is a gradient op. InvalidArgument if a list does not have one element (explicit_paddings: two) for
// each axis, or if explicit paddings are negative, pad the batch or the channels, or are given without padding
// EXPLICIT.
StatusOr<PoolAttrs> ReadPoolAttrs(const Node& node, int spatial);

// Sets ksize and strides from tensors, which are inputs of the V2 ops. InvalidArgument unless each is a vector with one
// integer for each axis.
Status SetPoolSizes(const Tensor& ksize, const Tensor& strides, PoolAttrs* attrs);

// Places the windows on an input. REQUIRES: ksize and strides have been set. InvalidArgument if the input has another
// rank than the attributes, or if PlaceWindow returns it for an axis. Unimplemented for windows over the batch. Also
// Unimplemented for windows over channels, unless the op supports them, the window is as long as its stride and divides
// the channels, and there is no window over the spatial axes.
StatusOr<PoolWindows> PlacePool(const PoolAttrs& attrs, const Shape& input);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_POOL_WINDOW_H_
