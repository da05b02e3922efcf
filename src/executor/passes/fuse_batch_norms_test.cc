#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"

namespace tensorbraid {
namespace {

using Window = std::vector<int64_t>;

Tensor Values(const Shape& shape, double seed) {
  Tensor t(kFloat32, shape);
  double i = 0;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(std::sin(seed + 1.7 * ++i) + 0.1 * seed);
  return t;
}

// Batch norm, Relu and, unless the window has one pixel, a maximum, with the gradients of x, scale and offset.
struct NormLayer {
  // If `x_is_computed`, x is not a constant: nothing else holds its buffer, which the gradient of x may reuse.
  explicit NormLayer(const Shape& shape, Window window = {1, 1, 1, 1}, bool training = true, Tensor input = {},
                     bool x_is_computed = false) {
    const Shape channels = {shape.dim(3)};
    x = Const(g, input.is_valid() ? input : Values(shape, 1));
    if (x_is_computed) x = x * 1.0f;
    scale = Const(g, Values(channels, 2));
    offset = Const(g, Values(channels, 3));
    nn::FusedBatchNormOptions options{.training = training};
    if (!training) {
      options.mean = Const(g, Values(channels, 4));
      options.variance = Square(Const(g, Values(channels, 5)));
    }
    norm = nn::FusedBatchNorm(x, scale, offset, options);
    relu = nn::Relu(norm.y);
    y = relu;
    if (window != Window{1, 1, 1, 1}) {
      y = nn::MaxPool(relu, {.size = {window[1], window[2]}});
    }
  }
  void AddGradients() {
    const auto gradients = Gradients({y}, {x, scale, offset}, {Const(g, Values(y.shape(), 6))});
    TB_CHECK_OK(gradients.status());
    fetches = {y, norm.mean, norm.variance};
    fetches.insert(fetches.end(), gradients->begin(), gradients->end());
  }
  // The graph after the fusing passes. fuse_batch_norms runs only if `fuse` is true.
  std::unique_ptr<Graph> Optimized(bool fuse) const {
    auto part = Part(g, {}, fetches);
    PassContext context(*part);
    TB_CHECK_OK(FuseReluGradients(part.get(), context));
    if (fuse) TB_CHECK_OK(FuseBatchNorms(part.get(), context));
    return part;
  }
  std::vector<Tensor> Run(const Graph& part, int threads) const {
    std::vector<Output> outputs;
    for (size_t i = 0; i < fetches.size(); ++i) {
      outputs.push_back(ImplOf(part).Find(StrCat("_retval_", i))->inputs()[0]);
    }
    ThreadPool pool("test", std::max(1, threads));
    const auto values = Evaluate(outputs, {}, {.pool = threads == 0 ? nullptr : &pool});
    TB_CHECK_OK(values.status());
    return *values;
  }

  Graph g;
  Output x, scale, offset, relu, y;
  nn::FusedBatchNormResult norm;
  std::vector<Output> fetches;
};

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

TEST(FuseBatchNormsPass, BatchNormReluAndMaximumBecomeOneNodeAndSoDoTheirGradients) {
  NormLayer l({2, 4, 6, 16}, {1, 2, 2, 1});
  l.AddGradients();
  const auto o = l.Optimized(true);
  for (const char* op :
       {"FusedBatchNormV3", "FusedBatchNormGradV3", "Relu", "ReluGrad", "MaxPool", "_MaxPoolReluGrad"}) {
    EXPECT_EQ(Count(*o, op), 0) << op;
  }
  const Node& forward = FetchedFrom(*o, 0);
  EXPECT_EQ(forward.type(), "_FusedBatchNormRelu");
  EXPECT_EQ(forward.attr<Window>("ksize"), (Window{1, 2, 2, 1}));
  EXPECT_EQ(forward.output_shape(0), Shape({2, 2, 3, 16}));
  EXPECT_EQ(&FetchedFrom(*o, 1), &forward);
  const Node& gradient = FetchedFrom(*o, 3);
  EXPECT_EQ(gradient.type(), "_FusedBatchNormReluGrad");
  EXPECT_EQ(gradient.output_shape(0), Shape({2, 4, 6, 16}));
}

TEST(FuseBatchNormsPass, WindowsHaveOnePixelIfThereIsNoMaximumThatFits) {
  {
    NormLayer l({2, 4, 6, 16});
    l.AddGradients();
    const auto o = l.Optimized(true);
    EXPECT_EQ(FetchedFrom(*o, 0).attr<Window>("ksize"), (Window{1, 1, 1, 1}));
    EXPECT_EQ(Count(*o, "ReluGrad"), 0);
    EXPECT_EQ(Count(*o, "_FusedBatchNormReluGrad"), 1);
  }
  {
    NormLayer l({2, 5, 6, 16}, {1, 2, 2, 1});  // the windows do not cover the last row
    l.AddGradients();
    const auto o = l.Optimized(true);
    EXPECT_EQ(Count(*o, "MaxPool"), 1);
    EXPECT_EQ(Count(*o, "_FusedBatchNormRelu"), 1);
    EXPECT_EQ(Count(*o, "FusedBatchNormGradV3"), 1);
  }
  NormLayer l({2, 4, 6, 16}, {1, 2, 2, 1});  // the output of the Relu is fetched
  l.AddGradients();
  l.fetches.push_back(l.relu);
  const auto o = l.Optimized(true);
  EXPECT_EQ(Count(*o, "MaxPool"), 1);
  EXPECT_EQ(FetchedFrom(*o, 6).attr<Window>("ksize"), (Window{1, 1, 1, 1}));  // fetch 6 is the Relu
}

TEST(FuseBatchNormsPass, LeavesOtherNodesAlone) {
  {
    NormLayer l({2, 4, 6, 16});  // the input of the Relu is fetched
    l.AddGradients();
    l.fetches.push_back(l.norm.y);
    EXPECT_EQ(Count(*l.Optimized(true), "FusedBatchNormV3"), 1);
  }
  {
    NormLayer l({2, 4, 6, 20}, {1, 2, 2, 1});  // 20 channels do not fill whole vectors of 16
    l.AddGradients();
    EXPECT_EQ(Count(*l.Optimized(true), "FusedBatchNormV3"), 1);
  }
  NormLayer l({2, 4, 6, 16});
  l.AddGradients();
  const Output dy = Const(l.g, Values({2, 4, 6, 16}, 7));  // for a ReluGrad that does not lead to the batch norm
  const Output other = NodeBuilder(l.g, "ReluGrad").Input(dy).Input(l.relu).Output();
  l.fetches.push_back(Square(other));
  const auto o = l.Optimized(true);
  EXPECT_EQ(Count(*o, "ReluGrad"), 1);
  EXPECT_EQ(Count(*o, "_FusedBatchNormReluGrad"), 1);
}

TEST(FusedBatchNormReluKernel, HasTheValuesOfTheSeparateOps) {
  struct Case {
    Shape x;
    Window window;
  };
  for (const Case& c :
       {Case{{5, 12, 10, 16}, {1, 2, 2, 1}}, Case{{3, 30, 9, 48}, {1, 2, 1, 1}}, Case{{3, 7, 30, 32}, {1, 1, 2, 1}},
        Case{{4, 9, 11, 16}, {1, 1, 1, 1}}, Case{{2, 4, 4, 16}, {1, 4, 1, 1}}, Case{{40, 32, 32, 16}, {1, 2, 2, 1}}}) {
    for (const bool training : {true, false}) {
      NormLayer l(c.x, c.window, training);
      l.AddGradients();
      const auto single_ops = l.Optimized(false), fused_ops = l.Optimized(true);
      ASSERT_EQ(Count(*fused_ops, "_FusedBatchNormReluGrad"), 1);
      const auto single = l.Run(*single_ops, 0), fused = l.Run(*fused_ops, 0);
      for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(SameBits(single[i], fused[i])) << c.x.ToString() << " output " << i;
      for (size_t i = 3; i < single.size(); ++i) {
        ASSERT_EQ(single[i].shape(), fused[i].shape());
        const auto a = single[i].data<float>(), b = fused[i].data<float>();
        double largest = 0;
        for (const float v : a) largest = std::max(largest, std::abs(static_cast<double>(v)));
        for (size_t k = 0; k < a.size(); ++k) {
          ASSERT_NEAR(a[k], b[k], 2e-5 * largest) << c.x.ToString() << " gradient " << i << " at " << k;
        }
      }
      const auto on_threads = l.Run(*fused_ops, 3);
      NormLayer in_place(c.x, c.window, training, {}, /*x_is_computed=*/true);
      in_place.AddGradients();
      const auto single_in_place = in_place.Run(*in_place.Optimized(false), 0);
      const auto fused_in_place = in_place.Run(*in_place.Optimized(true), 3);
      for (size_t i = 0; i < fused.size(); ++i) {
        EXPECT_TRUE(SameBits(fused[i], on_threads[i])) << i;
        EXPECT_TRUE(SameBits(fused[i], fused_in_place[i])) << i;
        EXPECT_TRUE(SameBits(single[i], single_in_place[i])) << i;
      }
    }
  }
}

TEST(FusedBatchNormReluKernel, TreatsNaNsAsTheSeparateOpsDo) {
  for (const Window& window : {Window{1, 1, 1, 1}, Window{1, 2, 2, 1}}) {
    const Shape shape = {2, 4, 4, 16};
    Tensor x = Values(shape, 1);
    for (const int i : {0, 16, 33, 100, 101}) x.mutable_data<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    for (int i = 2; i < 512; i += 16) x.mutable_data<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    NormLayer l(shape, window, /*training=*/false, x);
    l.AddGradients();
    const auto single = l.Run(*l.Optimized(false), 0), fused = l.Run(*l.Optimized(true), 0);
    for (size_t i : {0, 3}) {  // y, and the gradient of x
      const auto a = single[i].data<float>(), b = fused[i].data<float>();
      for (size_t k = 0; k < a.size(); ++k) {
        ASSERT_EQ(std::isnan(a[k]), std::isnan(b[k])) << i << " " << k;
        if (!std::isnan(a[k])) {
          ASSERT_EQ(a[k], b[k]) << i << " " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tensorbraid
