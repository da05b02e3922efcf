// Tests of pooling, normalization, fake quantization and dropout: of sizes at which the work is split over threads, of
// gradients of ops without float64, and of the public functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// Pseudorandom numbers in [-0.8, 1.2).
Tensor Numbers(const Shape& shape, uint32_t seed = 1) {
  Tensor t(kFloat32, shape);
  uint32_t state = seed * 2654435761u;
  for (float& v : t.mutable_data<float>()) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) * 2 - 0.8f;
  }
  return t;
}

class Pooling : public testing::Test {
 protected:
  Tensor Value(Output o) {
    const auto result = Evaluate({o});
    EXPECT_TRUE(result.ok()) << result.status() << g_.status();
    return result.ok() ? result->at(0) : Tensor(kFloat32, {0});
  }

  // Checks that the outputs are the same, bit by bit, on one thread and on several.
  void ExpectSameOnAnyNumberOfThreads(const std::vector<Output>& outputs) {
    ThreadPool pool("pooling_test", 3);
    EvaluateOptions options;
    const auto alone = Evaluate(outputs, {}, options);
    options.pool = &pool;
    const auto shared = Evaluate(outputs, {}, options);
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status() << g_.status();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto a = alone->at(i).data<float>(), b = shared->at(i).data<float>();
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << outputs[i].name();
    }
  }

  // Returns y, followed by the gradients with respect to xs of the sum of y * weights.
  std::vector<Output> WithGradient(Output y, const std::vector<Output>& xs, Output weights) {
    const auto gradients = Gradients({y}, xs, {weights});
    EXPECT_TRUE(gradients.ok()) << gradients.status();
    std::vector<Output> all = {y};
    if (gradients.ok()) all.insert(all.end(), gradients->begin(), gradients->end());
    return all;
  }

  void ExpectNear(const Tensor& got, const Tensor& want, double tolerance) {
    ASSERT_EQ(got.shape(), want.shape());
    for (int64_t i = 0; i < got.num_elements(); ++i) {
      const double w = want.dtype() == kFloat64 ? want.data<double>()[i] : want.data<float>()[i];
      ASSERT_NEAR(got.data<float>()[i], w, tolerance * std::max(1.0, std::abs(w))) << i;
    }
  }

  // The message for a wrong call that returned `o`. Clears the graph.
  std::string Mistake(const Output& o) {
    EXPECT_FALSE(o.valid());
    EXPECT_EQ(g_.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string text(g_.status().message());
    g_ = Graph();
    return text;
  }

  Graph g_;
};

TEST_F(Pooling, DoesNotDependOnTheNumberOfThreads) {
  const Output x = Const(g_, Numbers({3, 40, 41, 70}));
  for (const nn::PoolOptions& options : std::vector<nn::PoolOptions>{
           {.size = {2, 2}},                                                     // windows do not overlap
           {.size = {3, 3}, .strides = {2, 2}, .padding = nn::Padding::kValid},  // windows overlap
           {.size = {2, 3}, .strides = {3, 1}, .data_format = nn::DataFormat::kChannelsFirst}}) {
    const Output max = nn::MaxPool(x, options), mean = nn::AvgPool(x, options);
    const Output weights = Const(g_, Numbers(max.shape(), 2));
    ExpectSameOnAnyNumberOfThreads(WithGradient(max, {x}, weights));
    ExpectSameOnAnyNumberOfThreads(WithGradient(mean, {x}, weights));
  }
  const Output volume = Const(g_, Numbers({2, 10, 20, 21, 9}));
  const Output max = nn::MaxPool3D(volume, {.size = {2, 3, 2}, .strides = {1}});
  ExpectSameOnAnyNumberOfThreads(WithGradient(max, {volume}, Const(g_, Numbers(max.shape(), 2))));
}

TEST_F(Pooling, WholeRowsOfPixelsThatNoWindowCoversGetNoGradient) {
  // With stride 3 and size 1, two of three rows and columns are skipped, at the ends of blocks too.
  const Output x = Const(g_, Numbers({2, 30, 31, 40}));
  const Output y = nn::MaxPool(x, {.size = {1}, .strides = {3}});
  const Tensor dx = Value(Gradients({y}, {x})->at(0));
  for (int64_t i = 0; i < dx.num_elements(); ++i) {
    const int64_t w = i / 40 % 31, h = i / 40 / 31 % 30;
    ASSERT_EQ(dx.data<float>()[i], h % 3 == 0 && w % 3 == 0 ? 1 : 0) << i;
  }
}

TEST_F(Pooling, GradientsOfMaximaAreTheSameInBothDataFormats) {
  // Ties and NaNs, with windows that do not overlap, that overlap, and that are cut off at the edge.
  Tensor pixels = Numbers({2, 11, 13, 37});
  for (float& v : pixels.mutable_data<float>()) v = v > 0.7f ? std::nanf("") : std::round(v * 2);
  for (const int64_t stride : {2, 1}) {
    const Output last = Const(g_, pixels);
    const Output first = Transpose(last, {0, 3, 1, 2});
    const nn::PoolOptions options = {.size = {2, 2}, .strides = {stride}, .padding = nn::Padding::kSame};
    nn::PoolOptions channels_first = options;
    channels_first.data_format = nn::DataFormat::kChannelsFirst;
    const Output y = nn::MaxPool(last, options);
    const Output weights = Const(g_, Numbers(y.shape(), 4));
    const Output dx = WithGradient(y, {last}, weights)[1];
    const Output same = WithGradient(nn::MaxPool(first, channels_first), {first}, Transpose(weights, {0, 3, 1, 2}))[1];
    ExpectNear(Value(dx), Value(Transpose(same, {0, 2, 3, 1})), 0);
  }
}

TEST_F(Pooling, VolumesOfOneLayerGiveTheResultsOfImages) {
  const Tensor image = Numbers({2, 9, 10, 5});
  const Output x = Const(g_, image), volume = Const(g_, *image.Reshaped({2, 1, 9, 10, 5}));
  const Output y = nn::MaxPool(x, {.size = {2, 3}, .strides = {2, 1}});
  const Output y3 = nn::MaxPool3D(volume, {.size = {1, 2, 3}, .strides = {1, 2, 1}});
  const Tensor weights = Numbers(y.shape(), 3);
  const auto two = WithGradient(y, {x}, Const(g_, weights));
  const auto three = WithGradient(y3, {volume}, Const(g_, *weights.Reshaped(y3.shape())));
  for (int i = 0; i < 2; ++i) {
    const Tensor want = Value(two[i]);
    ExpectNear(*Value(three[i]).Reshaped(want.shape()), want, 1e-6);
  }
  // The gradient has a gradient itself.
  const Output again = Gradients({three[1]}, {three[0]}).ok() ? three[1] : Output();
  EXPECT_TRUE(again.valid());
}

TEST_F(Pooling, WrongOptionsAreReported) {
  const auto x = [&] { return Const(g_, Numbers({1, 4, 4, 2})); };
  EXPECT_NE(Mistake(nn::MaxPool(x(), {.size = {2, 2, 2}})).find("size must have one or 2 elements, got 3"),
            std::string::npos);
  EXPECT_NE(Mistake(nn::MaxPool(x(), {.explicit_paddings = {{1, 1}, {0, 0}}})).find("Padding::kExplicit"),
            std::string::npos);
  EXPECT_NE(Mistake(nn::AvgPool(x(), {.padding = nn::Padding::kExplicit})).find("only MaxPool"), std::string::npos);
  EXPECT_NE(Mistake(nn::MaxPool(x(), {.padding = nn::Padding::kExplicit})).find("2 pairs"), std::string::npos);
  EXPECT_NE(Mistake(nn::MaxPool(x(), {.size = {9}, .padding = nn::Padding::kValid})).find("larger than the input"),
            std::string::npos);
  const Output y = nn::MaxPool(
      x(), {.size = {2}, .strides = {1}, .padding = nn::Padding::kExplicit, .explicit_paddings = {{1, 0}, {0, 1}}});
  EXPECT_EQ(y.shape(), Shape({1, 4, 4, 2}));
}

TEST_F(Pooling, FractionalWindowsDifferFromRunToRunUnlessTheyAreDeterministic) {
  const Output x = Const(g_, Numbers({1, 100, 100, 1}));
  for (const bool deterministic : {false, true}) {
    const Operation op = NodeBuilder(g_, "FractionalMaxPool")
                             .Input(x)
                             .Attr("pooling_ratio", std::vector<float>{1, 1.5f, 1.5f, 1})
                             .Attr("deterministic", deterministic)
                             .Attr("seed", deterministic ? 5 : 0)
                             .Finish();
    const Tensor a = Value(op.output(1)), b = Value(op.output(1));
    const auto first = a.data<int64_t>(), second = b.data<int64_t>();
    EXPECT_EQ(std::equal(first.begin(), first.end(), second.begin(), second.end()), deterministic);
  }
}

TEST_F(Pooling, FusedBatchNormGivesTheResultsOfItsParts) {
  for (const auto& [shape, format] : {std::pair(Shape{4, 30, 31, 20}, nn::DataFormat::kChannelsLast),
                                      std::pair(Shape{4, 20, 30, 31}, nn::DataFormat::kChannelsFirst)}) {
    const bool first = format == nn::DataFormat::kChannelsFirst;
    const Tensor in = Numbers(shape), scales = Numbers({20}, 4), offsets = Numbers({20}, 5);
    const Output x = Const(g_, in), scale = Const(g_, scales), offset = Const(g_, offsets);
    const Output weights = Const(g_, Numbers(shape, 6));
    const auto fused = nn::FusedBatchNorm(x, scale, offset, {.data_format = format});
    const std::vector<Output> got = WithGradient(fused.y, {x, scale, offset}, weights);
    ExpectSameOnAnyNumberOfThreads(got);

    // In float64, with scale and offset of a shape that broadcasts.
    const Shape per_channel = first ? Shape{20, 1, 1} : Shape{20};
    const auto wide = [&](const Tensor& t) { return Cast(Const(g_, t), kFloat64); };
    const Output x64 = wide(in), scale64 = wide(*scales.Reshaped(per_channel));
    const Output offset64 = wide(*offsets.Reshaped(per_channel));
    const auto moments = nn::Moments(x64, first ? Axes{0, 2, 3} : Axes{0, 1, 2}, {.keep_dims = true});
    const Output y64 =
        nn::BatchNormalization(x64, moments.mean, moments.variance, {.offset = offset64, .scale = scale64});
    const std::vector<Output> want = WithGradient(y64, {x64, scale64, offset64}, Cast(weights, kFloat64));
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor value = Value(got[i]);
      ExpectNear(value, *Value(want[i]).Reshaped(value.shape()), 1e-4);
    }
    const double n = static_cast<double>(in.num_elements()) / 20;
    ExpectNear(Value(fused.mean), *Value(moments.mean).Reshaped({20}), 1e-5);
    ExpectNear(Value(fused.variance), *Value(moments.variance * (n / (n - 1))).Reshaped({20}), 1e-5);

    // Without training, mean and variance are constants.
    const Output mean = Const(g_, Numbers({20}, 7)), variance = Square(Const(g_, Numbers({20}, 8)));
    const auto frozen = nn::FusedBatchNorm(
        x, scale, offset, {.training = false, .mean = mean, .variance = variance, .data_format = format});
    const auto shaped = [&](Output t) { return Reshape(Cast(t, kFloat64), per_channel); };
    const Output frozen64 =
        nn::BatchNormalization(x64, shaped(mean), shaped(variance), {.offset = offset64, .scale = scale64});
    const auto got_frozen = WithGradient(frozen.y, {x, scale, offset}, weights);
    const auto want_frozen = WithGradient(frozen64, {x64, scale64, offset64}, Cast(weights, kFloat64));
    for (size_t i = 0; i < got_frozen.size(); ++i) {
      const Tensor value = Value(got_frozen[i]);
      ExpectNear(value, *Value(want_frozen[i]).Reshaped(value.shape()), 1e-4);
    }
  }
}

TEST_F(Pooling, LocalResponseNormalizationHasTheGradientOfItsFormula) {
  const Tensor in = Numbers({2, 6, 40, 12});
  const Output x = Const(g_, in), weights = Const(g_, Numbers(in.shape(), 2));
  const auto got = WithGradient(
      nn::LocalResponseNormalization(x, {.depth_radius = 2, .bias = 1.5, .alpha = 0.7, .beta = 0.75}), {x}, weights);
  ExpectSameOnAnyNumberOfThreads(got);
  // The sum over the nearby channels is a product with a banded matrix.
  Tensor band(kFloat64, {12, 12});
  for (int64_t i = 0; i < 144; ++i) band.mutable_data<double>()[i] = std::abs(i / 12 - i % 12) <= 2 ? 1 : 0;
  const Output x64 = Cast(Reshape(x, {-1, 12}), kFloat64);
  const Output base = MatMul(Square(x64), Const(g_, band)) * 0.7 + 1.5;
  const auto want = WithGradient(x64 * Pow(base, -0.75), {x64}, Cast(Reshape(weights, {-1, 12}), kFloat64));
  for (int i = 0; i < 2; ++i) ExpectNear(Value(got[i]), *Value(want[i]).Reshaped(in.shape()), 1e-4);
}

TEST_F(Pooling, FakeQuantizationDoesNotDependOnTheNumberOfThreads) {
  const Output x = Const(g_, Numbers({300, 33, 16}));
  const Output low = Const(g_, Tensor::Scalar(-0.5f)), high = Const(g_, Tensor::Scalar(0.6f));
  const Output weights = Const(g_, Numbers({300, 33, 16}, 2));
  const Output y = NodeBuilder(g_, "FakeQuantWithMinMaxVars").Input(x).Input(low).Input(high).Output();
  const auto all = WithGradient(y, {x, low, high}, weights);
  ExpectSameOnAnyNumberOfThreads(all);
  // Minimum and maximum get the gradients of the elements beyond them.
  const Tensor in = Value(x), g = Value(weights);
  double below = 0;
  for (int64_t i = 0; i < in.num_elements(); ++i) below += in.data<float>()[i] < -0.5f ? g.data<float>()[i] : 0;
  EXPECT_NEAR(Value(all[2]).scalar<float>(), below, 0.02 * std::abs(below) + 30);  // the grid's ends are moved a little
}

TEST_F(Pooling, LayerNormalizationNormalizesEachExample) {
  const Output x = Const(g_, Numbers({5, 64}));
  const auto moments = nn::Moments(nn::LayerNormalization(x, {.epsilon = 0}), -1);
  const Tensor mean = Value(moments.mean), variance = Value(moments.variance);
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(mean.data<float>()[i], 0, 1e-5);
    EXPECT_NEAR(variance.data<float>()[i], 1, 1e-4);
  }
}

TEST_F(Pooling, FusedBatchNormTakesAveragesOnlyWhereItReadsThem) {
  const auto x = [&] { return Const(g_, Numbers({2, 2, 2, 3})); };
  const auto vector = [&] { return Const(g_, Numbers({3})); };
  EXPECT_NE(Mistake(nn::FusedBatchNorm(x(), vector(), vector(), {.training = false}).y).find("must be given"),
            std::string::npos);
  EXPECT_NE(Mistake(nn::FusedBatchNorm(x(), vector(), vector(), {.mean = vector(), .variance = vector()}).y)
                .find("leave them out"),
            std::string::npos);
}

TEST_F(Pooling, DropoutKeepsTheExpectedSum) {
  const Output x = Const(g_, Tensor::Of<float>({10'000}, std::vector<float>(10'000, 1)));
  const Output rate = Placeholder(g_, kFloat32, {});
  const Output y = nn::Dropout(x, rate, 7);
  const Output dx = Gradients({y}, {x})->at(0);
  const auto result = Evaluate({y, dx}, {{rate, Tensor::Scalar(0.25f)}});
  ASSERT_TRUE(result.ok()) << result.status() << g_.status();
  int64_t kept = 0;
  for (int64_t i = 0; i < 10'000; ++i) {
    const float v = result->at(0).data<float>()[i];
    ASSERT_TRUE(v == 0 || std::abs(v - 1 / 0.75f) < 1e-6) << v;
    ASSERT_EQ(result->at(1).data<float>()[i], v);
    kept += v != 0;
  }
  EXPECT_NEAR(kept, 7500, 200);
  const auto none = Evaluate({y}, {{rate, Tensor::Scalar(0.0f)}});
  ASSERT_TRUE(none.ok()) << none.status();
  for (const float v : none->at(0).data<float>()) ASSERT_EQ(v, 1);
  EXPECT_NE(Mistake(nn::Dropout(x, 1.0)).find("below 1"), std::string::npos);
}

}  // namespace
}  // namespace tensorbraid
