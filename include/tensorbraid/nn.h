// Neural networks: activations and losses. See math_ops.h for what holds of all ops.
#ifndef TENSORBRAID_NN_H_
#define TENSORBRAID_NN_H_

#include <string>

#include "tensorbraid/graph.h"

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

// value + bias, one bias for each element of value's last dimension. value has rank 2 or more, bias is a vector. Real.
// Gradient: g, and its sum over all dimensions but the last.
Output BiasAdd(const Operand& value, const Operand& bias, const std::string& name = "");

// s = e^x / sum(e^x) over the last dimension; rank 1 or more. Floating. Gradient: (g - sum(g s)) s.
Output Softmax(const Operand& logits, const std::string& name = "");
// x - ln(sum(e^x)) over the last dimension; rank 1 or more. Floating. Gradient: g - sum(g) softmax(x).
Output LogSoftmax(const Operand& logits, const std::string& name = "");

// The loss of each example: -sum(labels * log softmax(logits)) over the classes. Both [batch, classes], floating;
// labels are the probabilities of the classes. Gradient: g (softmax(logits) - labels), and -g log softmax(logits).
Output SoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name = "");
// The loss of each example: -log softmax(logits)[label]. labels [batch] are int32 or int64 class numbers, logits
// [batch, classes] floating. Gradient for the logits: g (softmax(logits) - one-hot label).
// InvalidArgument when run with a label that is no class.
Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name = "");

// sum(x²) / 2, a scalar. Floating. Gradient: g x.
Output L2Loss(const Operand& x, const std::string& name = "");

// For each example, whether the target class is among the k most probable: bool [batch] of predictions float32
// [batch, classes] and targets [batch] int32 or int64. Not differentiable.
Output InTopK(const Operand& predictions, const Operand& targets, int k, const std::string& name = "");

}  // namespace tensorbraid::nn

#endif  // TENSORBRAID_NN_H_
