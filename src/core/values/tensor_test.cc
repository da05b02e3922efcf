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

TEST(AllocatorTest, CachedBlocksAreFreedWhenAnAllocationNeedsThem) {
  const MemoryLimit limit(int64_t{64} << 20);
  AllocateBuffer(40 << 20);  // and frees it at once
  EXPECT_GE(GetAllocatorStats().bytes_cached, 40 << 20);
  const RefPtr<Buffer> other = AllocateBuffer(50 << 20);
  EXPECT_TRUE(other);
  EXPECT_EQ(GetAllocatorStats().bytes_cached, 0);
  EXPECT_FALSE(AllocateBuffer(40 << 20));
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

TEST(StringsTest, NearestWordIsNearEnough) {
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
