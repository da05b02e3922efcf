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

using Strings = std::vector<std::string>;

Output Convolved(const Output& x, const Output& filter, const std::string& format = "NHWC") {
  return NodeBuilder(*x.graph(), "Conv2D")
      .Input(x)
      .Input(filter)
      .Attr("strides", std::vector<int64_t>{1, 1, 1, 1})
      .Attr("padding", std::string("SAME"))
      .Attr("data_format", format)
      .Output();
}

Output WithBias(const Output& x, const Output& bias, const std::string& format = "NHWC") {
  return NodeBuilder(*x.graph(), "BiasAdd").Input(x).Input(bias).Attr("data_format", format).Output();
}

Output ReluOf(const Output& x) { return NodeBuilder(*x.graph(), "Relu").Input(x).Output(); }

// The inputs of a layer.
struct Layer {
  explicit Layer(DType dtype = kFloat32)
      : images(Placeholder(g, dtype, {-1, 8, 8, 3}, "images")),
        filter(Placeholder(g, dtype, {3, 3, 3, 4}, "filter")),
        rows(Placeholder(g, dtype, {-1, 3}, "rows")),
        weights(Placeholder(g, dtype, {3, 4}, "weights")),
        bias(Placeholder(g, dtype, {4}, "bias")) {}

  std::unique_ptr<Graph> Fused(const std::vector<Output>& fetches, const std::vector<Operation>& targets = {}) {
    return After(FuseBiases, g, {images, filter, rows, weights, bias}, fetches, targets);
  }

  Graph g;
  Output images, filter, rows, weights, bias;
};

TEST(FuseBiasesPass, AProductItsBiasAndReluBecomeOneNode) {
  Layer l;
  const auto o = l.Fused({ReluOf(WithBias(Convolved(l.images, l.filter), l.bias)),
                          ReluOf(WithBias(MatMul(l.rows, l.weights), l.bias)),
                          WithBias(MatMul(l.rows, l.weights, {.transpose_b = false}), l.bias)});
  for (const char* type : {"Conv2D", "MatMul", "BiasAdd", "Relu"}) EXPECT_EQ(Count(*o, type), 0) << type;
  const Node& convolution = FetchedFrom(*o, 0);
  EXPECT_EQ(convolution.type(), "_FusedConv2D");
  EXPECT_EQ(convolution.attr<Strings>("fused_ops"), (Strings{"BiasAdd", "Relu"}));
  EXPECT_EQ(convolution.attr<std::string>("padding"), "SAME");
  ASSERT_EQ(convolution.inputs().size(), 3u);
  EXPECT_EQ(convolution.output_shape(0), Shape({-1, 8, 8, 4}));
  EXPECT_EQ(FetchedFrom(*o, 1).type(), "_FusedMatMul");
  EXPECT_EQ(FetchedFrom(*o, 1).attr<Strings>("fused_ops"), (Strings{"BiasAdd", "Relu"}));
  EXPECT_EQ(FetchedFrom(*o, 2).attr<Strings>("fused_ops"), (Strings{"BiasAdd"}));
}

TEST(FuseBiasesPass, AResultThatIsUsedElsewhereIsComputedByItself) {
  Layer l;
  const Output product = MatMul(l.rows, l.weights);
  const Output of_product = WithBias(product, l.bias);
  const Output sum = WithBias(MatMul(l.rows, l.weights), l.bias);
  const Output waited_for = WithBias(MatMul(l.rows, l.weights), l.bias);
  Operation after;
  {
    auto order = l.g.ControlDependencies({waited_for.op()});
    after = Exp(l.bias).op();
  }
  const auto o = l.Fused({product, ReluOf(of_product), sum, ReluOf(sum), ReluOf(waited_for)}, {after});
  EXPECT_EQ(Count(*o, "MatMul"), 1);
  EXPECT_EQ(Count(*o, "BiasAdd"), 1);
  EXPECT_EQ(Count(*o, "_FusedMatMul"), 2);
  EXPECT_EQ(Count(*o, "Relu"), 3);
  EXPECT_EQ(FetchedFrom(*o, 2).type(), "_FusedMatMul");
}

TEST(FuseBiasesPass, LeavesAloneWhatHasNoKernel) {
  for (const DType dtype : {kFloat64, kBfloat16}) {
    Layer l(dtype);
    const auto o = l.Fused({WithBias(MatMul(l.rows, l.weights), l.bias)});
    EXPECT_EQ(Count(*o, "_FusedMatMul"), 0) << static_cast<int>(dtype);
  }
  Layer l;
  const Output planes = Placeholder(l.g, kFloat32, {2, 3, 8, 8}, "planes");
  const Output first = WithBias(Convolved(planes, l.filter, "NCHW"), l.bias, "NCHW");
  EXPECT_EQ(Count(*After(FuseBiases, l.g, {planes, l.filter, l.bias}, {first}), "Conv2D"), 1);
  // A bias of unknown size may be wrong. Then the error should name the BiasAdd.
  const Output any = Placeholder(l.g, kFloat32, Shape::Unknown(), "any");
  const Output unknown = WithBias(MatMul(l.rows, l.weights), any);
  EXPECT_EQ(Count(*After(FuseBiases, l.g, {l.rows, l.weights, any}, {unknown}), "MatMul"), 1);
}

TEST(FuseBiasesPass, LeavesAloneNodesThatWaitOrAreElsewhere) {
  Layer l;
  const Output waiting = MatMul(l.rows, l.weights);
  Output waits, elsewhere, on_gpu;
  {
    auto order = l.g.ControlDependencies({Exp(l.bias).op()});
    waits = WithBias(waiting, l.bias);
  }
  const Output here = MatMul(l.rows, l.weights);
  {
    auto device = l.g.Device("/job:ps/task:1/device:CPU:0");
    elsewhere = WithBias(here, l.bias);
  }
  {
    auto device = l.g.Device("/device:GPU:0");
    on_gpu = WithBias(MatMul(l.rows, l.weights), l.bias);
  }
  const auto o = l.Fused({waits, elsewhere, on_gpu});
  EXPECT_EQ(Count(*o, "MatMul"), 3);
  EXPECT_EQ(Count(*o, "BiasAdd"), 3);
}

TEST(FuseBiasesPass, KeepsWhatTheProductWaitsFor) {
  Layer l;
  Output product;
  {
    auto order = l.g.ControlDependencies({Exp(l.bias).op()});
    product = MatMul(l.rows, l.weights);
  }
  const auto o = l.Fused({WithBias(product, l.bias)});
  ASSERT_EQ(FetchedFrom(*o, 0).control_inputs().size(), 1u);
  EXPECT_EQ(FetchedFrom(*o, 0).control_inputs()[0]->type(), "Exp");
}

Tensor Waves(const Shape& shape) {
  Tensor t(kFloat32, shape);
  int64_t i = 0;
  for (float& x : t.mutable_data<float>()) x = static_cast<float>(std::sin(static_cast<double>(++i)));
  return t;
}

// Compares the fused and the separate ops bit for bit, on several threads.
void ExpectSameBits(const Output& fused, const Output& plain) {
  ThreadPool pool("test", 3);
  const auto values = Evaluate({fused, plain}, {}, {.pool = &pool});
  ASSERT_TRUE(values.ok()) << values.status();
  const Tensor &a = (*values)[0], &b = (*values)[1];
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.data<float>().data(), b.data<float>().data(), a.num_bytes()), 0) << a.shape().ToString();
}

TEST(FusedKernels, HaveTheBitsOfTheSeparateOps) {
  struct Case {
    Shape images, filter;
  };
  // Many images, which are split into parts of the batch; one image, which is split into rows; an empty batch; and a
  // convolution with groups of one input channel.
  for (const Case& c : {Case{{70, 12, 12, 8}, {5, 5, 8, 16}}, Case{{1, 64, 64, 16}, {3, 3, 16, 32}},
                        Case{{0, 8, 8, 3}, {3, 3, 3, 4}}, Case{{2, 9, 9, 3}, {3, 3, 1, 9}}}) {
    for (const bool relu : {false, true}) {
      Graph g;
      Tensor pixels = Waves(c.images);
      if (pixels.num_elements() > 0) pixels.mutable_data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
      const Output x = Const(g, pixels), filter = Const(g, Waves(c.filter)), bias = Const(g, Waves({c.filter.dim(3)}));
      const Output sum = WithBias(Convolved(x, filter), bias);
      const Output fused = NodeBuilder(g, "_FusedConv2D")
                               .Input(x)
                               .Input(filter)
                               .InputList({bias})
                               .InputList({})
                               .Attr("num_args", int64_t{1})
                               .Attr("strides", std::vector<int64_t>{1, 1, 1, 1})
                               .Attr("padding", std::string("SAME"))
                               .Attr("fused_ops", relu ? Strings{"BiasAdd", "Relu"} : Strings{"BiasAdd"})
                               .Output();
      ExpectSameBits(fused, relu ? ReluOf(sum) : sum);
    }
  }
  for (const Shape& rows : {Shape({130, 70}), Shape({0, 70})}) {
    Graph g;
    const Output x = Const(g, Waves(rows)), w = Const(g, Waves({70, 90})), bias = Const(g, Waves({90}));
    const Output fused = NodeBuilder(g, "_FusedMatMul")
                             .Input(x)
                             .Input(w)
                             .InputList({bias})
                             .Attr("fused_ops", Strings{"BiasAdd", "Relu"})
                             .Output();
    ExpectSameBits(fused, ReluOf(WithBias(MatMul(x, w), bias)));
  }
}

TEST(FusedKernels, RefuseWhatTheyCannotCompute) {
  const auto status = [](const Strings& ops, const Shape& bias) {
    Graph g;
    const Output x = Const(g, Waves({2, 3})), w = Const(g, Waves({3, 4}));
    return Evaluate({NodeBuilder(g, "_FusedMatMul")
                         .Input(x)
                         .Input(w)
                         .InputList({Const(g, Waves(bias))})
                         .Attr("fused_ops", ops)
                         .Output()})
        .status();
  };
  EXPECT_TRUE(status({"BiasAdd"}, {4}).ok());
  EXPECT_EQ(status({"BiasAdd", "Tanh"}, {4}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status({}, {4}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status({"BiasAdd"}, {5}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status({"BiasAdd"}, {1, 4}).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensorbraid
