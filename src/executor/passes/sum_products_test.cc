#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Tensor Values(const Shape& shape, double seed, DType dtype = kFloat32) {
  Tensor t(dtype, shape);
  double i = 0;
  const auto fill = [&](auto values) {
    for (auto& v : values) v = static_cast<float>(std::sin(seed + 1.7 * ++i));
  };
  if (dtype == kFloat32) {
    fill(t.mutable_data<float>());
  } else {
    fill(t.mutable_data<double>());
  }
  return t;
}

struct Sizes {
  int64_t m, n, k;
  int terms;
  bool transpose_a, transpose_b;
};

Output SumOf(Graph& g, const Sizes& s, DType dtype = kFloat32) {
  std::vector<Output> products;
  for (int i = 0; i < s.terms; ++i) {
    const Shape a = s.transpose_a ? Shape({s.k, s.m}) : Shape({s.m, s.k});
    const Shape b = s.transpose_b ? Shape({s.n, s.k}) : Shape({s.k, s.n});
    products.push_back(MatMul(Const(g, Values(a, i, dtype)), Const(g, Values(b, 100 + i, dtype)),
                              {.transpose_a = s.transpose_a, .transpose_b = s.transpose_b}));
  }
  return AddN(products);
}

std::unique_ptr<Graph> Summed(const Graph& g, const std::vector<Output>& fetches,
                              const std::vector<Operation>& targets = {}, const std::vector<Output>& feeds = {}) {
  return After(SumProducts, g, feeds, fetches, targets);
}

// Computes fetch 0 with a pool of this many threads; 0: without a pool.
Tensor Fetch(const Graph& part, int threads) {
  ThreadPool pool("test", std::max(1, threads));
  const auto values =
      Evaluate({ImplOf(part).Find("_retval_0")->inputs()[0]}, {}, {.pool = threads == 0 ? nullptr : &pool});
  TB_CHECK_OK(values.status());
  return values->front();
}

TEST(SumProductsPass, TheFusedNodeHasTheValuesOfTheSum) {
  for (const Sizes& s :
       {Sizes{20, 30, 8, 3, true, false}, Sizes{64, 256, 16, 40, true, false}, Sizes{5, 7, 3, 2, false, false},
        Sizes{6, 4, 9, 5, false, true}, Sizes{300, 200, 100, 9, true, true}, Sizes{1, 1, 1, 2, false, false},
        Sizes{4, 4, 0, 3, false, false}, Sizes{0, 4, 2, 3, false, false}}) {
    Graph g;
    const Output sum = SumOf(g, s);
    const auto one_node = Summed(g, {sum});
    ASSERT_EQ(FetchedFrom(*one_node, 0).type(), "_SumOfMatMuls");
    EXPECT_EQ(Count(*one_node, "MatMul"), 0);
    const Tensor expected = Fetch(*Part(g, {}, {sum}), 0);
    for (const int threads : {0, 3}) {
      const Tensor actual = Fetch(*one_node, threads);
      ASSERT_EQ(actual.shape(), expected.shape());
      for (int64_t i = 0; i < actual.num_elements(); ++i) {
        ASSERT_NEAR(actual.data<float>()[i], expected.data<float>()[i], 1e-5 * static_cast<double>(s.k * s.terms + 1));
      }
    }
  }
}

TEST(SumProductsPass, LeavesASumWithATermThatIsUsedElsewhereOrWaits) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4, 3}, "x");
  const auto product = [&] { return MatMul(x, x, {.transpose_a = true}); };
  const Output fetched = product(), waited_for = product();
  Operation after;
  {
    auto order = g.ControlDependencies({waited_for.op()});
    after = Exp(x).op();
  }
  Output waits;
  {
    auto order = g.ControlDependencies({Exp(x).op()});
    waits = product();
  }
  const Output twice = product();
  // The second term of each sum is fetched, is waited for, waits, is used twice, or is not a MatMul.
  const auto o = Summed(g,
                        {AddN({product(), fetched}), fetched, AddN({product(), waited_for}), AddN({product(), waits}),
                         AddN({twice, twice}), AddN({product(), Transpose(product(), {1, 0})})},
                        {after}, {x});
  EXPECT_EQ(Count(*o, "_SumOfMatMuls"), 0);
}

TEST(SumProductsPass, FusesOnlyProductsThatAreAlike) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {4, 4}, "x"), rows = Placeholder(g, kFloat32, {-1, 4}, "rows");
  const std::vector<Output> sums = {
      AddN({MatMul(x, x), MatMul(x, x, {.transpose_a = true})}),  // different transposes
      AddN({MatMul(rows, x), MatMul(rows, x)}),                   // an unknown shape
      AddN({MatMul(x, x), x}),
      SumOf(g, {4, 4, 4, 2, false, false}, kFloat64),
  };
  EXPECT_EQ(Count(*Summed(g, sums, {}, {x, rows}), "_SumOfMatMuls"), 0);
  // The inner size may be unknown.
  const Output inner = AddN({MatMul(rows, rows, {.transpose_a = true}), MatMul(rows, rows, {.transpose_a = true})});
  EXPECT_EQ(Count(*Summed(g, {inner}, {}, {rows}), "_SumOfMatMuls"), 1);
}

TEST(SumOfMatMulsKernel, NamesTheTermThatDoesNotFit) {
  Graph g;
  const Output rows = Placeholder(g, kFloat32, {-1, 2}, "rows"), other = Placeholder(g, kFloat32, {-1, 2}, "other");
  const Output sum = NodeBuilder(g, "_SumOfMatMuls")
                         .InputList({rows, rows})
                         .InputList({rows, other})
                         .Attr("transpose_a", true)
                         .Output();
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Tensor three(kFloat32, {3, 2}), four(kFloat32, {4, 2});
  const auto result = Evaluate({sum}, {{rows, three}, {other, four}});
  EXPECT_TRUE(absl::IsInvalidArgument(result.status()));
  EXPECT_NE(result.status().message().find("product 1"), std::string::npos) << result.status();
}

}  // namespace
}  // namespace tensorbraid
