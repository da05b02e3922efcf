// Losses and metrics.
#include "tensorbraid/layers/losses.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "binding/graph.h"
#include "tensorbraid/layers/metrics.h"
#include "tensorbraid/variables/sampled_loss.h"

namespace tensorbraid::python {
namespace {

// Adds what `build` adds to the graph of the tensors. Mistakes are ValueErrors, as in TensorFlow.
template <typename Build>
auto Built(const PyTensor& tensor, const Build& build) {
  Graph& graph = *tensor.output.graph();
  const ScopeGuard at = AtUserLine(graph);
  const auto result = build();
  CheckValues(graph);
  return result;
}

losses::LossOptions OptionsOf(const PyTensor& weights, losses::Reduction reduction, const std::string& name) {
  return {.weights = weights.output, .reduction = reduction, .name = name};
}

// A loss of two tensors, with or without a number.
template <Output (*loss)(const Operand&, const Operand&, const losses::LossOptions&)>
TensorObject Loss(const PyTensor& labels, const PyTensor& predictions, const PyTensor& weights,
                  losses::Reduction reduction, const std::string& name) {
  return Wrap(
      Built(labels, [&] { return loss(labels.output, predictions.output, OptionsOf(weights, reduction, name)); }));
}
template <typename Number, Output (*loss)(const Operand&, const Operand&, Number, const losses::LossOptions&)>
TensorObject LossWith(const PyTensor& labels, const PyTensor& predictions, Number number, const PyTensor& weights,
                      losses::Reduction reduction, const std::string& name) {
  return Wrap(Built(
      labels, [&] { return loss(labels.output, predictions.output, number, OptionsOf(weights, reduction, name)); }));
}

// nn::SampledSoftmaxLoss or nn::NceLoss. `weights` and `biases` are functions that return the rows for class numbers.
template <decltype(nn::NceLoss) loss>
TensorObject SampledLoss(nb::callable weights, nb::callable biases, const PyTensor& labels, const PyTensor& inputs,
                         int64_t num_sampled, int64_t num_classes, int64_t num_true, nb::handle sampled,
                         bool removes_hits, int64_t seed, const std::string& name) {
  const auto rows_of = [](const nb::callable& lookup) {
    return nn::ClassRows([lookup](const Output& classes) { return nb::cast<PyTensor&>(lookup(Wrap(classes))).output; });
  };
  nn::SampledLossOptions options = {
      .num_true = num_true, .remove_accidental_hits = removes_hits, .seed = seed, .name = name};
  if (!sampled.is_none()) {
    const std::vector<Output> values = OutputsOf(sampled);
    options.sampled_classes = nn::SampledClasses{values.at(0), values.at(1), values.at(2)};
  }
  return Wrap(Built(inputs, [&] {
    return loss(rows_of(weights), rows_of(biases), labels.output, inputs.output, num_sampled, num_classes, options);
  }));
}

metrics::MetricOptions MetricOptionsOf(nb::handle weights, const std::string& name) {
  metrics::MetricOptions options = {.name = name};
  if (!weights.is_none()) options.weights = nb::cast<PyTensor&>(weights).output;
  return options;
}

nb::tuple Wrapped(const metrics::Metric& metric) { return nb::make_tuple(Wrap(metric.value), Wrap(metric.update)); }

template <metrics::Metric (*metric)(const Operand&, const metrics::MetricOptions&)>
nb::tuple Metric1(const PyTensor& values, nb::handle weights, const std::string& name) {
  return Wrapped(Built(values, [&] { return metric(values.output, MetricOptionsOf(weights, name)); }));
}
template <metrics::Metric (*metric)(const Operand&, const Operand&, const metrics::MetricOptions&)>
nb::tuple Metric2(const PyTensor& labels, const PyTensor& predictions, nb::handle weights, const std::string& name) {
  return Wrapped(
      Built(labels, [&] { return metric(labels.output, predictions.output, MetricOptionsOf(weights, name)); }));
}
template <typename Argument, typename Passed,
          metrics::Metric (*metric)(const Operand&, const Operand&, Passed, const metrics::MetricOptions&)>
nb::tuple MetricWith(const PyTensor& labels, const PyTensor& predictions, const Argument& argument, nb::handle weights,
                     const std::string& name) {
  return Wrapped(Built(
      labels, [&] { return metric(labels.output, predictions.output, argument, MetricOptionsOf(weights, name)); }));
}
template <metrics::Metric (*metric)(const Operand&, const Operand&, double, int, const metrics::MetricOptions&)>
nb::tuple MetricAt(const PyTensor& labels, const PyTensor& predictions, double at, int num_thresholds,
                   nb::handle weights, const std::string& name) {
  return Wrapped(Built(labels, [&] {
    return metric(labels.output, predictions.output, at, num_thresholds, MetricOptionsOf(weights, name));
  }));
}

nb::tuple Auc(const PyTensor& labels, const PyTensor& predictions, int num_thresholds,
              const std::vector<double>& thresholds, metrics::Curve curve, metrics::Summation summation,
              nb::handle weights, const std::string& name) {
  const metrics::AucOptions options = {.num_thresholds = num_thresholds,
                                       .thresholds = thresholds,
                                       .curve = curve,
                                       .summation = summation,
                                       .weights = MetricOptionsOf(weights, name).weights,
                                       .name = name};
  return Wrapped(Built(labels, [&] { return metrics::Auc(labels.output, predictions.output, options); }));
}

// The arguments of a metric after the tensors.
template <typename... Before>
void DefineMetric(Module& m, const char* name, auto function, Before... before) {
  m.def(name, function, before..., nb::arg("weights").none(), nb::arg("name"));
}

}  // namespace

void BindLosses(Module& m) {
  Enum<losses::Reduction>(m, "Reduction")
      .value("NONE", losses::Reduction::kNone)
      .value("SUM", losses::Reduction::kSum)
      .value("MEAN", losses::Reduction::kMean)
      .value("SUM_OVER_BATCH_SIZE", losses::Reduction::kSumOverBatchSize)
      .value("SUM_BY_NONZERO_WEIGHTS", losses::Reduction::kSumByNonzeroWeights);
  Enum<metrics::Curve>(m, "Curve").value("ROC", metrics::Curve::kRoc).value("PR", metrics::Curve::kPr);
  Enum<metrics::Summation>(m, "Summation")
      .value("TRAPEZOIDAL", metrics::Summation::kTrapezoidal)
      .value("CAREFUL_INTERPOLATION", metrics::Summation::kCarefulInterpolation)
      .value("MINORING", metrics::Summation::kMinoring)
      .value("MAJORING", metrics::Summation::kMajoring);
  m.def("sampled_softmax_loss", &SampledLoss<nn::SampledSoftmaxLoss>, nb::arg("weights"), nb::arg("biases"),
        nb::arg("labels"), nb::arg("inputs"), nb::arg("num_sampled"), nb::arg("num_classes"), nb::arg("num_true"),
        nb::arg("sampled").none(), nb::arg("removes_hits"), nb::arg("seed"), nb::arg("name"));
  m.def("nce_loss", &SampledLoss<nn::NceLoss>, nb::arg("weights"), nb::arg("biases"), nb::arg("labels"),
        nb::arg("inputs"), nb::arg("num_sampled"), nb::arg("num_classes"), nb::arg("num_true"),
        nb::arg("sampled").none(), nb::arg("removes_hits"), nb::arg("seed"), nb::arg("name"));
  m.def("weighted_loss",
        [](const PyTensor& values, const PyTensor& weights, losses::Reduction reduction, const std::string& name) {
          return Wrap(Built(
              values, [&] { return losses::ComputeWeightedLoss(values.output, OptionsOf(weights, reduction, name)); }));
        });
  m.def("absolute_difference", &Loss<losses::AbsoluteDifference>);
  m.def("mean_squared_error", &Loss<losses::MeanSquaredError>);
  m.def("hinge_loss", &Loss<losses::HingeLoss>);
  m.def("mean_pairwise_squared_error", &Loss<losses::MeanPairwiseSquaredError>);
  m.def("sparse_softmax_cross_entropy", &Loss<losses::SparseSoftmaxCrossEntropy>);
  m.def("huber_loss", &LossWith<double, losses::HuberLoss>);
  m.def("log_loss", &LossWith<double, losses::LogLoss>);
  m.def("sigmoid_cross_entropy", &LossWith<double, losses::SigmoidCrossEntropy>);
  m.def("softmax_cross_entropy", &LossWith<double, losses::SoftmaxCrossEntropy>);
  m.def("cosine_distance", &LossWith<int, losses::CosineDistance>);

  const nb::arg values("values"), labels("labels"), predictions("predictions"), argument("argument");
  DefineMetric(m, "metric_mean", &Metric1<metrics::Mean>, values);
  DefineMetric(m, "metric_mean_tensor", &Metric1<metrics::MeanTensor>, values);
  m.def(
      "metric_percentage_below",
      [](const PyTensor& x, double threshold, nb::handle weights, const std::string& name) {
        return Wrapped(
            Built(x, [&] { return metrics::PercentageBelow(x.output, threshold, MetricOptionsOf(weights, name)); }));
      },
      values, nb::arg("threshold"), nb::arg("weights").none(), nb::arg("name"));
  DefineMetric(m, "metric_accuracy", &Metric2<metrics::Accuracy>, labels, predictions);
  DefineMetric(m, "metric_mean_absolute_error", &Metric2<metrics::MeanAbsoluteError>, labels, predictions);
  DefineMetric(m, "metric_mean_squared_error", &Metric2<metrics::MeanSquaredError>, labels, predictions);
  DefineMetric(m, "metric_root_mean_squared_error", &Metric2<metrics::RootMeanSquaredError>, labels, predictions);
  DefineMetric(m, "metric_true_positives", &Metric2<metrics::TruePositives>, labels, predictions);
  DefineMetric(m, "metric_false_positives", &Metric2<metrics::FalsePositives>, labels, predictions);
  DefineMetric(m, "metric_true_negatives", &Metric2<metrics::TrueNegatives>, labels, predictions);
  DefineMetric(m, "metric_false_negatives", &Metric2<metrics::FalseNegatives>, labels, predictions);
  DefineMetric(m, "metric_precision", &Metric2<metrics::Precision>, labels, predictions);
  DefineMetric(m, "metric_recall", &Metric2<metrics::Recall>, labels, predictions);
  DefineMetric(m, "metric_mean_cosine_distance", &MetricWith<int, int, metrics::MeanCosineDistance>, labels,
               predictions, argument);
  DefineMetric(m, "metric_mean_iou", &MetricWith<int64_t, int64_t, metrics::MeanIou>, labels, predictions, argument);
  DefineMetric(m, "metric_mean_per_class_accuracy", &MetricWith<int64_t, int64_t, metrics::MeanPerClassAccuracy>,
               labels, predictions, argument);
  using Limits = std::vector<double>;
  const auto at_thresholds = [&](const char* name, auto function) {
    DefineMetric(m, name, function, labels, predictions, argument);
  };
  at_thresholds("metric_true_positives_at_thresholds",
                &MetricWith<Limits, const Limits&, metrics::TruePositivesAtThresholds>);
  at_thresholds("metric_false_positives_at_thresholds",
                &MetricWith<Limits, const Limits&, metrics::FalsePositivesAtThresholds>);
  at_thresholds("metric_true_negatives_at_thresholds",
                &MetricWith<Limits, const Limits&, metrics::TrueNegativesAtThresholds>);
  at_thresholds("metric_false_negatives_at_thresholds",
                &MetricWith<Limits, const Limits&, metrics::FalseNegativesAtThresholds>);
  at_thresholds("metric_precision_at_thresholds", &MetricWith<Limits, const Limits&, metrics::PrecisionAtThresholds>);
  at_thresholds("metric_recall_at_thresholds", &MetricWith<Limits, const Limits&, metrics::RecallAtThresholds>);
  m.def(
      "metric_mean_relative_error",
      [](const PyTensor& y, const PyTensor& p, const PyTensor& normalizer, nb::handle weights,
         const std::string& name) {
        return Wrapped(Built(y, [&] {
          return metrics::MeanRelativeError(y.output, p.output, normalizer.output, MetricOptionsOf(weights, name));
        }));
      },
      labels, predictions, nb::arg("normalizer"), nb::arg("weights").none(), nb::arg("name"));
  DefineMetric(m, "metric_sensitivity_at_specificity", &MetricAt<metrics::SensitivityAtSpecificity>, labels,
               predictions, argument, nb::arg("num_thresholds"));
  DefineMetric(m, "metric_specificity_at_sensitivity", &MetricAt<metrics::SpecificityAtSensitivity>, labels,
               predictions, argument, nb::arg("num_thresholds"));
  DefineMetric(m, "metric_auc", &Auc, labels, predictions, nb::arg("num_thresholds"), nb::arg("thresholds"),
               nb::arg("curve"), nb::arg("summation"));
}

}  // namespace tensorbraid::python
