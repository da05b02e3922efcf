#include "tensorbraid/layers/losses.h"

#include <functional>
#include <optional>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/layers/layers.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid::losses {
namespace {

// Tensors along all dimensions but the first.
Axes WithinExample(const Output& x) {
  if (x.shape().has_rank()) {
    std::vector<int64_t> axes;
    for (int i = 1; i < x.shape().rank(); ++i) axes.push_back(i);
    return Axes(axes);
  }
  return Axes(Range(*x.graph(), 1, Rank(x)));
}

// Whether weights of this shape can be spread over losses, as far as it is known.
bool Fits(const Shape& weights, const Shape& losses) {
  if (!weights.has_rank() || weights.rank() == 0 || !losses.has_rank()) return true;
  if (weights.rank() != losses.rank()) return false;
  for (int i = 0; i < losses.rank(); ++i) {
    if (weights.dim(i) >= 0 && weights.dim(i) != 1 && losses.dim(i) >= 0 && weights.dim(i) != losses.dim(i))
      return false;
  }
  return true;
}

// The number of losses whose weight is not 0: 1 for each of them and 0 for the others, like `losses`.
Output IsPresent(const Output& losses, const Output& weights) {
  return Select(Equal(weights, 0.0), ZerosLike(losses), OnesLike(losses));
}

Output Reduced(const Output& losses, const Output& weights, Reduction reduction) {
  const Output weighted = losses * weights;
  if (reduction == Reduction::kNone) return weighted;
  const Output sum = ReduceSum(weighted);
  switch (reduction) {
    case Reduction::kMean:
      return DivNoNan(sum, ReduceSum(OnesLike(losses) * weights), "value");
    case Reduction::kSumOverBatchSize:
      return DivNoNan(sum, Cast(Size(losses), kFloat32), "value");
    case Reduction::kSumByNonzeroWeights:
      return DivNoNan(sum, ReduceSum(IsPresent(losses, weights)), "value");
    default:
      return sum;
  }
}

// One call of a loss: its graph, its name scope, and its operands as tensors.
class Call {
 public:
  Call(const char* loss, const char* default_name, std::vector<Operand> operands, const LossOptions& options)
      : loss_(loss), options_(options), line_(operands[0].location()) {
    operands.push_back(options.weights);
    graph_ = GraphOf(loss, operands, operands[0].location());
    if (graph_ == nullptr) return;
    at_.emplace(*graph_, operands[0].location());
    line_ = ImplOf(*graph_).UserLine(operands[0].location());
    scope_.emplace(graph_->NameScope(options.name.empty() ? default_name : options.name));
    for (const Operand& operand : operands) in_.push_back(operand.ToOutput(*graph_));
    for (const Output& in : in_) ok_ = ok_ && in.valid();
    ok_ = ok_ && graph_ != nullptr;
  }

  bool ok() const { return graph_ != nullptr && ok_; }
  const Output& in(size_t i) const { return in_[i]; }
  Output as_float(size_t i) const { return Cast(in_[i], kFloat32); }

  // Labels and predictions must have the same shape, as far as it is known.
  bool CheckSameShape() const {
    if (!ok()) return false;
    if (in_[0].shape().IsCompatibleWith(in_[1].shape())) return true;
    Mistake(StrCat("the labels have shape ", in_[0].shape(), ", but the predictions have shape ", in_[1].shape()));
    return false;
  }

  Output Mistake(const std::string& message) const {
    graph_->AddError(InvalidArgument(loss_, " (", LocationText(line_), "): ", message));
    return {};
  }

  // The losses, weighted, reduced, and in the collection.
  Output Finish(const Output& losses, Output weights = {}) const {
    if (!losses.valid()) return {};
    if (!weights.valid()) weights = in_.back();
    if (!Fits(weights.shape(), losses.shape())) {
      return Mistake(StrCat("weights of shape ", weights.shape(), " do not fit losses of shape ", losses.shape(),
                            "; they must be a scalar, or have the same rank and dimensions that are 1 or the same"));
    }
    return Collected(
        Cast(Reduced(Cast(losses, kFloat32), Cast(weights, kFloat32), options_.reduction), losses.dtype()));
  }

  Output Collected(const Output& loss) const {
    if (loss.valid()) graph_->AddToCollection("losses", loss);
    return loss;
  }

 private:
  const char* const loss_;
  const LossOptions& options_;
  SourceLine line_;
  Graph* graph_ = nullptr;
  std::optional<ScopedLocation> at_;
  std::optional<ScopeGuard> scope_;
  std::vector<Output> in_;  // the operands, then the weights
  bool ok_ = true;
};

// A loss of float32 labels and predictions for each element.
Output ElementLoss(const char* loss, const char* default_name, const Operand& labels, const Operand& predictions,
                   const LossOptions& options,
                   const std::function<Output(const Output& labels, const Output& predictions)>& compute) {
  const Call call(loss, default_name, {labels, predictions}, options);
  if (!call.CheckSameShape()) return {};
  return call.Finish(compute(call.as_float(0), call.as_float(1)));
}

// Without its last dimension, of size 1, if x has as many dimensions as `other`.
Output Squeezed(const Output& x, const Output& other) {
  const Shape& shape = x.shape();
  const bool has_ranks = shape.has_rank() && other.shape().has_rank();
  if (!has_ranks || shape.rank() == 0 || shape.rank() != other.shape().rank()) return x;
  return shape.dim(shape.rank() - 1) == 1 ? Squeeze(x, {-1}) : x;
}

}  // namespace

Output ComputeWeightedLoss(const Operand& losses, const LossOptions& options) {
  const Call call("ComputeWeightedLoss", "weighted_loss", {losses}, options);
  return call.ok() ? call.Finish(call.in(0)) : Output();
}

Output AbsoluteDifference(const Operand& labels, const Operand& predictions, const LossOptions& options) {
  return ElementLoss("AbsoluteDifference", "absolute_difference", labels, predictions, options,
                     [](const Output& y, const Output& p) { return Abs(p - y); });
}

Output MeanSquaredError(const Operand& labels, const Operand& predictions, const LossOptions& options) {
  return ElementLoss("MeanSquaredError", "mean_squared_error", labels, predictions, options,
                     [](const Output& y, const Output& p) { return SquaredDifference(p, y); });
}

Output HuberLoss(const Operand& labels, const Operand& predictions, double delta, const LossOptions& options) {
  return ElementLoss("HuberLoss", "huber_loss", labels, predictions, options, [&](const Output& y, const Output& p) {
    const Output error = Abs(p - y);
    const Output quadratic = Minimum(error, delta);
    return 0.5 * quadratic * quadratic + delta * (error - quadratic);
  });
}

Output LogLoss(const Operand& labels, const Operand& predictions, double epsilon, const LossOptions& options) {
  return ElementLoss("LogLoss", "log_loss", labels, predictions, options, [&](const Output& y, const Output& p) {
    return -(y * Log(p + epsilon)) - (1.0 - y) * Log(1.0 - p + epsilon);
  });
}

Output HingeLoss(const Operand& labels, const Operand& logits, const LossOptions& options) {
  return ElementLoss("HingeLoss", "hinge_loss", labels, logits, options,
                     [](const Output& y, const Output& p) { return nn::Relu(1.0 - (2.0 * y - 1.0) * p); });
}

Output CosineDistance(const Operand& labels, const Operand& predictions, int axis, const LossOptions& options) {
  return ElementLoss(
      "CosineDistance", "cosine_distance_loss", labels, predictions, options,
      [&](const Output& y, const Output& p) { return 1.0 - ReduceSum(p * y, axis, {.keep_dims = true}); });
}

Output MeanPairwiseSquaredError(const Operand& labels, const Operand& predictions, const LossOptions& options) {
  const Call call("MeanPairwiseSquaredError", "mean_pairwise_squared_error", {labels, predictions}, options);
  if (!call.CheckSameShape()) return {};
  const Output weights = Cast(call.in(2), kFloat32);
  const Output error = call.as_float(1) - call.as_float(0);
  if (!Fits(weights.shape(), error.shape())) {
    return call.Mistake(StrCat("weights of shape ", weights.shape(), " do not fit labels of shape ", error.shape()));
  }
  const Axes axes = WithinExample(error);
  const auto sum = [&](const Output& x) { return ReduceSum(x, axes, {.keep_dims = true}); };
  // The pairs of n errors e have (e - f)² = n sum(e²) - sum(e)² as the sum over all pairs.
  const Output count = sum(IsPresent(error, weights));
  const Output others = Maximum(count - 1.0, 0.0);
  const Output squares = 2.0 * DivNoNan(sum(Square(error)), others);
  const Output products = 2.0 * DivNoNan(Square(sum(error)), Maximum(count * (count - 1.0), 0.0));
  const Output loss = ReduceSum((squares - products) * weights);
  return call.Collected(Select(Greater(ReduceSum(count), 0.0), loss, ZerosLike(loss), "value"));
}

Output SigmoidCrossEntropy(const Operand& labels, const Operand& logits, double label_smoothing,
                           const LossOptions& options) {
  const Call call("SigmoidCrossEntropy", "sigmoid_cross_entropy_loss", {labels, logits}, options);
  if (!call.CheckSameShape()) return {};
  Output y = Cast(call.in(0), call.in(1).dtype());
  if (label_smoothing > 0) y = y * (1 - label_smoothing) + 0.5 * label_smoothing;
  return call.Finish(nn::SigmoidCrossEntropy(y, call.in(1), "xentropy"));
}

Output SoftmaxCrossEntropy(const Operand& onehot_labels, const Operand& logits, double label_smoothing,
                           const LossOptions& options) {
  const Call call("SoftmaxCrossEntropy", "softmax_cross_entropy_loss", {onehot_labels, logits}, options);
  if (!call.CheckSameShape()) return {};
  const Output& x = call.in(1);
  Output y = Cast(call.in(0), x.dtype());
  if (label_smoothing > 0) {
    const Output classes =
        Cast(StridedSlice(ShapeOf(y), {-1}, {0}, {1}, {.end_mask = 1, .shrink_axis_mask = 1}), x.dtype());
    y = y * (1 - label_smoothing) + label_smoothing / classes;
  }
  return call.Finish(nn::SoftmaxCrossEntropy(StopGradient(y), x, "xentropy"));
}

Output SparseSoftmaxCrossEntropy(const Operand& labels, const Operand& logits, const LossOptions& options) {
  const Call call("SparseSoftmaxCrossEntropy", "sparse_softmax_cross_entropy_loss", {labels, logits}, options);
  if (!call.ok()) return {};
  const Output y = Squeezed(call.in(0), call.in(1));
  return call.Finish(nn::SparseSoftmaxCrossEntropy(y, call.in(1), "xentropy"), Squeezed(call.in(2), call.in(1)));
}

std::vector<Output> Losses(const Graph& graph) { return graph.GetCollection("losses"); }

Output TotalLoss(Graph& graph, bool add_regularization_losses, const std::string& name, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  std::vector<Output> all = Losses(graph);
  if (add_regularization_losses) {
    for (const Output& loss : layers::RegularizationLosses(graph)) all.push_back(loss);
  }
  return all.empty() ? Const(graph, Tensor::Scalar<float>(0), name, loc) : AddN(all, name, loc);
}

}  // namespace tensorbraid::losses
