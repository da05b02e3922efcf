#include "ops/nn/pool_window.h"

#include <string>
#include <utility>

#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

const std::vector<int64_t>* PoolIntegers(const Node& node, const char* name) {
  const AttrValue* attr = node.FindAttr(name);
  return attr == nullptr ? nullptr : attr->get<std::vector<int64_t>>();
}

Status CheckPoolList(const char* name, const std::vector<int64_t>& list, int axes, const char* elements) {
  if (static_cast<int>(list.size()) == axes) return OkStatus();
  return InvalidArgument(name, " must have ", elements, " for each axis of the input, ", axes, " in all, got ",
                         AttrValue(list).ToString());
}

// The sides of depth, height and width.
constexpr const char* kPoolSides[] = {"Front", "Back", "Top", "Bottom", "Left", "Right"};

StatusOr<std::vector<int64_t>> PoolVectorOf(const char* name, const Tensor& t, int rank) {
  if (t.dtype() != kInt32 || t.shape() != Shape({rank})) {
    return InvalidArgument(name, " must be a vector of ", rank, " integers, got ", t.dtype(), " of shape ", t.shape());
  }
  return std::vector<int64_t>(t.data<int32_t>().begin(), t.data<int32_t>().end());
}

}  // namespace

StatusOr<PoolAttrs> ReadPoolAttrs(const Node& node, int spatial) {
  PoolAttrs a;
  a.spatial = spatial;
  if (node.type().find("Grad") != std::string::npos) a.use = WindowUse::kGradient;
  a.ignores_channel_window = node.type().ends_with("WithArgmax");
  TF_ASSIGN_OR_RETURN(a.padding, ReadWindowPadding(node));
  TF_ASSIGN_OR_RETURN(a.channels_first, ReadChannelsFirst(node));
  if (const auto* list = PoolIntegers(node, "ksize")) {
    TF_RETURN_IF_ERROR(CheckPoolList("attribute 'ksize'", *list, a.rank(), "one element"));
    a.ksize = *list;
  }
  if (const auto* list = PoolIntegers(node, "strides")) {
    TF_RETURN_IF_ERROR(CheckPoolList("attribute 'strides'", *list, a.rank(), "one element"));
    a.strides = *list;
  }
  const auto* paddings = PoolIntegers(node, "explicit_paddings");
  if (a.padding != WindowPadding::kExplicit) {
    if (paddings == nullptr || paddings->empty()) return a;
    return InvalidArgument("attribute 'explicit_paddings' must be empty unless the padding is EXPLICIT, got ",
                           AttrValue(*paddings).ToString());
  }
  if (paddings == nullptr) return InvalidArgument("this op does not support padding EXPLICIT; use SAME or VALID");
  TF_RETURN_IF_ERROR(CheckPoolList("attribute 'explicit_paddings'", *paddings, 2 * a.rank(), "two elements"));
  for (int axis = 0; axis < a.rank(); ++axis) {
    const int64_t before = (*paddings)[2 * axis], after = (*paddings)[2 * axis + 1];
    if (before < 0 || after < 0) {
      return InvalidArgument("All elements of explicit_paddings must be nonnegative, got ",
                             AttrValue(*paddings).ToString());
    }
    if ((axis == 0 || axis == a.channel_axis()) && before + after != 0) {
      return InvalidArgument("attribute 'explicit_paddings' must be 0 for the batch and the channels, got ",
                             AttrValue(*paddings).ToString());
    }
  }
  a.paddings = *paddings;
  return a;
}

Status SetPoolSizes(const Tensor& ksize, const Tensor& strides, PoolAttrs* attrs) {
  TF_ASSIGN_OR_RETURN(attrs->ksize, PoolVectorOf("ksize", ksize, attrs->rank()));
  TF_ASSIGN_OR_RETURN(attrs->strides, PoolVectorOf("strides", strides, attrs->rank()));
  return OkStatus();
}

StatusOr<PoolWindows> PlacePool(const PoolAttrs& a, const Shape& input) {
  if (input.has_rank() && input.rank() != a.rank()) {
    return InvalidArgument("the input must have rank ", a.rank(), ", got shape ", input);
  }
  const auto size_of = [&](int axis) { return input.has_rank() ? input.dim(axis) : Shape::kUnknownDim; };
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a.ksize[axis] < 1 || a.strides[axis] < 1) {
      return InvalidArgument("Sliding window ", a.ksize[axis] < 1 ? "ksize" : "strides",
                             " must be positive, got ksize ", AttrValue(a.ksize).ToString(), " and strides ",
                             AttrValue(a.strides).ToString());
    }
  }
  if (a.ksize[0] != 1 || a.strides[0] != 1) {
    return Unimplemented("Pooling is not yet supported on the batch dimension: ksize ", AttrValue(a.ksize).ToString(),
                         ", strides ", AttrValue(a.strides).ToString());
  }
  PoolWindows p;
  p.channel_window = a.ksize[a.channel_axis()];
  const int64_t channel_stride = a.strides[a.channel_axis()];
  p.batch = size_of(0);
  p.channels = size_of(a.channel_axis());
  bool spatial = false;
  for (int i = 0; i < a.spatial; ++i) {
    const int axis = a.spatial_axis(i);
    // p.axes are depth, height and width. Images have no depth, so their axes are the last two.
    const int axis_of_three = 3 - a.spatial + i;
    WindowAxis& w = p.axes[axis_of_three];
    w.input = size_of(axis);
    w.window = a.ksize[axis];
    w.stride = a.strides[axis];
    if (!a.paddings.empty()) {
      w.pad_before = a.paddings[2 * axis];
      w.pad_after = a.paddings[2 * axis + 1];
      if (w.pad_before >= w.window || w.pad_after >= w.window) {
        const bool before = w.pad_before >= w.window;
        return InvalidArgument(kPoolSides[2 * axis_of_three + (before ? 0 : 1)], " padding ",
                               before ? w.pad_before : w.pad_after, " needs to be smaller than the window size ",
                               w.window, ", so that no window is outside of the input");
      }
    }
    TF_RETURN_IF_ERROR(PlaceWindow(SpatialAxisName(i, a.spatial), a.padding, a.use, &w));
    spatial = spatial || w.window != 1 || w.stride != 1;
  }
  int64_t channels = p.channels;
  if (p.channel_window != 1 || channel_stride != 1) {
    const bool divides = p.channels < 0 || p.channels % p.channel_window == 0;
    const bool supported = a.pools_channels || a.ignores_channel_window;
    if (!supported || spatial || p.channel_window != channel_stride || !divides) {
      // The messages begin as TensorFlow's do. If several reasons apply, the first is given.
      const char* const why =
          spatial ? "MaxPooling supports exactly one of pooling across depth or pooling across width/height"
          : p.channel_window != channel_stride
              ? "Depthwise max pooling requires the depth window to equal the depth stride"
          : !divides ? "Depthwise max pooling requires the depth window to evenly divide the input depth"
                     : "Non-spatial pooling is not yet supported: this op cannot have a window over channels";
      return Unimplemented(why, "; got ksize ", AttrValue(a.ksize).ToString(), " and strides ",
                           AttrValue(a.strides).ToString(), " for shape ", input);
    }
    if (a.ignores_channel_window) p.channel_window = 1;
    if (channels >= 0) channels /= p.channel_window;
  }
  p.output = Shape::UnknownOfRank(a.rank());
  p.output.set_dim(0, p.batch);
  p.output.set_dim(a.channel_axis(), channels);
  for (int i = 0; i < a.spatial; ++i) p.output.set_dim(a.spatial_axis(i), p.axes[3 - a.spatial + i].output);
  return p;
}

}  // namespace tensorbraid
