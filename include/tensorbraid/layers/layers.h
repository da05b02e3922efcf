// Layers of neural networks.
//
//   auto x = layers::Dense(images, {.units = 128, .activation = layers::Activation::kRelu});
//   x = layers::Dropout(x, {.rate = 0.5, .training = true});
//   auto logits = layers::Dense(x, {.units = 10, .name = "logits"});
//
// A layer is a function that makes its variables with GetPartitionedVariable (moving averages: GetVariable), in a
// variable scope of its own inside the open one. The scope has the layer's name, or without a name the kind of layer
// and a number: "dense", "dense_1" and so on. So a model that is built again in a scope with `.reuse = true` shares its
// variables (see variables/variable_scope.h). The open device scopes place the variables. They have the dtype of
// the input, except in BatchNorm and LayerNorm, which use float32 for 16-bit inputs. Names, defaults and initial values
// are those of tf.compat.v1.layers, or of tf.keras.layers for layers that tf.compat.v1.layers does not have.
//
// Mistakes are recorded in Graph::status(), with the name of the layer and the line of the call. If an initializer or
// regularizer is null, the scope's is used (GetVariable), unless the comment at the member says otherwise.
#ifndef TENSORBRAID_LAYERS_LAYERS_H_
#define TENSORBRAID_LAYERS_LAYERS_H_

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid::layers {

enum class Activation { kNone, kRelu, kRelu6, kLeakyRelu, kElu, kSoftplus, kSoftsign, kTanh, kSigmoid, kSoftmax };

// The activation of x; x itself for kNone.
Output Activate(const Operand& x, Activation activation, const std::string& name = "");

// Whether a layer trains. Either fixed when the graph is built, or a bool scalar of the graph, usually a placeholder.
class Training {
 public:
  Training() = default;  // not given
  template <std::same_as<bool> Bool>
  Training(Bool training) : fixed_(training) {}                       // NOLINT: converts
  Training(Output training) : tensor_(training), is_tensor_(true) {}  // NOLINT: converts
  bool is_given() const { return fixed_.has_value() || is_tensor_; }
  bool is_tensor() const { return is_tensor_; }
  const Output& tensor() const { return tensor_; }       // if is_tensor()
  bool fixed() const { return fixed_.value_or(false); }  // if !is_tensor()

 private:
  std::optional<bool> fixed_;
  Output tensor_;
  bool is_tensor_ = false;
};

struct DenseOptions {
  int64_t units = 0;  // must be given
  Activation activation = Activation::kNone;
  bool bias = true;
  Initializer kernel_initializer = nullptr;
  Initializer bias_initializer = nullptr;  // null: zeros
  Regularizer kernel_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// activation(x · kernel + bias) over the last dimension of x. x must have a floating dtype and rank 2 or more, and the
// size of its last dimension must be known. Variables: "kernel" [size of the last dimension, units] and "bias" [units].
Output Dense(const Operand& x, const DenseOptions& options);

// Lists in the options of convolutions have one element for each spatial axis, such as {height, width}; a list of one
// element holds for all of them.
struct ConvolutionLayerOptions {
  int64_t filters = 0;               // the number of output channels; must be given
  std::vector<int64_t> kernel = {};  // the size of the window; must be given
  std::vector<int64_t> strides = {};
  nn::Padding padding = nn::Padding::kSame;  // unlike in TensorFlow, where kValid is the default; not kExplicit
  std::vector<int64_t> dilations = {};
  // The number of groups into which the channels are split. Each group is convolved by itself.
  int64_t groups = 1;
  nn::DataFormat data_format = nn::DataFormat::kChannelsLast;
  Activation activation = Activation::kNone;
  bool bias = true;
  Initializer kernel_initializer = nullptr;
  Initializer bias_initializer = nullptr;  // null: zeros
  Regularizer kernel_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// activation(convolution of x with the kernel + bias), as nn::Conv2D(x, filter, ...) defines it. x must have a floating
// dtype, and its number of channels must be known. x is [batch, width, in], [batch, height, width, in] or [batch,
// depth, height, width, in], or with the channels first as the data format says. Variables: "kernel" [..., in / groups,
// filters] and "bias" [filters].
Output Conv1D(const Operand& x, const ConvolutionLayerOptions& options);
Output Conv2D(const Operand& x, const ConvolutionLayerOptions& options);
Output Conv3D(const Operand& x, const ConvolutionLayerOptions& options);
// The transpose of a convolution: makes images larger by the strides. Variables: "kernel" [height, width, filters, in]
// and "bias" [filters]. The result has the input's size times the strides; with kValid it is larger by the difference
// of kernel and stride, if that is positive. No groups.
Output Conv2DTranspose(const Operand& x, const ConvolutionLayerOptions& options);

struct DepthwiseConvolutionLayerOptions {
  int64_t filters = 0;  // SeparableConv2D only, where it must be given
  std::vector<int64_t> kernel = {};
  int64_t depth_multiplier = 1;  // the number of output channels for each input channel
  std::vector<int64_t> strides = {};
  nn::Padding padding = nn::Padding::kSame;
  std::vector<int64_t> dilations = {};
  nn::DataFormat data_format = nn::DataFormat::kChannelsLast;
  Activation activation = Activation::kNone;
  bool bias = true;
  Initializer depthwise_initializer = nullptr;
  Initializer pointwise_initializer = nullptr;
  Initializer bias_initializer = nullptr;  // null: zeros
  Regularizer depthwise_regularizer = nullptr;
  Regularizer pointwise_regularizer = nullptr;
  Regularizer bias_regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// A convolution of each channel by itself: depth_multiplier output channels for each of them. Variables:
// "depthwise_kernel" [height, width, in, depth_multiplier] and "bias" [in * depth_multiplier].
Output DepthwiseConv2D(const Operand& x, const DepthwiseConvolutionLayerOptions& options);
// A DepthwiseConv2D without bias and activation, followed by a 1 x 1 convolution that mixes the channels. Variables:
// "depthwise_kernel", "pointwise_kernel" [1, 1, in * depth_multiplier, filters] and "bias" [filters].
Output SeparableConv2D(const Operand& x, const DepthwiseConvolutionLayerOptions& options);

struct EmbeddingOptions {
  int64_t input_dim = 0;   // the number of ids; must be given
  int64_t output_dim = 0;  // the size of the vector of an id; must be given
  DType dtype = kFloat32;
  Initializer initializer = nullptr;  // null: RandomUniform(-0.05, 0.05)
  Regularizer regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// The vector of each id, which is a row of the variable "embeddings" [input_dim, output_dim]. `ids` is int32 or int64
// of any shape; the result has one more dimension, of size output_dim. A step fails with InvalidArgument for an id
// outside [0, input_dim).
Output Embedding(const Operand& ids, const EmbeddingOptions& options);

// x as a matrix [batch, elements of one example]; the rank must be known and 1 or more. No variables.
Output Flatten(const Operand& x, const std::string& name = "");

struct DropoutOptions {
  double rate = 0.5;  // the part of the elements that is set to 0; at least 0 and below 1
  Training training = false;
  // The shape of the random choice, which is broadcast to x: {-1, 1, 1, -1} keeps or drops whole feature maps. -1
  // stands for the size of x. Empty: the shape of x.
  std::vector<int64_t> noise_shape = {};
  int64_t seed = 0;  // 0: the graph's
  std::string name = {};
};
// While training, sets elements to 0 at random and multiplies the others by 1 / (1 - rate); otherwise returns x. x must
// have a floating dtype. No variables. The gradient is multiplied by the same factors. Source: Srivastava et al., 2014.
Output Dropout(const Operand& x, const DropoutOptions& options = {});

struct BatchNormOptions {
  // Must be given: a model that trains with .training = false never learns its averages, and one that is tested with
  // .training = true gives another result for each batch.
  Training training = {};
  int axis = -1;           // the dimension of the features; its size must be known
  double momentum = 0.99;  // of the moving averages, from 0 to 1
  double epsilon = 1e-3;
  bool center = true;                                 // whether there is a beta
  bool scale = true;                                  // whether there is a gamma
  Initializer beta_initializer = nullptr;             // null: zeros
  Initializer gamma_initializer = nullptr;            // null: ones
  Initializer moving_mean_initializer = nullptr;      // null: zeros
  Initializer moving_variance_initializer = nullptr;  // null: ones
  Regularizer beta_regularizer = nullptr;
  Regularizer gamma_regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// Normalises each feature: gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance over the
// batch and all positions while training, and with their moving averages otherwise. x must have a floating dtype and
// rank 2 or more. Variables: "gamma", "beta", "moving_mean" and "moving_variance", each [features]; the moving ones are
// not trainable. As in TensorFlow, images (rank 4, features in dimension 1 or 3, not float64) keep the moving average
// of the unbiased variance.
//
// While training, each step moves the averages: moving -= (moving - batch) * (1 - momentum). These updates run with the
// operation that Optimizer::Minimize or ApplyGradients returns, if its gradients depend on the layer; if several towers
// share the layer, the first tower's update runs. The updates are also in the collection "update_ops", for programs
// that run them themselves.
//
// A fixed `training` is faster than a tensor, with which each step chooses between two branches (Switch and Merge): ops
// in branches are not fused. So a program that trains and tests can build the model twice, with true and with false, in
// a variable scope with `.reuse = kAutoReuse`. examples/crnn_ctc.cc does that.
// Source: Ioffe and Szegedy, 2015.
Output BatchNorm(const Operand& x, const BatchNormOptions& options);

struct LayerNormOptions {
  // The dimensions over which to normalise; their sizes must be known.
  std::vector<int64_t> axes = {-1};
  double epsilon = 1e-3;
  bool center = true;                       // whether there is a beta
  bool scale = true;                        // whether there is a gamma
  Initializer beta_initializer = nullptr;   // null: zeros
  Initializer gamma_initializer = nullptr;  // null: ones
  Regularizer beta_regularizer = nullptr;
  Regularizer gamma_regularizer = nullptr;
  bool trainable = true;
  std::string name = {};
};
// Normalises each example by itself: gamma * (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance
// over `axes`. x must have a floating dtype. Variables: "gamma" and "beta", of the sizes of `axes`. Source: Ba et al.,
// 2016.
Output LayerNorm(const Operand& x, const LayerNormOptions& options = {});

// The penalties of the regularizers of the graph's variables, in the order in which the variables were made: scalars
// from the collection "regularization_losses".
std::vector<Output> RegularizationLosses(const Graph& graph);
// The sum of the RegularizationLosses, to be added to the loss; 0 (float32) if there are none. All must have the same
// dtype.
Output RegularizationLoss(Graph& graph, std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_LAYERS_H_
