// The geometry of windows that slide over the spatial axes of a tensor: convolutions, pooling, dilation. Shape rules
// and kernels use the same functions, so that they agree on every size and refuse the same attributes.
#ifndef TENSORBRAID_OPS_NN_WINDOW_H_
#define TENSORBRAID_OPS_NN_WINDOW_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

class Node;

enum class WindowPadding {
  kSame,      // such that output = ceil(input / stride); if the total is odd, one more after than before the input
  kValid,     // none
  kExplicit,  // given by an attribute
};

// A window on one axis. Sizes are in elements; Shape::kUnknownDim if they are unknown. Output element o sees the input
// elements o * stride - pad_before + j * dilation, for j in [0, window), as far as these exist.
struct WindowAxis {
  int64_t input = 1;
  int64_t window = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t output = 1;
  int64_t pad_before = 0;
  int64_t pad_after = 0;

  // The part of the window that is inside the input, for output element o: j in [FirstInside, EndInside).
  int64_t FirstInside(int64_t o) const {
    const int64_t start = o * stride - pad_before;
    return start >= 0 ? 0 : (-start + dilation - 1) / dilation;
  }
  int64_t EndInside(int64_t o) const {
    const int64_t room = input - (o * stride - pad_before);  // elements from the window's start to the input's end
    const int64_t end = room <= 0 ? 0 : (room - 1) / dilation + 1;
    return end < window ? end : window;
  }

  friend bool operator==(const WindowAxis&, const WindowAxis&) = default;
};

// Whether an op computes values of windows, or a gradient of such an op.
enum class WindowUse { kForward, kGradient };

// Sizes, strides, dilations and padding above this are refused, so that sums of them do not overflow.
inline constexpr int64_t kMostWindowSize = int64_t{1} << 48;

// Computes `output`, and for SAME the padding, from the other fields. With EXPLICIT, the caller has set the padding;
// VALID sets it to 0. If the input or window is unknown, the padding for SAME is 0, and the output is unknown if it
// depends on the unknown size. InvalidArgument, naming the axis ("height"): if the window, stride or dilation is below
// 1 or padding is negative, if the window with its dilation is larger than the padded input (not with SAME), or if a
// size exceeds kMostWindowSize. A gradient op also accepts, as in TensorFlow, an empty window, and a window that is
// less than a stride too large for the input; `output` is 0 for the latter.
Status PlaceWindow(std::string_view axis, WindowPadding padding, WindowUse use, WindowAxis* w);

// The attributes of a window op, for the `spatial` axes between the batch and the channels. Vectors have one element
// for each spatial axis.
struct WindowAttrs {
  int spatial = 2;
  bool channels_first = false;  // [batch, channels, spatial...] instead of [batch, spatial..., channels]
  WindowPadding padding = WindowPadding::kValid;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;   // 1 if the op has none
  std::vector<int64_t> pad_before;  // 0 unless the padding is EXPLICIT
  std::vector<int64_t> pad_after;

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first ? 1 : rank() - 1; }
  int spatial_axis(int i) const { return i + (channels_first ? 2 : 1); }
  // Places a window on spatial axis i.
  StatusOr<WindowAxis> Place(int i, int64_t input, int64_t window, WindowUse use) const;
  // The shape [batch, spatial..., channels] in the order of the data format.
  Shape MakeShape(int64_t batch, std::span<const int64_t> sizes, int64_t channels) const;
};

// Reads the attributes padding, strides, `dilations` (its name; "" if the op has none), explicit_paddings and
// data_format, as far as the node has them. InvalidArgument if an attribute does not have one element for each axis
// (explicit_paddings: two), if a dilation of the batch or the channels is not 1, if a stride or dilation of a spatial
// axis is below 1, or if explicit paddings are given without padding EXPLICIT, are negative, or pad the batch or the
// channels. An error with the code `uneven_strides` if a stride of the batch or the channels is not 1; TensorFlow's ops
// differ in this code.
StatusOr<WindowAttrs> ReadWindowAttrs(const Node& node, int spatial, std::string_view dilations,
                                      absl::StatusCode uneven_strides = absl::StatusCode::kUnimplemented);

// Reads the attributes padding and data_format alone. InvalidArgument for other values than TensorFlow's.
StatusOr<WindowPadding> ReadWindowPadding(const Node& node);
StatusOr<bool> ReadChannelsFirst(const Node& node);

// The name of spatial axis i of `spatial` axes, for messages: "height".
std::string_view SpatialAxisName(int i, int spatial);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_NN_WINDOW_H_
