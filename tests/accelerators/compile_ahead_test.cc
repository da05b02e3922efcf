// Tests that the compiler begins when a plan is made, not when its first step runs. The compiler is that of the fake
// plugin (src/pjrt/testing/fake_plugin.h), which a test can hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "executor/clusters/make.h"
#include "executor/plan.h"
#include "fake_device.h"
#include "graph/model/graph_impl.h"
#include "graph/model/subgraph.h"
#include "pjrt/compile_log.h"
#include "pjrt/compile_queue.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr int kParallelCompiles = 2;

class CompileAheadTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv(kParallelCompilesVariable, std::to_string(kParallelCompiles).c_str(), 1);
    control = &UseFakePlugin("XLA_CPU");
  }
  CompileAheadTest() { unsetenv(kHostSubstituteVariable); }
  void TearDown() override {
    control->hold_compiles(false);
    ExpectNothingIsLeft(*control);
  }

  static void WaitForCompiler() {
    while (!CompileLog::Global().running().empty()) std::this_thread::yield();
  }
  int Compiles() const { return control->compiles - compiles_before_; }
  // Waits until the compiler has begun with this many programs. What fails does not wait for ever.
  void ExpectCompiles(int number) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (Compiles() < number && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(Compiles(), number);
  }
  static std::unique_ptr<Session> NewSession(Graph& g) {
    EXPECT_TRUE(g.status().ok()) << g.status();
    return Session::Create(g, {.device_count = {{"XLA_CPU", 1}}}).value();
  }
  Tensor Filled(float value) const {
    Tensor filled(kFloat32, {size_});
    for (float& element : filled.mutable_data<float>()) element = value;
    return filled;
  }
  // The last element of the first value; -1 after an error.
  static float Last(const StatusOr<std::vector<Tensor>>& values) {
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? (*values)[0].data<float>().back() : -1;
  }

  static pjrt::FakePluginControl* control;
  static int64_t last_size;
  const int compiles_before_ = control->compiles;
  // The elements of tensors: too many for the text of a program. Another number in each test, so that no program has
  // been compiled before.
  const int64_t size_ = ++last_size;
};
int64_t CompileAheadTest::last_size = 300;
pjrt::FakePluginControl* CompileAheadTest::control = nullptr;

TEST_F(CompileAheadTest, TheCompilerBeginsBeforeTheFirstStep) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {size_}, "x");
  const Output v =
      NodeBuilder(g, "VariableV2").Name("v").Attr("shape", Shape({size_})).Attr("dtype", kFloat32).Finish().output(0);
  const Operation init = NodeBuilder(g, "Assign").Input(v).Input(x).Finish();
  const Output sum = NodeBuilder(g, "AssignAdd").Input(v).Input(x + x).Finish().output(0) + x;
  const auto session = NewSession(g);
  ASSERT_TRUE(session->Run({init}, {{x, Filled(2)}}).ok());
  control->hold_compiles(true);
  const int runs = control->runs;
  const auto step = session->Prepare({sum}, {x});
  ASSERT_TRUE(step.ok()) << step.status();
  ExpectCompiles(1);
  std::thread first([&] { EXPECT_EQ(Last(step->Run({Filled(4)})), 14); });
  EXPECT_EQ(control->runs, runs);
  control->hold_compiles(false);
  first.join();
  EXPECT_EQ(Last(step->Run({Filled(4)})), 22);
  EXPECT_EQ(Compiles(), 1);
}

// Programs that depend on what only the first step has.
TEST_F(CompileAheadTest, AnUnknownProgramIsCompiledInItsStep) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output any = Placeholder(g, kFloat32, {-1}, "any"), x = Placeholder(g, kFloat32, {size_}, "x");
  const Output v =
      NodeBuilder(g, "VariableV2").Name("v").Attr("shape", Shape({size_})).Attr("dtype", kFloat32).Finish().output(0);
  const Output negative = Neg(any);
  // Another program if the variable has a value.
  const Output assigned = Identity(NodeBuilder(g, "Assign").Input(v).Input(x - x - x).Finish().output(0));
  const auto session = NewSession(g);
  const auto first = session->Prepare({negative}, {any}), second = session->Prepare({assigned}, {x});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(CompileLog::Global().running().empty());
  EXPECT_EQ(Compiles(), 0);
  EXPECT_EQ(Last(first->Run({Filled(3)})), -3);
  EXPECT_EQ(Last(second->Run({Filled(3)})), -3);
  EXPECT_EQ(Compiles(), 2);
}

TEST_F(CompileAheadTest, NothingIsCompiledIfTheHostComputesAll) {
  setenv(kHostSubstituteVariable, "always", 1);
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {size_}, "x"), y = x + x;
  const auto session = NewSession(g);
  const auto step = session->Prepare({y}, {x});
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(Last(step->Run({Filled(4)})), 8);
  EXPECT_EQ(Compiles(), 0);
}

TEST_F(CompileAheadTest, AFailureIsTheErrorOfTheFirstStep) {
  Graph g;
  auto device = g.Device(kDevice);
  const Output x = Placeholder(g, kFloat32, {size_}, "x"), early = x + x, late = x - x - x;
  const std::vector<Tensor> feeds = {Filled(5)};
  const auto session = NewSession(g);
  const auto expect_failure = [](const Status& failed) {
    EXPECT_TRUE(absl::IsInternal(failed)) << failed;
    EXPECT_THAT(std::string(failed.message()), HasSubstr("made to fail: Client_Compile"));
  };
  // The compiler fails before the step.
  control->fail_next = "Client_Compile";
  auto step = session->Prepare({early}, {x});
  ASSERT_TRUE(step.ok()) << step.status();
  WaitForCompiler();
  expect_failure(step->Run(feeds).status());
  EXPECT_EQ(Compiles(), 1);
  EXPECT_EQ(Last(step->Run(feeds)), 10);
  EXPECT_EQ(Compiles(), 2);

  // The compiler fails while the step waits, or just before: then the program may be compiled once more at once.
  control->hold_compiles(true);
  control->fail_next = "Client_Compile";
  step = session->Prepare({late}, {x});
  ASSERT_TRUE(step.ok()) << step.status();
  std::thread waiting([&] {
    const Status status = step->Run(feeds).status();
    if (!status.ok()) expect_failure(status);
  });
  control->hold_compiles(false);
  waiting.join();
  EXPECT_EQ(Last(step->Run(feeds)), -5);
  EXPECT_EQ(Compiles(), 4);
}

// The parts of a session's graph that a task has.
class PlansAheadTest : public CompileAheadTest {
 protected:
  // A plan with a program that adds a constant and then itself, `times` times. Sets *constant to what the plan has.
  std::shared_ptr<const Plan> MakePlan(int times, Tensor* constant = nullptr) {
    Tensor numbers(kFloat32, {size_});
    for (int64_t i = 0; i < size_; ++i) numbers.mutable_data<float>()[i] = static_cast<float>(i);
    Graph g;
    const Output x = Placeholder(g, kFloat32, numbers.shape(), "x");
    Output y = x + Const(g, numbers);
    for (int i = 0; i < times; ++i) y = y + y;
    auto part = ExtractSubgraph(g, {x}, {y}, {}).value();
    for (const auto& node : ImplOf(*part).nodes()) {
      ImplOf(*part).SetAttr(node.get(), std::string(kClusterMark), int64_t{0});
      const bool is_transfer = node->type().starts_with("_");
      node->set_device(StrCat("/job:worker/replica:0/task:0", is_transfer ? "/device:CPU:0" : kDevice));
      if (node->type() == "Const" && constant != nullptr) *constant = *node->FindAttr("value")->get<Tensor>();
    }
    auto plan = Plan::Create(std::move(part), &resources_, &cache_, devices_.get());
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : nullptr;
  }

  const std::unique_ptr<DeviceSet> devices_ = DeviceSet::Create({{"XLA_CPU", 1}}).value();
  ResourceManager resources_;
  KernelCache cache_;
};

TEST_F(PlansAheadTest, FewProgramsAreCompiledAtATime) {
  control->hold_compiles(true);
  std::vector<std::shared_ptr<const Plan>> plans;
  constexpr int kPlans = 6;
  for (int i = 0; i < kPlans; ++i) plans.push_back(MakePlan(i));
  EXPECT_EQ(CompileLog::Global().running().size(), kPlans);
  EXPECT_EQ(CompileQueue::Global().running(), kParallelCompiles);
  ExpectCompiles(kParallelCompiles);
  plans.push_back(MakePlan(kPlans - 1));  // an equal program
  control->hold_compiles(false);
  WaitForCompiler();
  EXPECT_EQ(Compiles(), kPlans);
}

TEST_F(PlansAheadTest, APlanThatIsDroppedIsNotCompiled) {
  control->hold_compiles(true);
  constexpr int kPlans = 5;
  std::vector<std::shared_ptr<const Plan>> plans;
  for (int i = 0; i < kPlans; ++i) plans.push_back(MakePlan(i));
  ExpectCompiles(kParallelCompiles);
  plans.erase(plans.begin(), plans.end() - 1);
  control->hold_compiles(false);
  WaitForCompiler();
  // Those with which the compiler had begun, and the one that is kept.
  EXPECT_EQ(Compiles(), kParallelCompiles + 1);
}

TEST_F(PlansAheadTest, TheCompilerKeepsNothingOfAPlan) {
  control->hold_compiles(true);
  Tensor constant;
  auto plan = MakePlan(1, &constant);
  ExpectCompiles(1);
  EXPECT_FALSE(constant.buffer()->IsUnique());
  plan = nullptr;
  EXPECT_TRUE(constant.buffer()->IsUnique());
}

}  // namespace
}  // namespace tensorbraid
