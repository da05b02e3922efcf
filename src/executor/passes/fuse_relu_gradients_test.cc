#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "executor/passes/pass_test_util.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using PoolSizes = std::vector<int64_t>;

// The attributes of a MaxPool.
struct PoolChoice {
  PoolSizes ksize = {1, 2, 2, 1}, strides = {1, 2, 2, 1};
  std::string padding = "VALID", format = "NHWC";
};

Output PoolOp(const char* op, const std::vector<Output>& inputs, const PoolChoice& w = {}) {
  NodeBuilder builder(*inputs[0].graph(), op);
  for (const Output& input : inputs) builder.Input(input);
  return builder.Attr("ksize", w.ksize)
      .Attr("strides", w.strides)
      .Attr("padding", w.padding)
      .Attr("data_format", w.format)
      .Output();
}

Output ReluGradOf(const Output& dy, const Output& x) {
  return NodeBuilder(*dy.graph(), "ReluGrad").Input(dy).Input(x).Output();
}

// A MaxPool over the output of a Relu: x is the output of the Relu, y that of the MaxPool, and dy the gradient of y.
struct PooledRelu {
  explicit PooledRelu(DType dtype = kFloat32)
      : x(Placeholder(g, dtype, {-1, 8, 8, 4}, "x")),
        y(Placeholder(g, dtype, {-1, 4, 4, 4}, "y")),
        dy(Placeholder(g, dtype, {-1, 4, 4, 4}, "dy")) {}
  Output OfPool() { return PoolOp("MaxPoolGrad", {x, y, dy}); }
  std::unique_ptr<Graph> Fused(const std::vector<Output>& fetches) {
    return After(FuseReluGradients, g, {x, y, dy}, fetches);
  }
  Graph g;
  Output x, y, dy;
};

TEST(FuseReluGradientsPass, TheGradientsOfAMaximumAndOfItsReluBecomeOneNode) {
  PooledRelu l;
  const auto o = l.Fused({ReluGradOf(l.OfPool(), l.x)});
  EXPECT_EQ(Count(*o, "MaxPoolGrad"), 0);
  EXPECT_EQ(Count(*o, "ReluGrad"), 0);
  const Node& fused = FetchedFrom(*o, 0);
  EXPECT_EQ(fused.type(), "_MaxPoolReluGrad");
  ASSERT_EQ(fused.inputs().size(), 3u);
  EXPECT_EQ(fused.attr<PoolSizes>("ksize"), (PoolSizes{1, 2, 2, 1}));
  EXPECT_EQ(fused.output_shape(0), Shape({-1, 8, 8, 4}));
}

TEST(FuseReluGradientsPass, LeavesOtherPairsAlone) {
  {
    PooledRelu l;  // the maximum was taken over another tensor
    const Output other = Placeholder(l.g, kFloat32, {-1, 8, 8, 4}, "other");
    const auto o = After(FuseReluGradients, l.g, {l.x, l.y, l.dy, other}, {ReluGradOf(l.OfPool(), other)});
    EXPECT_EQ(Count(*o, "ReluGrad"), 1);
  }
  {
    PooledRelu l;  // the gradient of the maximum is needed too
    const Output of_pool = l.OfPool();
    EXPECT_EQ(Count(*l.Fused({ReluGradOf(of_pool, l.x), of_pool}), "ReluGrad"), 1);
  }
  PooledRelu l(kFloat64);  // the fused kernel is for float32
  EXPECT_EQ(Count(*l.Fused({ReluGradOf(l.OfPool(), l.x)}), "ReluGrad"), 1);
}

TEST(MaxPoolReluGradKernel, HasTheBitsOfTheSeparateOps) {
  struct Case {
    Shape x;
    PoolChoice windows;
  };
  // Windows of four and of two elements that tile the image; few channels; windows that overlap; channels first; an
  // empty batch.
  for (const Case& c : {Case{{40, 12, 12, 16}, {}}, Case{{3, 4, 6, 8}, {{1, 1, 2, 1}, {1, 1, 2, 1}}},
                        Case{{3, 6, 6, 3}, {}}, Case{{5, 9, 9, 8}, {{1, 3, 3, 1}, {1, 2, 2, 1}, "SAME"}},
                        Case{{4, 3, 8, 8}, {{1, 1, 2, 2}, {1, 1, 2, 2}, "VALID", "NCHW"}}, Case{{0, 8, 8, 4}, {}}}) {
    Graph g;
    Tensor values(kFloat32, c.x);
    int64_t i = 0;
    // A third of the elements is 0, as behind a Relu. Others are negative, and one is NaN.
    for (float& v : values.mutable_data<float>()) v = ++i % 3 == 0 ? 0 : static_cast<float>(std::sin(double(i % 101)));
    if (i > 50) values.mutable_data<float>()[50] = std::numeric_limits<float>::quiet_NaN();
    const Output x = Const(g, values), y = PoolOp("MaxPool", {x}, c.windows);
    Tensor gradients(kFloat32, y.shape());
    for (float& v : gradients.mutable_data<float>()) v = static_cast<float>(std::cos(double(++i)));
    if (gradients.num_elements() > 9) gradients.mutable_data<float>()[9] = std::numeric_limits<float>::infinity();
    const Output dy = Const(g, gradients);
    const Output single = ReluGradOf(PoolOp("MaxPoolGrad", {x, y, dy}, c.windows), x);
    const Output fused = PoolOp("_MaxPoolReluGrad", {x, y, dy}, c.windows);
    ThreadPool pool("test", 3);
    const auto both = Evaluate({single, fused}, {}, {.pool = &pool});
    ASSERT_TRUE(both.ok()) << both.status();
    const Tensor &a = (*both)[0], &b = (*both)[1];
    ASSERT_EQ(a.shape(), b.shape());
    EXPECT_EQ(std::memcmp(a.data<float>().data(), b.data<float>().data(), a.num_bytes()), 0) << c.x.ToString();
  }
}

}  // namespace
}  // namespace tensorbraid
