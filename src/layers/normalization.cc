// The layers for batch and layer normalisation.
#include <algorithm>
#include <set>

#include "layers/branches.h"
#include "layers/layer_scope.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "variables/update_ops.h"

namespace tensorbraid::layers {
namespace {

// Statistics and scales of 16-bit inputs are kept in float32.
DType ParameterType(DType input) { return input == kFloat64 ? kFloat64 : kFloat32; }

// (x - mean) / sqrt(variance + epsilon) * gamma + beta as x * factor + shift; gamma and beta may be invalid.
struct Affine {
  Output factor;
  Output shift;
};

Affine Normalizer(const Output& mean, const Output& variance, const Output& gamma, const Output& beta, double epsilon) {
  Output factor = Rsqrt(variance + epsilon);
  if (gamma.valid()) factor = factor * gamma;
  return {factor, beta.valid() ? beta - mean * factor : -(mean * factor)};
}

// Names the inputs of the branches (SelectBranch), which are in this order.
struct BatchNormInputs {
  explicit BatchNormInputs(const std::vector<Output>& in)
      : x(in[0]), gamma(in[1]), beta(in[2]), mean(in[3]), variance(in[4]) {}
  const Output &x, &gamma, &beta, &mean, &variance;
};

std::vector<Output> ImageBatchNorm(const std::vector<Output>& inputs, bool training, bool channels_first,
                                   double epsilon) {
  const BatchNormInputs in(inputs);
  nn::FusedBatchNormOptions options{.training = training, .epsilon = epsilon};
  options.data_format = channels_first ? nn::DataFormat::kChannelsFirst : nn::DataFormat::kChannelsLast;
  if (!training) {
    options.mean = in.mean;
    options.variance = in.variance;
  }
  const nn::FusedBatchNormResult result = nn::FusedBatchNorm(in.x, in.gamma, in.beta, options);
  return {result.y, training ? result.mean : in.mean, training ? result.variance : in.variance};
}

// Normalises inputs that are not images, with elementary ops in the dtype of the parameters.
std::vector<Output> GeneralBatchNorm(const std::vector<Output>& inputs, bool training, int axis, double epsilon) {
  const BatchNormInputs in(inputs);
  const Output x = Cast(in.x, in.mean.dtype());
  std::vector<int64_t> axes, sizes(x.shape().rank(), 1);
  for (int i = 0; i < x.shape().rank(); ++i) {
    if (i != axis) axes.push_back(i);
  }
  sizes[axis] = x.shape().dim(axis);
  const bool last = axis == x.shape().rank() - 1;
  const auto aligned = [&](const Output& vector) { return last ? vector : Reshape(vector, sizes); };
  Output mean = in.mean, variance = in.variance;
  if (training) {
    mean = ReduceMean(x, axes);
    variance = ReduceMean(SquaredDifference(x, aligned(StopGradient(mean))), axes);
  }
  const Affine to = Normalizer(mean, variance, in.gamma, in.beta, epsilon);
  return {Cast(x * aligned(to.factor) + aligned(to.shift), in.x.dtype()), mean, variance};
}

// Adds an update that moves an average towards the batch's value. A step runs the update if the gradients that it
// computes depend on `layer` (AddUpdateOp). If `training` is a tensor that is false, the average stays as it is.
void UpdateAverage(const Variable& average, const Output& batch, const Output& layer, const Training& training,
                   double momentum) {
  Graph& graph = *average.graph();
  auto place = graph.ColocateWith(average.handle().op());
  Output rate = Operand(1 - momentum).ToOutput(graph, average.dtype());
  if (training.is_tensor()) rate = Select(training.tensor(), rate, Operand(0.0).ToOutput(graph, average.dtype()));
  const Operation update = average.AssignSub((average - batch) * rate);
  AddUpdateOp(update, average, layer);
}

}  // namespace

Output BatchNorm(const Operand& input, const BatchNormOptions& options) {
  const LayerScope layer("BatchNorm", "batch_normalization", input, options.name);
  if (!layer.ok()) return {};
  const Output& x = layer.x();
  if (!IsFloating(x.dtype())) return layer.Mistake("the input must be floating-point, got ", x.dtype());
  const int axis = layer.Dim(options.axis);
  if (axis < 0) return {};
  const int rank = x.shape().rank();
  if (rank < 2) return layer.Mistake("the input must have rank 2 or more, got shape ", x.shape());
  const int64_t features = layer.KnownSize(options.axis);
  if (features < 0) return {};
  if (!(options.momentum >= 0 && options.momentum <= 1)) {
    return layer.Mistake("momentum must be between 0 and 1, got ", options.momentum);
  }
  if (!(options.epsilon >= 0)) return layer.Mistake("epsilon must not be negative, got ", options.epsilon);
  const Training& training = options.training;
  if (!layer.CheckTraining(training)) return {};

  const DType dtype = ParameterType(x.dtype());
  const Shape shape({features});
  const auto or_else = [](const Initializer& given, const Initializer& otherwise) { return given ? given : otherwise; };
  const Output gamma = options.scale ? layer
                                           .Weight("gamma", shape, dtype, options.trainable, options.gamma_initializer,
                                                   Ones(), options.gamma_regularizer)
                                           .AsTensor()
                                     : Ones(layer.graph(), shape, dtype);
  const Output beta = options.center ? layer
                                           .Weight("beta", shape, dtype, options.trainable, options.beta_initializer,
                                                   Zeros(), options.beta_regularizer)
                                           .AsTensor()
                                     : Zeros(layer.graph(), shape, dtype);
  const Variable mean = layer.State("moving_mean", shape, dtype, or_else(options.moving_mean_initializer, Zeros()));
  const Variable variance =
      layer.State("moving_variance", shape, dtype, or_else(options.moving_variance_initializer, Ones()));
  if (!layer.ok()) return {};

  const bool is_images = rank == 4 && (axis == 1 || axis == 3) && dtype == kFloat32;
  Output needed;  // the batch's mean, on which the layer's gradients depend
  const auto branch = [&](bool trains) -> Branch {
    return [&, trains](const std::vector<Output>& in) {
      std::vector<Output> out = is_images ? ImageBatchNorm(in, trains, axis == 1, options.epsilon)
                                          : GeneralBatchNorm(in, trains, axis, options.epsilon);
      if (trains) needed = out[1];
      return out;
    };
  };
  const std::vector<Output> result =
      SelectBranch(training, {x, gamma, beta, mean.value(), variance.value()}, branch(true), branch(false));
  if (!layer.ok()) return {};
  if (training.is_tensor() || training.fixed()) {
    UpdateAverage(mean, result[1], needed, training, options.momentum);
    UpdateAverage(variance, result[2], needed, training, options.momentum);
  }
  return result[0];
}

Output LayerNorm(const Operand& input, const LayerNormOptions& options) {
  const LayerScope layer("LayerNorm", "layer_normalization", input, options.name);
  if (!layer.ok()) return {};
  const Output& x = layer.x();
  if (!IsFloating(x.dtype())) return layer.Mistake("the input must be floating-point, got ", x.dtype());
  if (options.axes.empty()) return layer.Mistake("axes is empty; expected at least one dimension");
  if (!(options.epsilon >= 0)) return layer.Mistake("epsilon must not be negative, got ", options.epsilon);
  std::set<int> sorted;
  for (const int64_t axis : options.axes) {
    const int dim = layer.Dim(axis);
    if (dim < 0 || layer.KnownSize(axis) < 0) return {};
    if (!sorted.insert(dim).second) return layer.Mistake("axes names dimension ", dim, " twice");
  }
  const std::vector<int64_t> axes(sorted.begin(), sorted.end());
  std::vector<int64_t> sizes, broadcast(x.shape().rank(), 1);
  for (const int64_t axis : axes) sizes.push_back(broadcast[axis] = x.shape().dim(static_cast<int>(axis)));

  const DType dtype = ParameterType(x.dtype());
  Output gamma, beta;
  if (options.scale) {
    gamma = Reshape(layer.Weight("gamma", Shape(sizes), dtype, options.trainable, options.gamma_initializer, Ones(),
                                 options.gamma_regularizer),
                    broadcast);
  }
  if (options.center) {
    beta = Reshape(layer.Weight("beta", Shape(sizes), dtype, options.trainable, options.beta_initializer, Zeros(),
                                options.beta_regularizer),
                   broadcast);
  }
  if (!layer.ok()) return {};
  const Output wide = Cast(x, dtype);
  const Output mean = ReduceMean(wide, axes, {.keep_dims = true});
  const Output variance = ReduceMean(SquaredDifference(wide, StopGradient(mean)), axes, {.keep_dims = true});
  const Affine to = Normalizer(mean, variance, gamma, beta, options.epsilon);
  return Cast(wide * to.factor + to.shift, x.dtype());
}

}  // namespace tensorbraid::layers
