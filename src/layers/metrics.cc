// Metrics that are means, and counts of true and false predictions.
#include "tensorbraid/layers/metrics.h"

#include <algorithm>
#include <functional>

#include "core/text/strings.h"
#include "layers/metric_call.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::metrics {
namespace {

// Adds the number of the values to a count once the values are there. If only their shape were needed, a step that
// fails because the input has ended would count them.
Output AddAfter(const MetricCall& call, const Output& values, const Variable& count, const Output& number) {
  const ScopeGuard after = call.graph().ControlDependencies(std::vector<Output>{values});
  return call.Add(count, number);
}

// The mean of values that a metric computes from its operands.
Metric MeanOf(const MetricCall& call, const Output& values) {
  if (!call.ok()) return {};
  const Output x = Cast(values, kFloat32);
  const Variable total = call.Sum("total", {}), count = call.Sum("count", {});
  const Output number = call.has_weights() ? ReduceSum(call.WeightsLike(x)) : Cast(Size(x), kFloat32);
  const Output new_total = call.Add(total, ReduceSum(call.Weighted(x)));
  const Output new_count = AddAfter(call, x, count, number);
  return {DivNoNan(total, Maximum(count, 0.0), "value"), DivNoNan(new_total, Maximum(new_count, 0.0), "update_op")};
}

// The mean of a function of labels and predictions of the same shape.
Metric MeanOfPairs(const char* metric, const char* default_name, const Operand& labels, const Operand& predictions,
                   const MetricOptions& options,
                   const std::function<Output(const Output& labels, const Output& predictions)>& compute) {
  MetricCall call(metric, default_name, {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  return MeanOf(call, compute(call.in(0), call.in(1)));
}

// The number of examples whose label and prediction are as given.
Metric CountOf(const char* metric, const char* default_name, const Operand& labels, const Operand& predictions,
               const MetricOptions& options, bool label, bool prediction) {
  MetricCall call(metric, default_name, {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  const auto is = [&](size_t i, bool wanted) {
    const Output flag = Cast(call.in(i), kBool);
    return wanted ? flag : LogicalNot(flag);
  };
  const Output counted = Cast(LogicalAnd(is(0, label), is(1, prediction)), kFloat32);
  const Variable count = call.Sum("count", {});
  return {Identity(count, "value"), call.Add(count, ReduceSum(call.Weighted(counted)))};
}

// first / (first + second); 0 where both are 0.
Output Ratio(const Output& first, const Output& second, const std::string& name) {
  return DivNoNan(first, first + second, name);
}

// The ratio of two counts, which are metrics inside of this one.
Metric RatioOf(const char* metric, const char* default_name, const Operand& labels, const Operand& predictions,
               const MetricOptions& options,
               const std::function<Metric(const Operand&, const Operand&, const MetricOptions&)>& second) {
  MetricCall call(metric, default_name, {labels, predictions}, std::nullopt, options.name);
  if (!call.MatchShapes()) return {};
  const MetricOptions inner = {.weights = options.weights};
  const Metric positives = TruePositives(call.in(0), call.in(1), inner);
  const Metric others = second(call.in(0), call.in(1), inner);
  if (!call.ok()) return {};
  return {Ratio(positives.value, others.value, "value"), Ratio(positives.update, others.update, "update_op")};
}

}  // namespace

Metric Mean(const Operand& values, const MetricOptions& options) {
  const MetricCall call("Mean", "mean", {values}, options.weights, options.name);
  return call.ok() ? MeanOf(call, call.in(0)) : Metric();
}

Metric MeanTensor(const Operand& values, const MetricOptions& options) {
  const MetricCall call("MeanTensor", "mean", {values}, options.weights, options.name);
  if (!call.ok()) return {};
  const Output x = Cast(call.in(0), kFloat32);
  const Variable total = call.Sum("total_tensor", x.shape()), count = call.Sum("count_tensor", x.shape());
  if (!call.ok()) return {};
  const Output number = call.has_weights() ? call.WeightsLike(x) : OnesLike(x);
  const Output new_total = call.Add(total, call.Weighted(x));
  const Output new_count = AddAfter(call, x, count, number);
  return {DivNoNan(total, Maximum(count, 0.0), "value"), DivNoNan(new_total, Maximum(new_count, 0.0), "update_op")};
}

Metric Accuracy(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return MeanOfPairs("Accuracy", "accuracy", labels, predictions, options, [](const Output& y, const Output& p) {
    return Equal(y.dtype() == p.dtype() ? p : Cast(p, y.dtype()), y);
  });
}

Metric MeanAbsoluteError(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return MeanOfPairs("MeanAbsoluteError", "mean_absolute_error", labels, predictions, options,
                     [](const Output& y, const Output& p) { return Abs(p - y); });
}

Metric MeanSquaredError(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return MeanOfPairs("MeanSquaredError", "mean_squared_error", labels, predictions, options,
                     [](const Output& y, const Output& p) { return SquaredDifference(y, p); });
}

Metric RootMeanSquaredError(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  const Metric squares = MeanOfPairs("RootMeanSquaredError", "root_mean_squared_error", labels, predictions, options,
                                     [](const Output& y, const Output& p) { return SquaredDifference(y, p); });
  if (!squares.value.valid()) return {};
  return {Sqrt(squares.value), Sqrt(squares.update)};
}

Metric MeanRelativeError(const Operand& labels, const Operand& predictions, const Operand& normalizer,
                         const MetricOptions& options) {
  MetricCall call("MeanRelativeError", "mean_relative_error", {labels, predictions, normalizer}, options.weights,
                  options.name);
  if (!call.MatchShapes()) return {};
  return MeanOf(call, DivNoNan(Abs(call.in(0) - call.in(1)), call.in(2)));
}

Metric MeanCosineDistance(const Operand& labels, const Operand& predictions, int dim, const MetricOptions& options) {
  const Metric products =
      MeanOfPairs("MeanCosineDistance", "mean_cosine_distance", labels, predictions, options,
                  [&](const Output& y, const Output& p) { return ReduceSum(p * y, dim, {.keep_dims = true}); });
  if (!products.value.valid()) return {};
  return {1.0 - products.value, 1.0 - products.update};
}

Metric PercentageBelow(const Operand& values, double threshold, const MetricOptions& options) {
  const MetricCall call("PercentageBelow", "percentage_below_threshold", {values}, options.weights, options.name);
  return call.ok() ? MeanOf(call, Less(call.in(0), threshold)) : Metric();
}

Metric TruePositives(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return CountOf("TruePositives", "true_positives", labels, predictions, options, true, true);
}
Metric FalsePositives(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return CountOf("FalsePositives", "false_positives", labels, predictions, options, false, true);
}
Metric TrueNegatives(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return CountOf("TrueNegatives", "true_negatives", labels, predictions, options, false, false);
}
Metric FalseNegatives(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return CountOf("FalseNegatives", "false_negatives", labels, predictions, options, true, false);
}

Metric Precision(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return RatioOf("Precision", "precision", labels, predictions, options, FalsePositives);
}
Metric Recall(const Operand& labels, const Operand& predictions, const MetricOptions& options) {
  return RatioOf("Recall", "recall", labels, predictions, options, FalseNegatives);
}

Metric MeanIou(const Operand& labels, const Operand& predictions, int64_t num_classes, const MetricOptions& options) {
  MetricCall call("MeanIou", "mean_iou", {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  if (num_classes < 1) return call.Mistake(StrCat("num_classes must be positive, got ", num_classes));
  const auto flat = [](const Output& x) { return Reshape(Cast(x, kInt64), {-1}); };
  const Output cells = Stack({flat(call.in(0)), flat(call.in(1))}, 1);
  const Output ones =
      call.has_weights() ? Reshape(call.WeightsLike(call.in(0)), {-1}) : OnesLike(Cast(flat(call.in(0)), kFloat32));
  const Shape square({num_classes, num_classes});
  const Variable total = call.Sum("total_confusion_matrix", square, kFloat64);
  const Output update = call.Add(total, ScatterNd(cells, Cast(ones, kFloat64), square));
  if (!call.ok()) return {};
  const Output matrix = Cast(total, kFloat32);
  const Output both = ReduceSum(matrix * Const(call.graph(),
                                               [&] {
                                                 Tensor identity(kFloat32, square);
                                                 const auto elements = identity.inplace_data<float>();
                                                 std::fill(elements.begin(), elements.end(), 0.0f);
                                                 for (int64_t i = 0; i < num_classes; ++i)
                                                   elements[i * num_classes + i] = 1;
                                                 return identity;
                                               }()),
                                0);
  const Output either = ReduceSum(matrix, 0) + ReduceSum(matrix, 1) - both;
  const Output occurring = ReduceSum(Cast(NotEqual(either, 0.0), kFloat32));
  return {DivNoNan(ReduceSum(DivNoNan(both, either)), occurring, "mean_iou"), update};
}

Metric MeanPerClassAccuracy(const Operand& labels, const Operand& predictions, int64_t num_classes,
                            const MetricOptions& options) {
  MetricCall call("MeanPerClassAccuracy", "mean_accuracy", {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  if (num_classes < 1) return call.Mistake(StrCat("num_classes must be positive, got ", num_classes));
  const auto flat = [](const Output& x) { return Reshape(Cast(x, kInt64), {-1}); };
  const Output y = flat(call.in(0));
  const Output correct = Cast(Equal(y, flat(call.in(1))), kFloat32);
  const Output weights = call.has_weights() ? Reshape(call.WeightsLike(call.in(0)), {-1}) : OnesLike(correct);
  const Shape shape({num_classes});
  const Variable total = call.Sum("total", shape), count = call.Sum("count", shape);
  const auto by_class = [&](const Output& x) { return ScatterNd(ExpandDims(y, 1), x, shape); };
  const Output new_total = call.Add(total, by_class(weights));
  const Output new_count = call.Add(count, by_class(correct * weights));
  if (!call.ok()) return {};
  return {ReduceMean(DivNoNan(count, total), Axes::All(), {.name = "mean_accuracy"}),
          DivNoNan(new_count, new_total, "update_op")};
}

}  // namespace tensorbraid::metrics
