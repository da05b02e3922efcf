#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/thread_pool.h"
#include "executor/evaluate.h"
#include "kernels/cpu/philox.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

Tensor Value(Output o, ThreadPool* pool = nullptr) {
  EvaluateOptions options;
  options.pool = pool;
  auto result = Evaluate({o}, {}, options);
  EXPECT_TRUE(result.ok()) << result.status() << o.graph()->status();
  return result.ok() ? result->at(0) : Tensor();
}

std::vector<float> Floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

// Known answers of the generator's paper.
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
      const std::vector<float> values = Floats(Value(o, p));
      if (first.empty()) {
        first = values;
      } else {
        EXPECT_EQ(values, first) << op;
      }
    }
  }
}

TEST(Random, SeedsOfOpAndGraphBothCount) {
  const auto draw = [](int64_t graph_seed, int64_t op_seed) {
    Graph g;
    g.SetRandomSeed(graph_seed);
    return Floats(Value(RandomUniform(g, {8}, {.seed = op_seed})));
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
  EXPECT_NE(Floats(Value(RandomUniform(g, {8}))), Floats(Value(RandomUniform(g, {8}))));
}

TEST(Random, DistributionsHaveTheirMoments) {
  Graph g;
  const Shape shape({200, 500});
  struct Row {
    Output output;
    double mean, stddev, low, high;
  };
  for (const Row& row : {Row{RandomUniform(g, shape, -1.0, 3.0, {.seed = 1}), 1.0, 4 / std::sqrt(12.0), -1.0, 3.0},
                         Row{RandomNormal(g, shape, 2.0, 0.5, {.seed = 2}), 2.0, 0.5, -2.0, 6.0},
                         Row{TruncatedNormal(g, shape, 2.0, 0.5, {.seed = 3}), 2.0, 0.5 * 0.8796, 1.0, 3.0}}) {
    const std::vector<float> v = Floats(Value(row.output));
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
    const Tensor inside = Value(ReduceAll(LogicalAnd(GreaterEqual(o, 0.0), Less(o, 1.0))));
    EXPECT_TRUE(inside.scalar<bool>()) << DTypeName(dtype);
  }
}

TEST(Random, IntegersCoverTheirRange) {
  Graph g;
  const Tensor t = Value(RandomUniformInt(g, {1000}, Const(g, Tensor::Scalar<int64_t>(-2)), 3, 5));
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

TEST(Random, ShuffleKeepsRowsTogether) {
  Graph g;
  const Tensor in = Tensor::Of<int32_t>({50, 2}, [] {
    std::vector<int32_t> v(100);
    std::iota(v.begin(), v.end(), 0);
    return v;
  }());
  const Tensor out = Value(RandomShuffle(Const(g, in), 6));
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
