// Convolutions of images and volumes, and their gradients: schemas, shape rules, gradients.
#include "ops/nn/convolution.h"

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

// Adds a convolution op that has the attributes of `like`, as far as it declares them.
Output AddConvolution(const Operation& like, const std::string& op, const std::vector<Output>& inputs) {
  NodeBuilder b(*like.graph(), op);
  for (const Output& input : inputs) b.Input(input);
  for (const char* attr : {"strides", "padding", "explicit_paddings", "data_format", "dilations"}) {
    const AttrValue* value = NodeOf(like)->FindAttr(attr);
    if (value != nullptr && OpRegistry::Global().Find(op)->FindAttr(attr) != nullptr) b.Attr(attr, *value);
  }
  return b.Output();
}

}  // namespace

ConvolutionTraits ConvolutionTraitsOf(std::string_view op) {
  ConvolutionTraits t;
  if (op.find("BackpropInput") != op.npos) t.result = ConvolutionResult::kInput;
  if (op.find("BackpropFilter") != op.npos) t.result = ConvolutionResult::kFilter;
  if (op.starts_with("Conv3D")) t.spatial = 3;
  t.depthwise = op.starts_with("Depthwise");
  return t;
}

StatusOr<WindowAttrs> ReadConvolutionAttrs(const Node& node) {
  const ConvolutionTraits traits = ConvolutionTraitsOf(node.type());
  // TensorFlow's codes for strides of the batch or the channels.
  const bool unimplemented = node.type() == "Conv2D" || node.type().starts_with("Conv2DBackpropInput");
  const absl::StatusCode uneven_strides =
      unimplemented ? absl::StatusCode::kUnimplemented : absl::StatusCode::kInvalidArgument;
  if (node.type() != "Conv") return ReadWindowAttrs(node, traits.spatial, "dilations", uneven_strides);
  const auto spatial = static_cast<int64_t>(node.attr<std::vector<int64_t>>("strides").size()) - 2;
  if (spatial != 2 && spatial != 3) {
    return InvalidArgument("The input must have 2 or 3 spatial dimensions, but the strides are for ", spatial);
  }
  const bool dilated = !node.attr<std::vector<int64_t>>("dilations").empty();
  return ReadWindowAttrs(node, static_cast<int>(spatial), dilated ? "dilations" : "", uneven_strides);
}

StatusOr<ConvolutionBatch> ReadConvolutionBatch(const Node& node) {
  if (node.type() != "Conv") return ConvolutionBatch();
  const ConvolutionBatch batch{.axes = node.attr<int64_t>("batch_dims"), .groups = node.attr<int64_t>("groups")};
  if (batch.axes < 0 || batch.axes > 250 || batch.groups < 1) {
    return InvalidArgument("batch_dims must not be negative and groups must be positive, got ", batch.axes, " and ",
                           batch.groups);
  }
  return batch;
}

StatusOr<Shape> FoldBatch(const ConvolutionBatch& batch, const WindowAttrs& attrs, const Shape& input) {
  if (batch.axes == 1 || !input.has_rank()) return input;
  if (input.rank() != batch.axes + attrs.spatial + 1) {
    return InvalidArgument("the input must have ", batch.axes, " batch axes, ", attrs.spatial,
                           " spatial axes and the channels, got shape ", input);
  }
  int64_t images = 1;
  for (int i = 0; i < batch.axes; ++i) {
    if (input.dim(i) < 0 || images < 0) {
      images = Shape::kUnknownDim;
    } else if (__builtin_mul_overflow(images, input.dim(i), &images)) {
      return InvalidArgument("the batch of shape ", input, " is too large");
    }
  }
  Shape folded({images});
  for (int i = static_cast<int>(batch.axes); i < input.rank(); ++i) folded.AddDim(input.dim(i));
  return folded;
}

Shape UnfoldBatch(const ConvolutionBatch& batch, const Shape& input, const Shape& output) {
  if (batch.axes == 1) return output;
  if (!input.has_rank()) return Shape::Unknown();
  Shape shape(input.dims().first(static_cast<size_t>(batch.axes)));
  for (int i = 1; i < output.rank(); ++i) shape.AddDim(output.dim(i));
  return shape;
}

Status CheckGroups(const ConvolutionBatch& batch, const Shape& input, const Shape& filter, int64_t groups) {
  if (batch.groups == 0 || groups < 0 || groups == batch.groups) return OkStatus();
  return InvalidArgument("Input depth must be equal to filter depth times the groups: input ", input, " and filter ",
                         filter, " make ", groups, " groups, but groups is ", batch.groups);
}

Shape Convolution::OutputShape() const {
  std::vector<int64_t> sizes;
  for (const WindowAxis& axis : axes) sizes.push_back(axis.output);
  WindowAttrs attrs;
  attrs.channels_first = channels_first;
  return attrs.MakeShape(batch, sizes, out_channels);
}

StatusOr<Convolution> MakeConvolution(const WindowAttrs& attrs, const ConvolutionTraits& traits, const Shape& input,
                                      const Shape& filter, const Shape& output) {
  const int rank = attrs.rank();
  const auto ranked = [&](const char* what, const Shape& shape) -> StatusOr<Shape> {
    if (!shape.has_rank()) return Shape::UnknownOfRank(rank);
    if (shape.rank() != rank) return InvalidArgument(what, " must have rank ", rank, ", got shape ", shape);
    return shape;
  };
  TF_ASSIGN_OR_RETURN(const Shape x, ranked("the input", input));
  TF_ASSIGN_OR_RETURN(const Shape f, ranked("the filter", filter));
  TF_ASSIGN_OR_RETURN(const Shape y, ranked("the gradient of the output", output));
  for (const int64_t size : f.dims()) {
    if (size == 0 && traits.use() == WindowUse::kForward) {
      return InvalidArgument("filter must not have zero elements (i.e. all dimensions must be non-zero), got shape ",
                             f);
    }
  }
  Convolution c;
  c.channels_first = attrs.channels_first;
  c.batch = x.dim(0) >= 0 ? x.dim(0) : y.dim(0);
  c.in_channels = x.dim(attrs.channel_axis());
  const int64_t filter_in = f.dim(rank - 2), filter_out = f.dim(rank - 1);
  if (traits.depthwise) {
    if (c.in_channels < 0) c.in_channels = filter_in;
    if (filter_in >= 0 && filter_in != c.in_channels) {
      return InvalidArgument("a depthwise filter must have as many channels as the input: the input ", x, " has ",
                             c.in_channels, ", the filter ", f, " has ", filter_in);
    }
    c.groups = c.in_channels;
    if (c.groups >= 0 && filter_out >= 0 && __builtin_mul_overflow(c.groups, filter_out, &c.out_channels)) {
      return InvalidArgument("the filter ", f, " has too many channels");
    }
  } else {
    c.out_channels = filter_out;
    if (c.in_channels >= 0 && filter_in >= 0) {
      const bool both_empty = c.in_channels == 0 && filter_in == 0;  // in a gradient op
      if (!both_empty && (c.in_channels == 0 || filter_in == 0 || c.in_channels % filter_in != 0)) {
        return InvalidArgument("the channels of the input must be a multiple of those of the filter: the input ", x,
                               " has ", c.in_channels, ", the filter ", f, " has ", filter_in);
      }
      c.groups = both_empty ? 1 : c.in_channels / filter_in;
      if (filter_out >= 0 && filter_out % c.groups != 0) {
        return InvalidArgument("the output channels must be a multiple of the ", c.groups, " groups that input ", x,
                               " and filter ", f, " make, but the filter has ", filter_out);
      }
    }
  }
  for (int i = 0; i < attrs.spatial; ++i) {
    auto axis = attrs.Place(i, x.dim(attrs.spatial_axis(i)), f.dim(i), traits.use());
    if (!axis.ok()) return Annotate(axis.status(), StrCat("input ", x, " with filter ", f));
    c.axes.push_back(*axis);
  }
  const Shape expected = c.OutputShape();
  if (!y.IsCompatibleWith(expected)) {
    return InvalidArgument("the gradient of the output must have shape ", expected, " for input ", x, " and filter ", f,
                           ", got ", y);
  }
  return c;
}

StatusOr<Shape> ConvolutionInputShape(const WindowAttrs& attrs, bool depthwise, const Shape& sizes, const Shape& filter,
                                      const Shape& output) {
  if (!sizes.has_rank() || sizes.rank() == attrs.rank()) return sizes;
  if (attrs.spatial != 2 || depthwise || sizes.rank() != attrs.spatial) {
    return InvalidArgument("input_sizes must have ", attrs.rank(), " elements, got ", sizes);
  }
  const int64_t batch = output.has_rank() && output.rank() > 0 ? output.dim(0) : Shape::kUnknownDim;
  const int64_t channels =
      filter.has_rank() && filter.rank() == attrs.rank() ? filter.dim(attrs.rank() - 2) : Shape::kUnknownDim;
  return attrs.MakeShape(batch, sizes.dims(), channels);
}

Status ConvolutionShape(ShapeContext& c) {
  const ConvolutionTraits traits = ConvolutionTraitsOf(c.node().type());
  TF_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadConvolutionAttrs(c.node()));
  TF_ASSIGN_OR_RETURN(const ConvolutionBatch batch, ReadConvolutionBatch(c.node()));
  // The shape of input i. The value of an input such as "filter_sizes" is a shape: then returns that shape.
  const auto shape_of = [&](int i) -> StatusOr<Shape> {
    if (!c.node().op().inputs[i].name.ends_with("_sizes")) return c.input(i);
    TF_RETURN_IF_ERROR(c.WithRank(i, 1).status());
    return c.input_as_shape(i);
  };
  TF_ASSIGN_OR_RETURN(Shape input, shape_of(0));
  TF_ASSIGN_OR_RETURN(input, FoldBatch(batch, attrs, input));
  TF_ASSIGN_OR_RETURN(const Shape filter, shape_of(1));
  const Shape output = traits.result == ConvolutionResult::kOutput ? Shape::Unknown() : c.input(2);
  if (traits.result == ConvolutionResult::kInput) {
    TF_ASSIGN_OR_RETURN(input, ConvolutionInputShape(attrs, traits.depthwise, input, filter, output));
  }
  TF_ASSIGN_OR_RETURN(const Convolution conv, MakeConvolution(attrs, traits, input, filter, output));
  switch (traits.result) {
    case ConvolutionResult::kOutput:
      TF_RETURN_IF_ERROR(CheckGroups(batch, input, filter, conv.groups));
      c.set_output(0, UnfoldBatch(batch, c.input(0), conv.OutputShape()));
      break;
    case ConvolutionResult::kInput: {
      std::vector<int64_t> sizes;
      for (const WindowAxis& axis : conv.axes) sizes.push_back(axis.input);
      c.set_output(0, attrs.MakeShape(conv.batch, sizes, conv.in_channels));
      break;
    }
    case ConvolutionResult::kFilter:
      c.set_output(0, filter.has_rank() ? filter : Shape::UnknownOfRank(attrs.rank()));
      break;
  }
  return OkStatus();
}

Status ConvolutionGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const ConvolutionTraits traits = ConvolutionTraitsOf(op.type());
  const std::string version = traits.spatial == 3 ? "V2" : "";  // of the gradient ops that take sizes
  const std::string forward = op.type().substr(0, op.type().find("Backprop"));
  const auto for_input = [&](Output x, Output filter, Output y) {
    return AddConvolution(op, StrCat(forward, "BackpropInput", version), {Node1("Shape", x), filter, y});
  };
  const auto for_filter = [&](Output x, Output filter, Output y) {
    return AddConvolution(op, StrCat(forward, "BackpropFilter", version), {x, Node1("Shape", filter), y});
  };
  const std::vector<Output>& in = NodeOf(op)->inputs();
  const Output g = grads[0];
  switch (traits.result) {
    case ConvolutionResult::kOutput:
      *input_grads = {for_input(in[0], in[1], g), for_filter(in[0], in[1], g)};
      break;
    case ConvolutionResult::kInput:
      *input_grads = {{}, for_filter(g, in[1], in[2]), AddConvolution(op, forward, {g, in[1]})};
      break;
    case ConvolutionResult::kFilter:
      *input_grads = {for_input(in[0], g, in[2]), {}, AddConvolution(op, forward, {in[0], g})};
      break;
  }
  return OkStatus();
}

void RegisterNnConvolutionOps(OpRegistry& r) {
  // `first` and `second` are the first two inputs. `backprop`: the op has the input out_backprop. `integers`: the op
  // has int32, too.
  const auto add2d = [&r](const char* op, const char* first, const char* second, bool backprop, bool integers) {
    Op def(op);
    def.Input(first).Input(second);
    if (backprop) def.Input("out_backprop: T");
    def.Output("output: T")
        .Attr(integers ? "T: {half, bfloat16, float, double, int32}" : "T: {half, bfloat16, float, double}")
        .Attr("strides: list(int)")
        .Attr("use_cudnn_on_gpu: bool = true")
        .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
        .Attr("explicit_paddings: list(int) = []")
        .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
        .Attr("dilations: list(int) = [1, 1, 1, 1]")
        .Shape(ConvolutionShape)
        .Gradient(ConvolutionGradient);
    r.Add(def);
  };
  add2d("Conv2D", "input: T", "filter: T", /*backprop=*/false, /*integers=*/true);
  add2d("Conv2DBackpropInput", "input_sizes: int32", "filter: T", /*backprop=*/true, /*integers=*/true);
  add2d("Conv2DBackpropInputV2", "input: T", "filter: T", /*backprop=*/true, /*integers=*/true);
  add2d("Conv2DBackpropFilter", "input: T", "filter_sizes: int32", /*backprop=*/true, /*integers=*/false);
  add2d("Conv2DBackpropFilterV2", "input: T", "filter: T", /*backprop=*/true, /*integers=*/false);

  r.Add(Op("Conv")
            .Input("input: T")
            .Input("filter: T")
            .Output("output: T")
            .Attr("T: {half, bfloat16, float, double, int32}")
            .Attr("strides: list(int)")
            .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
            .Attr("explicit_paddings: list(int) = []")
            .Attr("data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'")
            .Attr("dilations: list(int) = []")
            .Attr("batch_dims: int = 1")
            .Attr("groups: int = 1")
            .Shape(ConvolutionShape));

  // executor/passes/fuse_biases.cc replaces Conv2D, BiasAdd and perhaps Relu by this op. `fused_ops` names the ops
  // that are applied to the output, and `args` are their other inputs, such as the bias.
  r.Add(Op("_FusedConv2D")
            .Input("input: T")
            .Input("filter: T")
            .Input("args: TArgs")
            .Input("host_args: num_host_args * float")
            .Output("output: T")
            .Attr("T: {half, bfloat16, float, double, int8, qint8}")
            .Attr("TArgs: list(type)")
            .Attr("num_args: int >= 0")
            .Attr("num_host_args: int >= 0 = 0")
            .Attr("strides: list(int)")
            .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
            .Attr("explicit_paddings: list(int) = []")
            .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
            .Attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'")
            .Attr("dilations: list(int) = [1, 1, 1, 1]")
            .Attr("use_cudnn_on_gpu: bool = true")
            .Attr("fused_ops: list(string) = []")
            .Attr("epsilon: float = 0.0001")
            .Attr("leakyrelu_alpha: float = 0.2")
            .Shape(ConvolutionShape));

  constexpr const char* kDilations = "dilations: list(int) = [1, 1, 1, 1, 1]";
  constexpr const char* kFormat = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'";
  const auto add3d = [](const char* op, const char* first, const char* second, bool backprop, const char* types) {
    Op def(op);
    def.Input(first).Input(second);
    if (backprop) def.Input("out_backprop: T");
    def.Output("output: T").Attr(types).Attr("strides: list(int) >= 5").Attr("padding: {'SAME', 'VALID'}");
    def.Attr(kDilations).Shape(ConvolutionShape).Gradient(ConvolutionGradient);
    return def;
  };
  constexpr const char* kFloats = "T: {half, bfloat16, float, double}";
  constexpr const char* kOldFloats = "T: {half, float, double}";
  r.Add(add3d("Conv3D", "input: T", "filter: T", /*backprop=*/false, kFloats).Attr(kFormat));
  r.Add(add3d("Conv3DBackpropInput", "input: T", "filter: T", /*backprop=*/true, kOldFloats));
  r.Add(add3d("Conv3DBackpropInputV2", "input_sizes: Tshape", "filter: T", /*backprop=*/true, kFloats)
            .Attr(kFormat)
            .Attr("Tshape: {int32, int64} = int32"));
  r.Add(add3d("Conv3DBackpropFilter", "input: T", "filter: T", /*backprop=*/true, kOldFloats));
  r.Add(add3d("Conv3DBackpropFilterV2", "input: T", "filter_sizes: int32", /*backprop=*/true, kFloats).Attr(kFormat));
}

}  // namespace tensorbraid
