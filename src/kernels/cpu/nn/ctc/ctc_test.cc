// Tests of CTC that the op test cases (tests/ops/README.md) do not include: derivatives, sizes at which work is split,
// large searches, the C++ functions.
#include <gtest/gtest.h>

#include <cmath>

#include "core/testing/memory_limit.h"
#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// Pseudorandom values in [-2, 2).
template <typename T>
Tensor Scattered(const Shape& shape) {
  Tensor t(DTypeOf<T>::value, shape);
  uint32_t state = 12345;
  for (T& v : t.mutable_data<T>()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<double>(state >> 8) / (1 << 22) - 2.0);
  }
  return t;
}

// `count` labels for each sequence, from classes [0, classes - 1), with repetitions.
SparseTensor Labels(Graph& g, int64_t batch, int64_t count, int64_t classes) {
  Tensor indices(kInt64, {batch * count, 2}), values(kInt32, {batch * count});
  for (int64_t i = 0; i < batch * count; ++i) {
    indices.mutable_data<int64_t>()[2 * i] = i / count;
    indices.mutable_data<int64_t>()[2 * i + 1] = i % count;
    values.mutable_data<int32_t>()[i] = static_cast<int32_t>((i * i / 3) % (classes - 1));
  }
  return {Const(g, indices), Const(g, values), Const(g, Tensor::Vector<int64_t>({batch, count}))};
}

TEST(Ctc, DerivativesAgreeWithFiniteDifferences) {
  for (const bool merge : {true, false}) {
    for (const bool collapse : {true, false}) {
      Graph g;
      const Tensor values = Scattered<double>({2, 7, 4});
      const Output logits = Placeholder(g, kFloat64, {2, 7, 4});
      const SparseTensor labels = Labels(g, 2, 3, 4);
      const Output lengths = Const(g, Tensor::Vector<int32_t>({7, 6}));
      const Output losses =
          nn::CtcLoss(labels, logits, lengths, {.preprocess_collapse_repeated = collapse, .merge_repeated = merge});
      const Output total = ReduceSum(losses * Tensor::Vector<double>({1.0, 2.5}));
      const auto gradients = Gradients({total}, {logits});
      ASSERT_TRUE(gradients.ok()) << gradients.status();
      const auto got = Evaluate({gradients->at(0)}, {{logits, values}});
      ASSERT_TRUE(got.ok()) << got.status() << g.status();
      for (int64_t i = 0; i < values.num_elements(); ++i) {
        double sides[2];
        for (int side = 0; side < 2; ++side) {
          Tensor at = values.DeepCopy();
          at.mutable_data<double>()[i] += side == 0 ? -1e-5 : 1e-5;
          const auto loss = Evaluate({total}, {{logits, at}});
          ASSERT_TRUE(loss.ok()) << loss.status();
          sides[side] = loss->at(0).scalar<double>();
        }
        EXPECT_NEAR(got->at(0).data<double>()[i], (sides[1] - sides[0]) / 2e-5, 1e-7) << i;
      }
    }
  }
}

TEST(Ctc, TheLossHasNoSecondDerivative) {
  Graph g;
  const Output logits = Placeholder(g, kFloat32, {2, 7, 4});
  const Output loss = nn::CtcLoss(Labels(g, 2, 3, 4), logits, Const(g, Tensor::Vector<int32_t>({7, 6})));
  const auto first = Gradients({loss}, {logits});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(Gradients({first->at(0)}, {logits}).ok());
}

TEST(Ctc, DoesNotDependOnTheNumberOfThreads) {
  Graph g;
  const Output logits = Const(g, Scattered<float>({60, 50, 40}));
  Tensor all(kInt32, {60});
  for (int i = 0; i < 60; ++i) all.mutable_data<int32_t>()[i] = 50 - i % 7;
  const Output lengths = Const(g, all);
  const Output loss = nn::CtcLoss(Labels(g, 60, 9, 40), logits, lengths);
  const nn::CtcDecoded beam = nn::CtcBeamSearchDecode(logits, lengths, {.beam_width = 20, .top_paths = 2});
  const nn::CtcDecoded greedy = nn::CtcGreedyDecode(logits, lengths);
  const std::vector<Output> floats = {loss, loss.op().output(1), beam.scores, greedy.scores};
  const std::vector<Output> labels = {beam.sequences[1].values, beam.sequences[1].indices, greedy.sequence.values};
  ASSERT_TRUE(g.status().ok()) << g.status();
  ThreadPool pool("ctc_test", 3);
  EvaluateOptions options;
  options.pool = &pool;
  for (const Output& o : floats) {
    const auto alone = Evaluate({o}), shared = Evaluate({o}, {}, options);
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status();
    const auto a = alone->at(0).data<float>(), b = shared->at(0).data<float>();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << o.name();
  }
  for (const Output& o : labels) {
    const auto alone = Evaluate({o}), shared = Evaluate({o}, {}, options);
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status();
    const auto a = alone->at(0).data<int64_t>(), b = shared->at(0).data<int64_t>();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << o.name();
  }
}

// The loss needs some bytes for each pair of a step and a label.
TEST(Ctc, ItIsAnErrorIfTheLossNeedsTooMuchMemory) {
  const MemoryLimit limit(int64_t{4} << 20);
  Graph g;
  const int64_t steps = 4000;
  const Output logits = Zeros(g, {1, steps, 2});
  const Output i = NodeBuilder(g, "Range")
                       .Input(Const(g, Tensor::Scalar(int64_t{0})))
                       .Input(Const(g, Tensor::Scalar(steps / 4)))
                       .Input(Const(g, Tensor::Scalar(int64_t{1})))
                       .Output();
  const SparseTensor labels{Stack({ZerosLike(i), i}, 1), Cast(ZerosLike(i), kInt32),
                            Const(g, Tensor::Vector<int64_t>({1, steps / 4}))};
  const auto result = Evaluate({nn::CtcLoss(labels, logits, Const(g, Tensor::Vector<int32_t>({steps})))});
  EXPECT_TRUE(absl::IsResourceExhausted(result.status())) << result.status();
}

TEST(Ctc, LossDecoderAndEditDistanceAgreeOnAClearSequence) {
  Graph g;
  const SparseTensor labels = SparsePlaceholder(g, kInt32, {-1, -1}, "labels");
  EXPECT_EQ(labels.indices.name(), "labels/indices:0");
  const Output logits = Placeholder(g, kFloat32, {-1, -1, 3}), lengths = Placeholder(g, kInt64, {-1});
  const Output cost = ReduceMean(nn::CtcLoss(labels, logits, lengths));
  const nn::CtcDecoded decoded = nn::CtcBeamSearchDecode(logits, lengths, {.beam_width = 10});
  const Output error = ReduceMean(EditDistance(decoded.sequence, labels));
  ASSERT_TRUE(g.status().ok()) << g.status();
  // One sequence that says "1, 0".
  Tensor x(kFloat32, {1, 4, 3});
  const int classes[] = {1, 2, 0, 2};
  for (int t = 0; t < 4; ++t) {
    for (int k = 0; k < 3; ++k) x.mutable_data<float>()[3 * t + k] = classes[t] == k ? 5.0f : 0.0f;
  }
  const std::vector<std::pair<Output, Tensor>> feeds = {{labels.indices, Tensor::Of<int64_t>({2, 2}, {0, 0, 0, 1})},
                                                        {labels.values, Tensor::Vector<int32_t>({1, 0})},
                                                        {labels.dense_shape, Tensor::Vector<int64_t>({1, 2})},
                                                        {logits, x},
                                                        {lengths, Tensor::Vector<int64_t>({4})}};
  const auto result = Evaluate({cost, error, decoded.sequence.values, decoded.scores}, feeds);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LT(result->at(0).scalar<float>(), 0.1f);
  EXPECT_EQ(result->at(1).scalar<float>(), 0.0f);
  EXPECT_EQ(result->at(2).data<int64_t>()[0], 1);
  EXPECT_EQ(result->at(2).data<int64_t>()[1], 0);
  // The best path is the label sequence itself, so its score, ln of its probability, is minus the loss.
  EXPECT_NEAR(-result->at(3).data<float>()[0], result->at(0).scalar<float>(), 1e-5);
}

TEST(Ctc, AWrongOptionIsReportedWithItsLocation) {
  Graph g;
  const Output logits = Placeholder(g, kFloat32, {-1, -1, 3}), lengths = Placeholder(g, kInt32, {-1});
  nn::CtcBeamSearchDecode(logits, lengths, {.beam_width = 2, .top_paths = 3});
  EXPECT_TRUE(absl::IsInvalidArgument(g.status()));
  EXPECT_NE(g.status().message().find("ctc_test.cc"), std::string_view::npos) << g.status();
}

}  // namespace
}  // namespace tensorbraid
