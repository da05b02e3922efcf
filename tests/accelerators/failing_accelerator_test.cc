// Tests sessions on an accelerator that fails: the fake plugin (src/pjrt/testing/fake_plugin.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fake_device.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two variables on the accelerator, of which a step updates one.
class FailingAcceleratorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { control = &UseFakePlugin("XLA_CPU"); }
  FailingAcceleratorTest() {
    auto device = g_.Device(kDevice);
    x_ = Placeholder(g_, kFloat32, {2}, "x");
    indices_ = Placeholder(g_, kInt32, {2}, "indices");
    v_ = Reference("v");
    w_ = Reference("w");
    late_ = Reference("late");
    for (const Output& variable : {v_, w_}) {
      init_.push_back(NodeBuilder(g_, "Assign").Input(variable).Input(x_).Finish());
    }
    add_ = NodeBuilder(g_, "AssignAdd").Input(v_).Input(x_ + x_).Finish();
    add_w_ = NodeBuilder(g_, "AssignAdd").Input(v_).Input(w_).Finish();
    sum_ = v_ + w_;
    rows_ = NodeBuilder(g_, "Gather").Name("rows").Input(w_).Input(indices_).Finish().output(0);
    assign_rows_ = NodeBuilder(g_, "Assign").Input(late_).Input(rows_).Finish();
    is_initialized_ = NodeBuilder(g_, "IsVariableInitialized").Input(v_).Finish().output(0);
    late_is_initialized_ = NodeBuilder(g_, "IsVariableInitialized").Input(late_).Finish().output(0);
  }
  void SetUp() override {
    {
      auto host = g_.Device("/device:CPU:0");
      const Operation queue =
          NodeBuilder(g_, "FIFOQueueV2").Attr("component_types", std::vector<DType>{kInt32}).Finish();
      const Output one = Const(g_, Tensor::Scalar(1));
      enqueue_ = NodeBuilder(g_, "QueueEnqueueV2").Input(queue.output(0)).InputList({one}).Finish();
      dequeue_ = NodeBuilder(g_, "QueueDequeueV2")
                     .Input(queue.output(0))
                     .Attr("component_types", std::vector<DType>{kInt32})
                     .Finish();
    }
    ASSERT_TRUE(g_.status().ok()) << g_.status();
    session_ = Session::Create(g_, {.device_count = {{"XLA_CPU", 1}}}).value();
    Initialize();
  }
  void TearDown() override {
    session_ = nullptr;
    ExpectNothingIsLeft(*control);
    control->consumes_when_failing = false;
    control->fail_next = nullptr;
  }

  Output Reference(const std::string& name) {
    return NodeBuilder(g_, "VariableV2")
        .Name(name)
        .Attr("shape", Shape({2}))
        .Attr("dtype", kFloat32)
        .Finish()
        .output(0);
  }
  Feed One() const { return {x_, Tensor::Vector<float>({1, 1})}; }
  void Initialize() {
    const auto run = session_->Run({init_.begin(), init_.end()}, {One()});
    ASSERT_TRUE(run.ok()) << run.status();
  }
  Status Add() { return session_->Run({add_}, {One()}).status(); }
  // The first element of v + w; -1 after an error.
  float Sum() {
    const auto values = session_->Run({sum_});
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() ? (*values)[0].data<float>()[0] : -1;
  }
  bool IsTrue(const Output& flag) {
    const auto values = session_->Run({flag});
    EXPECT_TRUE(values.ok()) << values.status();
    return values.ok() && (*values)[0].scalar<bool>();
  }

  static pjrt::FakePluginControl* control;
  Graph g_;
  Output x_, indices_, v_, w_, late_, sum_, rows_, is_initialized_, late_is_initialized_;
  std::vector<Operation> init_;
  Operation add_, add_w_, assign_rows_, enqueue_, dequeue_;
  std::unique_ptr<Session> session_;
};
pjrt::FakePluginControl* FailingAcceleratorTest::control = nullptr;

// Fails while it is enqueued, or later.
constexpr const char* kExecute[] = {"LoadedExecutable_Execute", "work of LoadedExecutable_Execute"};

// The message of the plugin names a number of bytes only.
TEST_F(FailingAcceleratorTest, AnErrorOfMemoryNamesWhatTakesIt) {
  ASSERT_TRUE(session_->Run({sum_}).ok());
  control->code = 8;
  for (const char* call : kExecute) {
    control->fail_next = call;
    const Status status = session_->Run({sum_.op()}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.message(), HasSubstr("The program needs 0 B of temporary memory"));
    EXPECT_THAT(status.message(), HasSubstr("All tensors on /device:XLA_CPU:0 take "));
    EXPECT_THAT(status.message(), HasSubstr("are 'v' float32[2] (8 B), 'w' float32[2] (8 B)"));
  }
  control->code = 13;
}

// A step ends when its own programs have run. The first one has one node more, which waits for the test.
TEST_F(FailingAcceleratorTest, AStepEndsWhileAProgramOfAnotherOneRuns) {
  const Operation program = sum_.op();
  ASSERT_TRUE(session_->Run({program}).ok());  // what follows waits for no compiler
  const int runs = control->runs;
  Status first, second;
  std::thread first_step([&] {
    first = session_->Run({program, dequeue_}, {}, {.timeout = std::chrono::seconds(30)}).status();
  });
  while (control->runs == runs) std::this_thread::yield();
  control->wait_for_work();
  control->hold_work(true);
  std::atomic<bool> second_ended{false};
  std::thread second_step([&] {
    second = session_->Run({program}).status();
    second_ended = true;
  });
  while (control->runs == runs + 1) std::this_thread::yield();
  EXPECT_TRUE(session_->Run({enqueue_}).ok());
  first_step.join();
  EXPECT_TRUE(first.ok()) << first;
  EXPECT_FALSE(second_ended);
  control->hold_work(false);
  second_step.join();
  EXPECT_TRUE(second.ok()) << second;
}

// The program goes on, and what needs its results waits for it.
TEST_F(FailingAcceleratorTest, AStepReturnsAtItsDeadlineWhileItsProgramRuns) {
  ASSERT_TRUE(session_->Run({add_w_}).ok());  // what follows waits for no compiler
  EXPECT_EQ(Sum(), 3);
  const int runs = control->runs;
  control->hold_work(true);
  // A busy machine may reach a deadline before the program has begun.
  for (auto timeout = std::chrono::milliseconds(50); control->runs == runs; timeout *= 2) {
    const Status late = session_->Run({add_w_}, {}, {.timeout = timeout}).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
    EXPECT_THAT(std::string(late.message()), HasSubstr("still running"));
  }
  EXPECT_EQ(control->runs, runs + 1);
  float sum = 0;
  std::atomic<bool> has_ended{false};
  std::thread next_step([&] {
    sum = Sum();
    has_ended = true;
  });
  const Status late = session_->Run({v_}, {}, {.timeout = std::chrono::milliseconds(50)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_FALSE(has_ended);
  control->hold_work(false);
  next_step.join();
  EXPECT_EQ(sum, 4) << "the program has updated its variable";
  EXPECT_EQ(Sum(), 4);
}

TEST_F(FailingAcceleratorTest, AVariableThatAFailedProgramHasConsumedIsLost) {
  control->consumes_when_failing = true;
  for (const char* call : kExecute) {
    SCOPED_TRACE(call);
    ASSERT_TRUE(Add().ok());
    EXPECT_EQ(Sum(), 4);
    EXPECT_TRUE(IsTrue(is_initialized_));

    control->fail_next = call;
    const auto expect_lost = [&](const Status& status) {
      EXPECT_TRUE(absl::IsAborted(status)) << status;
      const std::string message(status.message());
      EXPECT_THAT(message, HasSubstr("the variable 'v' on /job:localhost/replica:0/task:0/device:XLA_CPU:0 has lost"));
      EXPECT_THAT(message, HasSubstr(std::string("made to fail: ") + call));
    };
    expect_lost(Add());
    expect_lost(Add());
    expect_lost(session_->Run({sum_}).status());
    expect_lost(session_->Run({v_}).status());
    EXPECT_FALSE(IsTrue(is_initialized_));
    EXPECT_TRUE(session_->Run({w_}).ok());  // the others are as before

    Initialize();
    EXPECT_TRUE(IsTrue(is_initialized_));
    ASSERT_TRUE(Add().ok());
    EXPECT_EQ(Sum(), 4);
    Initialize();
  }
}

TEST_F(FailingAcceleratorTest, AVariableThatWasNotConsumedKeepsItsValue) {
  ASSERT_TRUE(Add().ok());
  control->fail_next = kExecute[0];
  EXPECT_TRUE(absl::IsInternal(Add()));
  EXPECT_EQ(Sum(), 4);
  ASSERT_TRUE(Add().ok());
  EXPECT_EQ(Sum(), 6);
}

// The fake plugin does not compute indices: the test says what the error word is.
TEST_F(FailingAcceleratorTest, ARunEndsWithTheErrorOfItsElements) {
  const std::vector<Feed> feeds = {{indices_, Tensor::Vector<int32_t>({0, 1})}};
  const int64_t word[] = {1, 1, 7};
  for (int i = 0; i < 3; ++i) control->integers[i] = word[i];
  const Status failed = session_->Run({rows_, assign_rows_}, feeds).status();
  for (auto& integer : control->integers) integer = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("Gather 'rows'"));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("indices[1] = 7 is not in [0, 2)"));
  EXPECT_THAT(std::string(failed.message()), Not(HasSubstr("_Cluster")));
  EXPECT_FALSE(IsTrue(late_is_initialized_));

  control->fail_next = "work of Buffer_ToHostBuffer";
  EXPECT_TRUE(absl::IsInternal(session_->Run({assign_rows_}, feeds).status()));
  EXPECT_FALSE(IsTrue(late_is_initialized_));

  const auto good = session_->Run({rows_, assign_rows_}, feeds);
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_TRUE(IsTrue(late_is_initialized_));
}

}  // namespace
}  // namespace tensorbraid
