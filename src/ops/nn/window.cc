#include "ops/nn/window.h"

#include <algorithm>
#include <string>

#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

constexpr const char* kPaddings = "'SAME', 'VALID' or 'EXPLICIT'";

const std::string* StringAttr(const Node& node, std::string_view name) {
  const AttrValue* attr = node.FindAttr(name);
  return attr == nullptr ? nullptr : attr->get<std::string>();
}

// Copies those elements of an attribute that belong to spatial axes. The attribute must have one element for each axis.
// Other values than 1 for the batch or the channels are an error with the code `uneven`.
Status ReadPerAxis(const Node& node, std::string_view name, const WindowAttrs& a, absl::StatusCode uneven,
                   std::vector<int64_t>* out) {
  const AttrValue* attr = node.FindAttr(name);
  const auto* list = attr == nullptr ? nullptr : attr->get<std::vector<int64_t>>();
  if (list == nullptr || static_cast<int>(list->size()) != a.rank()) {
    return InvalidArgument("attribute '", name, "' must have one element for each of the ", a.rank(),
                           " axes of the input, got ", attr == nullptr ? "nothing" : attr->ToString());
  }
  if ((*list)[0] != 1 || (*list)[a.channel_axis()] != 1) {
    return Status(uneven, StrCat(name == "strides" ? "strides" : "dilations",
                                 " in the batch and depth dimensions are not supported: attribute '", name,
                                 "' must be 1 for the batch and the channels, got ", attr->ToString()));
  }
  out->clear();
  for (int i = 0; i < a.spatial; ++i) {
    out->push_back((*list)[a.spatial_axis(i)]);
    if (out->back() < 1) return InvalidArgument("attribute '", name, "' must be positive, got ", attr->ToString());
  }
  return OkStatus();
}

}  // namespace

std::string_view SpatialAxisName(int i, int spatial) {
  constexpr std::string_view kNames[] = {"depth", "height", "width"};
  if (spatial > 3) return "spatial";
  return kNames[3 - spatial + i];
}

Status PlaceWindow(std::string_view axis, WindowPadding padding, WindowUse use, WindowAxis* w) {
  const bool gradient = use == WindowUse::kGradient;
  if (w->stride < 1 || w->dilation < 1) {
    return InvalidArgument("stride and dilation of the ", axis, " must be positive, got ", w->stride, " and ",
                           w->dilation);
  }
  if (w->window == 0 && !gradient) return InvalidArgument("the window must not be empty, but its ", axis, " is 0");
  if (padding != WindowPadding::kExplicit) w->pad_before = w->pad_after = 0;
  if (w->pad_before < 0 || w->pad_after < 0) {
    return InvalidArgument("padding of the ", axis, " must not be negative, got ", w->pad_before, " and ",
                           w->pad_after);
  }
  int64_t extent;  // from the window's first element to its last, inclusive; at most 0 if the window is unknown
  if (std::max({w->input, w->window, w->stride, w->dilation, w->pad_before, w->pad_after}) > kMostWindowSize ||
      __builtin_mul_overflow(w->window - 1, w->dilation, &extent) || ++extent > kMostWindowSize) {
    return InvalidArgument("the ", axis, " is too large: input ", w->input, ", window ", w->window, ", stride ",
                           w->stride, ", dilation ", w->dilation, ", padding ", w->pad_before, " and ", w->pad_after);
  }
  w->output = Shape::kUnknownDim;
  if (w->input < 0) return OkStatus();
  if (padding == WindowPadding::kSame) {
    w->output = (w->input + w->stride - 1) / w->stride;
    if (w->window < 0 || w->output == 0) return OkStatus();
    const int64_t total = std::max<int64_t>(0, (w->output - 1) * w->stride + extent - w->input);
    w->pad_before = total / 2;
    w->pad_after = total - w->pad_before;
    return OkStatus();
  }
  if (w->window < 0) return OkStatus();
  const int64_t padded = w->input + w->pad_before + w->pad_after;
  if (gradient && padded < extent && padded - extent + 2 * w->stride > 0) {
    w->output = 0;
    return OkStatus();
  }
  if (padded < extent) {
    return InvalidArgument("Computed output size would be negative: the window is larger than the input: its ", axis,
                           " is ", w->window, w->dilation > 1 ? StrCat(" with dilation ", w->dilation) : "",
                           ", that of the input is ", w->input,
                           padded > w->input ? StrCat(", padded to ", padded) : "");
  }
  w->output = (padded - extent) / w->stride + 1;
  return OkStatus();
}

StatusOr<WindowAxis> WindowAttrs::Place(int i, int64_t input, int64_t window, WindowUse use) const {
  WindowAxis w{.input = input, .window = window, .stride = strides[i], .dilation = dilations[i]};
  w.pad_before = pad_before[i];
  w.pad_after = pad_after[i];
  TF_RETURN_IF_ERROR(PlaceWindow(SpatialAxisName(i, spatial), padding, use, &w));
  return w;
}

Shape WindowAttrs::MakeShape(int64_t batch, std::span<const int64_t> sizes, int64_t channels) const {
  Shape shape{batch};
  if (channels_first) shape.AddDim(channels);
  for (const int64_t size : sizes) shape.AddDim(size);
  if (!channels_first) shape.AddDim(channels);
  return shape;
}

StatusOr<WindowPadding> ReadWindowPadding(const Node& node) {
  const std::string* text = StringAttr(node, "padding");
  if (text == nullptr) return InvalidArgument("attribute 'padding' must be ", kPaddings);
  if (*text == "SAME") return WindowPadding::kSame;
  if (*text == "VALID") return WindowPadding::kValid;
  if (*text == "EXPLICIT") return WindowPadding::kExplicit;
  return InvalidArgument("attribute 'padding' must be ", kPaddings, ", got '", *text, "'");
}

StatusOr<bool> ReadChannelsFirst(const Node& node) {
  const std::string* format = StringAttr(node, "data_format");
  if (format == nullptr || *format == "NHWC" || *format == "NDHWC" || *format == "CHANNELS_LAST") return false;
  if (*format == "NCHW" || *format == "NCDHW" || *format == "CHANNELS_FIRST") return true;
  return InvalidArgument("attribute 'data_format' must be 'NHWC', 'NCHW', 'NDHWC', 'NCDHW', 'CHANNELS_LAST' or ",
                         "'CHANNELS_FIRST', got '", *format, "'");
}

StatusOr<WindowAttrs> ReadWindowAttrs(const Node& node, int spatial, std::string_view dilations,
                                      absl::StatusCode uneven_strides) {
  WindowAttrs a;
  a.spatial = spatial;
  TF_ASSIGN_OR_RETURN(a.padding, ReadWindowPadding(node));
  TF_ASSIGN_OR_RETURN(a.channels_first, ReadChannelsFirst(node));
  TF_RETURN_IF_ERROR(ReadPerAxis(node, "strides", a, uneven_strides, &a.strides));
  a.dilations.assign(spatial, 1);
  if (!dilations.empty()) {
    TF_RETURN_IF_ERROR(ReadPerAxis(node, dilations, a, absl::StatusCode::kInvalidArgument, &a.dilations));
  }
  a.pad_before.assign(spatial, 0);
  a.pad_after.assign(spatial, 0);
  const AttrValue* attr = node.FindAttr("explicit_paddings");
  const auto* list = attr == nullptr ? nullptr : attr->get<std::vector<int64_t>>();
  if (a.padding != WindowPadding::kExplicit) {
    if (list != nullptr && !list->empty()) {
      return InvalidArgument("attribute 'explicit_paddings' must be empty unless the padding is EXPLICIT, got ",
                             attr->ToString());
    }
    return a;
  }
  if (list == nullptr || static_cast<int>(list->size()) != 2 * a.rank()) {
    return InvalidArgument("attribute 'explicit_paddings' must have two elements for each of the ", a.rank(),
                           " axes of the input, got ", attr == nullptr ? "nothing" : attr->ToString());
  }
  for (const int axis : {0, a.channel_axis()}) {
    if ((*list)[2 * axis] != 0 || (*list)[2 * axis + 1] != 0) {
      return InvalidArgument("attribute 'explicit_paddings' must be 0 for the batch and the channels, got ",
                             attr->ToString());
    }
  }
  for (int i = 0; i < spatial; ++i) {
    a.pad_before[i] = (*list)[2 * a.spatial_axis(i)];
    a.pad_after[i] = (*list)[2 * a.spatial_axis(i) + 1];
    if (a.pad_before[i] < 0 || a.pad_after[i] < 0) {
      return InvalidArgument("All elements of explicit_paddings must be nonnegative, got ", attr->ToString());
    }
  }
  return a;
}

}  // namespace tensorbraid
