// The convolutional layers: convolutions that make their kernel and bias variables.
#include <algorithm>

#include "graph/model/graph_impl.h"
#include "layers/layer_scope.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid::layers {
namespace {

// What the layers of this file have in common: the geometry of a convolution over `spatial` axes.
class ConvolutionLayer {
 public:
  ConvolutionLayer(const LayerScope& scope, int spatial, const std::vector<int64_t>& kernel,
                   const std::vector<int64_t>& strides, nn::Padding padding, const std::vector<int64_t>& dilations,
                   nn::DataFormat format)
      : scope_(scope), spatial_(spatial), format_(format) {
    if (!scope.ok()) return;
    if (!IsFloating(scope.x().dtype())) {
      scope.Mistake("the input must be floating-point, got ", scope.x().dtype());
      return;
    }
    if (!scope.x().shape().has_rank() || scope.x().shape().rank() != spatial + 2) {
      scope.Mistake("the input must have rank ", spatial + 2, ", got shape ", scope.x().shape());
      return;
    }
    if (padding == nn::Padding::kExplicit) {
      scope.Mistake("padding must be kSame or kValid; pad the input with Pad for other paddings");
      return;
    }
    if (kernel.empty()) {
      scope.Mistake("kernel must be given, such as {3, 3}");
      return;
    }
    channels_ = scope.KnownSize(format == nn::DataFormat::kChannelsLast ? -1 : 1);
    if (channels_ < 0) return;
    kernel_ = ForEachAxis("kernel", kernel);
    strides_ = ForEachAxis("strides", strides);
    options_ = {.strides = strides_,
                .padding = padding,
                .dilations = ForEachAxis("dilations", dilations),
                .data_format = format};
  }

  bool ok() const { return scope_.ok() && channels_ >= 0; }
  int64_t channels() const { return channels_; }
  const std::vector<int64_t>& kernel() const { return kernel_; }
  const std::vector<int64_t>& strides() const { return strides_; }
  const nn::ConvolutionOptions& options() const { return options_; }

  // The kernel's shape [window..., in, out].
  Shape KernelShape(int64_t in, int64_t out) const {
    Shape shape(kernel_);
    shape.AddDim(in);
    shape.AddDim(out);
    return shape;
  }

  Output AddBias(const Output& y, const PartitionedVariable& bias) const {
    if (!y.valid() || !bias.valid()) return {};
    return NodeBuilder(scope_.graph(), "BiasAdd")
        .Input(y)
        .Input(bias.AsTensor())
        .Attr("data_format", format_ == nn::DataFormat::kChannelsLast ? "NHWC" : "NCHW")
        .Output();
  }

 private:
  std::vector<int64_t> ForEachAxis(const char* name, const std::vector<int64_t>& values) const {
    std::vector<int64_t> all = values;
    if (all.empty()) all = {1};
    if (all.size() == 1) all.resize(spatial_, all[0]);
    const bool positive = std::all_of(all.begin(), all.end(), [](int64_t v) { return v > 0; });
    if (static_cast<int>(all.size()) != spatial_ || !positive) {
      scope_.Mistake(name, " must have 1 or ", spatial_, " positive elements, got ", ListText(values));
    }
    return all;
  }

  const LayerScope& scope_;
  const int spatial_;
  const nn::DataFormat format_;
  int64_t channels_ = -1;
  std::vector<int64_t> kernel_, strides_;
  nn::ConvolutionOptions options_;
};

// Records a mistake and returns false if the numbers of filters and groups do not fit the input's channels.
bool CheckFilters(const LayerScope& scope, int64_t channels, int64_t filters, int64_t groups) {
  if (filters < 1) {
    scope.Mistake("filters must be positive, got ", filters);
  } else if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    scope.Mistake("groups must divide the ", channels, " channels of the input and the ", filters, " filters, got ",
                  groups);
  }
  return scope.ok();
}

// Conv1D, Conv2D or Conv3D, a convolution over `spatial` axes.
Output Convolution(const char* name, const char* default_name, int spatial, const Operand& input,
                   const ConvolutionLayerOptions& options,
                   Output (*convolve)(const Operand& x, const Operand& filter, const nn::ConvolutionOptions& options)) {
  const LayerScope scope(name, default_name, input, options.name);
  const ConvolutionLayer layer(scope, spatial, options.kernel, options.strides, options.padding, options.dilations,
                               options.data_format);
  if (!layer.ok() || !CheckFilters(scope, layer.channels(), options.filters, options.groups)) return {};
  const DType dtype = scope.x().dtype();
  const PartitionedVariable kernel =
      scope.Weight("kernel", layer.KernelShape(layer.channels() / options.groups, options.filters), dtype,
                   options.trainable, options.kernel_initializer, /*fallback=*/nullptr, options.kernel_regularizer);
  Output y = convolve(scope.x(), kernel, layer.options());
  if (options.bias) {
    y = layer.AddBias(y, scope.Weight("bias", {options.filters}, dtype, options.trainable, options.bias_initializer,
                                      Zeros(), options.bias_regularizer));
  }
  return y.valid() ? Activate(y, options.activation) : y;
}

// Computes a convolution over one axis as a convolution over images of height 1.
Output ConvolveLines(const Operand& x, const Operand& filter, const nn::ConvolutionOptions& options) {
  nn::ConvolutionOptions with_height = options;
  with_height.strides.insert(with_height.strides.begin(), 1);
  with_height.dilations.insert(with_height.dilations.begin(), 1);
  const int height = options.data_format == nn::DataFormat::kChannelsLast ? 1 : 2;
  return Squeeze(nn::Conv2D(ExpandDims(x, height), ExpandDims(filter, 0), with_height), {height});
}

}  // namespace

Output Conv1D(const Operand& x, const ConvolutionLayerOptions& options) {
  return Convolution("Conv1D", "conv1d", /*spatial=*/1, x, options, ConvolveLines);
}

Output Conv2D(const Operand& x, const ConvolutionLayerOptions& options) {
  return Convolution("Conv2D", "conv2d", /*spatial=*/2, x, options, nn::Conv2D);
}

Output Conv3D(const Operand& x, const ConvolutionLayerOptions& options) {
  return Convolution("Conv3D", "conv3d", /*spatial=*/3, x, options, nn::Conv3D);
}

Output Conv2DTranspose(const Operand& input, const ConvolutionLayerOptions& options) {
  const LayerScope scope("Conv2DTranspose", "conv2d_transpose", input, options.name);
  const ConvolutionLayer layer(scope, /*spatial=*/2, options.kernel, options.strides, options.padding,
                               options.dilations, options.data_format);
  if (!layer.ok() || !CheckFilters(scope, layer.channels(), options.filters, /*groups=*/1)) return {};
  if (options.groups != 1) return scope.Mistake("groups must be 1, got ", options.groups);
  const DType dtype = scope.x().dtype();
  // The kernel of a transposed convolution has shape [window..., out, in].
  const PartitionedVariable kernel =
      scope.Weight("kernel", layer.KernelShape(options.filters, layer.channels()), dtype, options.trainable,
                   options.kernel_initializer, /*fallback=*/nullptr, options.kernel_regularizer);
  nn::Conv2DTransposeOptions transpose{.strides = layer.strides(),
                                       .padding = options.padding,
                                       .dilations = layer.options().dilations,
                                       .data_format = options.data_format};
  // With kValid, if the stride is larger than the window along some axis, the result of TensorFlow's layer ends with
  // elements that no window covers. The op would leave these out, so it is given the size of the result.
  const int first = options.data_format == nn::DataFormat::kChannelsLast ? 1 : 2;
  bool uncovered = false;
  std::vector<int64_t> size;
  for (int i = 0; i < 2; ++i) {
    const int64_t in = scope.x().shape().dim(first + i), stride = layer.strides()[i];
    const int64_t window = (layer.kernel()[i] - 1) * layer.options().dilations[i] + 1;
    uncovered = uncovered || window < stride;
    int64_t out = -1;
    if (in >= 0 && (__builtin_mul_overflow(in, stride, &out) ||
                    __builtin_add_overflow(out, std::max<int64_t>(window - stride, 0), &out))) {
      return scope.Mistake("the result would be too large");
    }
    size.push_back(out);
  }
  if (options.padding == nn::Padding::kValid && uncovered) {
    if (size[0] < 0 || size[1] < 0) {
      return scope.Mistake(
          "with kValid and strides that are larger than the kernel, the input's size must be known; "
          "the shape is ",
          scope.x().shape());
    }
    transpose.output_size = size;
  }
  Output y = nn::Conv2DTranspose(scope.x(), kernel, transpose);
  // The op's shape rule finds the sizes only if the size of the batch is known. The layer also knows them if it is not.
  const int64_t batch = scope.x().shape().dim(0);
  const Shape shape = first == 1 ? Shape({batch, size[0], size[1], options.filters})
                                 : Shape({batch, options.filters, size[0], size[1]});
  if (y.valid() && y.shape().IsCompatibleWith(shape)) ImplOf(scope.graph()).RefineShape(NodeOf(y), 0, shape);
  if (options.bias) {
    y = layer.AddBias(y, scope.Weight("bias", {options.filters}, dtype, options.trainable, options.bias_initializer,
                                      Zeros(), options.bias_regularizer));
  }
  return y.valid() ? Activate(y, options.activation) : y;
}

namespace {

Output Depthwise(const char* name, const char* default_name, bool separable, const Operand& input,
                 const DepthwiseConvolutionLayerOptions& options) {
  const LayerScope scope(name, default_name, input, options.name);
  const ConvolutionLayer layer(scope, /*spatial=*/2, options.kernel, options.strides, options.padding,
                               options.dilations, options.data_format);
  if (!layer.ok()) return {};
  int64_t features = 0;
  if (options.depth_multiplier < 1 || __builtin_mul_overflow(layer.channels(), options.depth_multiplier, &features)) {
    return scope.Mistake("depth_multiplier must be positive and not too large, got ", options.depth_multiplier);
  }
  if (separable && !CheckFilters(scope, features, options.filters, /*groups=*/1)) return {};
  if (!separable && options.filters != 0) {
    return scope.Mistake("filters must be 0, got ", options.filters,
                         "; the number of output channels is depth_multiplier times the number of input channels");
  }
  const DType dtype = scope.x().dtype();
  const PartitionedVariable depthwise = scope.Weight(
      "depthwise_kernel", layer.KernelShape(layer.channels(), options.depth_multiplier), dtype, options.trainable,
      options.depthwise_initializer, /*fallback=*/nullptr, options.depthwise_regularizer);
  Output y = nn::DepthwiseConv2D(scope.x(), depthwise, layer.options());
  if (separable) {
    const PartitionedVariable pointwise =
        scope.Weight("pointwise_kernel", {1, 1, features, options.filters}, dtype, options.trainable,
                     options.pointwise_initializer, /*fallback=*/nullptr, options.pointwise_regularizer);
    y = nn::Conv2D(y, pointwise, {.padding = nn::Padding::kValid, .data_format = options.data_format});
    features = options.filters;
  }
  if (options.bias) {
    y = layer.AddBias(y, scope.Weight("bias", {features}, dtype, options.trainable, options.bias_initializer, Zeros(),
                                      options.bias_regularizer));
  }
  return y.valid() ? Activate(y, options.activation) : y;
}

}  // namespace

Output DepthwiseConv2D(const Operand& x, const DepthwiseConvolutionLayerOptions& options) {
  return Depthwise("DepthwiseConv2D", "depthwise_conv2d", /*separable=*/false, x, options);
}

Output SeparableConv2D(const Operand& x, const DepthwiseConvolutionLayerOptions& options) {
  return Depthwise("SeparableConv2D", "separable_conv2d", /*separable=*/true, x, options);
}

}  // namespace tensorbraid::layers
