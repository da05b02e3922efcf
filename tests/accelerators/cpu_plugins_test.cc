// What only a real compiler does. Needs plugins that compute on the CPU (TENSORBRAID_TEST_PLUGINS).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/program.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::HasSubstr;

class CpuPluginsTest : public testing::TestWithParam<std::string> {
 protected:
  Client& client_ = ClientOf(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, CpuPluginsTest, testing::ValuesIn(CpuPlugins()), PluginName);

// A step of softmax regression: 3 examples with 2 features, 4 classes. Updates the weights and returns the loss.
constexpr const char* kStep = R"(
module @step {
  func.func public @main(%w: tensor<2x4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<3x2xf32>, %labels: tensor<3x4xf32>)
      -> (tensor<2x4xf32>, tensor<f32>) {
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %lowest = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %rate = "stablehlo.constant"() <{value = dense<0.5> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
    %logits = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers =
        #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
        : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    %max = "stablehlo.reduce"(%logits, %lowest) <{dimensions = array<i64: 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%m) : (tensor<f32>) -> ()
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %wide_max = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0>}>
        : (tensor<3xf32>) -> tensor<3x4xf32>
    %shifted = "stablehlo.subtract"(%logits, %wide_max) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %exp = "stablehlo.exponential"(%shifted) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %sum = "stablehlo.reduce"(%exp, %zero) <{dimensions = array<i64: 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %log = "stablehlo.log"(%sum) : (tensor<3xf32>) -> tensor<3xf32>
    %wide_log = "stablehlo.broadcast_in_dim"(%log) <{broadcast_dimensions = array<i64: 0>}>
        : (tensor<3xf32>) -> tensor<3x4xf32>
    %log_softmax = "stablehlo.subtract"(%shifted, %wide_log) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %product = "stablehlo.multiply"(%labels, %log_softmax) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %total = "stablehlo.reduce"(%product, %zero) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %loss = "stablehlo.negate"(%total) : (tensor<f32>) -> tensor<f32>
    %softmax = "stablehlo.exponential"(%log_softmax) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %error = "stablehlo.subtract"(%softmax, %labels) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %gradient = "stablehlo.dot_general"(%x, %error) <{dot_dimension_numbers =
        #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
        : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %step = "stablehlo.multiply"(%rate, %gradient) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %new = "stablehlo.subtract"(%w, %step) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return %new, %loss : tensor<2x4xf32>, tensor<f32>
  }
})";

constexpr int kExamples = 3, kFeatures = 2, kClasses = 4;
const std::vector<float> kX = {1, 2, -1, 0.5, 0, -2};
const std::vector<float> kLabels = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// The same step in C++. Updates `w` and returns the loss.
float StepOnHost(std::vector<float>& w) {
  std::vector<float> gradient(w.size());
  float loss = 0;
  for (int n = 0; n < kExamples; ++n) {
    float logits[kClasses], sum = 0;
    for (int c = 0; c < kClasses; ++c) {
      logits[c] = 0;
      for (int f = 0; f < kFeatures; ++f) logits[c] += kX[n * kFeatures + f] * w[f * kClasses + c];
      sum += std::exp(logits[c]);
    }
    for (int c = 0; c < kClasses; ++c) {
      const float softmax = std::exp(logits[c]) / sum, label = kLabels[n * kClasses + c];
      loss -= label * std::log(softmax);
      for (int f = 0; f < kFeatures; ++f) gradient[f * kClasses + c] += kX[n * kFeatures + f] * (softmax - label);
    }
  }
  for (size_t i = 0; i < w.size(); ++i) w[i] -= 0.5f * gradient[i];
  return loss;
}

TEST_P(CpuPluginsTest, TrainsSoftmaxRegression) {
  const auto program = client_.Compile(
      kStep,
      {.name = "a step", .arguments = {{kFloat32, {2, 4}}, {kFloat32, {3, 2}}, {kFloat32, {3, 4}}}, .donated = {0}});
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<float> expected(kFeatures * kClasses);
  Tensor w = ToDevice(client_, Tensor::Of<float>({2, 4}, expected)).value();
  const Tensor x = ToDevice(client_, Tensor::Of<float>({3, 2}, kX)).value();
  const Tensor labels = ToDevice(client_, Tensor::Of<float>({3, 4}, kLabels)).value();
  const uintptr_t address = AddressOf(client_, *ArrayOf(w).value());
  for (int step = 0; step < 20; ++step) {
    const std::vector<const Tensor*> arguments = {&w, &x, &labels};
    auto results = (*program)->Run(arguments, {}, 0);
    ASSERT_TRUE(results.ok()) << results.status();
    w = DeviceTensor(std::move(results->outputs[0]), kFloat32, {2, 4});
    const float loss = StepOnHost(expected);
    EXPECT_NEAR(Floats(ToHost(*results->outputs[1], kFloat32, {}))[0], loss, 1e-4 * (1 + loss)) << step;
  }
  EXPECT_EQ(AddressOf(client_, *ArrayOf(w).value()), address);  // all steps have updated it in place
  EXPECT_THAT(Floats(ToHost(w)), testing::Pointwise(testing::FloatNear(1e-4), expected));
}

// Each array is ready when the whole program has ended; until then, programs and copies that use it wait.
TEST_P(CpuPluginsTest, ReturnsBeforeTheProgramHasEnded) {
  constexpr const char* kLong = R"(
module @long {
  func.func public @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %r:2 = "stablehlo.while"(%zero, %x) ({
      ^bb0(%i: tensor<i32>, %y: tensor<256x256xf32>):
        %n = "stablehlo.constant"() <{value = dense<30> : tensor<i32>}> : () -> tensor<i32>
        %p = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
      ^bb0(%i: tensor<i32>, %y: tensor<256x256xf32>):
        %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
        %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %z = "stablehlo.dot_general"(%y, %y) <{dot_dimension_numbers =
            #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
            : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
        %t = "stablehlo.tanh"(%z) : (tensor<256x256xf32>) -> tensor<256x256xf32>
        "stablehlo.return"(%j, %t) : (tensor<i32>, tensor<256x256xf32>) -> ()
    }) : (tensor<i32>, tensor<256x256xf32>) -> (tensor<i32>, tensor<256x256xf32>)
    return %r#1 : tensor<256x256xf32>
  }
})";
  const Shape shape = {256, 256};
  const auto program =
      client_.Compile(kLong, {.name = "a long program", .arguments = {{kFloat32, shape}}, .donated = {}});
  ASSERT_TRUE(program.ok()) << program.status();
  Tensor x(kFloat32, shape);
  for (float& v : x.inplace_data<float>()) v = 0.01f;
  std::vector<float> values;
  {
    const Tensor first = ToDevice(client_, x).value();
    const std::vector<const Tensor*> one = {&first};
    const auto results = (*program)->Run(one, {}, 0);
    ASSERT_TRUE(results.ok()) << results.status();
    const Tensor second = DeviceTensor(results->outputs[0], kFloat32, shape);
    const std::vector<const Tensor*> two = {&second};
    const auto chained = (*program)->Run(two, {}, 0);
    ASSERT_TRUE(chained.ok()) << chained.status();
    values = Floats(ToHost(*chained->outputs[0], kFloat32, shape));
  }
  ASSERT_EQ(values.size(), 256u * 256u);
  EXPECT_THAT(values, testing::Each(testing::FloatNear(values[0], 1e-6)));
}

// What becomes of donated arguments when a run fails (docs/design/0034). A run that is refused consumes nothing.
TEST_P(CpuPluginsTest, RefusesAnArgumentThatIsGivenTwice) {
  constexpr const char* kUpdates = R"(
module @updates {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                         %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.add"(%a, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.subtract"(%b, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
})";
  const ArrayType type = {kFloat32, {4}};
  const auto program =
      client_.Compile(kUpdates, {.name = "two updates", .arguments = {type, type, type}, .donated = {0, 1}});
  ASSERT_TRUE(program.ok()) << program.status();
  const Tensor a = ToDevice(client_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const Tensor b = ToDevice(client_, Tensor::Of<float>({4}, {5, 6, 7, 8})).value();
  for (const std::vector<const Tensor*>& arguments :
       std::vector<std::vector<const Tensor*>>{{&a, &b, &a}, {&b, &a, &a}, {&a, &a, &b}}) {
    const Status status = (*program)->Run(arguments, {}, 0).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr("two updates"));
    EXPECT_THAT(Floats(ToHost(a)), testing::ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(Floats(ToHost(b)), testing::ElementsAre(5, 6, 7, 8));
  }
}

// A run that finds no memory consumes all that is donated, or nothing: that depends on the plugin.
TEST_P(CpuPluginsTest, ARunWithoutMemoryMayConsumeDonatedArguments) {
  constexpr const char* kHuge = R"(
module @huge {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32},
                         %c: tensor<4xf32> {tf.aliasing_output = 3 : i32}, %d: tensor<f32>)
      -> (tensor<4xf32>, tensor<4xf32>, tensor<4000000000000xf32>, tensor<4xf32>) {
    %0 = "stablehlo.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.add"(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.broadcast_in_dim"(%d) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4000000000000xf32>
    %3 = "stablehlo.add"(%c, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4000000000000xf32>, tensor<4xf32>
  }
})";
  const ArrayType type = {kFloat32, {4}};
  const auto program = client_.Compile(
      kHuge, {.name = "a huge update", .arguments = {type, type, type, {kFloat32, {}}}, .donated = {0, 1, 2}});
  ASSERT_TRUE(program.ok()) << program.status();
  const Tensor a = ToDevice(client_, Tensor::Of<float>({4}, {1, 2, 3, 4})).value();
  const Tensor b = ToDevice(client_, Tensor::Of<float>({4}, {5, 6, 7, 8})).value();
  const Tensor c = ToDevice(client_, Tensor::Of<float>({4}, {9, 10, 11, 12})).value();
  const Tensor d = ToDevice(client_, Tensor::Scalar(1.0f)).value();
  const std::vector<const Tensor*> arguments = {&a, &b, &c, &d};
  const std::vector<int> kept = {1};
  const Status status = (*program)->Run(arguments, kept, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  const bool consumes = GetParam().find("lammps") != std::string::npos;
  EXPECT_EQ(ToHost(a).ok(), !consumes) << ToHost(a).status();
  EXPECT_EQ(ToHost(c).ok(), !consumes) << ToHost(c).status();
  if (!consumes) {
    EXPECT_THAT(Floats(ToHost(a)), testing::ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(Floats(ToHost(c)), testing::ElementsAre(9, 10, 11, 12));
  }
  EXPECT_THAT(Floats(ToHost(b)), testing::ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(Floats(ToHost(d)), testing::ElementsAre(1));
}

TEST_P(CpuPluginsTest, HasNoMemoryForTooMuch) {
  const auto program = client_.Compile(R"(
module @huge {
  func.func public @main(%x: tensor<f32>) -> tensor<4000000000000xf32> {
    %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64>}>
        : (tensor<f32>) -> tensor<4000000000000xf32>
    return %0 : tensor<4000000000000xf32>
  }
})",
                                       {.name = "a huge program", .arguments = {{kFloat32, {}}}, .donated = {}});
  Status status = program.status();
  if (program.ok()) {
    const Tensor x = ToDevice(client_, Tensor::Scalar(1.0f)).value();
    const std::vector<const Tensor*> arguments = {&x};
    auto results = (*program)->Run(arguments, {}, 0);
    status = results.ok() ? results->done.Await() : results.status();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace tensorbraid::pjrt
