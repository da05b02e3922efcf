// Compares layers with TensorFlow's: names of variables, outputs, gradients and moving averages. See README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "rows.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using layers::Activation;

Shape ShapeIn(const Json& row) { return Shape(row.at("shape").get<std::vector<int64_t>>()); }

Tensor ArrayIn(const Json& row) {
  Tensor t(kFloat32, ShapeIn(row));
  std::ranges::copy(row.at("values").get<std::vector<float>>(), t.mutable_data<float>().begin());
  return t;
}

std::vector<int64_t> Sizes(const Json& options, const char* name) {
  return options.value(name, std::vector<int64_t>());
}

Activation ActivationIn(const Json& options) {
  const auto name = options.value("activation", std::string("none"));
  return name == "relu" ? Activation::kRelu : name == "tanh" ? Activation::kTanh : Activation::kNone;
}

nn::Padding PaddingIn(const Json& options) {
  return options.at("padding") == "same" ? nn::Padding::kSame : nn::Padding::kValid;
}

// Invalid if the test does not know the kind of layer.
Output LayerOf(const std::string& kind, const Output& x, const Json& o) {
  if (kind == "dense") {
    return layers::Dense(
        x, {.units = o.at("units").get<int64_t>(), .activation = ActivationIn(o), .bias = o.value("use_bias", true)});
  }
  if (kind == "batch_normalization") {
    return layers::BatchNorm(x, {.training = o.at("training").get<bool>(),
                                 .axis = o.value("axis", -1),
                                 .momentum = o.value("momentum", 0.99),
                                 .epsilon = o.value("epsilon", 1e-3),
                                 .center = o.value("center", true),
                                 .scale = o.value("scale", true)});
  }
  if (kind == "dropout") {
    return layers::Dropout(x, {.rate = o.at("rate").get<double>(),
                               .training = o.at("training").get<bool>(),
                               .noise_shape = Sizes(o, "noise_shape"),
                               .seed = o.value("seed", int64_t{0})});
  }
  if (kind == "separable_conv2d") {
    return layers::SeparableConv2D(x, {.filters = o.at("filters").get<int64_t>(),
                                       .kernel = Sizes(o, "kernel_size"),
                                       .depth_multiplier = o.at("depth_multiplier").get<int64_t>(),
                                       .padding = PaddingIn(o)});
  }
  const layers::ConvolutionLayerOptions options = {.filters = o.at("filters").get<int64_t>(),
                                                   .kernel = Sizes(o, "kernel_size"),
                                                   .strides = Sizes(o, "strides"),
                                                   .padding = PaddingIn(o),
                                                   .dilations = Sizes(o, "dilation_rate"),
                                                   .activation = ActivationIn(o),
                                                   .bias = o.value("use_bias", true)};
  if (kind == "conv1d") return layers::Conv1D(x, options);
  if (kind == "conv2d") return layers::Conv2D(x, options);
  if (kind == "conv3d") return layers::Conv3D(x, options);
  if (kind == "conv2d_transpose") return layers::Conv2DTranspose(x, options);
  return {};
}

void ExpectNumbers(const Tensor& got, const Json& want, const std::string& where) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << where;
  for (size_t i = 0; i < want.size(); ++i) {
    const double w = want[i].get<double>();
    EXPECT_NEAR(got.data<float>()[i], w, 1e-5 * std::max(1.0, std::abs(w))) << where << ", element " << i;
  }
}

void ExpectTensorFlowsLayer(const Json& row) {
  const auto kind = row.at("layer").get<std::string>();
  const std::string where = kind + " " + row.at("options").dump();
  Graph g;
  const Output x = Const(g, ArrayIn(row.at("x")));
  const Output y = LayerOf(kind, x, row.at("options"));
  ASSERT_TRUE(y.valid()) << where << ": " << g.status();
  std::vector<Output> sources = {x};
  std::vector<Operation> assigns;
  std::map<std::string, Variable> by_name;
  for (const Variable& v : g.variables()) by_name.emplace(v.name(), v);
  for (const Json& weight : row.at("variables")) {
    const auto found = by_name.find(weight.at("name").get<std::string>());
    ASSERT_NE(found, by_name.end()) << where << " has no variable " << weight.at("name");
    EXPECT_EQ(found->second.trainable(), weight.at("trains").get<bool>()) << where << ": " << found->first;
    if (found->second.trainable()) sources.push_back(found->second.value());
    assigns.push_back(found->second.Assign(Const(g, ArrayIn(weight))));
  }
  ASSERT_EQ(assigns.size(), by_name.size()) << where;
  const auto gradients = Gradients({ReduceSum(y * y * 0.5 + y)}, sources);
  ASSERT_TRUE(gradients.ok()) << where << ": " << gradients.status();
  std::vector<Fetch> fetches = {y};
  fetches.insert(fetches.end(), gradients->begin(), gradients->end());
  const Operation start = Group(g, assigns);
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << where << ": " << session.status();
  ASSERT_TRUE((*session)->Run({start}).ok());
  const auto results = (*session)->Run(fetches);
  ASSERT_TRUE(results.ok()) << where << ": " << results.status();
  ASSERT_EQ(results->size(), row.at("results").size()) << where;
  for (size_t r = 0; r < results->size(); ++r) {
    ExpectNumbers(results->at(r), row.at("results")[r], where + ", result " + std::to_string(r));
  }
  for (const Output& update : g.GetCollection("update_ops")) ASSERT_TRUE((*session)->Run({update.op()}).ok()) << where;
  for (const auto& [name, want] : row.at("updated").items()) {
    const auto value = (*session)->Run({by_name.at(name)});
    ASSERT_TRUE(value.ok()) << where << ": " << value.status();
    ExpectNumbers((*value)[0], want, where + ", " + name);
  }
}

TEST(TrainingTest, LayersMatchTensorFlow) {
  for (const Json& row : Rows("layers")) ExpectTensorFlowsLayer(row);
}

}  // namespace
}  // namespace tensorbraid
