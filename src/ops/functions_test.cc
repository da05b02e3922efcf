// Tests of public op functions. Expected values are TensorFlow's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

template <typename T = float>
std::vector<T> Values(const Output& x) {
  EXPECT_TRUE(x.valid());
  if (!x.valid()) return {};
  auto session = Session::Create(*x.graph());
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  const auto result = (*session)->Run({x});
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  const auto data = (*result)[0].data<T>();
  return {data.begin(), data.end()};
}

Output Matrix(Graph& g) { return Const(g, Tensor::Of<float>({2, 3}, {3, 1, 2, -1, 5, 0})); }

testing::Matcher<std::vector<float>> Near(std::vector<float> want) { return Pointwise(FloatNear(1e-5f), want); }

TEST(FunctionsTest, OperatorsCompareAndTakeRemainders) {
  Graph g;
  const Output x = Const(g, Tensor::Vector<int32_t>({-3, 0, 4}));
  EXPECT_THAT(Values<bool>(x > 0), ElementsAre(false, false, true));
  EXPECT_THAT(Values<bool>(x >= 0), ElementsAre(false, true, true));
  EXPECT_THAT(Values<bool>(x < 0), ElementsAre(true, false, false));
  EXPECT_THAT(Values<bool>(0 <= x), ElementsAre(false, true, true));
  EXPECT_THAT(Values<int32_t>(x % 2), ElementsAre(1, 0, 0));
}

TEST(FunctionsTest, SigmoidCrossEntropyHasAValueAndAGradientAndRefusesDifferentShapes) {
  Graph g;
  const Output logits = Const(g, Tensor::Vector<float>({-1000, -1, 0, 2, 1000}));
  const Output labels = Const(g, Tensor::Vector<float>({0, 1, 0.5, 0, 1}));
  const Output loss = nn::SigmoidCrossEntropy(labels, logits);
  EXPECT_THAT(Values(loss), Near({0, 1.3132617f, 0.6931472f, 2.126928f, 0}));
  const auto gradient = Gradients({loss}, {logits});
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  EXPECT_THAT(Values((*gradient)[0]), Near({0, -0.7310586f, 0, 0.8807971f, 0}));
  nn::SigmoidCrossEntropy(labels, Const(g, Tensor::Vector<float>({1, 2})));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("SigmoidCrossEntropy (functions_test.cc:"));
}

TEST(FunctionsTest, GeluAndSoftmaxOverAnAxisGiveTensorFlowsValues) {
  Graph g;
  const Output x = Const(g, Tensor::Vector<float>({-2, 0, 1}));
  EXPECT_THAT(Values(nn::Gelu(x)), Near({-0.0455003f, 0, 0.8413447f}));
  EXPECT_THAT(Values(nn::Gelu(x, /*approximate=*/true)), Near({-0.0454023f, 0, 0.841192f}));
  const Output m = Const(g, Tensor::Of<float>({2, 2}, {0, 1, 0, 3}));
  EXPECT_THAT(Values(nn::Softmax(m, 0)), Near({0.5f, 0.1192029f, 0.5f, 0.8807971f}));
  EXPECT_THAT(Values(nn::Softmax(m, -1)), Near({0.2689414f, 0.7310586f, 0.0474259f, 0.9525741f}));
  EXPECT_THAT(Values(nn::LogSoftmax(m, -2)), Near({-0.6931472f, -2.126928f, -0.6931472f, -0.126928f}));
  nn::Softmax(m, 2);
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("axis 2 does not exist in a tensor of shape [2,2]"));
}

TEST(FunctionsTest, TopKSortAndArgSortOrderTheElementsOfAnAxis) {
  Graph g;
  const Output m = Matrix(g);
  const TopKResult top = TopK(m, 2);
  EXPECT_THAT(Values(top.values), ElementsAre(3, 2, 5, 0));
  EXPECT_THAT(Values<int32_t>(top.indices), ElementsAre(0, 2, 1, 2));
  EXPECT_THAT(Values(Sort(m)), ElementsAre(1, 2, 3, -1, 0, 5));
  EXPECT_THAT(Values(Sort(m, 0, SortOrder::kDescending)), ElementsAre(3, 5, 2, -1, 1, 0));
  EXPECT_THAT(Values<int32_t>(ArgSort(m, 1)), ElementsAre(1, 2, 0, 0, 2, 1));
  EXPECT_THAT(Values<uint8_t>(Sort(Const(g, Tensor::Vector<uint8_t>({255, 0, 7})))), ElementsAre(0, 7, 255));
  // There is no -low in int32, so Sort must not negate its input.
  const int32_t low = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(Values<int32_t>(Sort(Const(g, Tensor::Vector<int32_t>({5, low, -5})))), ElementsAre(low, -5, 5));
  Sort(m, 2);
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("Sort (functions_test.cc:"));
}

TEST(FunctionsTest, CumsumEinsumAndScatterNdAddElements) {
  Graph g;
  const Output m = Matrix(g);
  EXPECT_THAT(Values(Cumsum(m, 1)), ElementsAre(3, 4, 6, -1, 4, 4));
  EXPECT_THAT(Values(Cumsum(m, -1, {.exclusive = true, .reverse = true})), ElementsAre(3, 2, 0, 5, 0, 0));
  EXPECT_THAT(Values(Einsum("ij,kj->ik", {m, m})), ElementsAre(14, 2, 2, 26));
  EXPECT_THAT(
      Values(ScatterNd(Const(g, Tensor::Of<int32_t>({3, 1}, {1, 3, 1})), Tensor::Vector<float>({1, 2, 4}), {4})),
      ElementsAre(0, 5, 0, 2));
}

TEST(FunctionsTest, SegmentFunctionsReduceTheElementsOfEachSegment) {
  Graph g;
  const Output x = Const(g, Tensor::Vector<float>({1, 2, 3, 4}));
  const Tensor ids = Tensor::Vector<int32_t>({0, 0, 2, 2});
  EXPECT_THAT(Values(SegmentSum(x, ids)), ElementsAre(3, 0, 7));
  EXPECT_THAT(Values(SegmentMean(x, ids)), ElementsAre(1.5f, 0, 3.5f));
  EXPECT_THAT(Values(SegmentProd(x, ids)), ElementsAre(2, 1, 12));
  EXPECT_THAT(Values(SegmentMax(x, ids)), ElementsAre(2, 0, 4));
  EXPECT_THAT(Values(SegmentMin(x, ids)), ElementsAre(1, 0, 3));
  // Elements with a negative id belong to no segment.
  const Tensor mixed = Tensor::Vector<int32_t>({1, 0, 1, -1});
  EXPECT_THAT(Values(UnsortedSegmentSum(x, mixed, 2)), ElementsAre(2, 4));
  EXPECT_THAT(Values(UnsortedSegmentProd(x, mixed, 2)), ElementsAre(2, 3));
  EXPECT_THAT(Values(UnsortedSegmentMax(x, mixed, 2)), ElementsAre(2, 3));
  EXPECT_THAT(Values(UnsortedSegmentMin(x, mixed, 2)), ElementsAre(2, 1));
}

TEST(FunctionsTest, MultinomialAndRandomCropChooseFromTheirInput) {
  Graph g;
  // Only one class has a probability above 0.
  const Output logits = Const(g, Tensor::Of<float>({2, 3}, {-1e9f, 0, -1e9f, 0, -1e9f, -1e9f}));
  EXPECT_THAT(Values<int64_t>(Multinomial(logits, 2, /*seed=*/1)), ElementsAre(1, 1, 0, 0));
  Tensor grid(kInt32, {4, 5});
  std::iota(grid.mutable_data<int32_t>().begin(), grid.mutable_data<int32_t>().end(), 0);
  const Output crop = RandomCrop(Const(g, grid), {2, 3}, /*seed=*/7);
  EXPECT_EQ(crop.shape(), Shape({2, 3}));
  const auto part = Values<int32_t>(crop);
  ASSERT_EQ(part.size(), 6u);
  // Each row of the grid has 5 numbers, so the number below another one is larger by 5.
  for (int i = 1; i < 3; ++i) EXPECT_EQ(part[i], part[0] + i);
  EXPECT_EQ(part[3], part[0] + 5);
  auto session = Session::Create(g).value();
  const Status status = session->Run({RandomCrop(Const(g, grid), {2, 6})}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("size is larger than the value"));
}

TEST(FunctionsTest, ReadFileAndPrintReturnValuesAndAssertFailsWithItsData) {
  const TempDir dir;
  ASSERT_TRUE(WriteFile(dir.path() + "/a.txt", "hello").ok());
  Graph g;
  const Output name = Const(g, Tensor::Scalar(dir.path() + "/a.txt"));
  EXPECT_THAT(Values<std::string>(ReadFile(name)), ElementsAre("hello"));
  const Output x = Const(g, Tensor::Vector<float>({1, 2}));
  EXPECT_THAT(Values(Print(x, {x}, {.message = "x is "})), ElementsAre(1, 2));
  auto session = Session::Create(g).value();
  EXPECT_TRUE(session->Run({Assert(ReduceAll(x > 0), {x})}).ok());
  const Status failed = session->Run({Assert(ReduceAll(x > 1), {Tensor::Scalar("too small:"), x})}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr("too small:"));
}

}  // namespace
}  // namespace tensorbraid
