// The public functions of the nn op family.
#include <cmath>
#include <numbers>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace nn {
namespace {

// Checks the dtypes of the operands of a cross entropy. `sparse`: the labels must be class indices. If a dtype is
// wrong, records an error that names the likely fix, and returns false.
bool CheckCrossEntropy(const char* function, const Operand& labels, const Operand& logits, bool sparse) {
  if (labels.dtype() == DType::kInvalid || logits.dtype() == DType::kInvalid) return true;  // reported elsewhere
  std::string fix;
  if (IsFloating(logits.dtype())) {
    if (IsInteger(labels.dtype()) == sparse) return true;
    fix = sparse ? "labels must be class indices (int32 or int64); for probabilities, such as one-hot labels, use "
                   "SoftmaxCrossEntropy"
                 : "labels must be probabilities of the logits' dtype; for class indices use SparseSoftmaxCrossEntropy";
  } else if (IsFloating(labels.dtype())) {
    fix = StrCat("labels and logits are swapped; call ", function, "(labels, logits)");
  } else {
    fix = "logits must be floating-point: the scores of the classes, before a softmax or an argmax";
  }
  if (Graph* graph = GraphOf(function, {&labels, &logits}); graph != nullptr) {
    graph->AddError(InvalidArgument(function, " (", LocationText(ImplOf(*graph).UserLine(logits.location())),
                                    "): labels are ", labels.dtype(), " and logits are ", logits.dtype(), ": ", fix));
  }
  return false;
}

}  // namespace

Output BiasAdd(const Operand& value, const Operand& bias, const std::string& name) {
  return BinaryOp("BiasAdd", value, bias, name);
}

Output Softmax(const Operand& logits, const std::string& name) { return UnaryOp("Softmax", logits, name); }
Output LogSoftmax(const Operand& logits, const std::string& name) { return UnaryOp("LogSoftmax", logits, name); }

namespace {

// Applies an op that works along the last dimension to the dimension `axis`, by exchanging the two dimensions before
// and after the op.
Output OverAxis(const char* op, const Operand& logits, int axis, const std::string& name) {
  Graph* graph = GraphOf(op, {&logits});
  if (graph == nullptr) return {};
  if (axis == -1) return UnaryOp(op, logits, name);
  const ScopedLocation at(*graph, logits.location());
  const Output x = logits.ToOutput(*graph);
  if (!x.valid()) return {};
  const int rank = x.shape().has_rank() ? x.shape().rank() : 0;
  const int dim = axis < 0 ? axis + rank : axis;
  if (dim < 0 || dim >= rank) {
    graph->AddError(InvalidArgument(op, " (", LocationText(ImplOf(*graph).UserLine(logits.location())), "): axis ",
                                    axis, " does not exist in a tensor of shape ", x.shape(),
                                    x.shape().has_rank() ? "" : ", whose rank must be known"));
    return {};
  }
  if (dim == rank - 1) return UnaryOp(op, x, name);
  std::vector<int64_t> swapped(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) swapped[i] = i;
  std::swap(swapped[dim], swapped[rank - 1]);
  auto scope = graph->NameScope(name.empty() ? op : name);
  return Transpose(UnaryOp(op, Transpose(x, swapped), ""), swapped);
}

}  // namespace

Output Softmax(const Operand& logits, int axis, const std::string& name) {
  return OverAxis("Softmax", logits, axis, name);
}
Output LogSoftmax(const Operand& logits, int axis, const std::string& name) {
  return OverAxis("LogSoftmax", logits, axis, name);
}

Output Gelu(const Operand& x, bool approximate, const std::string& name) {
  Graph* graph = GraphOf("Gelu", {&x});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, x.location());
  auto scope = graph->NameScope(name.empty() ? "Gelu" : name);
  const Output in = x.ToOutput(*graph);
  const Output cdf = approximate ? Tanh(std::sqrt(2 / std::numbers::pi) * (in + 0.044715 * in * in * in))
                                 : UnaryOp("Erf", in / std::numbers::sqrt2, "");
  return 0.5 * in * (1.0 + cdf);
}

Output SoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name) {
  if (!CheckCrossEntropy("SoftmaxCrossEntropy", labels, logits, /*sparse=*/false)) return {};
  return BinaryOp("SoftmaxCrossEntropyWithLogits", logits, labels, name);
}

Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name) {
  if (!CheckCrossEntropy("SparseSoftmaxCrossEntropy", labels, logits, /*sparse=*/true)) return {};
  return BinaryOp("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name);
}

Output SigmoidCrossEntropy(const Operand& labels, const Operand& logits, const std::string& name) {
  if (!CheckCrossEntropy("SigmoidCrossEntropy", labels, logits, /*sparse=*/false)) return {};
  Graph* graph = GraphOf("SigmoidCrossEntropy", {&labels, &logits});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, logits.location());
  auto scope = graph->NameScope(name.empty() ? "logistic_loss" : name);
  const Output z = labels.ToOutput(*graph, logits.dtype());
  const Output x = logits.ToOutput(*graph, labels.dtype());
  if (!z.shape().IsCompatibleWith(x.shape())) {
    graph->AddError(InvalidArgument("SigmoidCrossEntropy (", LocationText(ImplOf(*graph).UserLine(logits.location())),
                                    "): labels ", z.shape(), " and logits ", x.shape(), " must have the same shape"));
    return {};
  }
  // Computes max(x, 0) - x z + log(1 + e^-|x|). The exponent is never positive, so the exponential does not overflow.
  const Output zero = ZerosLike(x);
  const Output positive = x >= zero;
  return Select(positive, x, zero) - x * z + Log1p(Exp(Select(positive, -x, x)));
}

Output L2Loss(const Operand& x, const std::string& name) { return UnaryOp("L2Loss", x, name); }

Output InTopK(const Operand& predictions, const Operand& targets, int k, const std::string& name) {
  Graph* graph = GraphOf("InTopKV2", {&predictions, &targets});
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, predictions.location());
  const Output p = predictions.ToOutput(*graph);
  const Output t = targets.ToOutput(*graph);
  return NodeBuilder(*graph, "InTopKV2", predictions.location())
      .Name(name)
      .Input(p)
      .Input(t)
      .Input(Operand(k).ToOutput(*graph, t.dtype()))
      .Output();
}

Output Relu(const Operand& x, const std::string& name) { return UnaryOp("Relu", x, name); }
Output Relu6(const Operand& x, const std::string& name) { return UnaryOp("Relu6", x, name); }
Output Elu(const Operand& x, const std::string& name) { return UnaryOp("Elu", x, name); }
Output Softplus(const Operand& x, const std::string& name) { return UnaryOp("Softplus", x, name); }
Output Softsign(const Operand& x, const std::string& name) { return UnaryOp("Softsign", x, name); }

Output LeakyRelu(const Operand& x, float alpha, const std::string& name) {
  Graph* graph = GraphOf("LeakyRelu", {&x});
  if (graph == nullptr) return {};
  return NodeBuilder(*graph, "LeakyRelu", x.location())
      .Name(name)
      .Input(x.ToOutput(*graph))
      .Attr("alpha", alpha)
      .Output();
}

}  // namespace nn
}  // namespace tensorbraid
