// Tests of the candidate samplers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

struct Candidates {
  std::vector<int64_t> sampled;
  std::vector<float> true_expected, sampled_expected;
};

struct Options {
  std::string op = "UniformCandidateSampler";
  int64_t num_sampled = 5;
  bool unique = true;
  int64_t range_max = 10;
  std::vector<float> unigrams = {};
  std::vector<int64_t> true_classes = {1};
};

StatusOr<Candidates> Sample(const Options& o) {
  Graph g;
  const auto num_true = static_cast<int64_t>(o.true_classes.size());
  NodeBuilder node(g, o.op);
  node.Input(Const(g, Tensor::Of<int64_t>({1, num_true}, o.true_classes)))
      .Attr("num_true", num_true)
      .Attr("num_sampled", o.num_sampled)
      .Attr("unique", o.unique)
      .Attr("range_max", o.range_max)
      .Attr("seed", 5)
      .Attr("seed2", 7);
  if (!o.unigrams.empty()) node.Attr("unigrams", o.unigrams);
  const Operation op = node.Finish();
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const std::vector<Tensor> t, Evaluate({op.output(0), op.output(1), op.output(2)}));
  const auto floats = [](const Tensor& f) {
    return std::vector<float>(f.data<float>().begin(), f.data<float>().end());
  };
  return Candidates{{t[0].data<int64_t>().begin(), t[0].data<int64_t>().end()}, floats(t[1]), floats(t[2])};
}

// The expected values come from tf.raw_ops with the same seeds.
TEST(CandidateSampling, EqualSeedsGiveTensorFlowsCandidates) {
  const auto uniform = Sample({});
  ASSERT_TRUE(uniform.ok()) << uniform.status();
  EXPECT_EQ(uniform->sampled, (std::vector<int64_t>{0, 1, 5, 6, 8}));
  EXPECT_FLOAT_EQ(uniform->true_expected[0], 0.5f);
  const auto log_uniform = Sample({.op = "LogUniformCandidateSampler", .range_max = 100});
  ASSERT_TRUE(log_uniform.ok()) << log_uniform.status();
  EXPECT_EQ(log_uniform->sampled, (std::vector<int64_t>{13, 0, 18, 1, 60}));
  EXPECT_NEAR(log_uniform->true_expected[0], 0.42405504f, 1e-6);
  EXPECT_NEAR(log_uniform->sampled_expected[4], 0.02095455f, 1e-6);
  const auto learned = Sample({.op = "LearnedUnigramCandidateSampler"});
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(learned->sampled, (std::vector<int64_t>{0, 5, 9, 2, 6}));
  EXPECT_NEAR(learned->true_expected[0], 0.468559f, 1e-6);
}

TEST(CandidateSampling, UniqueCandidatesAreDistinct) {
  for (const char* op : {"UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
                         "ThreadUnsafeUnigramCandidateSampler"}) {
    const auto all = Sample({.op = op, .num_sampled = 10});
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(std::set<int64_t>(all->sampled.begin(), all->sampled.end()).size(), 10u) << op;
    const auto too_many = Sample({.op = op, .num_sampled = 11});
    EXPECT_EQ(too_many.status().code(), absl::StatusCode::kInvalidArgument) << op;
    const auto repeated = Sample({.op = op, .num_sampled = 11, .unique = false});
    EXPECT_TRUE(repeated.ok()) << op << repeated.status();
  }
}

TEST(CandidateSampling, FixedUnigramsFollowTheirWeights) {
  const auto c = Sample({.op = "FixedUnigramCandidateSampler",
                         .num_sampled = 60'000,
                         .unique = false,
                         .range_max = 4,
                         .unigrams = {1, 0, 2, 3}});
  ASSERT_TRUE(c.ok()) << c.status();
  const double want[] = {10'000, 0, 20'000, 30'000};
  for (int64_t v = 0; v < 4; ++v) {
    const auto count = static_cast<double>(std::count(c->sampled.begin(), c->sampled.end(), v));
    EXPECT_NEAR(count, want[v], 5 * std::sqrt(want[v])) << v;
  }
  EXPECT_FLOAT_EQ(c->true_expected[0], 0);
}

TEST(CandidateSampling, InvalidOptionsAreRefused) {
  for (const Options& o : {
           // No unigrams; the wrong number of unigrams; fewer possible classes than samples; a negative weight; a sum
           // of 0.
           Options{.op = "FixedUnigramCandidateSampler", .num_sampled = 1, .range_max = 4},
           Options{.op = "FixedUnigramCandidateSampler", .num_sampled = 1, .range_max = 4, .unigrams = {1, 2}},
           Options{.op = "FixedUnigramCandidateSampler", .num_sampled = 3, .range_max = 3, .unigrams = {1, 0, 2}},
           Options{.op = "FixedUnigramCandidateSampler", .num_sampled = 1, .range_max = 2, .unigrams = {1, -1}},
           Options{.op = "FixedUnigramCandidateSampler", .num_sampled = 1, .range_max = 2, .unigrams = {0, 0}},
           // Classes outside of the range; a range that is too large for one weight per class.
           Options{.true_classes = {10}},
           Options{.true_classes = {-1}},
           Options{.op = "LearnedUnigramCandidateSampler", .range_max = int64_t{1} << 40},
       }) {
    EXPECT_EQ(Sample(o).status().code(), absl::StatusCode::kInvalidArgument) << o.op << " " << o.range_max;
  }
}

TEST(CandidateSampling, AllCandidatesAreExpectedOnce) {
  Graph g;
  const Operation op = NodeBuilder(g, "AllCandidateSampler")
                           .Input(Const(g, Tensor::Of<int64_t>({2, 1}, {1, 2})))
                           .Attr("num_true", 1)
                           .Attr("num_sampled", 3)
                           .Attr("unique", true)
                           .Finish();
  const auto t = Evaluate({op.output(0), op.output(1)});
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(std::vector<int64_t>((*t)[0].data<int64_t>().begin(), (*t)[0].data<int64_t>().end()),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ((*t)[1].data<float>()[1], 1);
}

}  // namespace
}  // namespace tensorbraid
