// Losses of models: a number for each example, weighted and reduced to the scalar that training makes smaller.
//
//   auto loss = losses::SoftmaxCrossEntropy(labels, logits, {.weights = weights});
//   auto train = optimizer.Minimize(losses::TotalLoss(g));
//
// Each loss is computed in float32, unless a comment says otherwise, and is put into the graph's collection "losses".
// Names, formulas and reductions are those of tf.compat.v1.losses. Mistakes, such as labels whose shape differs from
// that of the predictions, are recorded in Graph::status() with the line of the call. Gradients flow to the
// predictions, and to the labels and the weights too.
#ifndef TENSORBRAID_LAYERS_LOSSES_H_
#define TENSORBRAID_LAYERS_LOSSES_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid::losses {

enum class Reduction {
  kNone,                 // the weighted losses themselves
  kSum,                  // their sum
  kMean,                 // their sum divided by the sum of the weights
  kSumOverBatchSize,     // their sum divided by their number
  kSumByNonzeroWeights,  // their sum divided by the number of those whose weight is not 0
};

struct LossOptions {
  // A scalar, or a tensor with the rank of the losses whose dimensions are 1 or those of the losses.
  Operand weights = 1.0;
  Reduction reduction = Reduction::kSumByNonzeroWeights;  // where the divisor is 0, the result is 0
  std::string name = {};                                  // of the name scope; "": the name of the loss
};

// The losses, weighted and reduced. The result has the dtype of `losses`.
Output ComputeWeightedLoss(const Operand& losses, const LossOptions& options = {});

// Losses of labels and predictions of the same shape, one for each element.
Output AbsoluteDifference(const Operand& labels, const Operand& predictions, const LossOptions& options = {});
Output MeanSquaredError(const Operand& labels, const Operand& predictions, const LossOptions& options = {});
// Quadratic for errors up to `delta`, and linear beyond. Source: Huber, 1964.
Output HuberLoss(const Operand& labels, const Operand& predictions, double delta = 1.0,
                 const LossOptions& options = {});
// -labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)
Output LogLoss(const Operand& labels, const Operand& predictions, double epsilon = 1e-7,
               const LossOptions& options = {});
// max(0, 1 - (2 * labels - 1) * logits), for labels 0 and 1.
Output HingeLoss(const Operand& labels, const Operand& logits, const LossOptions& options = {});
// 1 - the sum of labels * predictions along `axis`, which stays with size 1. Both should have unit length there.
Output CosineDistance(const Operand& labels, const Operand& predictions, int axis, const LossOptions& options = {});
// The mean of the squares of the differences between the errors of all pairs of elements of an example, summed over the
// examples. The reduction of the options has no meaning here. The weights have rank 0, or the rank of the labels.
Output MeanPairwiseSquaredError(const Operand& labels, const Operand& predictions, const LossOptions& options = {});

// nn::SigmoidCrossEntropy of each element. With `label_smoothing` s, labels become labels * (1 - s) + s / 2. In the
// dtype of the logits.
Output SigmoidCrossEntropy(const Operand& labels, const Operand& logits, double label_smoothing = 0,
                           const LossOptions& options = {});
// nn::SoftmaxCrossEntropy of each example [..., classes], without a gradient for the labels. With `label_smoothing` s,
// labels become labels * (1 - s) + s / classes. In the dtype of the logits.
Output SoftmaxCrossEntropy(const Operand& onehot_labels, const Operand& logits, double label_smoothing = 0,
                           const LossOptions& options = {});
// nn::SparseSoftmaxCrossEntropy of each example, whose label is the number of a class. Labels and weights may have one
// more dimension, of size 1. In the dtype of the logits.
Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const LossOptions& options = {});

// The collection "losses" of the graph.
std::vector<Output> Losses(const Graph& graph);
// The sum of Losses and, unless switched off, of layers::RegularizationLosses; 0 (float32) if there are none.
Output TotalLoss(Graph& graph, bool add_regularization_losses = true, const std::string& name = "total_loss",
                 std::source_location loc = std::source_location::current());

}  // namespace tensorbraid::losses

#endif  // TENSORBRAID_LAYERS_LOSSES_H_
