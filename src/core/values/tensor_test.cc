// Tests tensors, shapes and dtypes, and parts of status.h and of strings.h.
#include "tensorbraid/core/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <new>

#include "core/memory/allocator.h"
#include "core/testing/memory_limit.h"
#include "core/text/strings.h"
#include "core/values/tensor_bytes.h"

namespace tensorbraid {
namespace {

TEST(ShapeTest, MergingFillsInUnknownDimensions) {
  EXPECT_EQ(Shape({-1, 3}).MergeWith({2, -1}).value(), Shape({2, 3}));
  EXPECT_EQ(Shape::Unknown().MergeWith({2}).value(), Shape({2}));
  EXPECT_EQ(Shape({2}).MergeWith({3}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Shape({-1, 3}).ToString(), "[?,3]");
  EXPECT_EQ(Shape({int64_t{1} << 40, int64_t{1} << 40}).num_elements(), -1);
}

TEST(TensorTest, BuffersAreAlignedSharedAndReused) {
  Tensor t = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.raw_data()) % kTensorAlignment, 0u);
  EXPECT_TRUE(t.IsWritable());
  Tensor row = t.Slice(1, 2);
  EXPECT_FALSE(t.IsWritable());
  EXPECT_TRUE(row.SharesBufferWith(t));
  EXPECT_EQ(row.ToString(), "float32[1,3] [[4 5 6]]");
  EXPECT_EQ(t.Reshaped({7}).status().code(), absl::StatusCode::kInvalidArgument);
  const void* block = t.raw_data();
  t = row = Tensor();
  EXPECT_EQ(Tensor(kFloat32, {2, 3}).raw_data(), block);
}

TEST(TensorTest, WritingToATensorChangesNoOtherTensor) {
  const Tensor original = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  Tensor copy = original, row = original.Slice(1, 2), reshaped = original.Reshaped({4}).value();
  copy.mutable_data<float>()[0] = 7;
  row.mutable_data<float>()[0] = 8;
  static_cast<float*>(reshaped.mutable_raw_data())[3] = 9;
  EXPECT_EQ(original.ToString(), "float32[2,2] [[1 2][3 4]]");
  EXPECT_EQ(copy.ToString(), "float32[2,2] [[7 2][3 4]]");
  EXPECT_EQ(row.ToString(), "float32[1,2] [[8 4]]");
  EXPECT_EQ(reshaped.ToString(), "float32[4] [1 2 3 9]");
  const Tensor texts = Tensor::Vector<std::string>({"a"});
  Tensor text = texts;
  text.mutable_data<std::string>()[0] = "b";
  EXPECT_EQ(texts.data<std::string>()[0], "a");
}

TEST(TensorTest, TheOnlyHandleIsWrittenInPlace) {
  Tensor t = Tensor::Of<float>({2}, {1, 2});
  EXPECT_FALSE(t.MayChange());
  const float* const elements = t.data<float>().data();
  EXPECT_EQ(t.mutable_data<float>().data(), elements);
  EXPECT_EQ(t.mutable_data<float>().data(), elements);
  EXPECT_TRUE(t.MayChange());
  EXPECT_FALSE(t.DeepCopy().MayChange());
  EXPECT_EQ(Tensor(kFloat32, {0}).mutable_data<float>().size(), 0u);
}

TEST(TensorTest, WritingToBorrowedMemoryCopiesIt) {
  const std::vector<float> memory = {1, 2};
  Tensor t = Tensor::Borrow(memory.data(), kFloat32, {2}).value();
  t.mutable_data<float>()[0] = 7;
  EXPECT_EQ(memory[0], 1);
  EXPECT_EQ(t.data<float>()[0], 7);
}

TEST(TensorTest, CreateRefusesInvalidTensors) {
  EXPECT_EQ(Tensor::Create(kFloat32, {-1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Create(DType::kInvalid, {1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Tensor::Create(kFloat32, {int64_t{1} << 50}).ok());
}

TEST(TensorDeathTest, ReadingTheResultOfAFetchedOperationSaysWhyItHasNoValue) {
  const Tensor none;
  EXPECT_DEATH(none.scalar<float>(), "returns for a fetched operation");
  EXPECT_DEATH(none.data<float>(), "returns for a fetched operation");
}

TEST(TensorDeathTest, AWrongUseNamesTheLineOfTheCallerAndTheTensor) {
  const std::string here = "tensor_test.cc:[0-9]+: ";
  Tensor t = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string type =
      here + "element type: the tensor is float32\\[2,3\\], but its elements are used as float64; their type is float";
  EXPECT_DEATH(t.scalar<double>(), type);
  EXPECT_DEATH(t.data<double>(), type);
  EXPECT_DEATH(t.mutable_data<double>(), type);
  EXPECT_DEATH(t.scalar<float>(), here +
                                      "number of elements: the tensor is float32\\[2,3\\] and has 6 elements, but is "
                                      "used as a scalar; use data<float>");
  EXPECT_DEATH(Tensor::Of<float>({2}, {1, 2, 3}), here +
                                                      "number of elements: the tensor is float32\\[2\\] and has 2 "
                                                      "elements, but 3 values are given");
  EXPECT_DEATH(t.Slice(1, 3), here + "slice: rows \\[1, 3\\) are not rows of the tensor, which is float32\\[2,3\\]");
  EXPECT_DEATH(Tensor(kFloat32, {-1}), here + "tensor: .*fully defined shape, got \\[\\?\\]");
  EXPECT_DEATH(Tensor().scalar<float>(), here + "value: the tensor has no value");
}

TEST(TensorTest, LongLongIsInt64) {
  EXPECT_EQ(Tensor::Scalar(-1LL).scalar<int64_t>(), -1);
  EXPECT_EQ(Tensor::Scalar(~0ULL).scalar<uint64_t>(), ~uint64_t{0});
  const Tensor list = Tensor::Vector(std::vector<long long>{1, -2});
  EXPECT_EQ(list.dtype(), kInt64);
  EXPECT_EQ(list.data<int64_t>()[1], -2);
}

StatusOr<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument(n, " is odd");
  return n / 2;
}

StatusOr<int> SumOfHalves(int a, int b) {
  // clang-format off
  TF_ASSIGN_OR_RETURN(const int x, Half(a)); TF_ASSIGN_OR_RETURN(const int y, Half(b));
  // clang-format on
  return x + y;
}

TEST(StatusTest, TwoAssignOrReturnsMayBeOnOneLine) {
  EXPECT_EQ(SumOfHalves(2, 4).value(), 3);
  EXPECT_EQ(SumOfHalves(2, 3).status().message(), "3 is odd");
  EXPECT_EQ(SumOfHalves(1, 3).status().message(), "1 is odd");
}

TEST(TensorTest, BytesOfShapesNeverOverflow) {
  EXPECT_EQ(TensorBytes({2, 3}, kFloat32), 24);
  EXPECT_EQ(TensorBytes({}, kInt64), 8);
  EXPECT_EQ(TensorBytes({-1, 3}, kFloat32), -1);
  EXPECT_EQ(TensorBytes({int64_t{1} << 62}, kFloat32), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(TensorBytes({int64_t{1} << 62, 4}, kFloat32), -1);
}

TEST(DTypeTest, HalfPrecisionRoundsToNearestEven) {
  for (uint32_t b = 0; b < 0x10000; ++b) {  // every half survives the conversion to float and back
    Float16 h;
    h.bits = static_cast<uint16_t>(b);
    if (std::isnan(float(h))) continue;
    EXPECT_EQ(Float16(float(h)).bits, h.bits);
  }
  EXPECT_EQ(float(Float16(65520.0f)), INFINITY);
  EXPECT_EQ(float(Float16(65519.0f)), 65504.0f);
  EXPECT_EQ(float(Float16(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(float(Bfloat16(1.0f + 0x1p-8f)), 1.0f);
  EXPECT_TRUE(std::isnan(float(Bfloat16(NAN))));
}

TEST(DTypeTest, NamesAreParsedBack) {
  for (int i = 1; i < 24; ++i) {
    if (!IsKnownDType(i)) continue;
    EXPECT_EQ(ParseDType(DTypeName(DType(i))), DType(i));
  }
  EXPECT_EQ(ParseDType("DT_FLOAT_REF"), RefType(kFloat32));
  EXPECT_EQ(ParseDType("floaty"), std::nullopt);
}

TEST(StringsTest, NearestWordReturnsOnlyASimilarWord) {
  EXPECT_EQ(NearestWord("train_step", {"train_steps", "data_dir"}), "train_steps");
  EXPECT_EQ(NearestWord("zzzzzzzz", {"train_steps", "data_dir"}), "");
}

TEST(TensorTest, TheConstructorThrowsIfMemoryIsExhausted) {
  const MemoryLimit limit(int64_t{1} << 20);
  EXPECT_THROW(Tensor(kFloat32, {int64_t{1} << 20}), std::bad_alloc);
  EXPECT_THROW(Tensor(kString, {int64_t{1} << 20}), std::bad_alloc);
  const Tensor small(kFloat32, {int64_t{1} << 16});
  EXPECT_NO_THROW(small.DeepCopy());
}

}  // namespace
}  // namespace tensorbraid
