#include "tensorbraid/layers/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensorbraid/raw_ops/logging.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Runs a metric over batches of labels and predictions.
class Batches {
 public:
  explicit Batches(DType labels) : labels_(Placeholder(g_, labels)), predictions_(Placeholder(g_, kFloat32)) {}
  Graph& g() { return g_; }
  const Output& labels() const { return labels_; }
  const Output& predictions() const { return predictions_; }

  // The updates of the batches, then the value of all.
  std::vector<float> Run(const metrics::Metric& metric, const std::vector<std::pair<Tensor, Tensor>>& batches) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const Operation init = LocalVariablesInitializer(g_);
    auto session = Session::Create(g_).value();
    EXPECT_TRUE(session->Run({init}).ok());
    std::vector<float> values;
    for (const auto& [y, p] : batches) {
      const auto update = session->Run({metric.update}, {{labels_, y}, {predictions_, p}});
      EXPECT_TRUE(update.ok()) << update.status();
      if (update.ok()) values.push_back((*update)[0].data<float>()[0]);
    }
    values.push_back(session->Run({metric.value}).value()[0].data<float>()[0]);
    return values;
  }

 private:
  Graph g_;
  Output labels_, predictions_;
};

using Floats = std::vector<float>;

TEST(MetricsTest, AMeanIsThatOfAllBatches) {
  Batches b(kFloat32);
  const metrics::Metric metric = metrics::MeanAbsoluteError(b.labels(), b.predictions());
  const Floats found = b.Run(metric, {{Tensor::Vector<float>({0, 0}), Tensor::Vector<float>({1, 3})},
                                      {Tensor::Vector<float>({1, 1}), Tensor::Vector<float>({1, 5})}});
  EXPECT_EQ(found, (Floats{2, 2, 2}));
  EXPECT_EQ(b.g().GetCollection("local_variables").size(), 2);
  EXPECT_TRUE(b.g().GetCollection("global_variables").empty());
  EXPECT_TRUE(b.g().FindOperation("mean_absolute_error/total").ok());
}

TEST(MetricsTest, AStepWhoseValuesFailIsNotCounted) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, Shape({}));
  const Output checked = raw_ops::CheckNumerics(x, "x");
  const metrics::Metric metric = metrics::Mean(checked);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Operation init = LocalVariablesInitializer(g);
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  ASSERT_TRUE(session->Run({metric.update}, {{x, Tensor::Scalar(4.0f)}}).ok());
  EXPECT_FALSE(session->Run({metric.update}, {{x, Tensor::Scalar(NAN)}}).ok());
  EXPECT_EQ(session->Run({metric.value}).value()[0].data<float>()[0], 4.0f);
}

TEST(MetricsTest, PrecisionAndRecallCountWithWeights) {
  Batches b(kBool);
  const Tensor weights = Tensor::Vector<float>({1, 1, 3});
  const metrics::Metric precision = metrics::Precision(b.labels(), b.predictions(), {.weights = weights});
  const metrics::Metric recall = metrics::Recall(b.labels(), b.predictions(), {.weights = weights});
  const std::vector<std::pair<Tensor, Tensor>> batch = {
      {Tensor::Vector<bool>({true, true, false}), Tensor::Vector<float>({1, 0, 1})}};
  EXPECT_EQ(b.Run(precision, batch).back(), 0.25f);
  EXPECT_EQ(b.Run(recall, batch).back(), 0.5f);
}

// Class 1 has one right and one wrong example, whose weights are 2 and 1. TensorFlow gives the value.
TEST(MetricsTest, TheAccuraciesOfClassesCountWithWeights) {
  Batches b(kInt32);
  const metrics::Metric metric =
      metrics::MeanPerClassAccuracy(b.labels(), b.predictions(), 2, {.weights = Tensor::Vector<float>({0.5f, 2, 1})});
  const Floats found = b.Run(metric, {{Tensor::Vector<int32_t>({0, 1, 1}), Tensor::Vector<float>({0, 1, 0})}});
  EXPECT_FLOAT_EQ(found.back(), (1 + 2.0f / 3) / 2);
}

TEST(MetricsTest, AValueWithoutBatchesIsZero) {
  Batches b(kBool);
  EXPECT_EQ(b.Run(metrics::Precision(b.labels(), b.predictions()), {}), Floats{0});
}

TEST(MetricsTest, TheAreaUnderTheCurveOfPerfectPredictionsIsOne) {
  Batches b(kBool);
  const metrics::Metric auc = metrics::Auc(b.labels(), b.predictions());
  EXPECT_NEAR(b.Run(auc, {{Tensor::Vector<bool>({true, false, true}), Tensor::Vector<float>({0.9f, 0.1f, 1})}}).back(),
              1, 1e-5);
}

TEST(MetricsTest, AProbabilityAboveOneFailsTheStep) {
  Batches b(kBool);
  const metrics::Metric auc = metrics::Auc(b.labels(), b.predictions());
  const Operation init = LocalVariablesInitializer(b.g());
  auto session = Session::Create(b.g()).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const auto update = session->Run(
      {auc.update}, {{b.labels(), Tensor::Vector<bool>({true})}, {b.predictions(), Tensor::Vector<float>({1.5})}});
  EXPECT_NE(update.status().message().find("predictions must be in [0, 1]"), std::string::npos) << update.status();
}

TEST(MetricsTest, MistakesNameTheMetricAndTheLine) {
  Graph g;
  metrics::Accuracy(Placeholder(g, kFloat32, {2}), Placeholder(g, kFloat32, {3}));
  const std::string message(g.status().message());
  EXPECT_NE(message.find("Accuracy (metrics_test.cc:"), std::string::npos) << message;
}

}  // namespace
}  // namespace tensorbraid
