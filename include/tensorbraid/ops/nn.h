// Neural networks: activations, losses, convolutions, pooling and normalization. ops/math.h has the rules that hold for
// all ops, and the meaning of the words "real" and "floating". In the notes on gradients, g is the gradient with
// respect to the op's result.
#ifndef TENSORBRAID_OPS_NN_H_
#define TENSORBRAID_OPS_NN_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::nn {

// max(x, 0). Real. Gradient: g where x > 0.
Output Relu(const Operand& x, const std::string& name = "");
// min(max(x, 0), 6). Real. Gradient: g where 0 < x < 6.
Output Relu6(const Operand& x, const std::string& name = "");
// x where it is positive, else alpha x. Floating. Gradient: g, or alpha g.
Output LeakyRelu(const Operand& x, float alpha = 0.2f, const std::string& name = "");
// x where it is positive, else e^x - 1. Floating. Gradient: g, or g e^x.
Output Elu(const Operand& x, const std::string& name = "");
// ln(1 + e^x). Floating. Gradient: g / (1 + e^-x).
Output Softplus(const Operand& x, const std::string& name = "");
// x / (1 + |x|). Floating. Gradient: g / (1 + |x|)².
Output Softsign(const Operand& x, const std::string& name = "");

// x times the probability that a normal variable is below x: x (1 + erf(x / √2)) / 2, or with `approximate`
// x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2. Floating. Source: Hendrycks and Gimpel, 2016.
Output Gelu(const Operand& x, bool approximate = false, const std::string& name = "");

// value + bias, one bias for each element of value's last dimension. value has rank 2 or more, bias is a vector. Real.
// Gradient: g, and its sum over all dimensions but the last.
Output BiasAdd(const Operand& value, const Operand& bias, const std::string& name = "");

// s = e^x / sum(e^x) over the last dimension; rank 1 or more. Floating. Gradient: (g - sum(g s)) s.
Output Softmax(const Operand& logits, const std::string& name = "");
// The same over dimension `axis`, which may be negative. The rank must be known.
Output Softmax(const Operand& logits, int axis, const std::string& name = "");
// x - ln(sum(e^x)) over the last dimension; rank 1 or more. Floating. Gradient: g - sum(g) softmax(x).
Output LogSoftmax(const Operand& logits, const std::string& name = "");
Output LogSoftmax(const Operand& logits, int axis, const std::string& name = "");

// The loss of each example: -sum(labels * log softmax(logits)) over the classes. Both have shape [batch, classes] and
// are floating; labels are the probabilities of the classes. Gradient: g (softmax(logits) - labels), and -g log
// softmax(logits).
Output SoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name = "");
// The loss of each example: -log softmax(logits)[label]. `labels` is [batch], int32 or int64 class numbers; `logits` is
// [batch, classes], floating. Gradient for the logits: g (softmax(logits) - one-hot label). A step fails with
// InvalidArgument for a label outside [0, classes).
Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name = "");

// The loss of each element, where each element is a class that applies or not, independently of the others: with p =
// sigmoid(logits), -labels log p - (1 - labels) log (1 - p), computed without overflow. Both have the same shape and
// floating dtype; labels are probabilities. Gradient for the logits: g (p - labels). Source:
// tf.nn.sigmoid_cross_entropy_with_logits.
Output SigmoidCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name = "");

// sum(x²) / 2, a scalar. Floating. Gradient: g x.
Output L2Loss(const Operand& x, const std::string& name = "");

// Whether the target class of each example is among its k most probable classes: bool [batch]. `predictions` is float32
// [batch, classes], `targets` is int32 or int64 [batch]. Not differentiable.
Output InTopK(const Operand& predictions, const Operand& targets, int k, const std::string& name = "");

// How the input of a convolution or pooling is padded along each spatial axis.
enum class Padding {
  kSame,      // zeros are added until the output has ceil(input / stride) elements; an odd one goes at the end
  kValid,     // nothing is added: the window stays inside the input
  kExplicit,  // zeros are added as the options say
};

// Where the channels of a batch of images (or volumes) are.
enum class DataFormat {
  kChannelsLast,   // [batch, height, width, channels]; [batch, depth, height, width, channels]
  kChannelsFirst,  // [batch, channels, height, width]; [batch, channels, depth, height, width]
};

// For the convolutions below. Lists have one element for each spatial axis, in the order of the input's axes, such as
// {height, width}. A list of one element holds for all spatial axes; an empty list means 1.
struct ConvolutionOptions {
  std::vector<int64_t> strides = {};  // the window moves by so many elements
  Padding padding = Padding::kSame;
  std::vector<int64_t> dilations = {};  // distance between the input elements that adjacent filter elements see
  // Only with Padding::kExplicit: how many zeros are added {before, after} each spatial axis.
  std::vector<std::pair<int64_t, int64_t>> explicit_paddings = {};
  DataFormat data_format = DataFormat::kChannelsLast;
  std::string name = {};
};

// Convolutions of x with a filter (in fact cross-correlations: the filter is not mirrored):
//
//   y[b, i, j, o] = sum over u, v, c of x[b, i stride + u dilation - pad, j stride + v dilation - pad, c]
//                                       filter[u, v, c, o]
//
// with zeros outside of x. x and the filter have the same dtype. The gradient for x is g convolved with the mirrored
// filter (Conv2DTranspose); the gradient for the filter is the correlation of x with g. Both gradients can be
// differentiated again. InvalidArgument for ranks or channels that do not fit, for a stride or dilation below 1, and
// for a filter that is larger than the padded input, unless the padding is kSame.
//
// x [batch, height, width, in] and filter [height, width, in / groups, out] give [batch, height, width, out]. If the
// filter has fewer channels than x, the channels of x are split into groups, and so are the output channels: each group
// is convolved by itself. Floating and int32 (int32 has no gradient).
Output Conv2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options = {});
// A convolution of each channel by itself: filter [height, width, in, multiplier] gives [batch, height, width,
// in * multiplier]; output channel c * multiplier + m comes from channel c. Floating.
Output DepthwiseConv2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options = {});
// x [batch, depth, height, width, in] and filter [depth, height, width, in / groups, out]. Floating. No explicit
// padding.
Output Conv3D(const Operand& x, const Operand& filter, const ConvolutionOptions& options = {});

struct Conv2DTransposeOptions {
  std::vector<int64_t> strides = {};
  Padding padding = Padding::kSame;
  std::vector<int64_t> dilations = {};
  std::vector<std::pair<int64_t, int64_t>> explicit_paddings = {};
  DataFormat data_format = DataFormat::kChannelsLast;
  // {height, width} of the result. Empty: for kSame, the size of x times the stride; for kValid and kExplicit, the size
  // at which every element of the result is under a window.
  std::vector<int64_t> output_size = {};
  std::string name = {};
};
// The gradient of Conv2D for its input, as a separate op. The size of the result is chosen such that a convolution of
// the result with these options and this filter has the size of x. The filter is [height, width, out, in]: `out`
// channels of the result, `in` of x. Floating and int32. Gradient: Conv2D of g, and the correlation of g with x.
// InvalidArgument if no convolution of `output_size` gives the size of x.
Output Conv2DTranspose(const Operand& x, const Operand& filter, const Conv2DTransposeOptions& options = {});

// Grayscale dilation: the maximum over u, v of x[b, i stride + u rate - pad, j stride + v rate - pad, c] +
// filter[u, v, c], where elements outside of x are ignored. x is [batch, height, width, channels], filter [height,
// width, channels]; the options' dilations are the rates. Real. Gradient: g goes to the element of x and
// to the element of the filter that gave the maximum. Only channels last, no explicit padding.
Output Dilation2D(const Operand& x, const Operand& filter, const ConvolutionOptions& options = {});

// Pooling and normalization.

// Lists have one element for each spatial axis, in the order of the input's axes, such as {height, width}. A list of
// one element holds for all spatial axes.
struct PoolOptions {
  std::vector<int64_t> size = {2};    // of the window
  std::vector<int64_t> strides = {};  // the window moves by so many elements; empty: by its size
  Padding padding = Padding::kSame;   // elements that are added are ignored: only those of x are pooled
  // Only for MaxPool with Padding::kExplicit: how many elements are added {before, after} each spatial axis; fewer than
  // the size of the window.
  std::vector<std::pair<int64_t, int64_t>> explicit_paddings = {};
  DataFormat data_format = DataFormat::kChannelsLast;
  std::string name = {};
};

// The maximum of each window of an image [batch, height, width, channels], channel by channel. Real. NaN is never the
// maximum; a window of NaN gives the dtype's lowest value. Gradient: g, added at the first of the largest elements.
// InvalidArgument for another rank, for a size or stride below 1, and for a window that is larger than the padded
// input, unless the padding is kSame.
Output MaxPool(const Operand& x, const PoolOptions& options = {});
// The mean of the elements of each window that are inside the image. Floating. Gradient: g / n at each of the n
// elements. Errors as for MaxPool; there is no explicit padding.
Output AvgPool(const Operand& x, const PoolOptions& options = {});
// MaxPool and AvgPool of volumes [batch, depth, height, width, channels]. MaxPool3D takes float32 and 16-bit floats,
// and each of several equal maxima gets the whole gradient. No explicit padding.
Output MaxPool3D(const Operand& x, const PoolOptions& options = {});
Output AvgPool3D(const Operand& x, const PoolOptions& options = {});

struct MeanAndVariance {
  Output mean, variance;
};
// The mean and the variance (the mean of (x - mean)²) of x over axes. Floating; 16-bit floats are computed in float32.
MeanAndVariance Moments(const Operand& x, const Axes& axes, const ReduceOptions& options = {});

struct BatchNormalizationOptions {
  Output offset = {};  // not given: 0
  Output scale = {};   // not given: 1
  double epsilon = 1e-3;
  std::string name = {};
};
// (x - mean) / sqrt(variance + epsilon) * scale + offset, broadcast. Floating; all operands have one dtype. Gradients
// flow to all operands.
Output BatchNormalization(const Operand& x, const Operand& mean, const Operand& variance,
                          const BatchNormalizationOptions& options = {});

struct LayerNormalizationOptions {
  Axes axes = -1;      // the axes over which mean and variance are taken
  Output offset = {};  // not given: 0
  Output scale = {};   // not given: 1
  double epsilon = 1e-3;
  std::string name = {};
};
// BatchNormalization with the mean and variance of each example of x itself, over `axes`.
Output LayerNormalization(const Operand& x, const LayerNormalizationOptions& options = {});

struct FusedBatchNormOptions {
  bool training = true;
  // The averages so far. Must be given if `training` is false, or if exponential_avg_factor is not 1.
  Output mean = {};
  Output variance = {};
  double epsilon = 1e-3;
  double exponential_avg_factor = 1.0;
  DataFormat data_format = DataFormat::kChannelsLast;
  std::string name = {};
};
struct FusedBatchNormResult {
  Output y;
  // In training with factor f: (1 - f) times the given averages, plus f times the mean and the unbiased variance of
  // this batch (NaN if it is empty). Otherwise the averages that were given. No gradient flows through them.
  Output mean, variance;
};
// BatchNormalization of an image or volume in one op, for each channel. In training, it uses the mean and variance over
// the batch and all positions, otherwise the given ones. x has rank 4 or 5 and is float32 or a 16-bit float; scale and
// offset are float32 [channels]. Gradient of y: for x, scale and offset. InvalidArgument for other shapes.
FusedBatchNormResult FusedBatchNorm(const Operand& x, const Operand& scale, const Operand& offset,
                                    const FusedBatchNormOptions& options = {});

struct LocalResponseNormalizationOptions {
  int depth_radius = 5;
  double bias = 1.0;
  double alpha = 1.0;
  double beta = 0.5;
  std::string name = {};
};
// x / (bias + alpha s)^beta, where s is the sum of the squares of x over the channels that are at most depth_radius
// away. x is [batch, height, width, channels], float32 or a 16-bit float. InvalidArgument for a negative radius. The
// gradient cannot be differentiated again.
Output LocalResponseNormalization(const Operand& x, const LocalResponseNormalizationOptions& options = {});

// x with elements set to 0 at random, each with probability `rate`, and the others multiplied by 1 / (1 - rate).
// Floating. `rate` is at least 0 and below 1: a number, or a scalar tensor of x's dtype, which may be fed. A rate of 0
// keeps all elements. ops/random.h explains `seed`. Gradient: g with the same factors.
Output Dropout(const Operand& x, const Operand& rate, int64_t seed = 0, const std::string& name = "");

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_OPS_NN_H_
