// Tests array ops from the public functions down to the kernels. (The tests in tests/ops compare their results with
// those of other systems.)
#include "tensorbraid/ops/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "core/testing/memory_limit.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

class ArrayTest : public ::testing::Test {
 protected:
  // A tensor of shape `shape` with the elements 0, 1, 2, ... It is fed, so its values are unknown while the graph is
  // built; with known_shape = false its shape is unknown then, too.
  Output Iota(const Shape& shape, bool known_shape = true) {
    const Output x = Placeholder(g_, kFloat32, known_shape ? shape : Shape::Unknown());
    Tensor value(kFloat32, shape);
    std::iota(value.mutable_data<float>().begin(), value.mutable_data<float>().end(), 0.0F);
    feeds_.emplace_back(x, value);
    return x;
  }
  Tensor Get(const Output& output) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    auto result = Evaluate({output}, feeds_);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[0] : Tensor();
  }
  void ExpectFloats(const Output& output, const Shape& shape, const std::vector<float>& values) {
    const Tensor t = Get(output);
    if (!t.is_valid()) return;
    EXPECT_EQ(t.shape(), shape);
    EXPECT_TRUE(output.shape().IsCompatibleWith(shape)) << output.shape().ToString();
    EXPECT_EQ(ValuesOf<float>(t), values);
  }
  std::string RunError(const Output& output) {
    EXPECT_TRUE(g_.status().ok()) << g_.status();
    const Status status = Evaluate({output}, feeds_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }
  std::string BuildError() { return std::string(g_.status().message()); }

  Graph g_;
  std::vector<std::pair<Output, Tensor>> feeds_;
};

TEST_F(ArrayTest, TheErrorOfAnUnfedPlaceholderNamesIt) {
  const Output x = Placeholder(g_, kFloat32, {-1, 784}, "images");
  EXPECT_THAT(RunError(Identity(x)), HasSubstr("placeholder 'images' (float32[?,784]) must be fed"));
}

TEST_F(ArrayTest, ReshapeInfersOneSize) {
  ExpectFloats(Reshape(Iota({2, 3}), {3, -1}), {3, 2}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(Reshape(Iota({2, 3}), {-1}).shape(), Shape({6}));
  ExpectFloats(Reshape(Iota({0, 3}), {-1, 3}), {0, 3}, {});
  ExpectFloats(Reshape(Iota({1}), Shape()), {}, {0});
}

TEST_F(ArrayTest, AnImpossibleReshapeFailsWhenBuilt) {
  EXPECT_FALSE(Reshape(Iota({2, 3}), {4, -1}).valid());
  EXPECT_THAT(BuildError(), HasSubstr("[2,3]"));
}

TEST_F(ArrayTest, AnImpossibleReshapeFailsWhenRun) {
  EXPECT_THAT(
      RunError(Reshape(Iota({2, 3}, /*known_shape=*/false), {4, -1})),
      HasSubstr(
          "cannot reshape [2,3] to int32[2] [4 -1]: the requested shape requires a multiple of 4 values, but the input "
          "has 6"));
}

TEST_F(ArrayTest, ExpandDimsAddsAndSqueezeRemovesDimensionsOfSizeOne) {
  EXPECT_EQ(ExpandDims(Iota({2, 3}), -1).shape(), Shape({2, 3, 1}));
  ExpectFloats(ExpandDims(Iota({2}), 0), {1, 2}, {0, 1});
  ExpectFloats(Squeeze(Iota({1, 2, 1})), {2}, {0, 1});
  ExpectFloats(Squeeze(Iota({1, 2, 1}), {-1}), {1, 2}, {0, 1});
  EXPECT_THAT(RunError(Squeeze(Iota({2, 1}, /*known_shape=*/false), {0})), HasSubstr("does not have size 1"));
}

TEST_F(ArrayTest, ShapeSizeAndRankDescribeTheirInput) {
  const Output x = Iota({2, 0, 3}, /*known_shape=*/false);
  EXPECT_EQ(ValuesOf<int32_t>(Get(ShapeOf(x))), (std::vector<int32_t>{2, 0, 3}));
  EXPECT_EQ(ValuesOf<int64_t>(Get(ShapeOf(x, kInt64))), (std::vector<int64_t>{2, 0, 3}));
  EXPECT_EQ(Get(Size(x)).scalar<int32_t>(), 0);
  EXPECT_EQ(Get(Rank(x)).scalar<int32_t>(), 3);
}

TEST_F(ArrayTest, FillOnesLikeAndZerosLikeRepeatOneValue) {
  ExpectFloats(Fill(g_, {2, 2}, 3.5F), {2, 2}, {3.5, 3.5, 3.5, 3.5});
  ExpectFloats(OnesLike(Iota({3})), {3}, {1, 1, 1});
  ExpectFloats(ZerosLike(Iota({3})), {3}, {0, 0, 0});
  EXPECT_EQ(ValuesOf<std::string>(Get(Fill(g_, {2}, Tensor::Scalar("a")))), (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(float(Get(OnesLike(Const(g_, Tensor::Scalar(Bfloat16(7.0F))))).scalar<Bfloat16>()), 1);
}

TEST_F(ArrayTest, BroadcastToRepeats) {
  ExpectFloats(BroadcastTo(Iota({2, 1}), {2, 2, 3}), {2, 2, 3}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  EXPECT_THAT(RunError(BroadcastTo(Iota({2}, /*known_shape=*/false), {3})), HasSubstr("does not broadcast"));
}

TEST_F(ArrayTest, OneHotIgnoresIndicesOutOfRange) {
  const Output indices = Const(g_, Tensor::Vector<int32_t>({1, -1, 2}));
  ExpectFloats(OneHot(indices, 3), {3, 3}, {0, 1, 0, 0, 0, 0, 0, 0, 1});
  ExpectFloats(OneHot(indices, 2, {.on_value = 5.0F, .off_value = 1.0F, .axis = 0}), {2, 3}, {1, 1, 1, 5, 1, 1});
}

TEST_F(ArrayTest, ConcatJoinsAlongAnyAxis) {
  ExpectFloats(Concat({Iota({1, 2}), Iota({2, 2})}, 0), {3, 2}, {0, 1, 0, 1, 2, 3});
  ExpectFloats(Concat({Iota({2, 1}), Iota({2, 0}), Iota({2, 2})}, -1), {2, 3}, {0, 0, 1, 1, 2, 3});
  EXPECT_FALSE(Concat({Iota({1, 2}), Iota({2, 3})}, 0).valid());
  EXPECT_THAT(BuildError(), HasSubstr("must be equal in all dimensions except 0"));
}

TEST_F(ArrayTest, SplitIsTheInverseOfConcat) {
  const auto columns = Split(Iota({2, 4}), 2, 1);
  ExpectFloats(columns[1], {2, 2}, {2, 3, 6, 7});
  const auto rows = SplitV(Iota({4, 1}), {1, -1}, 0);
  ExpectFloats(rows[1], {3, 1}, {1, 2, 3});
  EXPECT_EQ(rows[1].shape(), Shape({3, 1}));
}

TEST_F(ArrayTest, SplittingRowsCopiesNothing) {
  Tensor whole(kFloat32, {4, 8});
  const void* bytes = whole.raw_data();
  const Output x = Placeholder(g_, kFloat32, {4, 8});
  feeds_.emplace_back(x, whole);
  EXPECT_EQ(Get(Split(x, 2, 0)[0]).raw_data(), bytes);
}

TEST_F(ArrayTest, StackAddsAndUnstackRemovesAnAxis) {
  ExpectFloats(Stack({Iota({2}), Iota({2})}, 1), {2, 2}, {0, 0, 1, 1});
  ExpectFloats(Stack({Iota({2}), Iota({2})}), {2, 2}, {0, 1, 0, 1});
  const auto parts = Unstack(Iota({2, 3}), 1);
  ASSERT_EQ(parts.size(), 3U);
  ExpectFloats(parts[2], {2}, {2, 5});
  ExpectFloats(Unstack(Iota({2, 3}))[1], {3}, {3, 4, 5});
  ExpectFloats(Stack({Operand(Iota({})), Operand(2)}), {2}, {0, 2});
}

TEST_F(ArrayTest, SliceTakesARegion) {
  ExpectFloats(Slice(Iota({3, 4}), {1, 1}, {2, -1}), {2, 3}, {5, 6, 7, 9, 10, 11});
  ExpectFloats(Slice(Iota({3, 4}), {1, 0}, {1, 4}), {1, 4}, {4, 5, 6, 7});
  ExpectFloats(Slice(Iota({2, 2, 2}), {0, 1, 0}, {2, 1, 2}), {2, 1, 2}, {2, 3, 6, 7});
  EXPECT_THAT(RunError(Slice(Iota({3}, /*known_shape=*/false), {2}, {2})),
              HasSubstr("slice of 2 elements from index 2 is out of range"));
}

TEST_F(ArrayTest, StridedSliceFollowsNumPy) {
  const Output x = Iota({3, 4});
  ExpectFloats(StridedSlice(x, {0, 1}, {3, 4}, {2, 2}), {2, 2}, {1, 3, 9, 11});
  // x[::-1, -2:]
  ExpectFloats(StridedSlice(x, {0, -2}, {0, 0}, {-1, 1}, {.begin_mask = 1, .end_mask = 3}), {3, 2},
               {10, 11, 6, 7, 2, 3});
  // x[1]
  ExpectFloats(StridedSlice(x, {1}, {2}, {1}, {.shrink_axis_mask = 1}), {4}, {4, 5, 6, 7});
  // x[..., -1]
  ExpectFloats(StridedSlice(x, {0, -1}, {0, 0}, {1, 1}, {.ellipsis_mask = 1, .shrink_axis_mask = 2}), {3}, {3, 7, 11});
  // x[newaxis, 2:, 0]
  ExpectFloats(
      StridedSlice(x, {0, 2, 0}, {0, 0, 1}, {1, 1, 1}, {.end_mask = 2, .new_axis_mask = 1, .shrink_axis_mask = 4}),
      {1, 1}, {8});
  // x[5:1]
  ExpectFloats(StridedSlice(x, {5}, {1}, {1}), {0, 4}, {});
  // x[100:0:-2, 1:2]
  ExpectFloats(StridedSlice(x, {100, 1}, {0, 2}, {-2, 1}), {1, 1}, {9});
  EXPECT_THAT(RunError(StridedSlice(Iota({3}, /*known_shape=*/false), {3}, {4}, {1}, {.shrink_axis_mask = 1})),
              HasSubstr("index 3 is out of range"));
}

TEST_F(ArrayTest, PadAddsBorders) {
  const Output paddings = Const(g_, Tensor::Of<int32_t>({2, 2}, {1, 0, 0, 2}));
  ExpectFloats(Pad(Iota({1, 2}), paddings), {2, 4}, {0, 0, 0, 0, 0, 1, 0, 0});
  ExpectFloats(PadV2(Iota({1, 2}), paddings, 9), {2, 4}, {9, 9, 9, 9, 0, 1, 9, 9});
}

TEST_F(ArrayTest, TileRepeats) {
  ExpectFloats(Tile(Iota({1, 2}), {2, 2}), {2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  ExpectFloats(Tile(Iota({2, 1}), {1, 3}), {2, 3}, {0, 0, 0, 1, 1, 1});
  ExpectFloats(Tile(Iota({2}), {0}), {0}, {});
}

TEST_F(ArrayTest, TransposePermutes) {
  ExpectFloats(Transpose(Iota({2, 3})), {3, 2}, {0, 3, 1, 4, 2, 5});
  ExpectFloats(Transpose(Iota({2, 2, 2}), {2, 0, 1}), {2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  ExpectFloats(Transpose(Iota({2, 2, 2}), {1, 0, 2}), {2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7});
  ExpectFloats(Transpose(Iota({2, 1}), {0, 1}), {2, 1}, {0, 1});
  const Tensor large = Get(Transpose(Iota({70, 45})));
  for (int i = 0; i < 45; ++i) {
    for (int j = 0; j < 70; ++j) ASSERT_EQ(large.data<float>()[i * 70 + j], j * 45 + i);
  }
  EXPECT_FALSE(Transpose(Iota({2, 3}), {0, 0}).valid());
  EXPECT_THAT(BuildError(), HasSubstr("is not a permutation"));
}

TEST_F(ArrayTest, FourDimensionsAreTransposedInEveryOrder) {
  const Shape shape{2, 3, 4, 5};
  std::vector<int64_t> perm = {0, 1, 2, 3};
  do {
    const Tensor t = Get(Transpose(Iota(shape), perm));
    int64_t strides[4] = {60, 20, 5, 1};
    int64_t i = 0;
    for (int64_t a = 0; a < shape.dim(perm[0]); ++a)
      for (int64_t b = 0; b < shape.dim(perm[1]); ++b)
        for (int64_t c = 0; c < shape.dim(perm[2]); ++c)
          for (int64_t d = 0; d < shape.dim(perm[3]); ++d)
            ASSERT_EQ(t.data<float>()[i++],
                      a * strides[perm[0]] + b * strides[perm[1]] + c * strides[perm[2]] + d * strides[perm[3]]);
  } while (std::next_permutation(perm.begin(), perm.end()));
}

TEST_F(ArrayTest, ReverseFlipsAxesAndInvertPermutationInverts) {
  ExpectFloats(Reverse(Iota({2, 3}), {1}), {2, 3}, {2, 1, 0, 5, 4, 3});
  ExpectFloats(Reverse(Iota({2, 3}), {0}), {2, 3}, {3, 4, 5, 0, 1, 2});
  const Output perm = Const(g_, Tensor::Vector<int32_t>({2, 0, 1}));
  EXPECT_EQ(ValuesOf<int32_t>(Get(InvertPermutation(perm))), (std::vector<int32_t>{1, 2, 0}));
}

TEST_F(ArrayTest, GatherLooksUpAlongAnyAxis) {
  const Output indices = Const(g_, Tensor::Of<int64_t>({1, 2}, {2, 0}));
  ExpectFloats(Gather(Iota({3, 2}), indices), {1, 2, 2}, {4, 5, 0, 1});
  ExpectFloats(Gather(Iota({2, 3}), indices, 1), {2, 1, 2}, {2, 0, 5, 3});
  EXPECT_THAT(RunError(Gather(Iota({2, 2}), indices)), HasSubstr("indices[0,0] = 2 is not in [0, 2)"));
  const Output nd = Const(g_, Tensor::Of<int32_t>({2, 2}, {1, 0, 0, 1}));
  ExpectFloats(GatherNd(Iota({2, 2, 2}), nd), {2, 2}, {4, 5, 2, 3});
}

TEST_F(ArrayTest, GatherWithBatchDimsLooksUpWithinEachBatch) {
  const Output params = Iota({2, 3, 2});
  const Output indices = Const(g_, Tensor::Of<int32_t>({2, 1}, {2, 0}));
  const Output axis = Const(g_, Tensor::Scalar<int32_t>(1));
  const Output y = NodeBuilder(g_, "GatherV2").Input(params).Input(indices).Input(axis).Attr("batch_dims", 1).Output();
  ExpectFloats(y, {2, 1, 2}, {4, 5, 6, 7});
}

TEST_F(ArrayTest, BatchDimsThatDoNotFitAreRefusedWhenBuiltAndWhenRun) {
  // Gathers along axis 1.
  const auto error = [](bool known, int batch_dims, const Shape& params, const Shape& indices) {
    Graph g;
    std::vector<std::pair<Output, Tensor>> feeds;
    const auto zeros = [&](DType dtype, const Shape& shape) {
      feeds.emplace_back(Placeholder(g, dtype, known ? shape : Shape::Unknown()), Tensor(dtype, shape));
      return feeds.back().first;
    };
    const Output x = zeros(kFloat32, params), i = zeros(kInt32, indices);
    const Output axis = Const(g, Tensor::Scalar<int32_t>(1));
    const Output y = NodeBuilder(g, "GatherV2").Input(x).Input(i).Input(axis).Attr("batch_dims", batch_dims).Output();
    EXPECT_EQ(g.status().ok(), !known);
    return std::string((known ? g.status() : Evaluate({y}, feeds).status()).message());
  };
  for (const bool known : {true, false}) {
    EXPECT_THAT(error(known, 1, {2, 3}, {}), HasSubstr("Expected batch_dims in the range [0, 0], but got 1"));
    EXPECT_THAT(error(known, -3, {2, 3}, {2, 3}), HasSubstr("Expected batch_dims in the range [-2, 2], but got -3"));
    EXPECT_THAT(error(known, -1, {2, 3}, {2, 3, 1}), HasSubstr("batch_dims (2) must be less than rank(params) (2)"));
    EXPECT_THAT(error(known, 2, {2, 3, 4}, {2, 3}), HasSubstr("batch_dims (2) must be less than or equal to axis (1)"));
    EXPECT_THAT(error(known, 0, {}, {2}), HasSubstr("must have rank 1 or more"));
  }
  EXPECT_THAT(error(/*known=*/false, 1, {2, 3}, {4, 1}),
              HasSubstr("params.shape[0]: 2 should be equal to indices.shape[0]: 4"));
}

TEST_F(ArrayTest, WhereReturnsIndicesOfTrueElements) {
  const Output condition = Const(g_, Tensor::Of<bool>({2, 2}, {true, false, true, true}));
  const Tensor found = Get(Where(condition));
  EXPECT_EQ(found.shape(), Shape({3, 2}));
  EXPECT_EQ(ValuesOf<int64_t>(found), (std::vector<int64_t>{0, 0, 1, 0, 1, 1}));
}

TEST_F(ArrayTest, DistinctIntegersAreNumberedInTheOrderOfTheirFirstOccurrence) {
  std::mt19937 random(1);
  for (const int64_t distinct : {1, 100, 60'000}) {
    std::vector<int64_t> ids(100'000), values, numbers, counts;
    std::map<int64_t, int64_t> number_of;
    for (int64_t& id : ids) {
      id = (static_cast<int64_t>(random()) % distinct - distinct / 2) << (random() % 2 * 32);
      const auto [it, is_new] = number_of.try_emplace(id, std::ssize(values));
      if (is_new) {
        values.push_back(id);
        counts.push_back(0);
      }
      numbers.push_back(it->second);
      ++counts[static_cast<size_t>(it->second)];
    }
    const Output x = Const(g_, Tensor::Vector(ids));
    const Operation unique = NodeBuilder(g_, "UniqueWithCounts").Input(x).Attr("out_idx", kInt64).Finish();
    EXPECT_EQ(ValuesOf<int64_t>(Get(unique.output(0))), values);
    EXPECT_EQ(ValuesOf<int64_t>(Get(unique.output(1))), numbers);
    EXPECT_EQ(ValuesOf<int64_t>(Get(unique.output(2))), counts);
    const Operation narrow = NodeBuilder(g_, "Unique").Input(Cast(x, kInt32)).Finish();
    EXPECT_EQ(Get(narrow.output(1)).dtype(), kInt32);
    EXPECT_LE(Get(narrow.output(0)).num_elements(), std::ssize(values));
  }
}

TEST_F(ArrayTest, StringsCanBeRearranged) {
  const Output s = Const(g_, Tensor::Of<std::string>({2, 2}, {"a", "b", "c", "d"}));
  EXPECT_EQ(ValuesOf<std::string>(Get(Transpose(s))), (std::vector<std::string>{"a", "c", "b", "d"}));
  EXPECT_EQ(ValuesOf<std::string>(Get(Concat({s, s}, 1)))[2], "a");
  EXPECT_EQ(ValuesOf<std::string>(Get(Tile(s, {1, 2})))[1], "b");
}

TEST_F(ArrayTest, InvalidOperandsGiveInvalidOutputsAndOneMessage) {
  const Output bad = Reshape(Iota({2, 3}), {4});
  const std::string first = BuildError();
  EXPECT_FALSE(Transpose(bad).valid());
  EXPECT_FALSE(Concat({bad, bad}, 0).valid());
  EXPECT_FALSE(Split(bad, 2)[0].valid());
  EXPECT_FALSE(Unstack(bad, 0, 2)[1].valid());
  EXPECT_EQ(BuildError(), first);
}

TEST_F(ArrayTest, ASliceThatBeginsOutOfRangeIsRefusedWhateverItsSize) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  const Output begin = Placeholder(g_, kInt64, {1});
  feeds_.emplace_back(begin, Tensor::Vector<int64_t>({kLowest}));
  const Output size = Const(g_, Tensor::Vector<int64_t>({-1}));
  const Output slice =
      NodeBuilder(g_, "Slice").Input(Iota({3}, /*known_shape=*/false)).Input(begin).Input(size).Output();
  EXPECT_THAT(RunError(slice), HasSubstr(StrCat("slice of -1 elements from index ", kLowest)));
}

TEST_F(ArrayTest, SizesThatOverflowAreRefusedWhenTheGraphIsBuilt) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const auto error = [](const char* op, const Shape& in, const Tensor& argument) {
    Graph g;
    NodeBuilder(g, op).Input(Placeholder(g, kFloat32, in)).Input(Const(g, argument)).Finish();
    return std::string(g.status().message());
  };
  // The product of the sizes is 0 modulo 2^64.
  EXPECT_THAT(error("Reshape", {0}, Tensor::Vector<int64_t>({kHuge, 4})), HasSubstr("too many elements"));
  EXPECT_THAT(error("Reshape", Shape::Unknown(), Tensor::Vector<int64_t>({kHuge, 4})), HasSubstr("too many elements"));
  EXPECT_THAT(error("Tile", {4}, Tensor::Vector<int64_t>({kHuge})), HasSubstr("out of range for dimension 0"));
  EXPECT_THAT(error("Pad", {4}, Tensor::Of<int64_t>({1, 2}, {kHuge, kHuge})), HasSubstr("too large for dimension 0"));
}

TEST_F(ArrayTest, CopiesThatDoNotFitInMemoryFailTheirStep) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  const MemoryLimit limit(3 * kBytes / 2);
  const Output x = Placeholder(g_, DType::kComplex64, {kBytes / 8, 1});
  feeds_.emplace_back(x, Tensor(DType::kComplex64, {kBytes / 8, 1}));
  const Output copy = NodeBuilder(g_, "DeepCopy").Input(x).Output();
  EXPECT_TRUE(absl::IsResourceExhausted(Evaluate({copy}, feeds_).status()));
  // No element moves, so only the conjugate needs memory.
  const Output conjugate =
      NodeBuilder(g_, "ConjugateTranspose").Input(x).Input(Const(g_, Tensor::Vector<int32_t>({1, 0}))).Output();
  EXPECT_TRUE(absl::IsResourceExhausted(Evaluate({conjugate}, feeds_).status()));
}

}  // namespace
}  // namespace tensorbraid
