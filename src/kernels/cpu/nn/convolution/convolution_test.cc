// Tests of convolutions at sizes at which they split their work over threads, and of the functions of the C++ API.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

using nn::ConvolutionOptions;
using nn::DataFormat;
using nn::Padding;

// Images with elements in [-0.4, 0.6) that repeat only after 97 elements.
Tensor RampImages(const Shape& shape) {
  Tensor t(kFloat32, shape);
  int64_t i = 0;
  for (float& v : t.mutable_data<float>()) v = static_cast<float>(i++ * 31 % 97) / 97 - 0.4f;
  return t;
}

// A convolution and both of its gradients, in float32 and in float64.
class LargeConvolutions : public testing::Test {
 protected:
  using Function = Output (*)(const Operand&, const Operand&, const ConvolutionOptions&);

  std::vector<Output> Nodes(Graph& g, Function convolve, DType dtype, const Shape& x, const Shape& filter,
                            const ConvolutionOptions& options) {
    const auto input = [&](const Shape& shape) { return Cast(Const(g, RampImages(shape)), dtype); };
    const Output in = input(x), f = input(filter);
    const Output y = convolve(in, f, options);
    if (!y.valid()) return {};
    const auto grads = Gradients({y}, {in, f}, {input(y.shape())});
    if (!grads.ok()) return {};
    return {Cast(y, kFloat64), Cast(grads->at(0), kFloat64), Cast(grads->at(1), kFloat64)};
  }

  // Checks that results do not depend on the number of threads, and that those in float32 are close to those in
  // float64.
  void Check(Function convolve, const Shape& x, const Shape& filter, const ConvolutionOptions& options = {}) {
#ifdef TENSORBRAID_TSAN
    if (checks_++ > 0) return;  // These take minutes with ThreadSanitizer, which therefore sees the first of each test.
#endif
    SCOPED_TRACE(StrCat(x, " with ", filter));
    ThreadPool pool("convolution_test", 3);
    EvaluateOptions shared;
    shared.pool = &pool;
    std::optional<std::vector<Tensor>> exact;
    for (const DType dtype : {kFloat64, kFloat32}) {
      Graph g;
      const std::vector<Output> nodes = Nodes(g, convolve, dtype, x, filter, options);
      ASSERT_FALSE(nodes.empty()) << g.status();
      const auto a = Evaluate(nodes), b = Evaluate(nodes, {}, shared);
      ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
      if (!exact) exact = *a;
      for (size_t i = 0; i < nodes.size(); ++i) {
        SCOPED_TRACE(StrCat(dtype, ", ",
                            i == 0   ? "output"
                            : i == 1 ? "gradient of the input"
                                     : "gradient of the filter"));
        const auto alone = a->at(i).data<double>(), together = b->at(i).data<double>(),
                   want = exact->at(i).data<double>();
        double largest = 0;
        for (const double v : want) largest = std::max(largest, std::abs(v));
        for (size_t k = 0; k < alone.size(); ++k) {
          ASSERT_EQ(alone[k], together[k]) << "element " << k << " depends on the number of threads";
          ASSERT_NEAR(alone[k], want[k], largest_error_ * (1 + largest)) << "element " << k;
        }
      }
    }
  }
  Graph g_;
  double largest_error_ = 1e-5;  // relative to the largest value
  int checks_ = 0;
};

TEST_F(LargeConvolutions, SplitBatchesGiveTheSameResults) {
  Check(nn::Conv2D, {35, 12, 12, 3}, {3, 3, 3, 24});
  Check(nn::Conv2D, {37, 14, 14, 16}, {3, 3, 16, 32}, {.strides = {2}, .padding = Padding::kValid});
  Check(nn::Conv2D, {5, 30, 30, 8}, {3, 3, 8, 16}, {.dilations = {2, 3}});
}

// With these numbers of channels, the method of Winograd computes 3 x 3 and 5 x 5 windows (winograd.h). Some sizes of
// images are multiples of the tiles of 4 and 2 pixels, others are not.
TEST_F(LargeConvolutions, ManyChannelsAreCloseToFloat64) {
  largest_error_ = 3e-5;  // the rounding errors of this method are larger
  Check(nn::Conv2D, {12, 14, 14, 32}, {5, 5, 32, 48});
  Check(nn::Conv2D, {4, 19, 17, 48}, {5, 5, 48, 16}, {.padding = Padding::kValid});
  Check(nn::Conv2D, {20, 5, 7, 32}, {5, 5, 32, 32});
  Check(nn::Conv2D, {5, 28, 28, 16}, {3, 3, 16, 48});
  Check(nn::Conv2D, {6, 21, 31, 80}, {3, 3, 80, 16}, {.padding = Padding::kValid});
  Check(nn::Conv2D, {1, 50, 40, 32}, {3, 3, 32, 32});
  Check(nn::Conv2D, {12, 36, 20, 16}, {3, 3, 16, 32});
  Check(nn::Conv2D, {15, 12, 12, 240}, {3, 3, 240, 16});
  Check(nn::Conv2D, {8, 36, 20, 16}, {3, 3, 16, 112});
  Check(nn::Conv2D, {3, 20, 12, 128}, {3, 3, 128, 128});
  Check(nn::Conv2D, {3, 13, 11, 112}, {5, 5, 112, 80});
}

// With images and filters of ones, each result is the number of elements under the window, also at the edges of tiles
// and of the image.
TEST_F(LargeConvolutions, ManyChannelsOfOnesGiveTheSizeOfEachWindow) {
  for (const int64_t window : {3, 5}) {
    const Output x = Ones(g_, {6, 19, 22, 32});
    const Output f = Ones(g_, {window, window, 32, 32});
    const auto y = Evaluate({nn::Conv2D(x, f)});
    ASSERT_TRUE(y.ok()) << y.status();
    const auto values = y->at(0).data<float>();
    const auto covered = [&](int64_t at, int64_t size) {
      return std::min(at + window / 2, size - 1) - std::max<int64_t>(at - window / 2, 0) + 1;
    };
    for (int64_t i = 0; i < y->at(0).num_elements(); ++i) {
      const int64_t row = i / (22 * 32) % 19, column = i / 32 % 22;
      const auto want = static_cast<float>(32 * covered(row, 19) * covered(column, 22));
      ASSERT_NEAR(values[i], want, 1e-5 * want) << "row " << row << ", column " << column;
    }
  }
}

// Where all elements under a window are 0, the output is exactly 0, as a sum of products: Relu passes on the gradient
// of half of the outputs that are only nearly 0. The same holds for the gradient of the input.
TEST_F(LargeConvolutions, ManyChannelsOfZerosGiveZero) {
  for (const int64_t window : {3, 5}) {
    Tensor images = RampImages({8, 14, 15, 32});
    const auto is_zero = [](int64_t i) {
      const int64_t row = i / (15 * 32) % 14, column = i / 32 % 15;
      return row < 5 || row > 8 || column < 5 || column > 9;
    };
    auto elements = images.mutable_data<float>();
    for (int64_t i = 0; i < images.num_elements(); ++i) {
      if (is_zero(i)) elements[i] = 0;
    }
    Tensor filter = RampImages({window, window, 32, 32});
    const Output x = Const(g_, images), f = Const(g_, filter);
    const Output gradient = Gradients({nn::Conv2D(x, f)}, {x}, {x}).value()[0];
    const auto results = Evaluate({nn::Conv2D(x, f), gradient});
    ASSERT_TRUE(results.ok()) << results.status();
    const int64_t reach = window / 2;
    for (const Tensor& result : *results) {
      const auto values = result.data<float>();
      int64_t zeros = 0;
      for (int64_t i = 0; i < result.num_elements(); ++i) {
        const int64_t row = i / (15 * 32) % 14, column = i / 32 % 15;
        const bool sees_none = row + reach < 5 || row - reach > 8 || column + reach < 5 || column - reach > 9;
        if (sees_none) {
          ASSERT_EQ(values[i], 0) << "row " << row << ", column " << column;
        }
        zeros += values[i] == 0 ? 1 : 0;
      }
      EXPECT_LT(zeros, result.num_elements() * 9 / 10) << "the other outputs are not 0";
    }
    // A product with an infinity is not 0.
    filter.mutable_data<float>()[5] = std::numeric_limits<float>::infinity();
    const auto with_infinity = Evaluate({nn::Conv2D(x, Const(g_, filter))});
    ASSERT_TRUE(with_infinity.ok()) << with_infinity.status();
    EXPECT_TRUE(std::isnan(with_infinity->at(0).data<float>()[5]));
  }
}

// The environment variable is read when a kernel is made, that is, in the call of Evaluate.
TEST_F(LargeConvolutions, DirectConvolutionsKeepANanInItsWindow) {
  ::setenv("TENSORBRAID_DIRECT_CONVOLUTIONS", "1", 1);
  Tensor images = RampImages({4, 20, 20, 32});
  // Row 9, column 10 of the first image.
  images.mutable_data<float>()[(9 * 20 + 10) * 32] = std::numeric_limits<float>::quiet_NaN();
  const auto y = Evaluate({nn::Conv2D(Const(g_, images), Const(g_, RampImages({3, 3, 32, 32})))});
  ::unsetenv("TENSORBRAID_DIRECT_CONVOLUTIONS");
  ASSERT_TRUE(y.ok()) << y.status();
  const auto values = y->at(0).data<float>();
  for (int64_t i = 0; i < 20 * 20 * 32; ++i) {
    const int64_t row = i / (20 * 32), column = i / 32 % 20;
    ASSERT_EQ(std::isnan(values[i]), std::abs(row - 9) <= 1 && std::abs(column - 10) <= 1)
        << "row " << row << ", column " << column;
  }
}

TEST_F(LargeConvolutions, ASplitImageGivesTheSameResults) { Check(nn::Conv2D, {1, 100, 60, 4}, {3, 3, 4, 20}); }

TEST_F(LargeConvolutions, SplitBatchesWithChannelsFirstGiveTheSameResults) {
  Check(nn::Conv2D, {19, 5, 20, 14}, {3, 3, 5, 24}, {.data_format = DataFormat::kChannelsFirst});
}

TEST_F(LargeConvolutions, SplitBatchesOfGroupsGiveTheSameResults) {
  Check(nn::Conv2D, {37, 14, 14, 12}, {3, 3, 3, 20});
  Check(nn::DepthwiseConv2D, {37, 20, 20, 24}, {3, 3, 24, 1});
  Check(nn::DepthwiseConv2D, {37, 20, 20, 5}, {3, 3, 5, 3}, {.strides = {2}});
}

TEST_F(LargeConvolutions, SplitVolumesGiveTheSameResults) { Check(nn::Conv3D, {9, 6, 10, 8, 4}, {3, 3, 2, 4, 10}); }

TEST_F(LargeConvolutions, DilationsDoNotDependOnTheNumberOfThreads) {
  const Output x = Const(g_, RampImages({20, 30, 30, 8})), f = Const(g_, RampImages({3, 3, 8}));
  const Output y = nn::Dilation2D(x, f);
  const auto grads = Gradients({y}, {x, f}, {x});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ThreadPool pool("convolution_test", 3);
  EvaluateOptions shared;
  shared.pool = &pool;
  const auto a = Evaluate({y, grads->at(0), grads->at(1)}), b = Evaluate({y, grads->at(0), grads->at(1)}, {}, shared);
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  for (int i = 0; i < 3; ++i) {
    const auto alone = a->at(i).data<float>(), together = b->at(i).data<float>();
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin(), together.end())) << i;
  }
}

TEST(Conv2DTranspose, GivesTheSizeThatItsOptionsDescribe) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 4, 5, 2}), f = Const(g, RampImages({3, 3, 6, 2}));
  const std::vector<int64_t> two = {2};
  EXPECT_EQ(nn::Conv2DTranspose(x, f, {.strides = two}).shape(), Shape({-1, 8, 10, 6}));
  EXPECT_EQ(nn::Conv2DTranspose(x, f, {.strides = two, .output_size = {7, 9}}).shape(), Shape({-1, 7, 9, 6}));
  const auto size = [&](const nn::Conv2DTransposeOptions& options, const Tensor& value) {
    const auto y = Evaluate({nn::Conv2DTranspose(x, f, options)}, {{x, value}});
    EXPECT_TRUE(y.ok()) << y.status() << g.status();
    return y.ok() ? y->at(0).shape() : Shape();
  };
  const Tensor value = RampImages({3, 4, 5, 2});
  EXPECT_EQ(size({.strides = two}, value), Shape({3, 8, 10, 6}));
  EXPECT_EQ(size({.strides = two, .padding = Padding::kValid}, value), Shape({3, 9, 11, 6}));
  EXPECT_EQ(size({.strides = two, .padding = Padding::kExplicit, .explicit_paddings = {{1, 1}, {0, 2}}}, value),
            Shape({3, 7, 9, 6}));
  EXPECT_EQ(size({.padding = Padding::kValid, .dilations = {2}}, value), Shape({3, 8, 9, 6}));
}

TEST(Conv2DTranspose, IsTheTransposeOfConv2D) {
  Graph g;
  const ConvolutionOptions options = {.strides = {2, 1}, .data_format = DataFormat::kChannelsFirst};
  const Output x = Const(g, RampImages({2, 3, 8, 5})), f = Const(g, RampImages({3, 2, 3, 4}));
  const Output y = nn::Conv2D(x, f, options);
  const Output v = Const(g, RampImages({2, 4, 4, 5}));
  const Output back =
      nn::Conv2DTranspose(v, f, {.strides = options.strides, .data_format = DataFormat::kChannelsFirst});
  const auto result = Evaluate({ReduceSum(y * v), ReduceSum(x * back)});
  ASSERT_TRUE(result.ok()) << result.status() << g.status();
  EXPECT_NEAR(result->at(0).scalar<float>(), result->at(1).scalar<float>(), 1e-3);
}

// The message of the first mistake that `build` makes.
std::string MistakeOf(const std::function<void(const Output& x, const Output& filter)>& build) {
  Graph g;
  build(Const(g, RampImages({2, 5, 5, 3})), Const(g, RampImages({3, 3, 3, 4})));
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument) << g.status();
  return std::string(g.status().message());
}

TEST(ConvolutionMistakes, NameTheLineAndTheShapes) {
  const auto expect = [](const std::string& message, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  };
  expect(MistakeOf([](const Output& x, const Output& f) {
           nn::Conv2D(x, f, {.strides = {1, 2, 3}});
         }),
         {"convolution_test.cc", "strides must have no, one or 2 elements, got 3"});
  expect(MistakeOf([](const Output& x, const Output& f) { nn::Conv2D(x, f, {.strides = {0}}); }),
         {"convolution_test.cc", "'strides' must be positive"});
  expect(MistakeOf([](const Output& x, const Output& f) { nn::Conv2D(x, f, {.dilations = {0}}); }),
         {"convolution_test.cc", "'dilations' must be positive"});
  expect(MistakeOf([](const Output& x, const Output& f) {
           nn::DepthwiseConv2D(x, f, {.explicit_paddings = {{1, 1}}});
         }),
         {"convolution_test.cc", "explicit_paddings need Padding::kExplicit"});
  expect(MistakeOf([](const Output& x, const Output& f) {
           nn::Conv2D(x, f, {.padding = Padding::kValid, .dilations = {1, 3}});
         }),
         {"convolution_test.cc", "[2,5,5,3]", "[3,3,3,4]", "width is 3 with dilation 3, that of the input is 5"});
  expect(MistakeOf([](const Output& x, const Output& f) {
           nn::Conv2D(x, Slice(f, {0, 0, 0, 0}, {3, 3, 2, 4}));
         }),
         {"convolution_test.cc", "[2,5,5,3]", "[3,3,2,4]", "must be a multiple"});
  expect(MistakeOf([](const Output& x, const Output& f) { nn::Conv3D(x, f); }),
         {"convolution_test.cc", "the input must have rank 5"});
  expect(MistakeOf([](const Output& x, const Output& f) { nn::Conv2DTranspose(x, f, {.output_size = {1}}); }),
         {"convolution_test.cc", "output_size must be {height, width}"});
}

TEST(ConvolutionSizes, ThatDoNotFitInMemoryAreAnError) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, Shape::Unknown()), f = Placeholder(g, kFloat32, Shape::Unknown());
  const int64_t pad = int64_t{1} << 40;
  const Output y = nn::Conv2D(x, f, {.padding = Padding::kExplicit, .explicit_paddings = {{pad, pad}, {pad, pad}}});
  const auto result = Evaluate({y}, {{x, RampImages({1, 5, 5, 3})}, {f, RampImages({3, 3, 3, 4})}});
  EXPECT_FALSE(result.ok());
}

}  // namespace
}  // namespace tensorbraid
