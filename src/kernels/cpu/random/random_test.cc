// Tests of the random number generator and of the random ops.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "kernels/cpu/random/philox.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

Tensor Drawn(Output o, ThreadPool* pool = nullptr) {
  EvaluateOptions options;
  options.pool = pool;
  auto result = Evaluate({o}, {}, options);
  EXPECT_TRUE(result.ok()) << result.status() << o.graph()->status();
  return result.ok() ? result->at(0) : Tensor();
}

std::vector<float> Floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

// Known answers from the generator's paper.
TEST(Philox, GivesThePublishedBlocks) {
  EXPECT_EQ(cpu::Philox(0, 0).At(0), (cpu::Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(cpu::Philox(~uint64_t{0}, ~uint64_t{0}).At(~uint64_t{0}),
            (cpu::Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, EqualSeedsGiveEqualValuesOnAnyNumberOfThreads) {
  ThreadPool pool("random_test", 3);
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    std::vector<float> first;
    for (ThreadPool* p : {static_cast<ThreadPool*>(nullptr), &pool}) {
      Graph g;
      const Output shape = Const(g, Tensor::Vector<int32_t>({100'003}));
      const Output o =
          NodeBuilder(g, op).Input(shape).Attr("dtype", kFloat32).Attr("seed", 7).Attr("seed2", 9).Output();
      const std::vector<float> values = Floats(Drawn(o, p));
      if (first.empty()) {
        first = values;
      } else {
        EXPECT_EQ(values, first) << op;
      }
    }
  }
}

// The expected numbers are hashes (FNV-1a) of the bits of a million values that TensorFlow 2.21 gave.
TEST(Random, NormalsAreTensorFlowsToTheLastBit) {
  Graph g;
  const Output shape = Const(g, Tensor::Vector<int32_t>({1 << 20}));
  for (const auto& [op, want] : {std::pair<const char*, uint64_t>{"RandomStandardNormal", 0x5714ea570eb388e9},
                                 std::pair<const char*, uint64_t>{"TruncatedNormal", 0x3e7c7c4cd57b0dde}}) {
    const Tensor t =
        Drawn(NodeBuilder(g, op).Input(shape).Attr("dtype", kFloat32).Attr("seed", 7).Attr("seed2", 5).Output());
    uint64_t hash = 14695981039346656037u;
    for (const float v : t.data<float>()) hash = (hash ^ std::bit_cast<uint32_t>(v)) * 1099511628211u;
    EXPECT_EQ(hash, want) << op;
  }
}

TEST(Random, ValuesDependOnTheSeedsOfOpAndGraph) {
  const auto draw = [](int64_t graph_seed, int64_t op_seed) {
    Graph g;
    g.SetRandomSeed(graph_seed);
    return Floats(Drawn(RandomUniform(g, {8}, {.seed = op_seed})));
  };
  EXPECT_EQ(draw(1, 2), draw(1, 2));
  EXPECT_NE(draw(1, 2), draw(1, 3));
  EXPECT_NE(draw(1, 2), draw(4, 2));
  EXPECT_EQ(draw(0, 5), draw(0, 5));
  EXPECT_EQ(draw(5, 0), draw(5, 0));
  EXPECT_NE(draw(0, 0), draw(0, 0));
}

TEST(Random, OpsWithoutASeedOfTheirOwnDiffer) {
  Graph g;
  g.SetRandomSeed(3);
  EXPECT_NE(Floats(Drawn(RandomUniform(g, {8}))), Floats(Drawn(RandomUniform(g, {8}))));
}

TEST(Random, DistributionsHaveTheirMoments) {
  Graph g;
  const Shape shape({200, 500});
  struct Row {
    Output output;
    double mean, stddev, low, high;
  };
  // 0.8796 is the standard deviation of a standard normal distribution that is truncated at -2 and 2.
  for (const Row& row : {Row{RandomUniform(g, shape, -1.0, 3.0, {.seed = 1}), 1.0, 4 / std::sqrt(12.0), -1.0, 3.0},
                         Row{RandomNormal(g, shape, 2.0, 0.5, {.seed = 2}), 2.0, 0.5, -2.0, 6.0},
                         Row{TruncatedNormal(g, shape, 2.0, 0.5, {.seed = 3}), 2.0, 0.5 * 0.8796, 1.0, 3.0}}) {
    const std::vector<float> v = Floats(Drawn(row.output));
    ASSERT_EQ(v.size(), 100'000u);
    const double mean = std::accumulate(v.begin(), v.end(), 0.0) / v.size();
    double variance = 0;
    for (float x : v) variance += (x - mean) * (x - mean) / v.size();
    EXPECT_NEAR(mean, row.mean, 0.02);
    EXPECT_NEAR(std::sqrt(variance), row.stddev, 0.02);
    EXPECT_GE(*std::min_element(v.begin(), v.end()), row.low);
    EXPECT_LE(*std::max_element(v.begin(), v.end()), row.high);
  }
}

TEST(Random, UniformStaysBelowOneInEveryType) {
  Graph g;
  for (DType dtype : {kFloat16, kBfloat16, kFloat32, kFloat64}) {
    const Output o = RandomUniform(g, {20'000}, {.dtype = dtype, .seed = 4});
    const Tensor inside = Drawn(ReduceAll(LogicalAnd(GreaterEqual(o, 0.0), Less(o, 1.0))));
    EXPECT_TRUE(inside.scalar<bool>()) << DTypeName(dtype);
  }
}

TEST(Random, IntegersCoverTheirRange) {
  Graph g;
  const Tensor t = Drawn(RandomUniformInt(g, {1000}, Const(g, Tensor::Scalar<int64_t>(-2)), 3, 5));
  std::array<int, 5> counts{};
  for (int64_t v : t.data<int64_t>()) {
    ASSERT_GE(v, -2);
    ASSERT_LT(v, 3);
    ++counts[v + 2];
  }
  for (int c : counts) EXPECT_NEAR(c, 200, 60);
  const auto empty_range = Evaluate({RandomUniformInt(g, {3}, 5, 5, 1)});
  EXPECT_EQ(empty_range.status().code(), absl::StatusCode::kInvalidArgument);
}

// Values that tf.raw_ops gave with seed=5, seed2=7.
TEST(Random, EqualSeedsGiveTensorFlowsValues) {
  Graph g;
  const auto draw = [&](NodeBuilder node) { return Drawn(node.Attr("seed", 5).Attr("seed2", 7).Output()); };
  const auto expect_near = [](const Tensor& t, const std::vector<float>& want) {
    const std::vector<float> got = Floats(t);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
  };
  const Output three = Const(g, Tensor::Vector<int32_t>({3})), two = Const(g, Tensor::Vector<int32_t>({2}));
  expect_near(draw(NodeBuilder(g, "RandomUniform").Input(three).Attr("dtype", kFloat32)),
              {0.44746375f, 0.620757f, 0.25906932f});
  expect_near(draw(NodeBuilder(g, "TruncatedNormal").Input(three).Attr("dtype", kFloat32)),
              {-0.87252676f, -0.920335f, 1.5606196f});
  const Output zero = Const(g, Tensor::Scalar<int32_t>(0)), thousand = Const(g, Tensor::Scalar<int32_t>(1000));
  const Tensor ints = draw(NodeBuilder(g, "RandomUniformInt").Input(three).Input(zero).Input(thousand));
  EXPECT_EQ(std::vector<int32_t>(ints.data<int32_t>().begin(), ints.data<int32_t>().end()),
            (std::vector<int32_t>{470, 135, 359}));
  const Output six = Const(g, Tensor::Vector<int64_t>({0, 1, 2, 3, 4, 5}));
  const Tensor order = draw(NodeBuilder(g, "RandomShuffle").Input(six));
  EXPECT_EQ(std::vector<int64_t>(order.data<int64_t>().begin(), order.data<int64_t>().end()),
            (std::vector<int64_t>{4, 1, 5, 2, 3, 0}));
  const Output logits = Const(g, Tensor::Of<float>({1, 3}, {std::log(0.1f), std::log(0.2f), std::log(0.7f)}));
  const Tensor classes = draw(NodeBuilder(g, "Multinomial").Input(logits).Input(Const(g, Tensor::Scalar<int32_t>(6))));
  EXPECT_EQ(std::vector<int64_t>(classes.data<int64_t>().begin(), classes.data<int64_t>().end()),
            (std::vector<int64_t>{2, 0, 2, 0, 1, 2}));
  const Output alpha = Const(g, Tensor::Vector<float>({0.5f, 3.0f, 1.0f}));
  expect_near(draw(NodeBuilder(g, "RandomGamma").Input(two).Input(alpha)),
              {1.038369f, 0.9206048f, 0.3029322f, 0.00384614f, 3.5543866f, 1.7293887f});
  const Output rate = Const(g, Tensor::Vector<float>({3.0f, 20.0f}));
  const Tensor counts = draw(NodeBuilder(g, "RandomPoissonV2").Input(two).Input(rate).Attr("dtype", kInt32));
  EXPECT_EQ(std::vector<int32_t>(counts.data<int32_t>().begin(), counts.data<int32_t>().end()),
            (std::vector<int32_t>{1, 20, 3, 24}));
}

TEST(Random, SamplesHaveTheMeansOfTheirParameters) {
  Graph g;
  const Output many = Const(g, Tensor::Vector<int32_t>({20'000}));
  const auto means = [&](const char* op, std::vector<double> parameters) {
    const auto num = static_cast<int64_t>(parameters.size());
    const Tensor t = Drawn(NodeBuilder(g, op)
                               .Input(many)
                               .Input(Const(g, Tensor::Vector(parameters)))
                               .Attr("seed", 3)
                               .Attr("seed2", 4)
                               .Output());
    std::vector<double> sums(num, 0);
    for (int64_t i = 0; i < t.num_elements(); ++i) sums[i % num] += t.data<double>()[i] / 20'000;
    return sums;
  };
  for (const char* op : {"RandomGamma", "RandomPoisson"}) {
    const std::vector<double> parameters = {0.3, 1.0, 4.0, 50.0};
    const std::vector<double> got = means(op, parameters);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], parameters[i], 5 * std::sqrt(parameters[i] / 20'000)) << op;
    }
  }
}

TEST(Random, GammaSamplesPassAGradientToTheirParameters) {
  Graph g;
  const Output alpha = Const(g, Tensor::Vector<double>({0.5, 1, 4}));
  const Output shape = Const(g, Tensor::Vector<int32_t>({5, 2}));
  const Output sample = NodeBuilder(g, "RandomGamma").Input(shape).Input(alpha).Output();
  const auto gradients = Gradients({sample}, {alpha});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const Output each = NodeBuilder(g, "RandomGammaGrad").Input(alpha).Input(sample).Output();
  const auto values = Evaluate({(*gradients)[0], each});
  ASSERT_TRUE(values.ok()) << values.status();
  ASSERT_EQ((*values)[0].shape(), Shape({3}));
  for (int64_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < 10; ++k) sum += (*values)[1].data<double>()[3 * k + i];
    EXPECT_NEAR((*values)[0].data<double>()[i], sum, 1e-12);
    EXPECT_GT(sum, 0);
  }
}

TEST(Random, SamplingEndsForInvalidParameters) {
  Graph g;
  const double inf = std::numeric_limits<double>::infinity();
  const Output bad = Const(g, Tensor::Vector<double>({-1.0, inf, -inf, std::nan(""), 1e300}));
  const Output shape = Const(g, Tensor::Vector<int32_t>({1}));
  for (const char* op : {"RandomGamma", "RandomPoisson"}) {
    const Tensor t = Drawn(NodeBuilder(g, op).Input(shape).Input(bad).Attr("seed", 1).Output());
    ASSERT_EQ(t.num_elements(), 5) << op;
    // 1e300 is valid, but sampling must end, too.
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(t.data<double>()[i])) << op << i;
  }
}

TEST(Random, TruncatedNormalsStayInTheirBounds) {
  Graph g;
  const auto values = [&](std::vector<float> v) { return Const(g, Tensor::Vector(v)); };
  const std::vector<float> low = {-1, 3, 9, -40}, high = {1, 4, 30, -30};
  const Tensor t = Drawn(NodeBuilder(g, "ParameterizedTruncatedNormal")
                             .Input(Const(g, Tensor::Vector<int32_t>({4, 5000})))
                             .Input(values({0}))
                             .Input(values({1}))
                             .Input(values(low))
                             .Input(values(high))
                             .Attr("seed", 5)
                             .Output());
  ASSERT_EQ(t.num_elements(), 20'000);
  // The means of the standard normal distribution, truncated at these bounds.
  const double means[] = {0, 3.2605, 9.1085, -30.0333};
  for (int b = 0; b < 4; ++b) {
    double mean = 0;
    for (float x : t.data<float>().subspan(b * 5000, 5000)) {
      EXPECT_GE(x, low[b]);
      EXPECT_LE(x, high[b]);
      mean += x / 5000;
    }
    EXPECT_NEAR(mean, means[b], 0.04) << b;
  }
}

TEST(Random, ShuffleKeepsRowsTogether) {
  Graph g;
  const Tensor in = Tensor::Of<int32_t>({50, 2}, [] {
    std::vector<int32_t> v(100);
    std::iota(v.begin(), v.end(), 0);
    return v;
  }());
  const Tensor out = Drawn(RandomShuffle(Const(g, in), 6));
  std::vector<int32_t> firsts;
  for (int i = 0; i < 50; ++i) {
    firsts.push_back(out.data<int32_t>()[2 * i]);
    EXPECT_EQ(out.data<int32_t>()[2 * i + 1], firsts.back() + 1);
  }
  EXPECT_FALSE(std::is_sorted(firsts.begin(), firsts.end()));
  std::sort(firsts.begin(), firsts.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(firsts[i], 2 * i);
}

}  // namespace
}  // namespace tensorbraid
