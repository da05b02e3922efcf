// Tests the losses of drawn classes. The expected values are TensorFlow's (testdata/make_sampled_losses.py).
#include "tensorbraid/variables/sampled_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr int kClasses = 7, kWidth = 3;

void ExpectNear(const Tensor& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got.data<float>()[i], expected[i], 1e-5) << i;
}

// Weights sin(0), sin(1), ... and biases cos(0), cos(1), ... of seven classes, in several variables.
struct Model {
  Model(int parts, nn::PartitionStrategy strategy) {
    std::vector<std::vector<int>> classes(parts);
    int next = 0;
    for (int i = 0; i < parts; ++i) {
      const int rows = kClasses / parts + (i < kClasses % parts ? 1 : 0);
      for (int row = 0; row < rows; ++row) {
        classes[i].push_back(strategy == nn::PartitionStrategy::kMod ? i + row * parts : next);
        ++next;
      }
    }
    for (const std::vector<int>& some : classes) {
      std::vector<float> w, b;
      for (const int c : some) {
        for (int i = 0; i < kWidth; ++i) w.push_back(std::sin(static_cast<float>(c * kWidth + i)));
        b.push_back(std::cos(static_cast<float>(c)));
      }
      const auto rows = static_cast<int64_t>(some.size());
      weights.emplace_back(g, Shape({rows, kWidth}), Constant(Tensor::Of<float>({rows, kWidth}, w)));
      biases.emplace_back(g, Shape({rows}), Constant(Tensor::Vector<float>(b)));
    }
    inputs = Const(g, Tensor::Of<float>({2, kWidth}, {0.5f, -1, 2, 1, 0.25f, -0.5f}));
  }

  Output Labels(int num_true) {
    return num_true == 2 ? Const(g, Tensor::Of<int64_t>({2, 2}, {1, 4, 2, 6}))
                         : Const(g, Tensor::Of<int64_t>({2, 1}, {4, 2}));
  }
  // Options with drawn classes, of which 4 is a true class of the first example.
  nn::SampledLossOptions Options(int num_true, nn::PartitionStrategy strategy) {
    const std::vector<float> expected =
        num_true == 2 ? std::vector<float>{0.3f, 0.5f, 0.7f, 0.9f} : std::vector<float>{0.3f, 0.9f};
    return {.num_true = num_true,
            .sampled_classes =
                nn::SampledClasses{.sampled = Const(g, Tensor::Vector<int64_t>({0, 4, 5})),
                                   .true_expected_count = Const(g, Tensor::Of<float>({2, num_true}, expected)),
                                   .sampled_expected_count = Const(g, Tensor::Vector<float>({0.7f, 0.5f, 0.2f}))},
            .partition_strategy = strategy};
  }
  // Checks the loss, the gradient for the inputs, and the sum of the gradient for each variable. The second example
  // counts twice.
  void Expect(const Output& loss, const std::vector<float>& losses, const std::vector<float>& of_inputs,
              const std::vector<float>& sums) {
    ASSERT_TRUE(g.status().ok()) << g.status();
    std::vector<Output> sources = {inputs};
    for (const Variable& v : weights) sources.push_back(v.handle());
    for (const Variable& v : biases) sources.push_back(v.handle());
    const auto grads = Gradients({ReduceSum(loss * Const(g, Tensor::Vector<float>({1, 2})))}, sources);
    ASSERT_TRUE(grads.ok()) << grads.status();
    std::vector<Fetch> fetches = {loss, (*grads)[0]};
    for (size_t i = 1; i < grads->size(); ++i) fetches.emplace_back(ReduceSum((*grads)[i]));
    auto session = Session::Create(g);
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(g)}).ok());
    const auto values = (*session)->Run(fetches);
    ASSERT_TRUE(values.ok()) << values.status();
    ExpectNear((*values)[0], losses);
    ExpectNear((*values)[1], of_inputs);
    for (size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR((*values)[i + 2].scalar<float>(), sums[i], 1e-5) << i;
  }

  Graph g;
  std::vector<Variable> weights, biases;
  Output inputs;
};

constexpr auto kMod = nn::PartitionStrategy::kMod, kDiv = nn::PartitionStrategy::kDiv;

TEST(SampledSoftmaxLoss, OfOneTrueClass) {
  Model m(1, kMod);
  m.Expect(nn::SampledSoftmaxLoss(m.weights, m.biases, m.Labels(1), m.inputs, 3, kClasses, m.Options(1, kMod)),
           {1.0706246f, 4.0560403f}, {0.4158860f, 0.1670399f, -0.2353820f, 1.6126981f, -1.5329651f, -3.2692270f},
           {0, 0});
}

TEST(SampledSoftmaxLoss, OfTwoTrueClassesInTwoParts) {
  Model m(2, kMod);
  m.Expect(nn::SampledSoftmaxLoss(m.weights, m.biases, m.Labels(2), m.inputs, 3, kClasses, m.Options(2, kMod)),
           {1.8873800f, 3.5654674f}, {0.1642434f, 0.6341957f, 0.5210713f, 1.9807476f, -0.9991310f, -3.0604131f},
           {-0.7586896f, 0.7586896f, -1.3031387f, 1.3031387f});
}

TEST(SampledSoftmaxLoss, WithAccidentalHitsInContiguousParts) {
  Model m(3, kDiv);
  nn::SampledLossOptions options = m.Options(2, kDiv);
  options.remove_accidental_hits = false;
  m.Expect(nn::SampledSoftmaxLoss(m.weights, m.biases, m.Labels(2), m.inputs, 3, kClasses, options),
           {2.0801821f, 3.5654674f}, {0.0760242f, 0.6261801f, 0.6006289f, 1.9807476f, -0.9991310f, -3.0604131f},
           {-0.4284580f, -0.1982146f, 0.6266726f, -0.6376459f, -0.1149957f, 0.7526416f});
}

TEST(NceLoss, OfOneTrueClass) {
  Model m(1, kMod);
  m.Expect(nn::NceLoss(m.weights, m.biases, m.Labels(1), m.inputs, 3, kClasses, m.Options(1, kMod)),
           {5.1665096f, 6.0003700f}, {0.0661773f, 0.8573409f, 0.8602691f, 1.3226845f, 0.0246916f, -1.2960026f},
           {5.2311492f, 4.7668610f});
}

TEST(NceLoss, OfTwoTrueClassesWithoutAccidentalHits) {
  Model m(3, kDiv);
  nn::SampledLossOptions options = m.Options(2, kDiv);
  options.remove_accidental_hits = true;
  m.Expect(nn::NceLoss(m.weights, m.biases, m.Labels(2), m.inputs, 3, kClasses, options), {5.0990520f, 6.1871443f},
           {0.2833994f, 0.5852166f, 0.3489883f, 1.0523808f, 0.7445757f, -0.2477886f},
           {2.4910891f, 0.8743138f, 2.3491657f, 2.2519503f, 0.8745367f, 2.4903824f});
}

TEST(SampledLoss, DrawsClassesByDefault) {
  Model m(1, kMod);
  const auto losses = {
      nn::SampledSoftmaxLoss(m.weights, m.biases, m.Labels(1), m.inputs, kClasses, kClasses, {.seed = 5}),
      nn::NceLoss(m.weights[0].value(), m.biases[0].value(), Cast(m.Labels(1), kInt32), m.inputs, 2, kClasses)};
  ASSERT_TRUE(m.g.status().ok()) << m.g.status();
  auto session = Session::Create(m.g);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({GlobalVariablesInitializer(m.g)}).ok());
  for (const Output& loss : losses) {
    const auto values = (*session)->Run({loss});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].num_elements(), 2);
    for (const float value : (*values)[0].data<float>()) EXPECT_TRUE(std::isfinite(value) && value > 0) << value;
  }
}

TEST(SampledLoss, ReportsMistakes) {
  Model m(1, kMod);
  EXPECT_FALSE(nn::NceLoss(m.weights, m.biases, m.Labels(1), m.inputs, 0, kClasses).valid());
  EXPECT_TRUE(absl::IsInvalidArgument(m.g.TakeStatus())) << "no classes are drawn";
  EXPECT_FALSE(nn::NceLoss(m.weights, m.biases, m.Labels(1), m.inputs, 2, kClasses, {.num_true = 0}).valid());
  EXPECT_TRUE(absl::IsInvalidArgument(m.g.TakeStatus())) << "there is no true class";
  EXPECT_FALSE(nn::SampledSoftmaxLoss(m.weights, m.biases, m.Labels(2), m.inputs, 2, kClasses).valid());
  EXPECT_FALSE(m.g.TakeStatus().ok()) << "the labels have two classes";
}

TEST(InBatchSoftmaxLossTest, TheLossIsTheCrossEntropyOverTheOtherItemsOfTheBatch) {
  const std::vector<double> q = {0.5, -1, 2, 1, 0.25, -0.5}, c = {1, 0.5, -0.25, 2, 1, 1}, often = {0.5, 0.25, 0.5};
  const auto floats = [](const std::vector<double>& of) { return std::vector<float>(of.begin(), of.end()); };
  Graph g;
  const Output queries = Const(g, Tensor::Of<float>({3, 2}, floats(q))),
               items = Const(g, Tensor::Of<float>({3, 2}, floats(c)));
  const Output plain = nn::InBatchSoftmaxLoss(queries, items);
  const Output corrected =
      nn::InBatchSoftmaxLoss(queries, items,
                             {.sampling_probability = Const(g, Tensor::Vector(floats(often))),
                              .candidate_ids = Const(g, Tensor::Vector<std::string>({"x", "y", "x"})),
                              .temperature = 0.5});
  const std::vector<Output> gradients = Gradients({ReduceSum(corrected)}, {queries, items}).value();
  ASSERT_EQ(g.status(), OkStatus());
  const auto loss = [&](size_t i, bool corrects) {
    double sum = 0, own = 0;
    for (size_t j = 0; j < 3; ++j) {
      double score = q[2 * i] * c[2 * j] + q[2 * i + 1] * c[2 * j + 1];
      if (corrects) score = score / 0.5 - std::log(often[j]);
      if (j == i) own = score;
      if (!corrects || j == i || i + j != 2) sum += std::exp(score);  // items 0 and 2 are the same
    }
    return static_cast<float>(std::log(sum) - own);
  };
  auto session = Session::Create(g).value();
  const auto r = session->Run({plain, corrected, gradients[0], gradients[1]});
  ASSERT_TRUE(r.ok()) << r.status();
  ExpectNear((*r)[0], {loss(0, false), loss(1, false), loss(2, false)});
  ExpectNear((*r)[1], {loss(0, true), loss(1, true), loss(2, true)});
  EXPECT_EQ((*r)[2].shape(), Shape({3, 2}));
  EXPECT_EQ((*r)[3].shape(), Shape({3, 2}));
}

TEST(InBatchSoftmaxLossTest, TheShapeIsChecked) {
  Graph g;
  const Output rows = Const(g, Tensor::Of<float>({1, 2}, {1, 2}));
  nn::InBatchSoftmaxLoss(rows, Const(g, Tensor::Vector<float>({1, 2})));
  EXPECT_NE(g.TakeStatus().message().find("candidates must have the shape [batch, width], got [2]"), std::string::npos);
}

}  // namespace
}  // namespace tensorbraid
