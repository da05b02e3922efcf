// The public functions for convolutions and grayscale dilation.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid::nn {
namespace {

constexpr const char* TextOf(Padding padding) {
  return padding == Padding::kSame ? "SAME" : padding == Padding::kValid ? "VALID" : "EXPLICIT";
}

// Turns the lists in the options of a function, which have elements for the spatial axes, into attributes, which have
// elements for all axes of the tensor.
class WindowAttributes {
 public:
  WindowAttributes(int spatial, DataFormat format)
      : spatial_(spatial), channels_first_(format == DataFormat::kChannelsFirst) {}

  // Returns one number for each spatial axis. The list has one for each of them, one for all, or none, which means 1.
  StatusOr<std::vector<int64_t>> PerSpatialAxis(const char* what, const std::vector<int64_t>& list) const {
    if (list.size() > 1 && static_cast<int>(list.size()) != spatial_) {
      return InvalidArgument(what, " must have no, one or ", spatial_, " elements, got ", list.size());
    }
    std::vector<int64_t> values(spatial_, list.empty() ? 1 : list[0]);
    if (list.size() > 1) values = list;
    return values;
  }
  // As PerSpatialAxis, with 1 for the batch and the channels.
  StatusOr<std::vector<int64_t>> PerAxis(const char* what, const std::vector<int64_t>& list) const {
    TF_ASSIGN_OR_RETURN(std::vector<int64_t> values, PerSpatialAxis(what, list));
    values.insert(values.begin(), 1);
    values.insert(channels_first_ ? values.begin() : values.end(), 1);
    return values;
  }
  StatusOr<std::vector<int64_t>> Paddings(Padding padding,
                                          const std::vector<std::pair<int64_t, int64_t>>& paddings) const {
    if (padding != Padding::kExplicit) {
      if (!paddings.empty()) return InvalidArgument("explicit_paddings need Padding::kExplicit");
      return std::vector<int64_t>();
    }
    if (static_cast<int>(paddings.size()) != spatial_) {
      return InvalidArgument("explicit_paddings must have ", spatial_, " pairs, got ", paddings.size());
    }
    std::vector<int64_t> values(2 * (spatial_ + 2), 0);
    for (int i = 0; i < spatial_; ++i) {
      const int axis = i + (channels_first_ ? 2 : 1);
      values[2 * axis] = paddings[i].first;
      values[2 * axis + 1] = paddings[i].second;
    }
    return values;
  }
  std::string data_format() const {
    if (spatial_ == 3) return channels_first_ ? "NCDHW" : "NDHWC";
    return channels_first_ ? "NCHW" : "NHWC";
  }

 private:
  const int spatial_;
  const bool channels_first_;
};

struct WindowOp {
  const char* op;
  int spatial = 2;                      // the number of spatial axes
  const char* dilations = "dilations";  // the name of the attribute
  bool has_data_format = true;
};

// Sets the attributes of the op according to `options`.
template <typename Options>
Status SetWindowAttrs(const WindowOp& op, const Options& options, NodeBuilder* b) {
  const WindowAttributes attributes(op.spatial, options.data_format);
  TF_ASSIGN_OR_RETURN(std::vector<int64_t> strides, attributes.PerAxis("strides", options.strides));
  TF_ASSIGN_OR_RETURN(std::vector<int64_t> dilations, attributes.PerAxis("dilations", options.dilations));
  TF_ASSIGN_OR_RETURN(std::vector<int64_t> paddings, attributes.Paddings(options.padding, options.explicit_paddings));
  b->Attr("strides", std::move(strides)).Attr(op.dilations, std::move(dilations));
  b->Attr("padding", TextOf(options.padding));
  if (!paddings.empty()) b->Attr("explicit_paddings", std::move(paddings));
  if (op.has_data_format) {
    b->Attr("data_format", attributes.data_format());
  } else if (options.data_format != DataFormat::kChannelsLast) {
    return InvalidArgument("data_format must be kChannelsLast");
  }
  if (options.padding == Padding::kExplicit &&
      OpRegistry::Global().Find(op.op)->FindAttr("explicit_paddings") == nullptr) {
    return InvalidArgument("padding must be kSame or kValid");
  }
  return OkStatus();
}

// Adds the node. An error in the options becomes an error of the graph (Graph::status).
template <typename Options>
Output AddWindowOp(const WindowOp& op, Graph& graph, const std::vector<Output>& inputs, const Options& options,
                   const std::source_location& location) {
  NodeBuilder b(graph, op.op, location);
  b.Name(options.name);
  for (const Output& input : inputs) b.Input(input);
  if (const Status set = SetWindowAttrs(op, options, &b); !set.ok()) {
    graph.AddError(Annotate(set, StrCat(op.op, " (", LocationText(ImplOf(graph).UserLine(location)), ")")));
    return {};
  }
  return b.Output();
}

Output AddWindowOp(const WindowOp& op, const Operand& x, const Operand& filter, const ConvolutionOptions& options) {
  Graph* graph = GraphOf(op.op, {&x, &filter});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output input = x.ToOutput(*graph);
  return AddWindowOp(op, *graph, {input, filter.ToOutput(*graph, input.dtype())}, options, x.location());
}

// Returns InvalidArgument unless the size fits into int32, the dtype in which the op takes sizes.
Status CheckSize(double size) {
  if (size >= 0 && size <= std::numeric_limits<int32_t>::max()) return OkStatus();
  return InvalidArgument("the size of the result must be from 0 to 2147483647, got ", size);
}

// The height and width of a transposed convolution's result, as an int32 vector: output_size if it is given, else the
// size for which every element of the result is in some window.
StatusOr<Output> TransposedSize(Output x, Output filter, const Conv2DTransposeOptions& options) {
  Graph& graph = *x.graph();
  const WindowAttributes attributes(2, options.data_format);
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, attributes.PerSpatialAxis("strides", options.strides));
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> dilations, attributes.PerSpatialAxis("dilations", options.dilations));
  if (!options.output_size.empty()) {
    if (options.output_size.size() != 2) {
      return InvalidArgument("output_size must be {height, width}, got ", options.output_size.size(), " numbers");
    }
    for (const int64_t size : options.output_size) TF_RETURN_IF_ERROR(CheckSize(static_cast<double>(size)));
    return ConstantVector(graph, options.output_size);
  }
  if (options.padding == Padding::kExplicit && options.explicit_paddings.size() != 2) {
    return InvalidArgument("explicit_paddings must have 2 pairs, got ", options.explicit_paddings.size());
  }
  // SAME: size * stride. Else (size - 1) * stride + the window's extent - the padding.
  const int first = options.data_format == DataFormat::kChannelsFirst ? 2 : 1;
  const bool same = options.padding == Padding::kSame;
  const auto padding = [&](int i) {
    if (options.padding != Padding::kExplicit) return int64_t{0};
    return options.explicit_paddings[i].first + options.explicit_paddings[i].second;
  };
  const auto known_size = [](Output tensor, int axis) {
    return tensor.shape().has_rank() && tensor.shape().rank() == 4 ? tensor.shape().dim(axis) : Shape::kUnknownDim;
  };
  std::vector<int64_t> sizes;
  for (const int i : {0, 1}) {
    const int64_t size = known_size(x, first + i), window = same ? 1 : known_size(filter, i);
    if (size < 0 || window < 0) continue;
    const auto stride = static_cast<double>(strides[i]), dilation = static_cast<double>(dilations[i]);
    const double result = same ? static_cast<double>(size) * stride
                               : static_cast<double>(size - 1) * stride + static_cast<double>(window - 1) * dilation +
                                     1 - static_cast<double>(padding(i));
    TF_RETURN_IF_ERROR(CheckSize(result));
    sizes.push_back(static_cast<int64_t>(result));
  }
  if (sizes.size() == 2) return ConstantVector(graph, sizes);
  const auto constant = [&](const std::function<int64_t(int)>& value) {
    return ConstantVector(graph, {value(0), value(1)});
  };
  const Output scale = constant([&](int i) { return strides[i]; });
  const Output in = Slice(Node1("Shape", x), ConstantVector(graph, {first}), ConstantVector(graph, {2}));
  if (same) return in * scale;
  const Output windows = Slice(Node1("Shape", filter), ConstantVector(graph, {0}), ConstantVector(graph, {2}));
  const Output extents = (windows - 1) * constant([&](int i) { return dilations[i]; }) + 1;
  const Output sum = (in - 1) * scale + extents;
  return options.padding == Padding::kValid ? sum : sum - constant(padding);
}

}  // namespace

Output Conv2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options) {
  return AddWindowOp({.op = "Conv2D"}, x, filter, options);
}
Output DepthwiseConv2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options) {
  return AddWindowOp({.op = "DepthwiseConv2dNative"}, x, filter, options);
}
Output Conv3D(const Operand& x, const Operand& filter, const ConvolutionOptions& options) {
  return AddWindowOp({.op = "Conv3D", .spatial = 3}, x, filter, options);
}
Output Dilation2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options) {
  return AddWindowOp({.op = "Dilation2D", .dilations = "rates", .has_data_format = false}, x, filter, options);
}

Output Conv2DTranspose(const Operand& x, const Operand& filter, const Conv2DTransposeOptions& options) {
  constexpr const char* kOp = "Conv2DBackpropInput";
  Graph* graph = GraphOf(kOp, {&x, &filter});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output y = x.ToOutput(*graph);
  const Output f = filter.ToOutput(*graph, y.dtype());
  if (!y.valid() || !f.valid()) return {};
  const auto size = TransposedSize(y, f, options);
  if (!size.ok()) {
    graph->AddError(
        Annotate(size.status(), StrCat("Conv2DTranspose (", LocationText(ImplOf(*graph).UserLine(x.location())), ")")));
    return {};
  }
  return AddWindowOp({.op = kOp}, *graph, {*size, f, y}, options, x.location());
}

}  // namespace tensorbraid::nn
