// The public functions that normalize tensors, and Dropout.
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/ops/random.h"

namespace tensorbraid::nn {
namespace {

// (x - mean) / sqrt(variance + epsilon) * scale + offset. An invalid scale or offset is left out.
Output Normalize(Output x, Output mean, Output variance, Output scale, Output offset, double epsilon,
                 const std::string& name) {
  Output factor = Rsqrt(variance + epsilon);
  if (scale.valid()) factor = factor * scale;
  const Output shift = offset.valid() ? offset - mean * factor : -(mean * factor);
  return Add(x * factor, shift, name);
}

}  // namespace

MeanAndVariance Moments(const Operand& x, const Axes& axes, const ReduceOptions& options) {
  Graph* graph = GraphOf("Moments", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  if (!in.valid()) return {};
  const auto scope = graph->NameScope(options.name.empty() ? "moments" : options.name);
  const bool narrow = in.dtype() == kFloat16 || in.dtype() == kBfloat16;
  const Output wide = narrow ? Cast(in, kFloat32) : in;
  const Output mean = ReduceMean(wide, axes, {.keep_dims = true, .name = "mean"});
  // No gradient flows through the mean here, because that gradient would be 0: the sum of x - mean is 0.
  const Output squares = Square(wide - StopGradient(mean));
  Output variance = ReduceMean(squares, axes, {.keep_dims = options.keep_dims, .name = "variance"});
  Output result = options.keep_dims ? mean : ReduceMean(wide, axes, {.name = "mean_without_axes"});
  if (narrow) {
    result = Cast(result, in.dtype());
    variance = Cast(variance, in.dtype());
  }
  return {result, variance};
}

Output BatchNormalization(const Operand& x, const Operand& mean, const Operand& variance,
                          const BatchNormalizationOptions& options) {
  Graph* graph = GraphOf("BatchNormalization", {&x, &mean, &variance});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const auto scope = graph->NameScope(options.name.empty() ? "batchnorm" : options.name);
  const Output in = x.ToOutput(*graph);
  return Normalize(in, mean.ToOutput(*graph, in.dtype()), variance.ToOutput(*graph, in.dtype()), options.scale,
                   options.offset, options.epsilon, "");
}

Output LayerNormalization(const Operand& x, const LayerNormalizationOptions& options) {
  Graph* graph = GraphOf("LayerNormalization", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const auto scope = graph->NameScope(options.name.empty() ? "layernorm" : options.name);
  const Output in = x.ToOutput(*graph);
  const MeanAndVariance moments = Moments(in, options.axes, {.keep_dims = true});
  return Normalize(in, moments.mean, moments.variance, options.scale, options.offset, options.epsilon, "");
}

FusedBatchNormResult FusedBatchNorm(const Operand& x, const Operand& scale, const Operand& offset,
                                    const FusedBatchNormOptions& options) {
  Graph* graph = GraphOf("FusedBatchNormV3", {&x, &scale, &offset});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const Output in = x.ToOutput(*graph);
  if (!in.valid()) return {};
  // Whether the op reads mean and variance.
  const bool reads = !options.training || options.exponential_avg_factor != 1.0;
  if (reads != (options.mean.valid() && options.variance.valid()) || options.mean.valid() != options.variance.valid()) {
    graph->AddError(InvalidArgument(
        "FusedBatchNorm (", LocationText(ImplOf(*graph).UserLine(x.location())), "): mean and variance ",
        reads ? "must be given unless training with exponential_avg_factor 1"
              : "are not read when training with exponential_avg_factor 1; leave them out"));
    return {};
  }
  const Output none = reads ? Output() : Const(*graph, Tensor(kFloat32, {0}));
  const bool volume = in.shape().has_rank() && in.shape().rank() == 5;
  const bool first = options.data_format == DataFormat::kChannelsFirst;
  const Operation op = NodeBuilder(*graph, "FusedBatchNormV3", x.location())
                           .Name(options.name)
                           .Input(in)
                           .Input(scale.ToOutput(*graph, kFloat32))
                           .Input(offset.ToOutput(*graph, kFloat32))
                           .Input(reads ? options.mean : none)
                           .Input(reads ? options.variance : none)
                           .Attr("epsilon", options.epsilon)
                           .Attr("exponential_avg_factor", options.exponential_avg_factor)
                           .Attr("is_training", options.training)
                           .Attr("data_format", volume  ? (first ? "NCDHW" : "NDHWC")
                                                : first ? "NCHW"
                                                        : "NHWC")
                           .Finish();
  if (!op.valid()) return {};
  return {op.output(0), op.output(1), op.output(2)};
}

Output LocalResponseNormalization(const Operand& x, const LocalResponseNormalizationOptions& options) {
  Graph* graph = GraphOf("LRN", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  return NodeBuilder(*graph, "LRN", x.location())
      .Name(options.name)
      .Input(x.ToOutput(*graph))
      .Attr("depth_radius", options.depth_radius)
      .Attr("bias", options.bias)
      .Attr("alpha", options.alpha)
      .Attr("beta", options.beta)
      .Output();
}

Output Dropout(const Operand& x, const Operand& rate, int64_t seed, const std::string& name) {
  Graph* graph = GraphOf("Dropout", {&x, &rate});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  const auto scope = graph->NameScope(name.empty() ? "dropout" : name);
  const Output in = x.ToOutput(*graph);
  if (!in.valid()) return {};
  const Output dropped = rate.ToOutput(*graph, in.dtype());
  // A rate that is a plain number is checked now, if x is float32 or float64.
  const Output value = rate.is_number() && dropped.valid() ? dropped : Output();
  if (value.valid()) {
    const auto& number = NodeOf(value)->attr<Tensor>("value");
    const double r = number.dtype() == kFloat32   ? number.scalar<float>()
                     : number.dtype() == kFloat64 ? number.scalar<double>()
                                                  : 0;
    if (!(r >= 0 && r < 1)) {
      graph->AddError(InvalidArgument("Dropout (", LocationText(ImplOf(*graph).UserLine(x.location())),
                                      "): rate must be at least 0 and below 1, got ", r));
      return {};
    }
  }
  const Output shape = Node1("Shape", in);
  const Output random =
      RandomUniform(*graph, RandomShape(shape), {.dtype = in.dtype(), .seed = seed, .name = "random_uniform"});
  // As in TensorFlow, Select chooses between 0 and the scaled elements. So the dropped elements are 0 even where x is
  // infinite.
  return Select(GreaterEqual(random, dropped), in / (1.0 - dropped), 0.0);
}

}  // namespace tensorbraid::nn
