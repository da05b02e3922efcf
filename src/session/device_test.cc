// Tests sessions that use a FakeDevice: the host cannot access its memory, and its kernels only enqueue work, which
// runs later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "graph/model/graph_impl.h"
#include "runtime/testing/fake_device.h"
#include "session/testing/loops.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

Tensor Numbers(const Shape& shape, float scale) {
  Tensor t(kFloat32, shape);
  auto values = t.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>((i * 37 + 11) % 19) - 0.5f;
  return t;
}

// A network with a hidden layer, its loss and its training step.
struct Perceptron {
  // `variables` and `compute` are devices.
  Perceptron(const std::string& variables, const std::string& compute) {
    {
      auto device = graph.Device(variables);
      w1 = Variable(graph, {4, 8}, Constant(Numbers({4, 8}, 0.06f)), {.name = "w1"});
      b1 = Variable(graph, {8}, Zeros(), {.name = "b1"});
      w2 = Variable(graph, {8, 3}, Constant(Numbers({8, 3}, 0.05f)), {.name = "w2"});
      b2 = Variable(graph, {3}, Zeros(), {.name = "b2"});
    }
    auto device = graph.Device(compute);
    x = Placeholder(graph, kFloat32, {-1, 4}, "x");
    labels = Placeholder(graph, kFloat32, {-1, 3}, "labels");
    const Output hidden = nn::Relu(nn::BiasAdd(MatMul(x, w1), b1));
    const Output logits = nn::BiasAdd(MatMul(hidden, w2), b2);
    loss = ReduceMean(nn::SoftmaxCrossEntropy(labels, logits));
    train = GradientDescentOptimizer(0.5).Minimize(loss);
    init = GlobalVariablesInitializer(graph);
  }

  // The losses of some steps, with batches of different sizes, and then the variables.
  StatusOr<std::vector<Tensor>> Train(const SessionOptions& options) {
    TF_RETURN_IF_ERROR(graph.status());
    TF_ASSIGN_OR_RETURN(const auto session, Session::Create(graph, options));
    TF_RETURN_IF_ERROR(session->Run({init}).status());
    std::vector<Tensor> results;
    for (int64_t batch : {6, 6, 2, 6}) {
      Tensor one_hot(kFloat32, {batch, 3});
      auto p = one_hot.mutable_data<float>();
      for (size_t i = 0; i < p.size(); ++i) p[i] = i % 3 == (i / 3) % 3 ? 1.0f : 0.0f;
      const std::vector<Fetch> fetches = {loss, train};
      TF_ASSIGN_OR_RETURN(auto values, session->Run(fetches, {{x, Numbers({batch, 4}, 0.1f)}, {labels, one_hot}}));
      results.push_back(values[0]);
    }
    TF_ASSIGN_OR_RETURN(auto values, session->Run({w1, b1, w2, b2}));
    results.insert(results.end(), values.begin(), values.end());
    return results;
  }

  Graph graph;
  Variable w1, b1, w2, b2;
  Output x, labels, loss;
  Operation train, init;
};

void ExpectEqual(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].buffer()->space(), MemorySpace::kHost) << i;
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    EXPECT_EQ(std::memcmp(a[i].raw_data(), b[i].raw_data(), a[i].num_bytes()), 0)
        << i << ": " << a[i].ToString() << " and " << b[i].ToString();
  }
}

TEST(DeviceSessionTest, TrainingOnTheDeviceGivesTheValuesOfTheCpu) {
  const auto on_cpu = Perceptron("/device:CPU:0", "/device:CPU:0").Train({});
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
  EXPECT_LT((*on_cpu)[3].scalar<float>(), (*on_cpu)[0].scalar<float>());
  const auto on_fake = Perceptron("/device:FAKE:0", "/device:FAKE:0").Train({.device_count = {{"FAKE", 1}}});
  ASSERT_TRUE(on_fake.ok()) << on_fake.status();
  ExpectEqual(*on_fake, *on_cpu);
}

TEST(DeviceSessionTest, VariablesMayBeOnOneDeviceAndComputationOnAnother) {
  const auto expected = Perceptron("/device:CPU:0", "/device:CPU:0").Train({});
  ASSERT_TRUE(expected.ok()) << expected.status();
  const SessionOptions options{.device_count = {{"FAKE", 2}}};
  for (const auto& [variables, compute] :
       std::vector<std::pair<std::string, std::string>>{{"/device:CPU:0", "/device:FAKE:0"},
                                                        {"/device:FAKE:0", "/device:CPU:0"},
                                                        {"/device:FAKE:1", "/device:FAKE:0"}}) {
    const auto values = Perceptron(variables, compute).Train(options);
    ASSERT_TRUE(values.ok()) << variables << " and " << compute << ": " << values.status();
    ExpectEqual(*values, *expected);
  }
}

TEST(DeviceSessionTest, TensorsBetweenDevicesOfDifferentTasksPassThroughTheHosts) {
  const auto expected = Perceptron("/device:CPU:0", "/device:CPU:0").Train({});
  ASSERT_TRUE(expected.ok()) << expected.status();
  TaskOptions task;
  task.device_count = {{"FAKE", 1}};
  TestCluster cluster(1, 1, task);
  const auto values =
      Perceptron("/job:ps/device:FAKE:0", "/job:worker/device:FAKE:0").Train({.target = cluster.target("worker", 0)});
  ASSERT_TRUE(values.ok()) << values.status();
  ExpectEqual(*values, *expected);
}

TEST(DeviceSessionTest, AnOpWithoutAKernelForTheDeviceIsAnErrorUnlessSoftPlacementMovesIt) {
  Graph g;
  auto device = g.Device("/device:FAKE:0");
  const Output x = Operand(2.0f).ToOutput(g);
  const Output y = -Log(x * x);
  const auto refused = Session::Create(g, {.device_count = {{"FAKE", 1}}}).value()->Run({y});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("no kernel fits Log"));
  const auto soft = Session::Create(g, {.device_count = {{"FAKE", 1}}, .allow_soft_placement = true}).value()->Run({y});
  ASSERT_TRUE(soft.ok()) << soft.status();
  EXPECT_FLOAT_EQ((*soft)[0].scalar<float>(), -std::log(4.0f));
}

TEST(DeviceSessionTest, ABranchOfAConditionalMayBeOnTheDevice) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2}, "x");
  const Output pred = Placeholder(g, kBool, {}, "pred");
  const Operation choice = NodeBuilder(g, "Switch").Input(x).Input(pred).Finish();
  Output taken;
  {
    auto device = g.Device("/device:FAKE:0");
    taken = -choice.output(1);
  }
  const Operation merge = NodeBuilder(g, "Merge").InputList({choice.output(0), taken}).Finish();
  auto session = Session::Create(g, {.device_count = {{"FAKE", 1}}}).value();
  for (const bool take : {true, false}) {
    const auto value =
        session->Run({merge.output(0)}, {{x, Tensor::Vector<float>({1, 2})}, {pred, Tensor::Scalar(take)}});
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ((*value)[0].ToString(), take ? "float32[2] [-1 -2]" : "float32[2] [1 2]");
  }
}

TEST(DeviceSessionTest, ALoopMayChangeTheDeviceFromOneIterationToTheNext) {
  // Doubles x and then negates it, five times. The loop is on one device, its NextIterations and its body on others.
  struct Case {
    const char *loop, *next, *body;
  };
  for (const Case& c : {Case{"/device:FAKE:0", "/device:CPU:0", "/device:CPU:0"},
                        Case{"/device:CPU:0", "/device:FAKE:0", "/device:FAKE:0"},
                        Case{"/device:FAKE:0", "/device:FAKE:1", "/device:FAKE:1"},
                        Case{"/device:FAKE:0", "/device:CPU:0", "/device:FAKE:1"}}) {
    Graph g;
    const Output x = Placeholder(g, kFloat32, {2}, "x");
    const Output limit = EnterConstant(Operand(5.0f).ToOutput(g), "loop");
    const LoopVars results = While(
        g, "loop", {Operand(0.0f).ToOutput(g), x},
        [&](const LoopVars& v) {
          auto device = g.Device("/device:CPU:0");
          return Less(v[0], limit);
        },
        [&](const LoopVars& v) {
          auto device = g.Device(c.body);
          return LoopVars{v[0] + 1.0f, -(v[1] + v[1])};
        },
        /*parallel=*/10, c.loop);
    int moved = 0;
    for (const auto& node : ImplOf(g).nodes()) {
      if (node->type() != "NextIteration") continue;
      node->set_device(c.next);
      ++moved;
    }
    ASSERT_EQ(moved, 2);
    auto session = Session::Create(g, {.device_count = {{"FAKE", 2}}}).value();
    for (int step = 0; step < 2; ++step) {
      const auto value = session->Run({results[1], results[0]}, {{x, Tensor::Vector<float>({1, -2})}});
      ASSERT_TRUE(value.ok()) << c.loop << ", " << c.next << ", " << c.body << ": " << value.status();
      // x times (-2)^5.
      EXPECT_EQ((*value)[0].ToString(), "float32[2] [-32 64]") << c.loop << ", " << c.next << ", " << c.body;
      EXPECT_EQ((*value)[1].scalar<float>(), 5);
    }
  }
}

TEST(DeviceSessionTest, ASessionListsTheDevicesOfAllTypes) {
  Graph g;
  const auto session = Session::Create(g, {.device_count = {{"FAKE", 2}}}).value();
  EXPECT_THAT(session->ListDevices(), ::testing::ElementsAre(HasSubstr("/device:CPU:0"), HasSubstr("/device:FAKE:0"),
                                                             HasSubstr("/device:FAKE:1")));
}

}  // namespace
}  // namespace tensorbraid
