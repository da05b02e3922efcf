// Tests of how often tensors are copied between the host and an accelerator. The fake plugin counts
// (src/pjrt/testing/fake_plugin.h).
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "executor/clusters/host_substitute.h"
#include "pjrt/compile_log.h"
#include "pjrt/find_plugins.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDevice = "/device:XLA_CPU:0";

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
    setenv(pjrt::kPluginVariable, "XLA_CPU=" TB_FAKE_PLUGIN, 1);
    setenv(kHostSubstituteVariable, "never", 1);
    control = reinterpret_cast<pjrt::GetFakePluginControlFunction>(
        dlsym(dlopen(TB_FAKE_PLUGIN, RTLD_NOW), "GetFakePluginControl"))();
  }
  void TearDown() override {
    // The compiler's threads may hold constants until then.
    while (!CompileLog::Global().running().empty()) std::this_thread::yield();
    control->wait_for_work();
    EXPECT_EQ(control->buffers, 0);
    EXPECT_EQ(control->events, 0);
  }
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
