// Tests that the host runs the nodes of a program while the program is compiled. The compiler is that of the fake
// plugin (src/pjrt/testing/fake_plugin.h), which a test can hold.
#include "executor/clusters/host_substitute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/log_sink.h"
#include "core/threads/mutex.h"
#include "fake_device.h"
#include "pjrt/compile_log.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what is logged.
class KeepingSink final : public LogSink {
 public:
  void Write(LogLevel level, std::string_view area, const std::string& message, const std::string& line) override {
    MutexLock lock(mu_);
    messages_.push_back(message);
  }
  void WriteRest() override {}
  void Clear() {
    MutexLock lock(mu_);
    messages_.clear();
  }
  // The messages that contain `text`.
  int CountOf(const std::string& text) {
    MutexLock lock(mu_);
    return static_cast<int>(std::count_if(messages_.begin(), messages_.end(),
                                          [&](const auto& m) { return m.find(text) != std::string::npos; }));
  }

 private:
  Mutex mu_;
  std::vector<std::string> messages_ TB_GUARDED_BY(mu_);
};

// A step that updates the variable `v` of two numbers and returns x + x, for x of any length.
class HostSubstituteTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    control = &UseFakePlugin("XLA_CPU");
    if (log == nullptr) log = new KeepingSink;  // until the process ends
    SetLogSink(log);
  }
  HostSubstituteTest() {
    auto device = g_.Device("/device:XLA_CPU:0");
    x_ = Placeholder(g_, kFloat32, {-1}, "x");
    delta_ = Placeholder(g_, kFloat32, {-1}, "delta");
    v_ = NodeBuilder(g_, "VariableV2").Name("v").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Finish().output(0);
    init_ = NodeBuilder(g_, "Assign").Input(v_).Input(Const(g_, Tensor::Vector<float>({0, 0}))).Finish();
    update_ = NodeBuilder(g_, "AssignAdd").Name("update").Input(v_).Input(delta_ + delta_).Finish();
    auto after = g_.ControlDependencies({update_});
    twice_ = x_ + x_;
  }
  void SetUp() override {
    ASSERT_TRUE(g_.status().ok()) << g_.status();
    unsetenv(kHostSubstituteVariable);
    session_ = NewSession();
    log->Clear();
  }
  void TearDown() override {
    control->hold_compiles(false);
    while (!CompileLog::Global().running().empty()) std::this_thread::yield();
    session_ = nullptr;
    ExpectNothingIsLeft(*control);
    control->fail_next = nullptr;
    control->consumes_when_failing = false;
  }

  std::unique_ptr<Session> NewSession() {
    auto session = Session::Create(g_, {.device_count = {{"XLA_CPU", 1}}}).value();
    const auto run = session->Run({init_});
    EXPECT_TRUE(run.ok()) << run.status();
    return session;
  }
  StatusOr<std::vector<float>> TryStep(int64_t length, const RunOptions& options = {}) {
    Tensor x(kFloat32, {length});
    for (float& value : x.mutable_data<float>()) value = static_cast<float>(length);
    TF_ASSIGN_OR_RETURN(const auto values,
                        session_->Run({twice_}, {{x_, x}, {delta_, Tensor::Vector<float>({1, 1})}}, options));
    return std::vector<float>(values[0].data<float>().begin(), values[0].data<float>().end());
  }
  // A step whose program depends on `length`. Returns whether a program has run.
  bool Step(int64_t length) {
    const int runs = control->runs;
    const auto values = TryStep(length);
    EXPECT_TRUE(values.ok()) << values.status();
    if (values.ok()) {
      EXPECT_EQ(*values, std::vector<float>(length, 2.0f * static_cast<float>(length)));
    }
    return control->runs > runs;
  }
  // Steps until one runs a program.
  int StepsUntilProgram(int64_t length) {
    for (int steps = 1;; ++steps) {
      if (Step(length)) return steps;
    }
  }
  std::vector<float> ValueOfV() {
    const auto values = session_->Run({v_});
    EXPECT_TRUE(values.ok()) << values.status();
    if (!values.ok()) return {};
    return {(*values)[0].data<float>().begin(), (*values)[0].data<float>().end()};
  }

  static pjrt::FakePluginControl* control;
  static KeepingSink* log;
  Graph g_;
  Output x_, delta_, v_, twice_;
  Operation init_, update_;
  std::unique_ptr<Session> session_;
};
pjrt::FakePluginControl* HostSubstituteTest::control = nullptr;
KeepingSink* HostSubstituteTest::log = nullptr;

TEST_F(HostSubstituteTest, OnlyTheFirstProgramIsWaitedFor) {
  control->hold_compiles(true);
  const int compiles = control->compiles, runs = control->runs;
  std::thread first([&] { EXPECT_TRUE(Step(2)); });
  while (control->compiles == compiles) std::this_thread::yield();
  EXPECT_EQ(control->runs, runs);
  control->hold_compiles(false);
  first.join();
  EXPECT_THAT(ValueOfV(), ElementsAre(2, 2));

  control->hold_compiles(true);
  const int64_t host_runs = CompileLog::Global().totals().host_runs;
  EXPECT_FALSE(Step(3));
  EXPECT_FALSE(Step(3));
  EXPECT_THAT(ValueOfV(), ElementsAre(6, 6));
  EXPECT_TRUE(Step(2));
  EXPECT_FALSE(Step(4));
  EXPECT_THAT(ValueOfV(), ElementsAre(10, 10));
  EXPECT_EQ(CompileLog::Global().totals().host_runs, host_runs + 3);
  control->hold_compiles(false);
  const float steps = static_cast<float>(StepsUntilProgram(3) + StepsUntilProgram(4));
  EXPECT_THAT(ValueOfV(), ElementsAre(10 + 2 * steps, 10 + 2 * steps));
  EXPECT_TRUE(Step(3));
  EXPECT_EQ(control->compiles, compiles + 3);
}

TEST_F(HostSubstituteTest, AnErrorOfANodeLeavesTheVariables) {
  Graph g;
  auto device = g.Device("/device:XLA_CPU:0");
  const Output v =
      NodeBuilder(g, "VariableV2").Name("v").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Finish().output(0);
  const Output indices = Placeholder(g, kInt32, {-1}, "indices");
  const Operation add = NodeBuilder(g, "AssignAdd").Input(v).Input(Const(g, Tensor::Vector<float>({1, 1}))).Finish();
  Output rows;
  {
    auto after = g.ControlDependencies({add});
    rows = NodeBuilder(g, "Gather").Name("rows").Input(v).Input(indices).Finish().output(0);
  }
  const Operation init = NodeBuilder(g, "Assign").Input(v).Input(Const(g, Tensor::Vector<float>({5, 6}))).Finish();
  ASSERT_TRUE(g.status().ok()) << g.status();
  setenv(kHostSubstituteVariable, "always", 1);
  const auto session = Session::Create(g, {.device_count = {{"XLA_CPU", 1}}}).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const Status failed = session->Run({rows}, {{indices, Tensor::Vector<int32_t>({1, 7})}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("Gather 'rows'"));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("indices[1] = 7 is not in [0, 2)"));
  const auto good = session->Run({rows}, {{indices, Tensor::Vector<int32_t>({1})}});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ((*good)[0].data<float>()[0], 7);
}

// The step waits for the device when it is cancelled, before its first node.
TEST_F(HostSubstituteTest, ACancelledStepChangesNothing) {
  ASSERT_TRUE(Step(5));
  control->hold_compiles(true);
  control->hold_work(true);
  const Status cancelled = TryStep(6, {.timeout = std::chrono::milliseconds(20)}).status();
  control->hold_work(false);
  EXPECT_TRUE(absl::IsDeadlineExceeded(cancelled)) << cancelled;
  EXPECT_THAT(ValueOfV(), ElementsAre(2, 2));
  EXPECT_FALSE(Step(6));
  EXPECT_THAT(ValueOfV(), ElementsAre(4, 4));
}

TEST_F(HostSubstituteTest, AProgramThatCannotBeCompiledIsNotHidden) {
  ASSERT_TRUE(Step(7));
  control->hold_compiles(true);
  control->fail_next = "Client_Compile";
  ASSERT_FALSE(Step(8));
  control->hold_compiles(false);
  // The failure is noted soon after; until then, steps run on the host, or wait for the compilation that fails.
  while (control->fail_next != nullptr) std::this_thread::yield();
  control->fail_next = "Client_Compile";
  Status failed;
  while (failed.ok()) failed = TryStep(8).status();
  EXPECT_THAT(std::string(failed.message()), HasSubstr("made to fail: Client_Compile"));
  control->fail_next = nullptr;
  EXPECT_TRUE(Step(8));
}

TEST_F(HostSubstituteTest, ALostVariableIsNotHidden) {
  ASSERT_TRUE(Step(9));
  control->consumes_when_failing = true;
  control->fail_next = "LoadedExecutable_Execute";
  EXPECT_TRUE(absl::IsAborted(TryStep(9).status()));
  control->hold_compiles(true);
  const Status failed = TryStep(10).status();
  EXPECT_TRUE(absl::IsAborted(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("the variable 'v'"));
  ASSERT_TRUE(session_->Run({init_}).ok());
  EXPECT_FALSE(Step(10));
  EXPECT_THAT(ValueOfV(), ElementsAre(2, 2));
}

// The second session has programs of its own to wait for, which the first one has compiled.
TEST_F(HostSubstituteTest, AProgramOfAnotherSessionIsUsedAtOnce) {
  ASSERT_TRUE(Step(11));
  StepsUntilProgram(12);
  session_ = NewSession();
  const int compiles = control->compiles;
  EXPECT_TRUE(Step(11));
  EXPECT_TRUE(Step(12));
  EXPECT_EQ(control->compiles, compiles);
}

// Steps on the host and with programs, of several threads, lose no update.
TEST_F(HostSubstituteTest, NoUpdateIsLost) {
  ASSERT_TRUE(Step(13));
  control->hold_compiles(true);
  constexpr int kThreads = 4, kSteps = 25;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (int step = 0; step < kSteps; ++step) EXPECT_TRUE(TryStep(13 + (i + step) % 2).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(ValueOfV(), ElementsAre(2 * (kThreads * kSteps + 1), 2 * (kThreads * kSteps + 1)));
}

TEST_F(HostSubstituteTest, ShapesThatAlwaysChangeAreForTheHost) {
  ASSERT_TRUE(Step(101));
  for (int64_t length = 102; length <= 164; ++length) StepsUntilProgram(length);
  EXPECT_EQ(log->CountOf("the host computes"), 0);
  const int compiles = control->compiles;
  for (int64_t length = 165; length < 170; ++length) EXPECT_FALSE(Step(length));
  EXPECT_EQ(control->compiles, compiles);
  EXPECT_EQ(log->CountOf("each size of dimension 0 of input 0 of AddV2"), 1);
  EXPECT_TRUE(Step(101));
  EXPECT_TRUE(Step(164));
}

// A step that adds 1 to `count` and rolls x by a number of places that the program must know. The fake plugin cannot
// roll, and has no constants but zeros.
class ChangingOperandTest : public HostSubstituteTest {
 protected:
  void Build(const std::string& device_name = "/device:XLA_CPU:0") {
    places_ = Placeholder(steps_, kInt32, {1}, "places");
    others_ = Placeholder(steps_, kInt32, {1}, "others");
    auto device = steps_.Device(device_name);
    in_ = Placeholder(steps_, kFloat32, {16}, "in");
    const Tensor zeros = Tensor::Vector(std::vector<float>(16, 0));
    one_ = Placeholder(steps_, kFloat32, {16}, "one");
    count_ =
        NodeBuilder(steps_, "VariableV2").Name("count").Attr("shape", Shape({16})).Attr("dtype", kFloat32).Output();
    start_ = NodeBuilder(steps_, "Assign").Input(count_).Input(Const(steps_, zeros)).Finish();
    update_ = NodeBuilder(steps_, "AssignAdd").Name("update").Input(count_).Input(one_).Finish();
    rolled_ = Rolled(in_, places_, "rolled") + one_;
  }
  Output Rolled(const Output& x, const Output& places, const char* name) {
    const Output axis = Const(steps_, Tensor::Vector<int32_t>({0}));
    return NodeBuilder(steps_, "Roll").Name(name).Input(x + one_).Input(places).Input(axis).Output();
  }
  void Open(const std::string& target = "") {
    ASSERT_TRUE(steps_.status().ok()) << steps_.status();
    SessionOptions options{.target = target};
    if (target.empty()) options.device_count = {{"XLA_CPU", 1}};
    session_ = Session::Create(steps_, options).value();
    const auto started = session_->Run({start_});
    ASSERT_TRUE(started.ok()) << started.status();
  }
  // The first element of a step that rolls [0, 1, ... 15]. Without loops and further ops, expect First(places).
  StatusOr<float> Roll(int32_t places, int32_t others = 0) {
    std::vector<float> in(16);
    std::iota(in.begin(), in.end(), 0.0f);
    const std::vector<Feed> feeds = {{in_, Tensor::Vector(in)},
                                     {one_, Tensor::Vector(std::vector<float>(16, 1))},
                                     {places_, Tensor::Vector<int32_t>({places})},
                                     {others_, Tensor::Vector<int32_t>({others})}};
    TF_ASSIGN_OR_RETURN(const auto values, session_->Run({rolled_, update_}, feeds));
    ++steps_run_;
    return values[0].data<float>()[0];
  }
  static float First(int32_t places) { return static_cast<float>((160000 - places) % 16) + 2; }
  // Runs steps that change the number of places until a step runs this many programs.
  void RollUntilPrograms(int programs, bool change_others = false) {
    for (int before = -1; control->runs - before != programs; ++next_) {
      before = control->runs;
      const auto value = Roll(next_, change_others ? next_ : 0);
      ASSERT_TRUE(value.ok()) << value.status();
    }
  }
  void ExpectThatNoUpdateIsLost() {
    const auto count = session_->Run({count_});
    ASSERT_TRUE(count.ok()) << count.status();
    EXPECT_EQ((*count)[0].data<float>()[15], static_cast<float>(steps_run_));
  }

  Graph steps_;
  Output in_, places_, others_, one_, rolled_, count_;
  Operation start_, update_;
  std::atomic<int> steps_run_{0};
  int32_t next_ = 1;
};

TEST_F(ChangingOperandTest, OnlyItsOpLeavesTheProgram) {
  Build();
  Open();
  const int compiles = control->compiles;
  for (int32_t places = 1; places <= 8; ++places) ASSERT_TRUE(Roll(places).ok());
  EXPECT_EQ(log->CountOf("input 1 of Roll 'rolled'"), 0);
  const auto on_host = Roll(9);
  ASSERT_TRUE(on_host.ok()) << on_host.status();
  EXPECT_EQ(*on_host, First(9));
  EXPECT_EQ(log->CountOf("each value of input 1 of Roll 'rolled'"), 1);
  EXPECT_EQ(log->CountOf("which has had 9. Use a constant there"), 1);
  // One program before the op, and one after it.
  next_ = 10;
  RollUntilPrograms(2);
  while (!CompileLog::Global().running().empty()) std::this_thread::yield();
  const int all = control->compiles;
  EXPECT_LE(all, compiles + 8 + 2);
  const int64_t host_runs = CompileLog::Global().totals().host_runs;
  for (int32_t places = 100; places < 120; ++places) {
    const int runs = control->runs;
    const auto value = Roll(places);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, First(places));
    EXPECT_EQ(control->runs, runs + 2);
  }
  EXPECT_EQ(control->compiles, all);
  EXPECT_EQ(CompileLog::Global().totals().host_runs, host_runs);
  EXPECT_EQ(log->CountOf("which has had"), 1);
  ExpectThatNoUpdateIsLost();
}

TEST_F(ChangingOperandTest, SeveralOpsLeaveOneAfterTheOther) {
  Build();
  {
    auto device = steps_.Device("/device:XLA_CPU:0");
    rolled_ = Rolled(rolled_, others_, "again") + one_;
  }
  Open();
  RollUntilPrograms(2);
  RollUntilPrograms(3, /*change_others=*/true);
  EXPECT_EQ(log->CountOf("each value of input 1 of Roll 'rolled'"), 1);
  EXPECT_EQ(log->CountOf("each value of input 1 of Roll 'again'"), 1);
  const int compiles = control->compiles;
  const auto value = Roll(101, 1000);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, First(1101) + 2);
  EXPECT_EQ(control->compiles, compiles);
  ExpectThatNoUpdateIsLost();
}

TEST_F(ChangingOperandTest, AnOpLeavesAProgramOfALoop) {
  Build();
  {
    auto device = steps_.Device("/device:XLA_CPU:0");
    rolled_ = While(
        {Const(steps_, Tensor::Scalar(0)), in_}, [&](const std::vector<Output>& v) { return Less(v[0], 3); },
        [&](const std::vector<Output>& v) {
          return std::vector<Output>{v[0] + 1, Rolled(v[1], places_, "turn") + one_};
        })[1];
  }
  Open();
  RollUntilPrograms(1 + 2 * 3);  // `update`, and two in each iteration
  const auto value = Roll(1001);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, First(3003) + 2 * 2);
  ExpectThatNoUpdateIsLost();
}

TEST_F(ChangingOperandTest, StepsOfSeveralThreadsGoOn) {
  Build();
  Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      for (int step = 0; step < 25; ++step) EXPECT_TRUE(Roll(4 * step + i).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  next_ = 1000;
  RollUntilPrograms(2);
  EXPECT_EQ(log->CountOf("which has had 9"), 1);
  ExpectThatNoUpdateIsLost();
}

TEST_F(ChangingOperandTest, AnOpOfAnotherTaskLeavesItsProgram) {
  TaskOptions task;
  task.device_count = {{"XLA_CPU", 1}};
  TestCluster cluster(0, 2, task);
  Build("/job:worker/task:1/device:XLA_CPU:0");
  {
    auto there = steps_.Device("/job:worker/task:1/device:CPU:0");
    const Output places = places_ + others_;
    auto device = steps_.Device("/job:worker/task:1/device:XLA_CPU:0");
    rolled_ = Rolled(in_, places, "there") + one_;
  }
  Open(cluster.target("worker", 0));
  RollUntilPrograms(2);
  EXPECT_EQ(log->CountOf("each value of input 1 of Roll 'there'"), 1);
  const auto value = Roll(1001);
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(*value, First(1001));
  ExpectThatNoUpdateIsLost();
  session_ = nullptr;
}

TEST_F(HostSubstituteTest, TheEnvironmentChooses) {
  const int compiles = control->compiles;
  setenv(kHostSubstituteVariable, "always", 1);
  session_ = NewSession();
  EXPECT_FALSE(Step(15));
  EXPECT_THAT(ValueOfV(), ElementsAre(2, 2));
  EXPECT_EQ(control->compiles, compiles);
  setenv(kHostSubstituteVariable, "never", 1);
  session_ = NewSession();
  EXPECT_TRUE(Step(15));
  EXPECT_TRUE(Step(16));
  setenv(kHostSubstituteVariable, "sometimes", 1);
  EXPECT_EQ(HostSubstituteFromEnvironment(), HostSubstituteUse::kFurther);
  EXPECT_EQ(log->CountOf("TENSORBRAID_HOST_SUBSTITUTE=sometimes is not a choice; the choices are further"), 1);
}

}  // namespace
}  // namespace tensorbraid
