#include "tensorbraid/layers/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
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

// The part of the pairs of a positive and a negative example in which the positive one has the higher prediction.
double AreaByPairs(const std::vector<float>& labels, const std::vector<float>& predictions) {
  double right = 0, pairs = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      pairs += 1;
      right += predictions[i] > predictions[j] ? 1 : predictions[i] == predictions[j] ? 0.5 : 0;
    }
  }
  return pairs == 0 ? 0 : right / pairs;
}

TEST(MetricsTest, WorkersShareTheSumsOfRecommenders) {
  TestCluster cluster(/*num_ps=*/1, /*num_workers=*/2);
  const Floats labels = {1, 0, 1, 0, 0, 1, 0, 1}, predictions = {0.9, 0.2, 0.3, 0.4, 0.3, 0.8, 0.1, 0.15};
  const std::vector<std::string> users = {"a", "a", "a", "b", "b", "b", "c", "c"};
  // Each worker adds the half of the examples, and both see the value of all.
  std::vector<float> values;
  for (int worker = 0; worker < 2; ++worker) {
    Graph g;
    const auto device =
        g.Device(ReplicaDeviceSetter({.ps_tasks = 1, .worker_device = StrCat("/job:worker/task:", worker)}));
    const size_t half = labels.size() / 2, first = static_cast<size_t>(worker) * half;
    const auto part = [&](const auto& of) {
      using T = typename std::decay_t<decltype(of)>::value_type;
      return Const(g, Tensor::Vector(std::vector<T>(of.begin() + static_cast<int64_t>(first),
                                                    of.begin() + static_cast<int64_t>(first + half))));
    };
    const Output y = part(labels), p = part(predictions);
    const std::vector<metrics::Metric> found = {
        metrics::Auc(y, p, {.num_thresholds = 101, .shared = true}),
        metrics::GroupedAuc(y, p, part(users), 1000, {.num_thresholds = 101, .shared = true}),
        metrics::Calibration(y, p, {.shared = true})};
    ASSERT_EQ(g.status(), OkStatus());
    EXPECT_TRUE(g.GetCollection("local_variables").empty());
    const Operation init = GlobalVariablesInitializer(g);
    auto session = Session::Create(g, {.target = cluster.target("worker", worker)});
    ASSERT_TRUE(session.ok()) << session.status();
    if (worker == 0) {
      ASSERT_EQ((*session)->Run({init}).status(), OkStatus());
    }
    ASSERT_EQ((*session)->Run({found[0].update, found[1].update, found[2].update}).status(), OkStatus());
    const auto r = (*session)->Run({found[0].value, found[1].value, found[2].value});
    ASSERT_TRUE(r.ok()) << r.status();
    for (const Tensor& value : *r) values.push_back(value.scalar<float>());
  }
  const auto slice = [](const Floats& of, int begin, int end) { return Floats(of.begin() + begin, of.begin() + end); };
  const auto area = [&](int begin, int end) {
    return AreaByPairs(slice(labels, begin, end), slice(predictions, begin, end));
  };
  EXPECT_NEAR(values[0], area(0, 4), 1e-6);
  EXPECT_NEAR(values[1], area(0, 3), 1e-6) << "the only user with both kinds is the first";
  EXPECT_NEAR(values[2], 1.8 / 2, 1e-6);
  EXPECT_NEAR(values[3], area(0, 8), 1e-6);
  EXPECT_NEAR(values[4], (3 * area(0, 3) + 3 * area(3, 6) + 2 * area(6, 8)) / 8, 1e-6);
  EXPECT_NEAR(values[5], std::accumulate(predictions.begin(), predictions.end(), 0.0) / 4, 1e-6);
}

TEST(MetricsTest, GroupsAreNumbersAndExamplesHaveWeights) {
  Graph g;
  const Output y = Const(g, Tensor::Vector<float>({1, 0, 1, 0})),
               p = Const(g, Tensor::Vector<float>({0.9, 0.5, 0.1, 0.5}));
  const Output weights = Const(g, Tensor::Vector<float>({1, 3, 2, 2}));
  const metrics::Metric areas =
      metrics::GroupedAuc(y, p, Const(g, Tensor::Vector<int64_t>({-3, 4, 8, 1})), 7, {.weights = weights});
  const metrics::Metric ratio = metrics::Calibration(y, p, {.weights = weights});
  ASSERT_EQ(g.status(), OkStatus());
  EXPECT_TRUE(g.GetCollection("global_variables").empty());
  auto session = Session::Create(g).value();
  ASSERT_EQ(session->Run({LocalVariablesInitializer(g)}).status(), OkStatus());
  EXPECT_EQ(session->Run({areas.update}).value()[0].scalar<int32_t>(), 4);
  EXPECT_EQ(session->Run({areas.value}).value()[0].scalar<float>(), 0.5f)
      << "group 4 has 1, group 1 has 0, both weigh 4";
  EXPECT_NEAR(session->Run({ratio.update}).value()[0].scalar<float>(), (0.9 + 1.5 + 0.2 + 1) / 3, 1e-6);
}

TEST(MetricsTest, MistakesInMetricsOfRecommendersAreNamed) {
  const auto mistake = [](const auto& make) {
    Graph g;
    const Output x = Const(g, Tensor::Vector<float>({0, 1}));
    make(x);
    return std::string(g.TakeStatus().message());
  };
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(mistake([](const Output& x) { metrics::Auc(x, x, {.curve = metrics::Curve::kPr, .shared = true}); }),
         "`shared` is only for evenly spaced thresholds, kRoc");
  expect(mistake([](const Output& x) { metrics::GroupedAuc(x, x, x, 0); }), "num_groups must be positive, got 0");
  expect(mistake([](const Output& x) { metrics::GroupedAuc(x, x, x, 5, {.num_thresholds = 1}); }), "at least two");
}

}  // namespace
}  // namespace tensorbraid
