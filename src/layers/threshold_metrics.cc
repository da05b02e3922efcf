// Metrics of predictions that are probabilities, compared with a list of thresholds.
#include <array>
#include <functional>

#include "core/text/strings.h"
#include "layers/metric_call.h"
#include "layers/shared_auc.h"
#include "tensorbraid/layers/metrics.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/logging.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::metrics {
namespace {

constexpr double kEpsilon = 1e-7;

// The kinds of examples, as a bool for the label and one for the prediction.
enum Kind { kTruePositives, kFalseNegatives, kTrueNegatives, kFalsePositives, kNumKinds };

// A vector for each kind, with an element for each threshold. Those that a metric does not need are invalid.
using Counts = std::array<Output, kNumKinds>;

struct CountsSoFar {
  Counts values;
  Counts updates;
};

// Counts the examples of the kinds that `wanted` lists.
CountsSoFar CountAtThresholds(const MetricCall& call, const std::vector<double>& thresholds,
                              const std::vector<Kind>& wanted) {
  CountsSoFar counts;
  if (!call.ok()) return counts;
  static constexpr const char* kNames[] = {"true_positives", "false_negatives", "true_negatives", "false_positives"};
  Output p = Cast(call.in(1), kFloat32);
  const Operation check = Assert(LogicalAnd(ReduceAll(GreaterEqual(p, 0.0)), ReduceAll(LessEqual(p, 1.0))),
                                 {Const(call.graph(), Tensor::Scalar<std::string>("predictions must be in [0, 1]"))});
  if (!call.ok()) return counts;
  p = WithDependencies({check}, p);
  std::vector<float> limits(thresholds.begin(), thresholds.end());
  const auto size = static_cast<int64_t>(limits.size());
  const Output above = Greater(Reshape(p, {1, -1}), Reshape(Const(call.graph(), Tensor::Vector(limits)), {-1, 1}));
  const Output positive = Reshape(Cast(call.in(0), kBool), {1, -1});
  const Output weights = call.has_weights() ? Reshape(call.WeightsLike(call.in(1)), {1, -1}) : Output();
  for (const Kind kind : wanted) {
    const Output label = kind == kTruePositives || kind == kFalseNegatives ? positive : LogicalNot(positive);
    const Output prediction = kind == kTruePositives || kind == kFalsePositives ? above : LogicalNot(above);
    Output counted = Cast(LogicalAnd(label, prediction), kFloat32);
    if (weights.valid()) counted = counted * weights;
    const Variable sum = call.Sum(kNames[kind], Shape({size}));
    counts.updates[kind] = call.Add(sum, ReduceSum(counted, 1));
    counts.values[kind] = Identity(sum.value());
  }
  return counts;
}

// The count of one kind.
Metric CountOf(const char* metric, const char* default_name, const Operand& labels, const Operand& predictions,
               const std::vector<double>& thresholds, const MetricOptions& options, Kind kind) {
  MetricCall call(metric, default_name, {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  const CountsSoFar counts = CountAtThresholds(call, thresholds, {kind});
  return {counts.values[kind], counts.updates[kind]};
}

// What `compute` makes of the counts of these kinds.
Metric FromCounts(const char* metric, const char* default_name, const Operand& labels, const Operand& predictions,
                  const std::vector<double>& thresholds, const MetricOptions& options, const std::vector<Kind>& kinds,
                  const std::function<Output(const Counts& counts, const std::string& name)>& compute) {
  MetricCall call(metric, default_name, {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  if (thresholds.size() < 2 && kinds.size() == kNumKinds) return call.Mistake("there must be at least two thresholds");
  const CountsSoFar counts = CountAtThresholds(call, thresholds, kinds);
  if (!call.ok()) return {};
  return {compute(counts.values, "value"), compute(counts.updates, "update_op")};
}

const std::vector<Kind> kAllKinds = {kTruePositives, kFalseNegatives, kTrueNegatives, kFalsePositives};

// 0 and 1, and evenly spaced thresholds between them. The outer ones lie beyond by a small number, so that predictions
// of 0 and 1 are on the right side.
std::vector<double> EvenThresholds(int count, double last = 1 + kEpsilon) {
  std::vector<double> thresholds = {-kEpsilon};
  for (int i = 1; i < count - 1; ++i) thresholds.push_back(static_cast<double>(i) / (count - 1));
  thresholds.push_back(last);
  return thresholds;
}

// All elements but the last; all but the first.
Output Front(const Output& x) { return StridedSlice(x, {0}, {-1}, {1}); }
Output Back(const Output& x) { return StridedSlice(x, {1}, {0}, {1}, {.end_mask = 1}); }

// The area under the curve of precision over recall, interpolated as Davis and Goadrich do.
Output InterpolatedPrArea(const Counts& c, const std::string& name) {
  const Output &tp = c[kTruePositives], &fp = c[kFalsePositives], &fn = c[kFalseNegatives];
  const Output step = Front(tp) - Back(tp);
  const Output positive = tp + fp;
  const Output slope = DivNoNan(step, Maximum(Front(positive) - Back(positive), 0.0));
  const Output intercept = Back(tp) - slope * Back(positive);
  const Output both = LogicalAnd(Greater(Front(positive), 0.0), Greater(Back(positive), 0.0));
  const Output ratio = Select(both, DivNoNan(Front(positive), Maximum(Back(positive), 0.0)), 1.0);
  const Output parts = DivNoNan(slope * (step + intercept * Log(ratio)), Maximum(Back(tp) + Back(fn), 0.0));
  return ReduceSum(parts, Axes::All(), {.name = name});
}

Output Area(const Counts& c, const AucOptions& options, const std::string& name) {
  constexpr double kSmall = 1e-6;
  const Output &tp = c[kTruePositives], &fp = c[kFalsePositives], &fn = c[kFalseNegatives], &tn = c[kTrueNegatives];
  const bool is_pr = options.curve == Curve::kPr;
  if (is_pr && options.summation == Summation::kCarefulInterpolation) return InterpolatedPrArea(c, name);
  const Output recall = (tp + kSmall) / (tp + fn + kSmall);
  const Output x = is_pr ? recall : fp / (fp + tn + kSmall);
  const Output y = is_pr ? (tp + kSmall) / (tp + fp + kSmall) : recall;
  const Output widths = Front(x) - Back(x);
  Output heights;
  switch (options.summation) {
    case Summation::kMinoring:
      heights = Minimum(Front(y), Back(y));
      break;
    case Summation::kMajoring:
      heights = Maximum(Front(y), Back(y));
      break;
    default:
      heights = (Front(y) + Back(y)) / 2.0;
  }
  return ReduceSum(widths * heights, Axes::All(), {.name = name});
}

// x[i] for a scalar index.
Output At(const Output& x, const Output& i) { return Gather(x, i); }

}  // namespace

Metric TruePositivesAtThresholds(const Operand& labels, const Operand& predictions,
                                 const std::vector<double>& thresholds, const MetricOptions& options) {
  return CountOf("TruePositivesAtThresholds", "true_positives", labels, predictions, thresholds, options,
                 kTruePositives);
}
Metric FalsePositivesAtThresholds(const Operand& labels, const Operand& predictions,
                                  const std::vector<double>& thresholds, const MetricOptions& options) {
  return CountOf("FalsePositivesAtThresholds", "false_positives", labels, predictions, thresholds, options,
                 kFalsePositives);
}
Metric TrueNegativesAtThresholds(const Operand& labels, const Operand& predictions,
                                 const std::vector<double>& thresholds, const MetricOptions& options) {
  return CountOf("TrueNegativesAtThresholds", "true_negatives", labels, predictions, thresholds, options,
                 kTrueNegatives);
}
Metric FalseNegativesAtThresholds(const Operand& labels, const Operand& predictions,
                                  const std::vector<double>& thresholds, const MetricOptions& options) {
  return CountOf("FalseNegativesAtThresholds", "false_negatives", labels, predictions, thresholds, options,
                 kFalseNegatives);
}

Metric PrecisionAtThresholds(const Operand& labels, const Operand& predictions, const std::vector<double>& thresholds,
                             const MetricOptions& options) {
  return FromCounts("PrecisionAtThresholds", "precision_at_thresholds", labels, predictions, thresholds, options,
                    {kTruePositives, kFalsePositives}, [](const Counts& c, const std::string& name) {
                      const Output& tp = c[kTruePositives];
                      return Div(tp, kEpsilon + tp + c[kFalsePositives], "precision_" + name);
                    });
}

Metric RecallAtThresholds(const Operand& labels, const Operand& predictions, const std::vector<double>& thresholds,
                          const MetricOptions& options) {
  return FromCounts("RecallAtThresholds", "recall_at_thresholds", labels, predictions, thresholds, options,
                    {kTruePositives, kFalseNegatives}, [](const Counts& c, const std::string& name) {
                      const Output& tp = c[kTruePositives];
                      return Div(tp, kEpsilon + tp + c[kFalseNegatives], "recall_" + name);
                    });
}

Metric Auc(const Operand& labels, const Operand& predictions, const AucOptions& options) {
  if (options.shared) return SharedAuc(labels, predictions, options);
  std::vector<double> thresholds = EvenThresholds(options.num_thresholds);
  if (!options.thresholds.empty()) {
    thresholds = options.thresholds;
    thresholds.insert(thresholds.begin(), -kEpsilon);
    thresholds.push_back(1 + kEpsilon);
  }
  return FromCounts("Auc", "auc", labels, predictions, thresholds, {.weights = options.weights, .name = options.name},
                    kAllKinds, [&](const Counts& c, const std::string& name) { return Area(c, options, name); });
}

Metric SensitivityAtSpecificity(const Operand& labels, const Operand& predictions, double specificity,
                                int num_thresholds, const MetricOptions& options) {
  return FromCounts("SensitivityAtSpecificity", "sensitivity_at_specificity", labels, predictions,
                    EvenThresholds(num_thresholds), options, kAllKinds, [&](const Counts& c, const std::string& name) {
                      const Output& tn = c[kTrueNegatives];
                      const Output specificities = tn / (tn + c[kFalsePositives] + kEpsilon);
                      const Output i = ArgMin(Abs(specificities - specificity));
                      const Output tp = At(c[kTruePositives], i);
                      return Div(tp, tp + At(c[kFalseNegatives], i) + kEpsilon, name);
                    });
}

Metric SpecificityAtSensitivity(const Operand& labels, const Operand& predictions, double sensitivity,
                                int num_thresholds, const MetricOptions& options) {
  return FromCounts("SpecificityAtSensitivity", "specificity_at_sensitivity", labels, predictions,
                    EvenThresholds(num_thresholds, 1 - kEpsilon), options, kAllKinds,
                    [&](const Counts& c, const std::string& name) {
                      const Output& tp = c[kTruePositives];
                      const Output distances = Abs(tp / (tp + c[kFalseNegatives] + kEpsilon) - sensitivity);
                      // The last of the thresholds that are nearest.
                      const Output nearest = Cast(Equal(distances, ReduceMin(distances)), kInt64);
                      const Output i = ArgMax(Cumsum(nearest));
                      const Output tn = At(c[kTrueNegatives], i);
                      return Div(tn, tn + At(c[kFalsePositives], i) + kEpsilon, name);
                    });
}

}  // namespace tensorbraid::metrics
