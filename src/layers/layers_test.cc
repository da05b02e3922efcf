#include "tensorbraid/layers/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& v : variables) names.push_back(v.name());
  return names;
}

Tensor Matrix(int64_t rows, const std::vector<float>& values) {
  Tensor t(kFloat32, {rows, static_cast<int64_t>(values.size()) / rows});
  std::copy(values.begin(), values.end(), t.mutable_data<float>().begin());
  return t;
}

std::vector<float> Values(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

// A session in which the variables have their initial values.
std::unique_ptr<Session> Started(Graph& g) {
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return nullptr;
  const Status status = (*session)->Run({GlobalVariablesInitializer(g)}).status();
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(session);
}

std::vector<Tensor> Fetched(Session& session, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {}) {
  auto values = session.Run(fetches, feeds);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? *std::move(values) : std::vector<Tensor>(fetches.size(), Tensor::Scalar(0.0f));
}

TEST(LayersTest, DenseIsAMatrixProductWithBiasAndActivation) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 2}, "x");
  const Output y = layers::Dense(x, {.units = 3,
                                     .activation = layers::Activation::kRelu,
                                     .kernel_initializer = Constant(Matrix(2, {1, 2, 3, 4, 5, 6})),
                                     .bias_initializer = Constant(Tensor::Vector<float>({0, -100, 1}))});
  EXPECT_EQ(y.shape(), Shape({-1, 3}));
  EXPECT_EQ(y.name(), "dense/Relu:0");
  EXPECT_THAT(Names(g.trainable_variables()), ElementsAre("dense/kernel", "dense/bias"));
  auto session = Started(g);
  // The product is [9, 12, 15], and [9, -88, 16] with the bias.
  EXPECT_THAT(Values(Fetched(*session, {y}, {{x, Matrix(1, {1, 2})}})[0]), ElementsAre(9, 0, 16));
}

TEST(LayersTest, DenseKeepsAllDimensionsButTheLast) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, -1, 2}, "x");
  const Output y = layers::Dense(x, {.units = 1, .bias = false, .kernel_initializer = Ones()});
  EXPECT_EQ(y.shape(), Shape({-1, -1, 1}));
  const Output z = layers::Dense(Placeholder(g, kFloat32, {-1, 5, 2}), {.units = 4});
  EXPECT_EQ(z.shape(), Shape({-1, 5, 4}));
  auto session = Started(g);
  Tensor value(kFloat32, {1, 3, 2});
  for (int i = 0; i < 6; ++i) value.mutable_data<float>()[i] = static_cast<float>(i);
  const Tensor result = Fetched(*session, {y}, {{x, value}})[0];
  EXPECT_EQ(result.shape(), Shape({1, 3, 1}));
  EXPECT_THAT(Values(result), ElementsAre(1, 5, 9));
  EXPECT_EQ(Fetched(*session, {y}, {{x, Tensor(kFloat32, {0, 3, 2})}})[0].shape(), Shape({0, 3, 1}));
}

TEST(LayersTest, LayersWithoutANameAreNumberedInTheirScope) {
  Graph g;
  const auto model = [&](bool reuse) {
    auto scope = g.VariableScope("model", {.reuse = reuse});
    auto x = layers::Dense(Ones(g, {4, 2}), {.units = 3});
    x = layers::Dense(x, {.units = 3});
    return layers::Dense(x, {.units = 1, .name = "logits"});
  };
  const Output first = model(false), second = model(true);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_THAT(Names(g.variables()), ElementsAre("model/dense/kernel", "model/dense/bias", "model/dense_1/kernel",
                                                "model/dense_1/bias", "model/logits/kernel", "model/logits/bias"));
  auto session = Started(g);
  const auto values = Fetched(*session, {first, second});
  EXPECT_EQ(Values(values[0]), Values(values[1]));
}

TEST(LayersTest, MistakesNameTheLayerAndTheLine) {
  const auto mistake = [](auto layer) {
    Graph g;
    EXPECT_FALSE(layer(g).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    EXPECT_THAT(std::string(g.status().message()), HasSubstr("layers_test.cc:"));
    return std::string(g.status().message());
  };
  EXPECT_THAT(mistake([](Graph& g) { return layers::Dense(Ones(g, {2, 2}), {}); }), HasSubstr("Dense 'dense'"));
  EXPECT_THAT(mistake([](Graph& g) { return layers::Dense(Ones(g, {2}), {.units = 1}); }), HasSubstr("rank 2 or more"));
  EXPECT_THAT(mistake([](Graph& g) {
                return layers::Dense(Placeholder(g, kFloat32, {1, -1}), {.units = 1});
              }),
              HasSubstr("must be known"));
  EXPECT_THAT(mistake([](Graph& g) { return layers::Dense(Placeholder(g, kFloat32), {.units = 1}); }),
              HasSubstr("the rank of the input must be known"));
  EXPECT_THAT(mistake([](Graph& g) { return layers::Embedding(Ones(g, {2}), {.input_dim = 1, .output_dim = 1}); }),
              HasSubstr("ids must be int32 or int64"));
  EXPECT_THAT(mistake([](Graph& g) {
                return layers::BatchNorm(Ones(g, {2, 2}), {.training = false, .axis = 2});
              }),
              HasSubstr("no dimension 2"));
  EXPECT_THAT(mistake([](Graph& g) {
                return layers::BatchNorm(Ones(g, {2, 2}), {.training = Ones(g, {})});
              }),
              HasSubstr("training must be"));
  EXPECT_THAT(mistake([](Graph& g) {
                return layers::LayerNorm(Ones(g, {2, 2}), {.axes = {1, -1}});
              }),
              HasSubstr("names dimension 1 twice"));
  EXPECT_THAT(mistake([](Graph& g) {
                layers::Dense(Ones(g, {2, 2}), {.units = 1, .name = "same"});
                return layers::Dense(Ones(g, {2, 2}), {.units = 1, .name = "same"});
              }),
              HasSubstr("'same/kernel'"));
}

TEST(LayersTest, EmbeddingLooksUpRows) {
  Graph g;
  const Output ids = Placeholder(g, kInt64, {-1, 2}, "ids");
  const Output x = layers::Embedding(
      ids, {.input_dim = 3, .output_dim = 2, .initializer = Constant(Matrix(3, {0, 1, 10, 11, 20, 21}))});
  EXPECT_EQ(x.shape(), Shape({-1, 2, 2}));
  EXPECT_THAT(Names(g.trainable_variables()), ElementsAre("embedding/embeddings"));
  auto session = Started(g);
  Tensor value(kInt64, {1, 2});
  value.mutable_data<int64_t>()[0] = 2;
  value.mutable_data<int64_t>()[1] = 0;
  EXPECT_THAT(Values(Fetched(*session, {x}, {{ids, value}})[0]), ElementsAre(20, 21, 0, 1));
  const auto gradient = SparseGradients({x}, {g.variables()[0].handle()});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_TRUE((*gradient)[0].is_sparse()) << "the gradient must have only the rows that were looked up";
  value.mutable_data<int64_t>()[1] = 3;
  EXPECT_TRUE(absl::IsInvalidArgument(session->Run({x}, {{ids, value}}).status()));
}

TEST(LayersTest, FlattenKeepsTheBatch) {
  Graph g;
  EXPECT_EQ(layers::Flatten(Placeholder(g, kFloat32, {-1, 3, 2})).shape(), Shape({-1, 6}));
  EXPECT_EQ(layers::Flatten(Ones(g, {4})).shape(), Shape({4, 1}));
  const Output x = Placeholder(g, kFloat32, {-1, -1, 2}, "x"), empty = Placeholder(g, kFloat32, {-1, 0, 2}, "empty");
  const Output flat = layers::Flatten(x), flat_empty = layers::Flatten(empty);
  auto session = Started(g);
  EXPECT_EQ(Fetched(*session, {flat}, {{x, Tensor(kFloat32, {2, 3, 2})}})[0].shape(), Shape({2, 6}));
  EXPECT_EQ(Fetched(*session, {flat_empty}, {{empty, Tensor(kFloat32, {5, 0, 2})}})[0].shape(), Shape({5, 0}));
  EXPECT_FALSE(layers::Flatten(Placeholder(g, kFloat32)).valid());
  EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
}

TEST(LayersTest, RegularizationLossIsTheSumOverTheVariables) {
  Graph g;
  layers::Dense(Ones(g, {1, 2}), {.units = 2,
                                  .kernel_initializer = Ones(),
                                  .bias_initializer = Constant(-3.0),
                                  .kernel_regularizer = L2Regularizer(0.5),
                                  .bias_regularizer = L1Regularizer(1.0)});
  const Output loss = layers::RegularizationLoss(g);
  auto session = Started(g);
  // The squares of the 4 elements of the kernel, and the absolute values of the 2 biases.
  EXPECT_EQ(Fetched(*session, {loss})[0].scalar<float>(), 0.5f * 4 + 6);
}

TEST(LayersTest, ConvolutionsMakeTheirKernels) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 8, 6, 4}, "x");
  EXPECT_EQ(layers::Conv2D(x, {.filters = 5, .kernel = {3, 2}, .activation = layers::Activation::kRelu}).shape(),
            Shape({-1, 8, 6, 5}));
  EXPECT_EQ(layers::Conv2D(x, {.filters = 6, .kernel = {3}, .strides = {2}, .groups = 2, .bias = false}).shape(),
            Shape({-1, 4, 3, 6}));
  EXPECT_EQ(layers::Conv2D(x, {.filters = 2, .kernel = {8, 1}, .padding = nn::Padding::kValid}).shape(),
            Shape({-1, 1, 6, 2}));
  EXPECT_EQ(layers::DepthwiseConv2D(x, {.kernel = {3}, .depth_multiplier = 2}).shape(), Shape({-1, 8, 6, 8}));
  EXPECT_EQ(layers::SeparableConv2D(x, {.filters = 7, .kernel = {3}}).shape(), Shape({-1, 8, 6, 7}));
  EXPECT_EQ(layers::Conv2DTranspose(x, {.filters = 3, .kernel = {3}, .strides = {2}}).shape(), Shape({-1, 16, 12, 3}));
  EXPECT_EQ(
      layers::Conv2DTranspose(x, {.filters = 3, .kernel = {1}, .strides = {2}, .padding = nn::Padding::kValid}).shape(),
      Shape({-1, 16, 12, 3}));
  EXPECT_EQ(
      layers::Conv2DTranspose(x, {.filters = 3, .kernel = {5}, .strides = {2}, .padding = nn::Padding::kValid}).shape(),
      Shape({-1, 19, 15, 3}));
  EXPECT_EQ(layers::Conv1D(Placeholder(g, kFloat32, {2, 9, 4}), {.filters = 3, .kernel = {3}, .strides = {3}}).shape(),
            Shape({2, 3, 3}));
  EXPECT_EQ(layers::Conv3D(Placeholder(g, kFloat32, {2, 9, 8, 7, 4}), {.filters = 3, .kernel = {3}}).shape(),
            Shape({2, 9, 8, 7, 3}));
  EXPECT_EQ(layers::Conv2D(Placeholder(g, kFloat32, {2, 4, 8, 6}),
                           {.filters = 5, .kernel = {3}, .data_format = nn::DataFormat::kChannelsFirst})
                .shape(),
            Shape({2, 5, 8, 6}));
  ASSERT_TRUE(g.status().ok()) << g.status();
  std::vector<std::string> variables;
  for (const Variable& v : g.trainable_variables()) variables.push_back(v.name() + v.shape().ToString());
  EXPECT_THAT(
      variables,
      ElementsAre("conv2d/kernel[3,2,4,5]", "conv2d/bias[5]", "conv2d_1/kernel[3,3,2,6]", "conv2d_2/kernel[8,1,4,2]",
                  "conv2d_2/bias[2]", "depthwise_conv2d/depthwise_kernel[3,3,4,2]", "depthwise_conv2d/bias[8]",
                  "separable_conv2d/depthwise_kernel[3,3,4,1]", "separable_conv2d/pointwise_kernel[1,1,4,7]",
                  "separable_conv2d/bias[7]", "conv2d_transpose/kernel[3,3,3,4]", "conv2d_transpose/bias[3]",
                  "conv2d_transpose_1/kernel[1,1,3,4]", "conv2d_transpose_1/bias[3]",
                  "conv2d_transpose_2/kernel[5,5,3,4]", "conv2d_transpose_2/bias[3]", "conv1d/kernel[3,4,3]",
                  "conv1d/bias[3]", "conv3d/kernel[3,3,3,4,3]", "conv3d/bias[3]", "conv2d_3/kernel[3,3,4,5]",
                  "conv2d_3/bias[5]"));
}

TEST(LayersTest, ConvolutionsComputeAndTrain) {
  Graph g;
  const Output x = Const(g, [] {
    Tensor t(kFloat32, {1, 4, 4, 2});
    for (float& v : t.mutable_data<float>()) v = 1;
    return t;
  }());
  const Output y =
      layers::Conv2D(x, {.filters = 1, .kernel = {3}, .kernel_initializer = Ones(), .bias_initializer = Ones()});
  const Output line =
      layers::Conv1D(Reshape(x, {1, 16, 2}), {.filters = 1, .kernel = {3}, .kernel_initializer = Ones()});
  const Output deep = layers::SeparableConv2D(x, {.filters = 2, .kernel = {3}});
  const Output wide = layers::Conv2DTranspose(deep, {.filters = 2, .kernel = {2}, .strides = {2}});
  GradientDescentOptimizer optimizer(0.01);
  const Output loss = ReduceSum(Square(wide)) + ReduceSum(Square(y)) + ReduceSum(Square(line));
  const Operation train = optimizer.Minimize(loss);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Started(g);
  const auto values = Fetched(*session, {y, line, loss});
  // Channels times the elements of the window that are in the image, plus the bias.
  EXPECT_EQ(values[0].data<float>()[0], 2 * 4 + 1) << "a corner";
  EXPECT_EQ(values[0].data<float>()[5], 2 * 9 + 1);
  EXPECT_EQ(values[1].data<float>()[0], 4);
  EXPECT_EQ(values[1].data<float>()[1], 6);
  Fetched(*session, {train});
  const auto after = Fetched(*session, {g.variables()[1]});
  EXPECT_LT(after[0].data<float>()[0], 1);
}

TEST(LayersTest, ConvolutionsRefuseInputsAndOptionsThatDoNotFit) {
  const auto mistake = [](const Shape& shape, const layers::ConvolutionLayerOptions& options) {
    Graph g;
    EXPECT_FALSE(layers::Conv2D(Placeholder(g, kFloat32, shape), options).valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    return std::string(g.status().message());
  };
  const Shape images({-1, 8, 8, 3});
  EXPECT_THAT(mistake({-1, 8, 3}, {.filters = 2, .kernel = {3}}), HasSubstr("must have rank 4, got shape [?,8,3]"));
  EXPECT_THAT(mistake({-1, 8, 8, -1}, {.filters = 2, .kernel = {3}}), HasSubstr("must be known"));
  EXPECT_THAT(mistake(images, {.filters = 2}), HasSubstr("kernel must be given"));
  EXPECT_THAT(mistake(images, {.kernel = {3}}), HasSubstr("filters must be positive"));
  EXPECT_THAT(mistake(images, {.filters = 2, .kernel = {3, 3, 3}}), HasSubstr("kernel must have 1 or 2 positive"));
  EXPECT_THAT(mistake(images, {.filters = 2, .kernel = {3}, .strides = {0, 1}}), HasSubstr("got {0, 1}"));
  EXPECT_THAT(mistake(images, {.filters = 2, .kernel = {3}, .groups = 2}), HasSubstr("groups must divide"));
  mistake(images, {.filters = 2, .kernel = {9}, .padding = nn::Padding::kValid});
}

TEST(LayersTest, DropoutScalesWhatItKeeps) {
  Graph g;
  g.SetRandomSeed(1);
  const Output flag = Placeholder(g, kBool, {}, "training");
  const Output x = Placeholder(g, kFloat32, {-1, 100}, "x");
  const Output always = layers::Dropout(x, {.rate = 0.75, .training = true, .seed = 2});
  const Output never = layers::Dropout(x, {.rate = 0.75});
  const Output fed = layers::Dropout(x, {.rate = 0.75, .training = flag, .seed = 3});
  const Output rows = layers::Dropout(x, {.training = true, .noise_shape = {-1, 1}, .seed = 4});
  EXPECT_EQ(always.shape(), Shape({-1, 100}));
  const auto gradient = Gradients({ReduceSum(fed)}, {x});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  auto session = Started(g);
  Tensor ones(kFloat32, {50, 100});
  for (float& v : ones.mutable_data<float>()) v = 1;
  const auto run = [&](bool training) {
    return Fetched(*session, {always, never, fed, (*gradient)[0], rows}, {{x, ones}, {flag, Tensor::Scalar(training)}});
  };
  const auto values = run(true);
  int kept = 0;
  for (const float v : Values(values[0])) {
    EXPECT_TRUE(v == 0 || v == 4) << v;
    kept += v != 0;
  }
  EXPECT_NEAR(kept, 1250, 150);  // a quarter of 5000
  EXPECT_EQ(Values(values[1]), Values(ones));
  EXPECT_EQ(Values(values[2]), Values(values[3])) << "the gradient must pass where the value passed";
  EXPECT_NE(Values(values[2]), Values(values[0]));
  const auto by_rows = Values(values[4]);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(by_rows[i], by_rows[i / 100 * 100]) << i;
  const auto quiet = run(false);
  EXPECT_EQ(Values(quiet[2]), Values(ones));
  EXPECT_EQ(Values(quiet[3]), Values(ones));
  Graph h;
  EXPECT_FALSE(layers::Dropout(Ones(h, {2, 3}), {.rate = 1}).valid());
  EXPECT_THAT(std::string(h.status().message()), HasSubstr("Dropout 'dropout' (layers_test.cc:"));
}

TEST(LayersTest, BatchNormNormalisesImages) {
  for (const auto format : {nn::DataFormat::kChannelsLast, nn::DataFormat::kChannelsFirst}) {
    Graph g;
    const bool last = format == nn::DataFormat::kChannelsLast;
    const Output x = Placeholder(g, kFloat32, last ? Shape({-1, 1, 2, 1}) : Shape({-1, 1, 1, 2}), "x");
    const Output flag = Placeholder(g, kBool, {}, "training");
    const Output y = layers::BatchNorm(x, {.training = flag, .axis = last ? -1 : 1, .momentum = 0.5, .epsilon = 0});
    GradientDescentOptimizer optimizer(0.0);
    const Operation train = optimizer.Minimize(ReduceSum(Square(y)));
    ASSERT_TRUE(g.status().ok()) << g.status();
    auto session = Started(g);
    Tensor value(kFloat32, last ? Shape({1, 1, 2, 1}) : Shape({1, 1, 1, 2}));
    value.mutable_data<float>()[0] = 1;
    value.mutable_data<float>()[1] = 3;
    const auto got = Fetched(*session, {y, train}, {{x, value}, {flag, Tensor::Scalar(true)}});
    EXPECT_NEAR(got[0].data<float>()[0], -1, 1e-5);
    EXPECT_NEAR(got[0].data<float>()[1], 1, 1e-5);
    const auto averages = Fetched(*session, {g.variables()[2], g.variables()[3]});
    EXPECT_NEAR(averages[0].data<float>()[0], 1, 1e-6);
    EXPECT_NEAR(averages[1].data<float>()[0], 1.5, 1e-6) << "the average of 1 and the unbiased variance 2";
    // Without training, y = (3 - moving mean) / sqrt(moving variance).
    EXPECT_NEAR(Fetched(*session, {y}, {{x, value}, {flag, Tensor::Scalar(false)}})[0].data<float>()[1],
                2 / std::sqrt(1.5), 1e-5);
  }
}

// There is one feature. The batch has mean 2 and variance 1 (the biased variance, because x is a matrix).
TEST(LayersTest, BatchNormUsesTheBatchWhileTrainingAndTheAveragesOtherwise) {
  for (const bool fed : {false, true}) {
    Graph g;
    const Output x = Placeholder(g, kFloat32, {-1, 1}, "x");
    const Output flag = Placeholder(g, kBool, {}, "training");
    Output trained, inferred;
    {
      auto scope = g.VariableScope("m");
      trained = layers::BatchNorm(x, {.training = fed ? layers::Training(flag) : layers::Training(true),
                                      .momentum = 0.5,
                                      .epsilon = 0,
                                      .gamma_initializer = Constant(2.0)});
    }
    {
      auto scope = g.VariableScope("m", {.reuse = true});
      inferred = layers::BatchNorm(x, {.training = false, .momentum = 0.5, .epsilon = 0});
    }
    EXPECT_EQ(trained.shape(), Shape({-1, 1}));
    EXPECT_THAT(Names(g.variables()),
                ElementsAre("m/batch_normalization/gamma", "m/batch_normalization/beta",
                            "m/batch_normalization/moving_mean", "m/batch_normalization/moving_variance"));
    EXPECT_THAT(Names(g.trainable_variables()),
                ElementsAre("m/batch_normalization/gamma", "m/batch_normalization/beta"));
    GradientDescentOptimizer optimizer(0.0);
    const Operation train = optimizer.Minimize(ReduceSum(Square(trained)));
    ASSERT_TRUE(g.status().ok()) << g.status();
    auto session = Started(g);
    const auto feeds = [&](bool training) {
      std::vector<Feed> list = {{x, Matrix(2, {1, 3})}};
      if (fed) list.emplace_back(flag, Tensor::Scalar(training));
      return list;
    };
    EXPECT_THAT(Values(Fetched(*session, {trained}, feeds(true))[0]), ElementsAre(-2, 2));
    EXPECT_THAT(Values(Fetched(*session, {inferred}, feeds(false))[0]), ElementsAre(2, 6))
        << "the moving averages are 0 and 1";
    if (fed) {
      EXPECT_THAT(Values(Fetched(*session, {trained}, feeds(false))[0]), ElementsAre(2, 6));
      Fetched(*session, {train}, feeds(false));  // does not change the averages
    }
    Fetched(*session, {train}, feeds(true));
    const auto averages = Fetched(*session, {g.variables()[2], g.variables()[3]});
    EXPECT_THAT(Values(averages[0]), ElementsAre(1));
    EXPECT_THAT(Values(averages[1]), ElementsAre(1));
  }
}

TEST(LayersTest, TheGradientFlowsThroughTheBranchThatRan) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 1}, "x");
  const Output flag = Placeholder(g, kBool, {}, "training");
  const Variable scale(g, {}, Ones(), {.name = "scale"});
  const Output y = layers::BatchNorm(x * scale, {.training = flag, .epsilon = 1});
  const auto grads = Gradients({ReduceSum(Square(y + 1.0))}, {scale.value(), g.variables()[1].value()});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ASSERT_TRUE((*grads)[0].valid() && (*grads)[1].valid());
  auto session = Started(g);
  // While training, y = s d / sqrt(s² v + 1) with d = ±1 and v = 1. Then the sum of (y + 1)² is 2 s² / (s² + 1) + 2,
  // whose derivative at s = 1 is 1. Otherwise y = s x / sqrt(2), and the derivative is sum(sqrt(2) x (x / sqrt(2) +
  // 1)).
  for (const bool training : {true, false}) {
    const auto got = Fetched(*session, {(*grads)[0]}, {{x, Matrix(2, {1, 3})}, {flag, Tensor::Scalar(training)}});
    EXPECT_NEAR(got[0].scalar<float>(), training ? 1.0 : 10 + 4 * std::sqrt(2.0), 1e-4);
  }
}

TEST(LayersTest, OnlyTheFirstTowerMovesTheAverages) {
  Graph g;
  GradientDescentOptimizer optimizer(0.0);
  std::vector<std::vector<GradAndVar>> towers;
  for (int i = 0; i < 2; ++i) {
    auto scope = g.VariableScope("", {.reuse = i > 0});
    const Output x = Const(g, Matrix(2, {1.0f + i, 3.0f + i}));
    auto grads = optimizer.ComputeGradients(ReduceSum(Square(layers::BatchNorm(x, {.training = true, .momentum = 0}))));
    ASSERT_TRUE(grads.ok()) << grads.status();
    towers.push_back(*std::move(grads));
  }
  const Output other =
      layers::BatchNorm(Const(g, Matrix(2, {5, 5})), {.training = true, .momentum = 0, .name = "other"});
  EXPECT_TRUE(other.valid());
  const Operation train = optimizer.ApplyGradients(AverageGradients(towers));
  auto session = Started(g);
  Fetched(*session, {train});
  // The moving means of the towers' layer and of `other`.
  const auto averages = Fetched(*session, {g.variables()[2], g.variables()[g.variables().size() - 2]});
  EXPECT_THAT(Values(averages[0]), ElementsAre(2));
  EXPECT_THAT(Values(averages[1]), ElementsAre(0))
      << "the gradients do not depend on this layer, so its averages must not move";
}

TEST(LayersTest, LayerNormNormalisesEachExample) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 2}, "x");
  const Output y = layers::LayerNorm(x, {.epsilon = 0, .beta_initializer = Constant(10.0)});
  EXPECT_THAT(Names(g.trainable_variables()), ElementsAre("layer_normalization/gamma", "layer_normalization/beta"));
  auto session = Started(g);
  EXPECT_THAT(Values(Fetched(*session, {y}, {{x, Matrix(2, {1, 3, 100, -100})}})[0]), ElementsAre(9, 11, 11, 9));
}

TEST(LayersTest, BatchNormMustSayWhetherItTrains) {
  Graph g;
  layers::BatchNorm(Ones(g, {2, 2}), {});
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("say whether the layer trains: .training = true"));
}

}  // namespace
}  // namespace tensorbraid
