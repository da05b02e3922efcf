// Tests sessions that use XLA_CPU devices: those of a plugin that computes on the CPU, with memory of its own. The
// environment variable TENSORBRAID_ACCELERATOR_PLUGIN names the plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/nn.h"
#include "tensorbraid/optimizers/optimizer.h"
#include "tensorbraid/optimizers/rules.h"
#include "tensorbraid/session/session.h"
#include "two_devices.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Tensor Numbers(const Shape& shape, float scale) {
  Tensor t(kFloat32, shape);
  auto values = t.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>((i * 37 + 11) % 19) - 0.5f;
  return t;
}

Tensor OneHot(int64_t rows) {
  Tensor t(kFloat32, {rows, 3});
  auto p = t.mutable_data<float>();
  for (size_t i = 0; i < p.size(); ++i) p[i] = i % 3 == (i / 3) % 3 ? 1.0f : 0.0f;
  return t;
}

// Softmax regression with variables of TensorFlow 1, which nodes use by reference, or with resource variables.
struct Regression {
  Regression(const std::string& variables, const std::string& compute, bool references) {
    {
      auto device = graph.Device(variables);
      if (references) {
        w = Reference("w", Numbers({4, 3}, 0.06f));
        b = Reference("b", Tensor::Vector<float>({0, 0, 0}));
      } else {
        rw = Variable(graph, {4, 3}, Constant(Numbers({4, 3}, 0.06f)), {.name = "w"});
        rb = Variable(graph, {3}, Zeros(), {.name = "b"});
      }
    }
    auto device = graph.Device(compute);
    x = Placeholder(graph, kFloat32, {-1, 4}, "x");
    labels = Placeholder(graph, kFloat32, {-1, 3}, "labels");
    if (references) {
      loss = ReduceMean(nn::SoftmaxCrossEntropy(labels, nn::BiasAdd(MatMul(x, w), b)));
      const auto gradients = Gradients({loss}, {w, b});
      const Output rate = Const(graph, Tensor::Scalar(0.5f));
      for (size_t i = 0; i < 2; ++i) {
        train.push_back(NodeBuilder(graph, "ApplyGradientDescent")
                            .Input(i == 0 ? w : b)
                            .Input(rate)
                            .Input((*gradients)[i])
                            .Finish());
      }
    } else {
      loss = ReduceMean(nn::SoftmaxCrossEntropy(labels, nn::BiasAdd(MatMul(x, rw), rb)));
      train.push_back(GradientDescentOptimizer(0.5).Minimize(loss));
      init.push_back(GlobalVariablesInitializer(graph));
      w = rw.Read();
      b = rb.Read();
    }
  }

  Output Reference(const std::string& name, const Tensor& initial) {
    const Output v = NodeBuilder(graph, "VariableV2")
                         .Name(name)
                         .Attr("shape", initial.shape())
                         .Attr("dtype", kFloat32)
                         .Finish()
                         .output(0);
    init.push_back(NodeBuilder(graph, "Assign").Input(v).Input(Const(graph, initial)).Finish());
    return v;
  }

  static std::vector<Fetch> Targets(const std::vector<Operation>& operations) {
    return {operations.begin(), operations.end()};
  }

  // The losses of some steps, with batches of different sizes, and then the variables.
  StatusOr<std::vector<Tensor>> Train(const SessionOptions& options) {
    TF_RETURN_IF_ERROR(graph.status());
    TF_ASSIGN_OR_RETURN(const auto session, Session::Create(graph, options));
    TF_RETURN_IF_ERROR(session->Run(Targets(init)).status());
    std::vector<Tensor> results;
    for (int64_t batch : {6, 6, 2, 6}) {
      std::vector<Fetch> fetches = Targets(train);
      fetches.insert(fetches.begin(), loss);
      TF_ASSIGN_OR_RETURN(auto values,
                          session->Run(fetches, {{x, Numbers({batch, 4}, 0.1f)}, {labels, OneHot(batch)}}));
      results.push_back(values[0]);
    }
    TF_ASSIGN_OR_RETURN(auto values, session->Run({w, b}));
    results.insert(results.end(), values.begin(), values.end());
    return results;
  }

  Graph graph;
  Variable rw, rb;
  Output w, b, x, labels, loss;
  std::vector<Operation> train, init;
};

void ExpectNear(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].buffer()->space(), MemorySpace::kHost) << i;
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    for (int64_t k = 0; k < a[i].num_elements(); ++k) {
      ASSERT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-6) << "tensor " << i << ", element " << k;
    }
  }
}

TEST(AcceleratorTest, TrainingGivesTheValuesOfTheCpu) {
  for (const bool references : {false, true}) {
    const auto expected = Regression("/device:CPU:0", "/device:CPU:0", references).Train({});
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_LT((*expected)[3].scalar<float>(), (*expected)[0].scalar<float>());
    for (const auto& [variables, compute] :
         std::vector<std::pair<std::string, std::string>>{{"/device:XLA_CPU:0", "/device:XLA_CPU:0"},
                                                          {"/device:CPU:0", "/device:XLA_CPU:0"},
                                                          {"/device:XLA_CPU:1", "/device:XLA_CPU:0"}}) {
      const auto values = Regression(variables, compute, references).Train(kTwoDevices);
      ASSERT_TRUE(values.ok()) << variables << " and " << compute << ": " << values.status();
      ExpectNear(*values, *expected);
    }
  }
}

TEST(AcceleratorTest, SavesAndRestoresVariables) {
  for (const bool references : {false, true}) {
    Regression r("/device:XLA_CPU:0", "/device:XLA_CPU:0", references);
    const auto device = r.graph.Device("/device:XLA_CPU:0");
    const auto strings = [&](const std::vector<std::string>& values) { return Const(r.graph, Tensor::Vector(values)); };
    const Output path = Const(r.graph, Tensor::Scalar<std::string>(StrCat(testing::TempDir(), "/saved_", references)));
    const Output names = strings({"w", "b"}), slices = strings({"", ""});
    const std::vector<DType> dtypes = {kFloat32, kFloat32};
    const Operation save = NodeBuilder(r.graph, "SaveV2")
                               .Input(path)
                               .Input(names)
                               .Input(slices)
                               .InputList({r.w, r.b})
                               .Attr("dtypes", dtypes)
                               .Finish();
    const Operation restore =
        NodeBuilder(r.graph, "RestoreV2").Input(path).Input(names).Input(slices).Attr("dtypes", dtypes).Finish();
    const Output doubled = restore.output(0) * 2.0f;
    ASSERT_TRUE(r.graph.status().ok()) << r.graph.status();
    const auto session = Session::Create(r.graph, kTwoDevices).value();
    ASSERT_TRUE(session->Run(Regression::Targets(r.init)).ok());
    const Status saved = session->Run({save}).status();
    ASSERT_TRUE(saved.ok()) << saved;
    const auto values = session->Run({doubled, restore.output(1)});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].data<float>()[5], 2 * Numbers({4, 3}, 0.06f).data<float>()[5]);
    EXPECT_EQ((*values)[1].shape(), Shape({3}));
  }
}

TEST(AcceleratorTest, AParameterServerOnTheHostServesAWorkerWithADevice) {
  const auto expected = Regression("/device:CPU:0", "/device:CPU:0", false).Train({});
  ASSERT_TRUE(expected.ok()) << expected.status();
  TaskOptions task;
  task.device_count = {{"XLA_CPU", 1}};
  for (const char* variables : {"/job:ps/device:CPU:0", "/job:ps/device:XLA_CPU:0"}) {
    for (const bool references : {false, true}) {
      TestCluster cluster(1, 1, task);
      const auto values = Regression(variables, "/job:worker/device:XLA_CPU:0", references)
                              .Train({.target = cluster.target("worker", 0)});
      ASSERT_TRUE(values.ok()) << variables << ": " << values.status();
      ExpectNear(*values, *expected);
    }
  }
}

// A value that a step has fetched or another step still reads does not change when the variable is updated.
TEST(AcceleratorTest, AnUpdateLeavesSnapshotsAlone) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  Variable v(g, {2}, Constant(Tensor::Vector<float>({1, 2})), {.name = "v"});
  const Output before = Identity(v.Read());
  const Output twice = before * Const(g, Tensor::Scalar(2.0f));
  Operation update;
  {
    auto after = g.ControlDependencies({before.op()});
    update = v.AssignAdd(Const(g, Tensor::Vector<float>({10, 10})));
  }
  const Operation init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const auto session = Session::Create(g, kTwoDevices).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const auto first = session->Run({before, twice, update});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)[0].data<float>()[1], 2);
  EXPECT_EQ((*first)[1].data<float>()[1], 4);
  const auto second = session->Run({v});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)[0].data<float>()[1], 12);
  EXPECT_EQ((*first)[0].data<float>()[1], 2);
}

TEST(AcceleratorTest, StepsOfSeveralThreadsUpdateOneVariable) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  Variable v(g, {3}, Zeros(), {.name = "v"});
  const Operation update = v.AssignAdd(Const(g, Tensor::Vector<float>({1, 2, 3})));
  const Operation init = GlobalVariablesInitializer(g);
  const auto session = Session::Create(g, kTwoDevices).value();
  ASSERT_TRUE(session->Run({init}).ok());
  constexpr int kThreads = 4, kSteps = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kSteps; ++k) EXPECT_TRUE(session->Run({update}).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  const auto values = session->Run({v});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<float>()[2], 3 * kThreads * kSteps);
}

TEST(AcceleratorTest, AVariableWithoutAValueIsNamed) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  Variable v(g, {2}, Zeros(), {.name = "weights"});
  const Output y = v * Const(g, Tensor::Scalar(2.0f));
  const auto session = Session::Create(g, kTwoDevices).value();
  const auto values = session->Run({y});
  EXPECT_EQ(values.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(values.status().message()), HasSubstr("weights"));
}

// A step that finds no memory for one of its results updates a variable. Whether its value is lost depends on the
// plugin, and each use says so.
TEST(AcceleratorTest, AnUpdateWithoutMemoryIsDoneNotAtAllOrTheVariableIsLost) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  Variable v(g, {2}, Constant(Tensor::Vector<float>({1, 2})), {.name = "weights"});
  const Output x = Placeholder(g, kFloat32, {}, "x");
  const Operation update = v.AssignAdd(Const(g, Tensor::Vector<float>({10, 10})));
  const Output huge = NodeBuilder(g, "BroadcastTo")
                          .Input(x)
                          .Input(Const(g, Tensor::Vector<int64_t>({4'000'000'000'000})))
                          .Finish()
                          .output(0);
  const Operation init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const auto session = Session::Create(g, kTwoDevices).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const Status failed = session->Run({huge, update}, {{x, Tensor::Scalar(1.0f)}}).status();
  EXPECT_THAT(std::string(failed.message()), HasSubstr("Out of memory"));
  const auto value = session->Run({v});
  if (absl::IsAborted(failed)) {
    EXPECT_THAT(std::string(failed.message()), HasSubstr("the variable 'weights'"));
    EXPECT_TRUE(absl::IsAborted(value.status())) << value.status();
    ASSERT_TRUE(session->Run({init}).ok());
  } else {
    EXPECT_TRUE(absl::IsResourceExhausted(failed)) << failed;
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ((*value)[0].data<float>()[1], 2);
  }
  ASSERT_TRUE(session->Run({update}).ok());
  const auto updated = session->Run({v});
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ((*updated)[0].data<float>()[1], 12);
}

TEST(AcceleratorTest, ShapesThatDoNotMatchAreAnErrorOfTheNode) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  const Output x = Placeholder(g, kFloat32, {-1, -1}, "x"), y = Placeholder(g, kFloat32, {-1, -1}, "y");
  const Output product = MatMul(x, y, {.name = "product"});
  const auto session = Session::Create(g, kTwoDevices).value();
  const auto values = session->Run({product}, {{x, Numbers({2, 3}, 1)}, {y, Numbers({2, 3}, 1)}});
  EXPECT_EQ(values.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(values.status().message()), HasSubstr("'product'"));
  EXPECT_TRUE(session->Run({product}, {{x, Numbers({2, 3}, 1)}, {y, Numbers({3, 2}, 1)}}).ok());
}

// A step whose program fails returns the error of the CPU, and nothing behind the error happens, on other devices
// neither.
TEST(AcceleratorTest, ErrorsOfElementsAreThoseOfTheCpu) {
  for (const char* device : {"/device:CPU:0", "/device:XLA_CPU:0"}) {
    SCOPED_TRACE(device);
    Graph g;
    Variable on_host(g, {2}, Zeros(), {.name = "on_host"});
    auto scope = g.Device(device);
    Variable v(g, {3}, Zeros(), {.name = "v"});
    Variable late(g, {2}, Zeros(), {.name = "late"});
    const Output indices = Placeholder(g, kInt32, {2}, "indices"), divisor = Placeholder(g, kInt32, {}, "divisor");
    const Output rows = NodeBuilder(g, "GatherV2")
                            .Name("rows")
                            .Input(v.value())
                            .Input(indices)
                            .Input(Const(g, Tensor::Scalar(0)))
                            .Finish()
                            .output(0);
    const Output quotient =
        NodeBuilder(g, "FloorDiv").Name("quotient").Input(indices).Input(divisor).Finish().output(0);
    Operation add, add_on_host, assign_late;
    {
      auto after = g.ControlDependencies({rows.op(), quotient.op()});
      add = v.AssignAdd(Const(g, Tensor::Vector<float>({1, 2, 3})));
      assign_late = late.Assign(rows + 5.0f);
      auto cpu = g.Device("/device:CPU:0");
      add_on_host = on_host.AssignAdd(rows + 1.0f);
    }
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, kTwoDevices).value();
    ASSERT_TRUE(session->Run({v.initializer(), on_host.initializer()}).ok());
    const auto step = [&](std::vector<int32_t> at, int32_t by) {
      return session->Run({rows, add, add_on_host, assign_late},
                          {{indices, Tensor::Vector<int32_t>(at)}, {divisor, Tensor::Scalar(by)}});
    };
    for (const bool bad_index : {true, false}) {
      const auto failed = bad_index ? step({1, 7}, 1) : step({1, 2}, 0);
      EXPECT_EQ(failed.status().code(), absl::StatusCode::kInvalidArgument) << failed.status();
      const std::string message(failed.status().message());
      EXPECT_THAT(message, HasSubstr(bad_index ? "GatherV2 'rows'" : "FloorDiv 'quotient'"));
      EXPECT_THAT(message, HasSubstr(bad_index ? "indices[1] = 7 is not in [0, 3)" : "Integer division by zero"));
      EXPECT_THAT(message, Not(HasSubstr("_Cluster")));
      const auto values = session->Run({v, on_host});
      ASSERT_TRUE(values.ok()) << values.status();
      EXPECT_EQ((*values)[0].data<float>()[2], 0);
      EXPECT_EQ((*values)[1].data<float>()[1], 0);
    }
    EXPECT_EQ(session->Run({late}).status().code(), absl::StatusCode::kFailedPrecondition);
    const auto good = step({1, 2}, 1);
    ASSERT_TRUE(good.ok()) << good.status();
    const auto values = session->Run({v, on_host, late});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].data<float>()[2], 3);
    EXPECT_EQ((*values)[1].data<float>()[1], 1);
    EXPECT_EQ((*values)[2].data<float>()[0], 5);
  }
}

TEST(AcceleratorTest, AnAssertionShowsWhatItShowsOnTheCpu) {
  std::vector<std::string> messages;
  for (const char* device : {"/device:CPU:0", "/device:XLA_CPU:0"}) {
    Graph g;
    auto scope = g.Device(device);
    const Output x = Placeholder(g, kFloat32, {2, 3}, "x");
    std::vector<Output> data = {Const(g, Tensor::Scalar(std::string("too large:"))), x};
    for (const DType dtype : {kFloat16, kBfloat16, kFloat64, kInt8, kInt64, kBool}) data.push_back(Cast(x, dtype));
    const Operation assertion = NodeBuilder(g, "Assert")
                                    .Name("small")
                                    .Input(Less(ReduceMax(x), 10.0f))
                                    .InputList(data)
                                    .Attr("summarize", 4)
                                    .Finish();
    Output y;
    {
      auto after = g.ControlDependencies({assertion});
      y = x + 1.0f;
    }
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, kTwoDevices).value();
    const auto run = [&](float first) {
      return session->Run({y}, {{x, Tensor::Of<float>({2, 3}, {first, -1.5f, 0, 3, 4, 5})}}).status();
    };
    EXPECT_TRUE(run(9.25f).ok());
    const Status failed = run(10.5f);
    EXPECT_EQ(failed.code(), absl::StatusCode::kInvalidArgument) << failed;
    EXPECT_THAT(std::string(failed.message()), HasSubstr("assertion failed: [too large:] [[10.5 -1.5 0]"));
    messages.emplace_back(failed.message());
  }
  EXPECT_EQ(messages[0], messages[1]);
}

TEST(AcceleratorTest, AnOpWithoutAnEmitterRunsOnTheHost) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  const Output x = Placeholder(g, kFloat32, {4}, "x");
  const Output y = Neg(NodeBuilder(g, "Unique").Input(Neg(x)).Finish().output(0));
  const auto values = Session::Create(g, kTwoDevices).value()->Run({y}, {{x, Tensor::Vector<float>({1, 1, 2, 1})}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].shape(), Shape({2}));
  EXPECT_EQ((*values)[0].data<float>()[1], 2);
}

// A recurrent network, whose steps are those of a loop: the losses of three steps of training, then the outputs of the
// last one. `x` has the sequences, [time, batch, 4].
StatusOr<std::vector<Tensor>> TrainRecurrent(const std::string& device_name) {
  Graph g;
  auto device = g.Device(device_name);
  const Output x = Placeholder(g, kFloat32, {-1, -1, 4}, "x");
  const Variable w(g, {4, 3}, Constant(Numbers({4, 3}, 0.06f)), {.name = "w"});
  const Variable u(g, {3, 3}, Constant(Numbers({3, 3}, 0.05f)), {.name = "u"});
  const Output first = ZerosLike(MatMul(Gather(x, 0), w));
  const std::vector<Output> states =
      Scan([&](const std::vector<Output>& v) { return std::vector<Output>{Tanh(MatMul(v[1], w) + MatMul(v[0], u))}; },
           {x}, {first});
  const Output loss = ReduceMean(Square(states[0] - 0.25f));
  const Operation train = GradientDescentOptimizer(0.5).Minimize(loss);
  const Operation init = GlobalVariablesInitializer(g);
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, kTwoDevices));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  std::vector<Tensor> results;
  for (int64_t time : {5, 5, 3}) {
    TF_ASSIGN_OR_RETURN(auto values, session->Run({loss, states[0], train}, {{x, Numbers({time, 2, 4}, 0.1f)}}));
    results.insert(results.end(), values.begin(), values.begin() + 2);
  }
  return results;
}

TEST(AcceleratorTest, ALoopTrainsAsOnTheCpu) {
  const auto on_cpu = TrainRecurrent("/device:CPU:0"), on_device = TrainRecurrent("/device:XLA_CPU:0");
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  ASSERT_EQ(on_cpu->size(), on_device->size());
  for (size_t i = 0; i < on_cpu->size(); ++i) {
    ASSERT_EQ((*on_cpu)[i].shape(), (*on_device)[i].shape());
    for (int64_t k = 0; k < (*on_cpu)[i].num_elements(); ++k) {
      EXPECT_NEAR((*on_cpu)[i].data<float>()[k], (*on_device)[i].data<float>()[k], 1e-5) << "result " << i;
    }
  }
}

Output Slice(const char* op, const std::vector<Output>& inputs, int64_t begin_mask, int64_t shrink_mask) {
  NodeBuilder builder(*inputs[0].graph(), op);
  for (const Output& in : inputs) builder.Input(in);
  if (std::string_view(op) == "Slice") return builder.Output();
  return builder.Attr("begin_mask", begin_mask)
      .Attr("end_mask", begin_mask)
      .Attr("shrink_axis_mask", shrink_mask)
      .Output();
}

// Loops that slice: the sum of the slices' squares, and its gradients. `end` is where the loop ends. `x` has the shape
// [time, batch, 4], `y` [batch, time, 4].
StatusOr<std::vector<Tensor>> SumOfSlices(const std::string& device_name, int32_t end) {
  Graph g;
  auto device = g.Device(device_name);
  const Output x = Placeholder(g, kFloat32, {-1, -1, 4}, "x"), y = Placeholder(g, kFloat32, {-1, -1, 4}, "y");
  const Output zero = Const(g, Tensor::Scalar(0)), n = Placeholder(g, kInt32, {}, "n");
  const auto vector = [](const std::vector<Output>& v) { return Stack({v.begin(), v.end()}); };
  const auto constant = [&](const std::vector<int32_t>& v) { return Const(g, Tensor::Vector<int32_t>(v)); };
  const std::vector<Output> results = While(
      {zero, Const(g, Tensor::Scalar(0.0f))}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        const Output t = v[0], next = t + 1;
        const Output row = Slice("StridedSlice", {x, vector({t}), vector({next}), constant({1})}, 0, 1);
        const Output last = Slice("StridedSlice", {x, vector({-1 - t}), vector({-t}), constant({1})}, 0, 1);
        const Output column =
            Slice("StridedSlice", {y, vector({zero, t, zero}), vector({zero, next, zero}), constant({1, 1, 2})}, 5, 2);
        const Output part = Slice("Slice", {y, vector({zero, t, zero}), constant({-1, 1, 3})}, 0, 0);
        return std::vector<Output>{
            next, v[1] * 0.5f + ReduceSum(row * last) + ReduceSum(Square(column)) + ReduceSum(Square(part))};
      });
  TF_ASSIGN_OR_RETURN(const auto slopes, Gradients({results[1]}, {x, y}));
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, kTwoDevices));
  return session->Run({results[1], slopes[0], slopes[1]},
                      {{x, Numbers({5, 2, 4}, 0.1f)}, {y, Numbers({2, 5, 4}, 0.07f)}, {n, Tensor::Scalar(end)}});
}

TEST(AcceleratorTest, SlicesThatMoveGiveTheValuesOfTheCpu) {
  const auto on_cpu = SumOfSlices("/device:CPU:0", 5), on_device = SumOfSlices("/device:XLA_CPU:0", 5);
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  for (size_t i = 0; i < on_cpu->size(); ++i) {
    ASSERT_EQ((*on_cpu)[i].shape(), (*on_device)[i].shape());
    for (int64_t k = 0; k < (*on_cpu)[i].num_elements(); ++k) {
      EXPECT_NEAR((*on_cpu)[i].data<float>()[k], (*on_device)[i].data<float>()[k], 1e-4) << "result " << i;
    }
  }
  const Status cpu_error = SumOfSlices("/device:CPU:0", 6).status();
  const Status error = SumOfSlices("/device:XLA_CPU:0", 6).status();
  EXPECT_EQ(error.code(), cpu_error.code());
  EXPECT_THAT(cpu_error.message(), HasSubstr("out of range"));
  EXPECT_THAT(error.message(), HasSubstr("out of range"));
}

// Loops in branches, branches in loops, and loops in loops, some of whose values the host computes.
TEST(AcceleratorTest, NestedControlFlowGivesTheValuesOfTheCpu) {
  std::vector<std::vector<float>> results;
  for (const char* name : {"/device:CPU:0", "/device:XLA_CPU:0"}) {
    Graph g;
    auto device = g.Device(name);
    const Output x = Placeholder(g, kFloat32, {2, 2}, "x"), n = Placeholder(g, kInt32, {}, "n");
    const auto powers = [&](const Output& start) {
      return While(
          {Const(g, Tensor::Scalar(0)), start}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
          [&](const std::vector<Output>& v) {
            const Output odd = Equal(FloorMod(v[0], 2), 1);
            const Output next = Cond(
                odd, [&] { return MatMul(v[1], x) + Cast(v[0], kFloat32); }, [&] { return v[1] * 0.5f; });
            return std::vector<Output>{v[0] + 1, next};
          })[1];
    };
    const Output twice = While(
        {Const(g, Tensor::Scalar(0)), x}, [&](const std::vector<Output>& v) { return Less(v[0], 2); },
        [&](const std::vector<Output>& v) {
          return std::vector<Output>{v[0] + 1, powers(v[1])};
        })[1];
    const Output large = Greater(ReduceSum(twice), 3.0f);
    const Output y = Cond(
        large, [&] { return powers(twice - 1.0f); },
        [&] {
          return Output(Const(g, Tensor::Of<float>({2, 2}, {0, 0, 0, 0})));
        });
    const Output until = While(
        {x}, [&](const std::vector<Output>& v) { return Less(ReduceSum(v[0]), 100.0f); },
        [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 1.5f}; })[0];
    const Output slope = Gradients({ReduceSum(y)}, {x}).value()[0];
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, kTwoDevices).value();
    std::vector<float> numbers;
    for (const int count : {0, 1, 4, 5}) {
      const auto values = session->Run({y, until, slope, large},
                                       {{x, Tensor::Of<float>({2, 2}, {1, 2, -1, 1.5f})}, {n, Tensor::Scalar(count)}});
      ASSERT_TRUE(values.ok()) << name << ": " << values.status();
      for (int i : {0, 1, 2}) {
        numbers.insert(numbers.end(), (*values)[i].data<float>().begin(), (*values)[i].data<float>().end());
      }
    }
    results.push_back(std::move(numbers));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_NEAR(results[0][i], results[1][i], 1e-4 * std::max(1.0f, std::abs(results[0][i]))) << i;
  }
}

// After eight values of the shape and of the place, the random op runs on the host, and the slice takes the place as an
// argument. The random op goes on with its stream.
StatusOr<std::vector<Tensor>> StepsWithChangingOperands(const std::string& device_name) {
  Graph g;
  const Output shape = Placeholder(g, kInt32, {1}, "shape"), place = Placeholder(g, kInt32, {2}, "place");
  auto device = g.Device(device_name);
  const Output x = Placeholder(g, kFloat32, {4, 30}, "x");
  const Output random = NodeBuilder(g, "RandomUniform")
                            .Name("random")
                            .Input(shape)
                            .Attr("dtype", kFloat32)
                            .Attr("seed", int64_t{7})
                            .Attr("seed2", int64_t{9})
                            .Output();
  const Output size = Const(g, Tensor::Vector<int32_t>({2, 3}));
  const Output slice = NodeBuilder(g, "Slice").Name("slice").Input(x * x).Input(place).Input(size).Output();
  const Output numbers = ReduceSum(random) + 0.0f, part = slice * 2.0f;
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g, kTwoDevices));
  std::vector<Tensor> all;
  for (int32_t n = 1; n <= 24; ++n) {
    TF_ASSIGN_OR_RETURN(auto values, session->Run({random, part, numbers}, {{x, Numbers({4, 30}, 0.1f)},
                                                                            {shape, Tensor::Vector<int32_t>({n})},
                                                                            {place, Tensor::Vector<int32_t>({1, n})}}));
    all.insert(all.end(), values.begin(), values.begin() + 2);
  }
  return all;
}

TEST(AcceleratorTest, OperandsThatChangeGiveTheValuesOfTheCpu) {
  const auto on_cpu = StepsWithChangingOperands("/device:CPU:0");
  const auto on_device = StepsWithChangingOperands("/device:XLA_CPU:0");
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  for (size_t i = 0; i < on_cpu->size(); ++i) {
    ASSERT_EQ((*on_cpu)[i].shape(), (*on_device)[i].shape());
    EXPECT_EQ(std::memcmp((*on_cpu)[i].raw_data(), (*on_device)[i].raw_data(), (*on_cpu)[i].num_bytes()), 0) << i;
  }
}

// The parent runs this test in processes of its own.
TEST(AcceleratorTest, TrainsInAProcessOfItsOwn) {
  const auto values = Regression("/device:XLA_CPU:0", "/device:XLA_CPU:0", false).Train(kTwoDevices);
  ASSERT_TRUE(values.ok()) << values.status();
}

// What this program prints when it runs that test with a directory of compiled programs. Its steps wait for all
// programs, so that all are in the directory when it ends.
std::string LogOfAnotherProcess(const std::string& directory) {
  char self[PATH_MAX] = {};
  EXPECT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const std::string command = StrCat("TENSORBRAID_COMPILE_CACHE='", directory, "' ", kHostSubstituteVariable,
                                     "=never '", self, "' --gtest_filter=*TrainsInAProcessOfItsOwn 2>&1");
  FILE* const pipe = popen(command.c_str(), "r");
  std::string log;
  char block[4096];
  for (size_t n = 0; (n = fread(block, 1, sizeof(block), pipe)) > 0;) log.append(block, n);
  EXPECT_EQ(pclose(pipe), 0) << log;
  return log;
}

TEST(AcceleratorTest, ALaterProcessCompilesNothing) {
  const TempDir parent;
  const std::string directory = parent.path() + "/programs";
  const std::string first = LogOfAnotherProcess(directory);
  EXPECT_THAT(first, HasSubstr("compiled a program"));
  EXPECT_THAT(first, Not(HasSubstr("loaded a program")));
  const std::string second = LogOfAnotherProcess(directory);
  EXPECT_THAT(second, HasSubstr("loaded a program"));
  EXPECT_THAT(second, Not(HasSubstr("compiling a program")));
}

// A program of a damaged file is compiled again.
TEST(AcceleratorTest, ADamagedFileOfAProgramDoesNoHarm) {
  const TempDir parent;
  const std::string directory = parent.path() + "/programs";
  LogOfAnotherProcess(directory);
  const std::vector<std::string> paths = MatchingPaths(directory + "/*").value();
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    std::string bytes = ReadFile(path).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(WriteFile(path, bytes).ok());
  }
  const std::string log = LogOfAnotherProcess(directory);
  EXPECT_THAT(log, HasSubstr("is damaged"));
  EXPECT_THAT(log, HasSubstr("compiled a program"));
  EXPECT_THAT(LogOfAnotherProcess(directory), Not(HasSubstr("compiling a program")));
}

}  // namespace
}  // namespace tensorbraid
