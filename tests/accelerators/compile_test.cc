// Compiles training steps for cards that this machine does not have, with the plugin TENSORBRAID_TEST_COMPILER. Nothing
// runs. TENSORBRAID_TEST_CARD names another card than the H100.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/models.h"
#include "cli/compile_report.h"
#include "graph/model/handles.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/layers/layers.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"

namespace tensorbraid {
namespace {

class CompileTest : public testing::Test {
 protected:
  CompileTest() {
    const char* const card = std::getenv("TENSORBRAID_TEST_CARD");
    const auto plugin = pjrt::Plugin::Load(std::getenv("TENSORBRAID_TEST_COMPILER")).value();
    topology_ = pjrt::Topology::Create(*plugin, pjrt::DescribeCard(card == nullptr ? "h100" : card).value()).value();
  }

  // Compiles the step. Returns the number of its programs.
  int Compile(const std::string& what, const Graph& graph, const std::vector<Output>& inputs, const Operation& train) {
    CompileRequest request;
    request.graph.graph_def = graph.ToGraphDef().value();
    for (const Output& input : inputs) request.graph.feeds.push_back({.tensor = input.name(), .shape = input.shape()});
    request.graph.targets = {train.name()};
    const auto report = CompileStep(*topology_, request);
    if (!report.ok()) {
      ADD_FAILURE() << what << ": " << report.status();
      return -1;
    }
    std::printf("%s\n%s\n", what.c_str(), report->text.c_str());
    EXPECT_EQ(report->failed, 0) << what;
    EXPECT_EQ(report->on_host, 0) << what;
    return report->programs;
  }

  std::unique_ptr<pjrt::Topology> topology_;
};

TEST_F(CompileTest, StepsOfModels) {
  for (const char* name : {"softmax", "lenet"}) {
    BenchModel m;
    MakeModel(name, 0, m);
    const auto train = AddTraining(m);
    ASSERT_TRUE(train.ok()) << train.status();
    EXPECT_EQ(Compile(name, m.graph, m.inputs, *train), 1);
  }
}

TEST_F(CompileTest, AMultilayerPerceptronWithMomentum) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {64, 784}, "x"), labels = Placeholder(g, kFloat32, {64, 10}, "labels");
  Output y = x;
  for (const int64_t units : {256, 128}) {
    y = layers::Dense(y, {.units = units, .activation = layers::Activation::kRelu});
  }
  y = layers::Dense(y, {.units = 10});
  const Output loss = ReduceMean(nn::SoftmaxCrossEntropy(labels, y));
  const Operation train = MomentumOptimizer(0.1, 0.9).Minimize(loss);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(Compile("perceptron", g, {x, labels}, train), 1);
}

// With the variables of TensorFlow 1, which nodes use by reference.
TEST_F(CompileTest, ReferenceVariables) {
  Graph g;
  const auto variable = [&](const char* name, const Shape& shape) {
    return NodeBuilder(g, "VariableV2").Name(name).Attr("shape", shape).Attr("dtype", kFloat32).Finish().output(0);
  };
  const Output x = Placeholder(g, kFloat32, {100, 784}, "x"), labels = Placeholder(g, kFloat32, {100, 10}, "labels");
  const Output w = variable("w", {784, 10}), b = variable("b", {10});
  const Output loss = ReduceMean(nn::SoftmaxCrossEntropy(labels, nn::BiasAdd(MatMul(x, w), b)));
  const auto gradients = Gradients({loss}, {w, b});
  const Output rate = Const(g, Tensor::Scalar(0.5f));
  std::vector<Operation> updates;
  for (const auto& [v, gradient] : {std::pair(w, (*gradients)[0]), std::pair(b, (*gradients)[1])}) {
    updates.push_back(NodeBuilder(g, "ApplyGradientDescent").Input(v).Input(rate).Input(gradient).Finish());
  }
  const Operation train = Group(g, updates, "train");
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(Compile("softmax with references", g, {x, labels}, train), 1);
}

}  // namespace
}  // namespace tensorbraid
