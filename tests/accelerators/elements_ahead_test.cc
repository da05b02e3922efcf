// Tests of iterators that copy elements to an accelerator before a step asks for them. The fake plugin counts the
// copies and fails (src/pjrt/testing/fake_plugin.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/clusters/host_substitute.h"
#include "fake_device.h"
#include "pjrt/testing/failing_calls.h"
#include "pjrt/testing/fake_plugin.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr int kElements = 6, kBuffer = 2;

class ElementsAheadTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv(kHostSubstituteVariable, "never", 1);
    control = &UseFakePlugin("XLA_CPU:2");
  }
  void TearDown() override { ExpectNothingIsLeft(*control); }

  // The sum of element i with itself is 2 * i on the device; its label, i, is used on the host only.
  void Build(const data::Dataset& dataset) {
    iterator_ = data::Iterator::Initializable(dataset);
    const data::Tensors next = iterator_.GetNext();
    label_ = next[1];
    auto device = g_.Device(kDevice);
    twice_ = next[0] + next[0];
  }
  data::Dataset Numbers() {
    Tensor rows(kFloat32, {kElements, 2}), labels(kInt64, {kElements});
    for (int i = 0; i < kElements; ++i) {
      for (int j : {0, 1}) rows.mutable_data<float>()[2 * i + j] = static_cast<float>(i);
      labels.mutable_data<int64_t>()[i] = i;
    }
    return data::Dataset::FromTensorSlices(g_, {rows, labels});
  }
  void Begin() {
    ASSERT_TRUE(g_.status().ok()) << g_.status();
    session_ = Session::Create(g_, {.device_count = {{"XLA_CPU", 2}}}).value();
    const auto run = session_->Run({iterator_.initializer()});
    ASSERT_TRUE(run.ok()) << run.status();
    copies_before_ = control->copies_to_device;
  }
  int Copied() const { return control->copies_to_device - copies_before_; }
  void WaitForCopies(int number) const {
    while (Copied() < number) std::this_thread::yield();
    control->wait_for_work();
  }
  // Runs a step. The number of the element that it got.
  StatusOr<int> Step() {
    TF_ASSIGN_OR_RETURN(const auto values, session_->Run({twice_, label_}));
    const int number = static_cast<int>(values[1].scalar<int64_t>());
    EXPECT_EQ(values[0].data<float>()[1], 2 * number);
    return number;
  }
  void ExpectStep(int number) {
    const auto step = Step();
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_EQ(*step, number);
  }

  static pjrt::FakePluginControl* control;
  Graph g_;
  data::Iterator iterator_;
  Output twice_, label_;
  std::unique_ptr<Session> session_;
  int copies_before_ = 0;
};
pjrt::FakePluginControl* ElementsAheadTest::control = nullptr;

TEST_F(ElementsAheadTest, TheBufferIsCopiedBeforeAStepAsks) {
  Build(Numbers().PrefetchToDevice(kDevice, kBuffer));
  Begin();
  for (int i = 0; i < kElements; ++i) {
    ExpectStep(i);
    // What the steps have had and what the buffer holds, each once, and without the labels.
    const int expected = std::min(i + 1 + kBuffer, kElements);
    WaitForCopies(expected);
    EXPECT_EQ(Copied(), expected);
  }
  EXPECT_TRUE(absl::IsOutOfRange(Step().status()));
  EXPECT_EQ(Copied(), kElements);
  session_ = nullptr;
}

TEST_F(ElementsAheadTest, AnIteratorWithoutABufferCopiesInTheStep) {
  Build(Numbers().CopyToDevice(kDevice));
  Begin();
  for (int i = 0; i < kElements; ++i) {
    ExpectStep(i);
    EXPECT_EQ(Copied(), i + 1);
  }
  EXPECT_TRUE(absl::IsOutOfRange(Step().status()));
  session_ = nullptr;
}

// No device is requested for the iterator: the users of its elements decide.
TEST_F(ElementsAheadTest, AnyIteratorWithABufferCopiesAhead) {
  Build(Numbers().Prefetch(kBuffer));
  Begin();
  ExpectStep(0);
  WaitForCopies(1 + kBuffer);
  ExpectStep(1);
  // A step that needs nothing on the device takes the element that the host has.
  const auto label = session_->Run({label_});
  ASSERT_TRUE(label.ok()) << label.status();
  EXPECT_EQ((*label)[0].scalar<int64_t>(), 2);
  ExpectStep(3);
  session_ = nullptr;
}

TEST_F(ElementsAheadTest, AnIteratorForTwoDevicesDoesNotGuess) {
  Build(Numbers().Prefetch(kBuffer));
  Output other;
  {
    auto device = g_.Device("/device:XLA_CPU:1");
    const data::Tensors next = iterator_.GetNext();
    other = next[0] + next[0];
  }
  Begin();
  for (int i = 0; i < kElements; i += 2) {
    ExpectStep(i);
    const auto values = session_->Run({other});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].data<float>()[0], 2 * (i + 1));
  }
  session_ = nullptr;
}

TEST_F(ElementsAheadTest, ThePositionIsSavedWithTheBuffer) {
  const data::Dataset dataset = Numbers().PrefetchToDevice(kDevice, kBuffer);
  Build(dataset);
  const data::Iterator other = data::Iterator::Initializable(dataset);
  const data::Tensors next = other.GetNext();
  const Output saved = NodeBuilder(g_, "SerializeIterator").Input(iterator_.resource()).Finish().output(0);
  const Operation restore = NodeBuilder(g_, "DeserializeIterator").Input(other.resource()).Input(saved).Finish();
  Begin();
  ExpectStep(0);
  ExpectStep(1);
  const auto run = session_->Run({restore});
  ASSERT_TRUE(run.ok()) << run.status();
  ExpectStep(2);
  label_ = next[1];
  auto device = g_.Device(kDevice);
  twice_ = next[0] + next[0];
  for (int i = 2; i < kElements; ++i) ExpectStep(i);
  EXPECT_TRUE(absl::IsOutOfRange(Step().status()));
  session_ = nullptr;
}

TEST_F(ElementsAheadTest, AnErrorOfThePipelineComesInItsTurn) {
  const auto source = [](const std::vector<Tensor>&) -> StatusOr<data::ElementSource> {
    return [i = 0]() mutable -> StatusOr<std::optional<std::vector<Tensor>>> {
      if (i == 2) return Internal("the file is gone");
      const auto x = static_cast<float>(i);
      return std::vector<Tensor>{Tensor::Vector<float>({x, x}), Tensor::Scalar<int64_t>(i++)};
    };
  };
  Build(data::Dataset::FromCallback(g_, {{kFloat32, {2}}, {kInt64, {}}}, source).PrefetchToDevice(kDevice, 4));
  Begin();
  ExpectStep(0);
  ExpectStep(1);
  EXPECT_THAT(std::string(Step().status().message()), HasSubstr("the file is gone"));
  session_ = nullptr;
}

TEST_F(ElementsAheadTest, AnIteratorEndsWhileItsElementsAreCopied) {
  Build(Numbers().PrefetchToDevice(kDevice, kBuffer));
  Begin();
  ExpectStep(0);
  WaitForCopies(1 + kBuffer);
  control->hold_work(true);
  std::thread step([this] { Step().status().IgnoreError(); });  // takes one, so that a further one is copied
  while (Copied() < 2 + kBuffer) std::this_thread::yield();
  std::thread end([this, &step] {
    step.join();
    session_ = nullptr;
  });
  control->hold_work(false);
  end.join();
}

TEST_F(ElementsAheadTest, AnyCallOfThePluginMayFail) {
  Build(Numbers().PrefetchToDevice(kDevice, kBuffer));
  Begin();
  ExpectStep(0);  // makes the client
  for (pjrt::FailingCalls calls(*control);;) {
    SCOPED_TRACE(calls.next());
    session_ = nullptr;
    ExpectNothingIsLeft(*control);
    Begin();
    int last = -1, errors = 0;
    const char* const failed = calls.Next([&] {
      for (int i = 0; i < kElements; ++i) {
        const auto step = Step();
        errors += static_cast<int>(!step.ok());
        if (!step.ok()) continue;
        EXPECT_GT(*step, last);
        last = *step;
      }
    });
    EXPECT_LE(errors, 1);
    if (failed == nullptr && calls.next() > 10) break;
  }
  session_ = nullptr;
}

}  // namespace
}  // namespace tensorbraid
