// Metrics of recommenders, whose sums the workers of a cluster may share. Areas are computed from the numbers of
// positive and negative examples whose predictions are between two neighbouring thresholds.
#include "core/text/strings.h"
#include "layers/metric_call.h"
#include "layers/shared_auc.h"
#include "tensorbraid/layers/metrics.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/raw_ops/state.h"
#include "tensorbraid/raw_ops/string.h"

namespace tensorbraid::metrics {
namespace {

// Labels, predictions and weights as float32 vectors of the same size.
struct Examples {
  explicit Examples(const MetricCall& call)
      : labels(Flat(call.in(0))), predictions(Flat(call.in(1))), weights(OnesLike(predictions)) {
    if (call.has_weights()) weights = weights * Reshape(call.weights(), {-1});
  }
  static Output Flat(const Output& x) { return Reshape(Cast(x, kFloat32), {-1}); }
  Output labels, predictions, weights;
};

// The number, from 0, of the interval between two thresholds that has a prediction.
Output IntervalOf(const Output& predictions, int64_t intervals) {
  const auto most = static_cast<double>(intervals);
  return Cast(Minimum(Maximum(Ceil(predictions * most), 1.0), most), kInt64) - int64_t{1};
}

// The area under the curve for weights [..., intervals] of negative and positive examples.
Output AreaOf(const Output& negatives, const Output& positives) {
  const Output above = Cumsum(positives, -1, {.exclusive = true, .reverse = true});
  const Output right = ReduceSum(negatives * (above + positives / 2.0), -1);
  return DivNoNan(right, ReduceSum(negatives, -1) * ReduceSum(positives, -1));
}

}  // namespace

Metric SharedAuc(const Operand& labels, const Operand& predictions, const AucOptions& options) {
  MetricCall call("Auc", "auc", {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  if (!options.thresholds.empty() || options.curve != Curve::kRoc || options.summation != Summation::kTrapezoidal) {
    return call.Mistake("`shared` is only for evenly spaced thresholds, kRoc and kTrapezoidal");
  }
  if (options.num_thresholds < 2) return call.Mistake("there must be at least two thresholds");
  const int64_t intervals = options.num_thresholds - 1;
  const Examples examples(call);
  const Output at = IntervalOf(examples.predictions, intervals) + Cast(examples.labels, kInt64) * intervals;
  const Variable counts = call.Sum("counts", Shape({2 * intervals}), kFloat64, /*shared=*/true);
  const Output added = UnsortedSegmentSum(Cast(examples.weights, kFloat64), at, 2 * intervals);
  const auto area = [&](const Output& values, const std::string& name) {
    const std::vector<Output> parts = Unstack(Reshape(values, {2, intervals}));
    return parts.size() == 2 ? Cast(AreaOf(parts[0], parts[1]), kFloat32, name) : Output();
  };
  if (!call.ok()) return {};
  return {area(counts.Read(), "value"), area(call.Add(counts, added), "update_op")};
}

Metric Calibration(const Operand& labels, const Operand& predictions, const CalibrationOptions& options) {
  MetricCall call("Calibration", "calibration", {labels, predictions}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  const Examples examples(call);
  const Variable sums = call.Sum("sums", Shape({2}), kFloat64, options.shared);
  const Output added =
      Stack({ReduceSum(examples.weights * examples.predictions), ReduceSum(examples.weights * examples.labels)});
  const auto ratio = [](const Output& values, const std::string& name) {
    const std::vector<Output> parts = Unstack(values);
    return parts.size() == 2 ? Cast(DivNoNan(parts[0], parts[1]), kFloat32, name) : Output();
  };
  if (!call.ok()) return {};
  return {ratio(sums.Read(), "value"), ratio(call.Add(sums, Cast(added, kFloat64)), "update_op")};
}

Metric GroupedAuc(const Operand& labels, const Operand& predictions, const Operand& groups, int64_t num_groups,
                  const GroupedAucOptions& options) {
  MetricCall call("GroupedAuc", "grouped_auc", {labels, predictions, groups}, options.weights, options.name);
  if (!call.MatchShapes()) return {};
  if (options.num_thresholds < 2) return call.Mistake("there must be at least two thresholds");
  if (num_groups < 1) return call.Mistake(StrCat("num_groups must be positive, got ", num_groups));
  const int64_t intervals = options.num_thresholds - 1;
  const Examples examples(call);
  const Output given = Reshape(call.in(2), {-1});
  const Output group = given.dtype() == kString ? raw_ops::StringToHashBucketFast(given, num_groups)
                                                : FloorMod(Cast(given, kInt64), num_groups);
  const Output at =
      (group * int64_t{2} + Cast(examples.labels, kInt64)) * intervals + IntervalOf(examples.predictions, intervals);
  const Variable sums = call.Sum("counts", Shape({num_groups * 2 * intervals}), kFloat32, options.shared);
  if (!call.ok()) return {};
  const Operation add = raw_ops::ResourceScatterAdd(sums.handle(), at, examples.weights);
  const std::vector<Output> counts = Unstack(Cast(Reshape(sums.Read(), {num_groups, 2, intervals}), kFloat64), 1);
  if (!call.ok()) return {};
  const Output negatives = ReduceSum(counts[0], 1), positives = ReduceSum(counts[1], 1);
  const Output both = Cast(LogicalAnd(Greater(negatives, 0.0), Greater(positives, 0.0)), kFloat64);
  const Output sizes = (negatives + positives) * both;
  const Output areas = AreaOf(counts[0], counts[1]);
  const Output value = Cast(DivNoNan(ReduceSum(areas * sizes), ReduceSum(sizes)), kFloat32, "value");
  const ScopeGuard after = call.graph().ControlDependencies(std::vector<Operation>{add});
  return {value, Size(given, kInt32, "update_op")};
}

}  // namespace tensorbraid::metrics
