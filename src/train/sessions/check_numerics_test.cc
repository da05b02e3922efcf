// Tests CheckNumericsHook.
#include <gtest/gtest.h>

#include <limits>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// The sum of the squares of log(x * weight), where the weight is 1 at first.
struct LogModel {
  LogModel() {
    x = Placeholder(g, kFloat32, {2}, "x");
    weight = Variable(g, {2}, Ones(), {.name = "weight"});
    const Output logarithm = Log(x * weight);
    log_line = __LINE__ - 1;
    name_of_log = logarithm.op().name();
    loss = ReduceSum(Square(logarithm));
    global_step = GetOrCreateGlobalStep(g);
    train = GradientDescentOptimizer(0.1).Minimize(loss, {.global_step = global_step});
  }
  Status Step(CheckNumericsOptions options, std::vector<float> values, std::vector<Fetch> also = {}) {
    auto session = MonitoredTrainingSession(g, {.hooks = {CheckNumericsHook(std::move(options))}});
    if (!session.ok()) return session.status();
    also.push_back(train);
    return (*session)->Run(also, {{x, Tensor::Vector<float>(values)}}).status();
  }

  Graph g;
  Output x, loss;
  Variable weight, global_step;
  Operation train;
  std::string name_of_log;
  int log_line = 0;
};

TEST(CheckNumericsHook, FiniteStepsPass) {
  LogModel m;
  EXPECT_TRUE(m.Step({}, {1, 2}).ok());
}

TEST(CheckNumericsHook, NamesTheOperationThatMadeTheFirstNan) {
  // Several threads run, so that an operation which depends on the NaN could be reported first.
  for (int i = 0; i < 20; ++i) {
    LogModel m;
    const Status status = m.Step({}, {-1, 1});
    ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
    const std::string text(status.message());
    EXPECT_NE(text.find(StrCat("'", m.name_of_log, ":0', made by Log")), std::string::npos) << text;
    EXPECT_NE(text.find(StrCat("check_numerics_test.cc:", m.log_line)), std::string::npos) << text;
    EXPECT_NE(text.find("NaN"), std::string::npos) << text;
    EXPECT_EQ(text.find("Square"), std::string::npos) << text;
  }
}

TEST(CheckNumericsHook, NamesTheFedTensorIfItIsNotFinite) {
  LogModel m;
  const Status status = m.Step({}, {std::numeric_limits<float>::infinity(), 1});
  ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("'x:0', made by Placeholder"), std::string::npos) << status;
  EXPECT_NE(status.message().find("Inf"), std::string::npos) << status;
}

TEST(CheckNumericsHook, ChecksOnlyTheChosenTensors) {
  LogModel m;
  const Status of_loss = m.Step({.tensors = {m.loss}}, {-1, 1});
  ASSERT_TRUE(absl::IsInvalidArgument(of_loss)) << of_loss;
  EXPECT_NE(of_loss.message().find(StrCat("'", m.loss.name(), "', made by Sum")), std::string::npos) << of_loss;
  LogModel n;
  EXPECT_TRUE(n.Step({.tensors = {n.weight.value()}}, {-1, 1}).ok());
}

TEST(CheckNumericsHook, FindsAGradientThatOverflows) {
  LogModel m;
  // Near 0 the logarithm is finite, but the derivative of its square, 2 log(x) / x, is not.
  const Status status = m.Step({}, {std::numeric_limits<float>::min(), 1});
  ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(status.message().find(StrCat("'", m.name_of_log, ":0'")), std::string::npos) << status;
}

TEST(CheckNumericsHook, ChecksNothingThatTheRunDoesNotNeed) {
  LogModel m;
  // A check of this operation would fail, because its placeholder is not fed.
  const Output other = Placeholder(m.g, kFloat32, {}, "other") * 2.0f;
  ASSERT_TRUE(other.valid());
  EXPECT_TRUE(m.Step({}, {1, 2}).ok());
}

TEST(CheckNumericsHook, TensorsThatCannotBeCheckedAreRefused) {
  LogModel m;
  const Status status = m.Step({.tensors = {m.global_step.value()}}, {1, 2});
  ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find("must be a floating tensor"), std::string::npos) << status;
}

TEST(CheckNumericsHook, ChecksOnlyTheResultOfAConditional) {
  LogModel m;
  const Operation choice = NodeBuilder(m.g, "Switch").Input(m.x).Input(Const(m.g, Tensor::Scalar(true))).Finish();
  const Output not_taken = Log(-choice.output(0)), taken = Square(choice.output(1));
  const Output merged = NodeBuilder(m.g, "Merge").InputList({not_taken, taken}).Output();
  // The branch that is not taken would give NaN.
  EXPECT_TRUE(m.Step({}, {1, 2}, {merged}).ok());
  LogModel n;
  const Operation always = NodeBuilder(n.g, "Switch").Input(n.x).Input(Const(n.g, Tensor::Scalar(true))).Finish();
  const Output bad = NodeBuilder(n.g, "Merge").InputList({Log(-always.output(1)), Square(always.output(0))}).Output();
  // The branch that is taken gives NaN.
  const Status status = n.Step({}, {1, 2}, {bad});
  ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find(StrCat("'", bad.name(), "', made by Merge")), std::string::npos) << status;
}

}  // namespace
}  // namespace tensorbraid
