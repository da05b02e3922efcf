// Tests of how often tensors are copied between the host and an accelerator. The fake plugin counts
// (src/pjrt/testing/fake_plugin.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/memory/shared_memory.h"
#include "executor/clusters/host_substitute.h"
#include "executor/plan.h"
#include "fake_device.h"
#include "graph/model/graph_impl.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

struct Copies {
  int to_device, to_host;
  friend bool operator==(const Copies&, const Copies&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Copies& c) {
    return out << c.to_device << " to the device, " << c.to_host << " to the host";
  }
};

class DeviceTensorsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv(kHostSubstituteVariable, "never", 1);
    control = &UseFakePlugin("XLA_CPU");
  }
  void TearDown() override { ExpectNothingIsLeft(*control); }
  static std::unique_ptr<Session> NewSession(Graph& g) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    return Session::Create(g, {.device_count = {{"XLA_CPU", 1}}}).value();
  }
  // The copies of one step.
  static Copies CopiesOf(Session& session, const std::vector<Output>& fetches, const std::vector<Feed>& feeds,
                         std::vector<Tensor>* values) {
    const Copies before{control->copies_to_device, control->copies_to_host};
    auto run = session.Run({fetches.begin(), fetches.end()}, feeds);
    EXPECT_TRUE(run.ok()) << run.status();
    if (run.ok()) *values = *std::move(run);
    return {control->copies_to_device - before.to_device, control->copies_to_host - before.to_host};
  }

  static pjrt::FakePluginControl* control;
};
pjrt::FakePluginControl* DeviceTensorsTest::control = nullptr;

Tensor Ones(const Shape& shape) {
  Tensor t(kFloat32, shape);
  for (float& x : t.mutable_data<float>()) x = 1;
  return t;
}

TEST_F(DeviceTensorsTest, AConstantIsCopiedOnce) {
  Graph g;
  auto device = g.Device(kDevice);
  Tensor numbers(kFloat32, {300});
  for (int i = 0; i < 300; ++i) numbers.mutable_data<float>()[i] = static_cast<float>(i);
  const Output large = Const(g, numbers), x = Placeholder(g, kFloat32, {-1}, "x");
  const Output y = x + large, known = ShapeOf(x);
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  // The first step also copies the constant and the shape, which is known when the program is made.
  for (const Copies& copies : {Copies{3, 2}, Copies{1, 2}, Copies{1, 2}}) {
    EXPECT_EQ(CopiesOf(*session, {y, known}, {{x, Ones({300})}}, &values), copies);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].data<float>()[299], 300);
    EXPECT_EQ(values[1].data<int32_t>()[0], 300);
  }
}

TEST_F(DeviceTensorsTest, AConstantWhoseCopyFailsIsCopiedAgain) {
  Graph g;
  auto device = g.Device(kDevice);
  Tensor numbers(kFloat32, {300});
  for (int i = 0; i < 300; ++i) numbers.mutable_data<float>()[i] = static_cast<float>(i);
  Variable v(g, {300}, Zeros(), {.name = "v"});
  const Output y = v + Const(g, numbers);
  const auto session = NewSession(g);
  ASSERT_TRUE(session->Run({v.initializer()}).ok());
  control->fail_next = "work of Client_BufferFromHostBuffer";
  // This step fails, unless the copy has failed before the program starts: then it copies the constant again.
  session->Run({y}).status().IgnoreError();
  EXPECT_EQ(control->fail_next, nullptr);
  std::vector<Tensor> values;
  CopiesOf(*session, {y}, {}, &values);
  EXPECT_EQ(CopiesOf(*session, {y}, {}, &values), (Copies{0, 1}));
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].data<float>()[299], 299);
}

TEST_F(DeviceTensorsTest, ABranchKeepsItsTensorsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), p = Placeholder(g, kBool, {}, "p"), twice = x + x;
  const Output y = Cond(
      p, [&] { return twice + x; }, [&] { return twice - x - x; });
  const Output z = y + x;
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (const bool taken : {true, false, true}) {
    const Copies copies = CopiesOf(*session, {z}, {{x, Ones({2})}, {p, Tensor::Scalar(taken)}}, &values);
    EXPECT_EQ(copies, (Copies{1, 1}));
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].data<float>()[1], taken ? 4 : 1);
  }
}

// The host counts, so no iteration copies anything.
TEST_F(DeviceTensorsTest, ALoopKeepsItsTensorsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), x + x}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        return std::vector<Output>{v[0] + 1, v[1] + x};
      });
  const Output y = results[1] - x;
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (const int iterations : {3, 7, 0}) {
    const Copies copies = CopiesOf(*session, {y}, {{x, Ones({2})}, {n, Tensor::Scalar(iterations)}}, &values);
    EXPECT_EQ(copies, (Copies{1, 1}));
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].data<float>()[1], iterations + 1);
  }
}

// The first variable gets to the result only in the iteration after. So what makes its initial value and what uses the
// result cannot be one program.
TEST_F(DeviceTensorsTest, ALoopThatPassesAValueOnHasAResult) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), x + x, x}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        return std::vector<Output>{v[0] + 1, v[1], v[2] + v[1]};
      });
  const Output y = results[2] - x;
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  EXPECT_EQ(CopiesOf(*session, {y}, {{x, Ones({2})}, {n, Tensor::Scalar(3)}}, &values), (Copies{1, 1}));
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].data<float>()[1], 6);
}

// What the device computes for the condition comes to the host once in each iteration.
TEST_F(DeviceTensorsTest, AConditionOfTheDeviceIsCopied) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {}, "x"), n = Placeholder(g, kInt32, {}, "n");
  // The fake plugin compares to false.
  const std::vector<Output> results = While(
      {x}, [&](const std::vector<Output>& v) { return Less(v[0], 5.0f); },
      [&](const std::vector<Output>& v) { return std::vector<Output>{v[0] + x}; });
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  EXPECT_EQ(CopiesOf(*session, {results[0]}, {{x, Tensor::Scalar(1.0f)}}, &values), (Copies{1, 2}));
}

// The gradient of a loop keeps the tensors of each iteration in lists.
TEST_F(DeviceTensorsTest, ListsKeepTheirElementsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const TensorArray array(g, kFloat32, n, {.element_shape = {2}});
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), x, array.list()}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        return std::vector<Output>{v[0] + 1, v[1] * x, array.WithList(v[2]).Write(v[0], v[1]).list()};
      });
  const Output all = array.WithList(results[2]).Stack();
  const Output slope = Gradients({results[1]}, {x}).value()[0];
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (const int iterations : {3, 7}) {
    const Copies copies = CopiesOf(*session, {all, slope}, {{x, Ones({2})}, {n, Tensor::Scalar(iterations)}}, &values);
    // To the device: x, and the gradient of the result, a constant that goes into the loop.
    EXPECT_EQ(copies, (Copies{2, 2}));
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].shape(), Shape({iterations, 2}));
  }
}

// Nodes of TensorFlow 1's TensorArrays.
struct OldArray {
  Output handle, flow;

  static OldArray Make(Graph& g, const Output& size, DType dtype = kFloat32) {
    const Operation op = NodeBuilder(g, "TensorArrayV3")
                             .Input(size)
                             .Attr("dtype", dtype)
                             .Attr("element_shape", dtype == kFloat32 ? Shape({2}) : Shape())
                             .Finish();
    return {op.output(0), op.output(1)};
  }
  OldArray With(const char* op, const std::vector<Output>& inputs) const {
    NodeBuilder builder(*handle.graph(), op);
    builder.Input(handle);
    for (const Output& in : inputs) builder.Input(in);
    return {handle, builder.Input(flow).Output()};
  }
  Output Get(const char* op, const std::vector<Output>& inputs, DType dtype = kFloat32) const {
    NodeBuilder builder(*handle.graph(), op);
    builder.Input(handle);
    for (const Output& in : inputs) builder.Input(in);
    return builder.Input(flow).Attr("dtype", dtype).Output();
  }
};

Output Indices(const Output& n) { return Range(*n.graph(), 0, n); }

// The arrays of TensorFlow 1 and their gradients: a loop reads rows of x and writes their squares.
TEST_F(DeviceTensorsTest, TensorArraysKeepTheirElementsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {-1, 2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const OldArray rows = OldArray::Make(g, n).With("TensorArrayScatterV3", {Indices(n), x}), made = OldArray::Make(g, n);
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), made.flow}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        const Output square = Square(rows.Get("TensorArrayReadV3", {v[0]}));
        return std::vector<Output>{v[0] + 1,
                                   OldArray{made.handle, v[1]}.With("TensorArrayWriteV3", {v[0], square}).flow};
      });
  const Output all = OldArray{made.handle, results[1]}.Get("TensorArrayGatherV3", {Indices(n)});
  const Output slope = Gradients({all}, {x}).value()[0];
  const auto session = NewSession(g);
  std::vector<Copies> copies;
  for (const int iterations : {3, 7, 3, 7}) {
    std::vector<Tensor> values;
    copies.push_back(
        CopiesOf(*session, {all, slope}, {{x, Ones({iterations, 2})}, {n, Tensor::Scalar(iterations)}}, &values));
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].shape(), Shape({iterations, 2}));
    EXPECT_EQ(values[1].shape(), Shape({iterations, 2}));
  }
  // However many iterations there are. Besides x and the results: the flows of the two arrays, and what the gradients
  // of the results and the flows begin with.
  EXPECT_EQ(copies[2], copies[3]);
  EXPECT_LE(copies[3].to_device, 6);
  EXPECT_LE(copies[3].to_host, 3);
}

// What is written to an element of a gradient's array again is added on the device.
TEST_F(DeviceTensorsTest, GradientsOfAnElementAreAddedOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x");
  const Operation op = NodeBuilder(g, "TensorArrayV3")
                           .Input(Const(g, Tensor::Scalar(2)))
                           .Attr("dtype", kFloat32)
                           .Attr("clear_after_read", false)
                           .Finish();
  const OldArray array =
      OldArray{op.output(0), op.output(1)}.With("TensorArrayWriteV3", {Const(g, Tensor::Scalar(0)), x});
  const Output zero = Const(g, Tensor::Scalar(0));
  const Output sum = array.Get("TensorArrayReadV3", {zero}) * 3.0f + array.Get("TensorArrayReadV3", {zero});
  const Output slope = Gradients({sum}, {x}).value()[0];
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (int i = 0; i < 2; ++i) {
    CopiesOf(*session, {slope}, {{x, Ones({2})}}, &values);
    ASSERT_EQ(values.size(), 1U);
  }
  EXPECT_EQ(CopiesOf(*session, {slope}, {{x, Ones({2})}}, &values).to_host, 1);
}

// As in the graphs of TensorFlow 1: the loop gets the variable itself, by an Enter that is declared to pass a value.
TEST_F(DeviceTensorsTest, ALoopReadsAReference) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const Output v = NodeBuilder(g, "VariableV2").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
  const Operation assign = NodeBuilder(g, "Assign").Input(v).Input(x + x).Finish();
  const Output read = Identity(v);
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), x}, [&](const std::vector<Output>& u) { return Less(u[0], n); },
      [&](const std::vector<Output>& u) {
        return std::vector<Output>{u[0] + 1, u[1] + read};
      });
  const auto session = NewSession(g);
  ASSERT_TRUE(session->Run({assign}, {{x, Ones({2})}}).ok());
  control->wait_for_work();
  std::vector<Tensor> values;
  const Copies copies = CopiesOf(*session, {results[1]}, {{x, Ones({2})}, {n, Tensor::Scalar(4)}}, &values);
  EXPECT_EQ(copies, (Copies{1, 1}));
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].data<float>()[1], 9);
}

// Each iteration reads another row. The host checks its number and copies only that to the device.
TEST_F(DeviceTensorsTest, ASliceThatMovesStaysOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {-1, 2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const Output first = Placeholder(g, kFloat32, {2}, "first");
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), first}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        const Output row = NodeBuilder(g, "StridedSlice")
                               .Input(x)
                               .Input(Stack({v[0]}))
                               .Input(Stack({v[0] + 1}))
                               .Input(Const(g, Tensor::Vector<int32_t>({1})))
                               .Attr("shrink_axis_mask", 1)
                               .Output();
        return std::vector<Output>{v[0] + 1, v[1] + row};
      });
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  const auto run = [&](int rows, int iterations) {
    return CopiesOf(*session, {results[1]}, {{x, Ones({rows, 2})}, {first, Ones({2})}, {n, Tensor::Scalar(iterations)}},
                    &values);
  };
  EXPECT_EQ(run(10, 3), (Copies{2 + 3, 1}));
  EXPECT_EQ(run(10, 7), (Copies{2 + 7, 1}));
  EXPECT_EQ(run(10, 10), (Copies{2 + 10, 1}));
  const Status error =
      session->Run({results[1]}, {{x, Ones({3, 2})}, {first, Ones({2})}, {n, Tensor::Scalar(4)}}).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("index 3 is out of range for dimension 0 of size 3"));
}

// A loop pushes its values to a stack, and another one pops them: as the gradients of TensorFlow 1's loops.
TEST_F(DeviceTensorsTest, StacksKeepTheirTensorsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const Output stack =
      NodeBuilder(g, "StackV2").Input(Const(g, Tensor::Scalar(-1))).Attr("elem_type", kFloat32).Output();
  const std::vector<Output> pushed = While(
      {Const(g, Tensor::Scalar(0)), x}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        const Output value = NodeBuilder(g, "StackPushV2").Input(stack).Input(v[1]).Output();
        return std::vector<Output>{v[0] + 1, Reshape(value, {2}) + x};
      });
  const std::vector<Output> popped = While(
      {pushed[0], pushed[1]}, [&](const std::vector<Output>& v) { return Greater(v[0], 0); },
      [&](const std::vector<Output>& v) {
        const Output value =
            NodeBuilder(g, "StackPopV2").Input(stack).Attr("elem_type", kFloat32).Control(v[1].op()).Output();
        return std::vector<Output>{v[0] - 1, v[1] + Reshape(value, {2})};
      });
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (const int iterations : {3, 5}) {
    const Copies copies = CopiesOf(*session, {popped[1]}, {{x, Ones({2})}, {n, Tensor::Scalar(iterations)}}, &values);
    EXPECT_EQ(copies, (Copies{1, 1}));
    ASSERT_EQ(values.size(), 1U);
    // x, 2 x, ... were pushed, and the loop begins with n + 1 times x.
    EXPECT_EQ(values[0].data<float>()[0], iterations + 1 + iterations * (iterations + 1) / 2);
  }
}

// The elements of an array of integers are on the host, and so is its flow.
TEST_F(DeviceTensorsTest, AnArrayOfIntegersCopiesNothingInALoop) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), n = Placeholder(g, kInt32, {}, "n");
  const OldArray made = OldArray::Make(g, n, kInt32);
  const std::vector<Output> results = While(
      {Const(g, Tensor::Scalar(0)), made.flow, x}, [&](const std::vector<Output>& v) { return Less(v[0], n); },
      [&](const std::vector<Output>& v) {
        const Output flow = OldArray{made.handle, v[1]}.With("TensorArrayWriteV3", {v[0], v[0] * 2}).flow;
        return std::vector<Output>{v[0] + 1, flow, v[2] + x};
      });
  const Output all = OldArray{made.handle, results[1]}.Get("TensorArrayGatherV3", {Indices(n)}, kInt32);
  const auto session = NewSession(g);
  std::vector<Tensor> values;
  for (const int iterations : {3, 7}) {
    const Copies copies =
        CopiesOf(*session, {all, results[2]}, {{x, Ones({2})}, {n, Tensor::Scalar(iterations)}}, &values);
    // Besides x and the result, the flow, on its way into the loop and out of it.
    EXPECT_EQ(copies, (Copies{2, 2}));
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].data<int32_t>()[2], 4);
  }
}

// So that a task of the same machine reads it there.
TEST_F(DeviceTensorsTest, ATensorThatIsSentComesToSharedMemory) {
  SetHasNeighbours();
  auto g = std::make_unique<Graph>();
  const Output x = Const(*g, Tensor::Of<float>({2}, {1, 2}));
  const Output sent = x + x, kept = sent * x;
  const auto send = ImplOf(*g).AddNode(
      {.name = "send",
       .op = "_Send",
       .inputs = {sent},
       .controls = {},
       .attrs = {{"edge", int64_t{0}}, {"peer", std::string("/job:worker/replica:0/task:1")}, {"bytes", int64_t{-1}}},
       .device = ""});
  ASSERT_TRUE(send.ok()) << send.status();
  Operation used = Identity(kept).op();
  for (const auto& node : ImplOf(*g).nodes()) node->set_device("/job:worker/replica:0/task:0/device:XLA_CPU:0");
  NodeOf(used)->set_device("/job:worker/replica:0/task:0/device:CPU:0");
  const auto devices = DeviceSet::Create({{"XLA_CPU", 1}});
  ASSERT_TRUE(devices.ok()) << devices.status();
  ResourceManager resources;
  KernelCache cache;
  const auto plan = Plan::Create(std::move(g), &resources, &cache, devices->get());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<const Allocator*> memories;
  for (const Plan::PlanNode& p : (*plan)->nodes()) {
    if (p.node->type() == "_Copy") memories.push_back(&p.memory->output(0));
  }
  EXPECT_THAT(memories, UnorderedElementsAre(&SharedAllocator(), &HostAllocator()));
}

// A step puts its batch on the device, and a later one takes it there.
TEST_F(DeviceTensorsTest, AStagingAreaKeepsItsTensorsOnTheDevice) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {2}, "x"), label = Placeholder(g, kInt32, {}, "label");
  const std::vector<DType> dtypes = {kFloat32, kInt32};
  const auto area = [&](const char* op) {
    NodeBuilder builder(g, op);
    if (builder.Attr("dtypes", dtypes).Attr("shared_name", "batches"); std::string_view(op) == "Stage") {
      builder.InputList({x, label});
    }
    return builder.Finish();
  };
  const Operation put = area("Stage"), get = area("Unstage"), size = area("StageSize");
  const Output y = get.output(0) + get.output(0);
  const auto session = NewSession(g);
  const std::vector<Feed> feeds = {{x, Ones({2})}, {label, Tensor::Scalar(7)}};
  ASSERT_TRUE(session->Run({put}, feeds).ok());
  control->wait_for_work();
  std::vector<Tensor> values;
  EXPECT_EQ(CopiesOf(*session, {size.output(0)}, {}, &values), (Copies{0, 0}));
  EXPECT_EQ(values.at(0).data<int32_t>()[0], 1);
  EXPECT_EQ(CopiesOf(*session, {y, get.output(1)}, {}, &values), (Copies{0, 2}));
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].data<float>()[1], 2);
  EXPECT_EQ(values[1].data<int32_t>()[0], 7);
}

// The trace of a step also has what the device does.
TEST_F(DeviceTensorsTest, ATraceShowsCopiesCompilationsAndRuns) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {-1}, "x"), y = x + x;
  const auto session = NewSession(g);
  const auto trace = [&](int64_t length) {
    RunMetadata metadata;
    const auto run = session->Run({y}, {{x, Ones({length})}}, {.trace_level = TraceLevel::kFull}, &metadata);
    EXPECT_TRUE(run.ok()) << run.status();
    return metadata.ToChromeTrace().value();
  };
  const std::string first = trace(3), second = trace(3);
  for (const std::string& text : {first, second}) {
    EXPECT_THAT(text, HasSubstr("device:XLA_CPU:0/stream:all"));
    EXPECT_THAT(text, HasSubstr("\"op\":\"run of a program of 1 nodes"));
    EXPECT_THAT(text, HasSubstr("_Copy"));
  }
  EXPECT_THAT(first, HasSubstr("compilation of a program of 1 nodes"));
  EXPECT_THAT(second, Not(HasSubstr("compilation")));
}

}  // namespace
}  // namespace tensorbraid
