// Metrics of models over many steps, such as the accuracy on a test set.
//
//   auto accuracy = metrics::Accuracy(labels, predictions);
//   session->Run({LocalVariablesInitializer(g)});            // begins to count
//   for (...) session->Run({accuracy.update}, feeds);        // adds a batch
//   session->Run({accuracy.value});                          // the metric of all batches so far
//
// A metric keeps its sums in local variables (VariableOptions::local), which have names of the metric's name scope, and
// are created where the open device scopes say. Metrics with the option `shared` can have global variables instead,
// which all workers of a cluster add to, so that the value is that of all of them. GlobalVariablesInitializer makes
// these begin at 0. Names, formulas and defaults are those of tf.compat.v1.metrics. Mistakes are recorded in
// Graph::status() with the line of the call.
#ifndef TENSORBRAID_LAYERS_METRICS_H_
#define TENSORBRAID_LAYERS_METRICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid::metrics {

struct Metric {
  Output value;   // of all batches so far
  Output update;  // adds the batch of the step; its value is the metric with this batch
};

struct MetricOptions {
  // How much each value counts: a scalar, or a tensor with the rank of the values whose dimensions are 1 or those of
  // the values. Not given: 1.
  std::optional<Operand> weights = {};
  std::string name = {};  // of the name scope; "": the name of the metric
};

// The mean of all values, a scalar.
Metric Mean(const Operand& values, const MetricOptions& options = {});
// The mean of each element over the batches, a tensor of the shape of the values, which must be fully known.
Metric MeanTensor(const Operand& values, const MetricOptions& options = {});
// The part of the predictions that are equal to their labels.
Metric Accuracy(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric MeanAbsoluteError(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric MeanSquaredError(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric RootMeanSquaredError(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
// The mean of |labels - predictions| / normalizer; 0 where the normalizer is 0.
Metric MeanRelativeError(const Operand& labels, const Operand& predictions, const Operand& normalizer,
                         const MetricOptions& options = {});
// The mean of 1 - the sum of labels * predictions along `dim`.
Metric MeanCosineDistance(const Operand& labels, const Operand& predictions, int dim,
                          const MetricOptions& options = {});
// The part of the values that are less than the threshold.
Metric PercentageBelow(const Operand& values, double threshold, const MetricOptions& options = {});

// Numbers of examples whose labels and predictions are true or false. Other dtypes than bool count as true where they
// are not 0.
Metric TruePositives(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric FalsePositives(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric TrueNegatives(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
Metric FalseNegatives(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
// True positives / all that were predicted as positive; 0 if there are none.
Metric Precision(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});
// True positives / all that are positive; 0 if there are none.
Metric Recall(const Operand& labels, const Operand& predictions, const MetricOptions& options = {});

// The same for predictions that are probabilities, each compared with a list of thresholds: vectors with an element for
// each threshold. A step fails with InvalidArgument for a prediction outside of [0, 1].
Metric TruePositivesAtThresholds(const Operand& labels, const Operand& predictions,
                                 const std::vector<double>& thresholds, const MetricOptions& options = {});
Metric FalsePositivesAtThresholds(const Operand& labels, const Operand& predictions,
                                  const std::vector<double>& thresholds, const MetricOptions& options = {});
Metric TrueNegativesAtThresholds(const Operand& labels, const Operand& predictions,
                                 const std::vector<double>& thresholds, const MetricOptions& options = {});
Metric FalseNegativesAtThresholds(const Operand& labels, const Operand& predictions,
                                  const std::vector<double>& thresholds, const MetricOptions& options = {});
Metric PrecisionAtThresholds(const Operand& labels, const Operand& predictions, const std::vector<double>& thresholds,
                             const MetricOptions& options = {});
Metric RecallAtThresholds(const Operand& labels, const Operand& predictions, const std::vector<double>& thresholds,
                          const MetricOptions& options = {});

enum class Curve { kRoc, kPr };  // true over false positive rate, or precision over recall
// How the area under the curve follows from its points. kCarefulInterpolation is that of Davis and Goadrich, 2006, for
// kPr, and kTrapezoidal for kRoc.
enum class Summation { kTrapezoidal, kCarefulInterpolation, kMinoring, kMajoring };
struct AucOptions {
  int num_thresholds = 200;             // 2 or more; evenly spaced
  std::vector<double> thresholds = {};  // instead of evenly spaced ones: those between 0 and 1
  Curve curve = Curve::kRoc;
  Summation summation = Summation::kTrapezoidal;
  std::optional<Operand> weights = {};
  std::string name = {};
  // Whether the sums are global variables. Each prediction is then counted by the interval between two thresholds, so
  // the update adds 2 * num_thresholds sums at the most. Only for evenly spaced thresholds, kRoc and kTrapezoidal.
  bool shared = false;
};
// The area under a curve of the probabilities that are predicted.
Metric Auc(const Operand& labels, const Operand& predictions, const AucOptions& options = {});
// The part of positive examples that are recognised with the threshold at which the part of negative examples that are
// recognised is nearest to `specificity`; and the other way round.
Metric SensitivityAtSpecificity(const Operand& labels, const Operand& predictions, double specificity,
                                int num_thresholds = 200, const MetricOptions& options = {});
Metric SpecificityAtSensitivity(const Operand& labels, const Operand& predictions, double sensitivity,
                                int num_thresholds = 200, const MetricOptions& options = {});

// Of each class, the part of the examples with this label or this prediction that have both; the mean over the classes
// that occur. The update is the matrix of the counts of label and prediction.
Metric MeanIou(const Operand& labels, const Operand& predictions, int64_t num_classes,
               const MetricOptions& options = {});
// The mean of the accuracies of the classes. The update is the accuracy of each class.
Metric MeanPerClassAccuracy(const Operand& labels, const Operand& predictions, int64_t num_classes,
                            const MetricOptions& options = {});

// Metrics of recommenders, which TensorFlow has not. Labels and predictions are numbers of any shape, flattened.
struct CalibrationOptions {
  std::optional<Operand> weights = {};  // a scalar, or one for each prediction
  bool shared = false;                  // whether the sums are global variables
  std::string name = {};
};
// The mean of the predictions divided by the mean of the labels; 0 while all labels are 0. It is 1 if a model predicts
// as many clicks as there are.
Metric Calibration(const Operand& labels, const Operand& predictions, const CalibrationOptions& options = {});

struct GroupedAucOptions {
  int num_thresholds = 100;             // 2 or more
  std::optional<Operand> weights = {};  // as in CalibrationOptions
  bool shared = false;                  // whether the sums are global variables
  std::string name = {};
};
// GAUC: the mean of the areas under the curves (kRoc) of groups of examples, such as those of each user, weighted by
// the weights of their examples. Groups without a positive or without a negative example do not count. `groups` are
// integers or strings, one for each example. Those with an equal remainder modulo `num_groups`, or with an equal hash
// below it, count as one. The sums take num_groups * (num_thresholds - 1) * 8 bytes, so the update changes only those
// of the batch. The value of the update is the number of examples of the batch.
Metric GroupedAuc(const Operand& labels, const Operand& predictions, const Operand& groups, int64_t num_groups,
                  const GroupedAucOptions& options = {});

}  // namespace tensorbraid::metrics

#endif  // TENSORBRAID_LAYERS_METRICS_H_
