// Tests the kernels of logging.cc.
#include <gtest/gtest.h>

#include <limits>

#include "executor/evaluate.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

// The message of an assertion that fails, from "assertion failed" on.
std::string FailedAssertion(const std::vector<Tensor>& data, int64_t summarize) {
  Graph g;
  std::vector<Output> inputs;
  for (const Tensor& t : data) inputs.push_back(Const(g, t));
  const Operation op = NodeBuilder(g, "Assert")
                           .Input(Const(g, Tensor::Scalar(false)))
                           .InputList(inputs)
                           .Attr("summarize", summarize)
                           .Finish();
  const Status status = Evaluate({}, {}, {.targets = {op}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  const std::string message(status.message());
  return message.substr(std::min(message.size(), message.find("assertion failed")));
}

// The texts equal TensorFlow's, because users match against them.
TEST(Assert, DescribesItsDataAsTensorFlowDoes) {
  const Tensor cube = Tensor::Of<int64_t>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const std::vector<Tensor> data = {cube,
                                    Tensor::Vector<float>({1.5f, 2}),
                                    Tensor::Scalar(7),
                                    Tensor::Scalar("a\nb"),
                                    Tensor::Of<bool>({2}, {true, false}),
                                    Tensor(kFloat32, {0}),
                                    Tensor::Of<std::string>({2, 2}, {"a", "b", "c", "d"})};
  EXPECT_EQ(FailedAssertion(data, -1),
            "assertion failed: [[[0 1][2 3][4 5]][[6 7][8 9][10 11]]] [1.5 2] [7] [a\\nb] [1 0] [] [[a b][c d]]");
  EXPECT_EQ(FailedAssertion(data, 1), "assertion failed: [[[0...]]...] [1.5...] [7] [a\\nb] [1...] [] [[a...]...]");
  EXPECT_EQ(FailedAssertion(data, 3),
            "assertion failed: [[[0 1][2...]]...] [1.5 2] [7] [a\\nb] [1 0] [] [[a b][c...]...]");
}

TEST(PrintV2, AppendsToAFile) {
  TempDir dir;
  const std::string path = dir.path() + "/log";
  Graph g;
  const Operation op = NodeBuilder(g, "PrintV2")
                           .Input(Const(g, Tensor::Scalar("text")))
                           .Attr("output_stream", "file://" + path)
                           .Attr("end", ";")
                           .Finish();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Evaluate({}, {}, {.targets = {op}}).ok());
  EXPECT_EQ(*ReadFile(path), "text;text;");
}

TEST(PrintV2, RefusesAnUnknownStream) {
  Graph g;
  const Operation op =
      NodeBuilder(g, "PrintV2").Input(Const(g, Tensor::Scalar("x"))).Attr("output_stream", "printer").Finish();
  EXPECT_TRUE(absl::IsInvalidArgument(Evaluate({}, {}, {.targets = {op}}).status()));
}

TEST(CheckNumericsV2, TellsInfinitiesApart) {
  Graph g;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Output checked = NodeBuilder(g, "CheckNumericsV2")
                             .Input(Const(g, Tensor::Vector<float>({1, -kInfinity, kInfinity})))
                             .Attr("message", "m")
                             .Output();
  const Status status = Evaluate({checked}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("m : Tensor had -Inf and +Inf values"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace tensorbraid
