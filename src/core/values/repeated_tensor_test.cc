#include "core/values/repeated_tensor.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/memory/allocator.h"
#include "core/testing/memory_limit.h"
#include "core/values/tensor_limit.h"

namespace tensorbraid {
namespace {

constexpr int64_t kLarge = int64_t{3} << 20;

TEST(RepeatedTensorTest, EveryElementHasTheValue) {
  const double value = 2.5;
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{7}, kLarge, kLarge + 1}) {
    const auto t = RepeatedTensor(kFloat64, {size}, &value);
    ASSERT_TRUE(t.ok()) << t.status();
    ASSERT_EQ(t->num_elements(), size);
    for (const double x : t->data<double>()) ASSERT_EQ(x, value);
  }
}

TEST(RepeatedTensorTest, ALargeTensorTakesLittleMemoryAndIsNotWritable) {
  const float value = -1;
  const int64_t before = GetAllocatorStats().bytes_in_use;
  const auto t = RepeatedTensor(kFloat32, {int64_t{1} << 30}, &value);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_LE(GetAllocatorStats().bytes_in_use - before, 64 << 20);
  EXPECT_FALSE(t->IsWritable());
  EXPECT_EQ(t->data<float>()[(int64_t{1} << 30) - 1], value);
}

TEST(RepeatedTensorTest, ADestroyedTensorGivesBackItsMemoryAndMappings) {
  const float value = -1;
  const int64_t before = GetAllocatorStats().bytes_in_use;
  // All these tensors at once would have more mappings than the limit allows.
  for (int i = 0; i < 1000; ++i) ASSERT_NE(RepeatedElement(*RepeatedTensor(kFloat32, {16 << 20}, &value)), nullptr);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
}

TEST(RepeatedTensorTest, WhenTheMappingsRunOutTheElementsAreWrittenToMemory) {
  const int8_t value = 3;
  std::vector<Tensor> many;
  while (many.empty() || RepeatedElement(many.back()) != nullptr) {
    ASSERT_LT(many.size(), 20000u);
    const auto t = RepeatedTensor(DType::kInt8, {16 << 20}, &value);
    ASSERT_TRUE(t.ok()) << t.status();
    many.push_back(*t);
  }
  EXPECT_EQ(many.back().data<int8_t>()[(16 << 20) - 1], value);
}

TEST(RepeatedTensorTest, PartsOfALargeTensorRepeatTheSameElement) {
  const int32_t value = 9;
  const auto t = RepeatedTensor(kInt32, {3, kLarge}, &value);
  ASSERT_TRUE(t.ok()) << t.status();
  for (const Tensor& part : {*t, t->Slice(1, 2), *t->Reshaped({3 * kLarge})}) {
    ASSERT_NE(RepeatedElement(part), nullptr);
    EXPECT_EQ(*static_cast<const int32_t*>(RepeatedElement(part)), value);
  }
  EXPECT_EQ(RepeatedElement(t->Slice(1, 1)), nullptr);
  EXPECT_EQ(RepeatedElement(Tensor::Scalar(1.0f)), nullptr);
  // With another dtype, the same bytes are other elements.
  EXPECT_EQ(RepeatedElement(*Tensor::FromBuffer(t->buffer(), 0, kInt64, {4})), nullptr);
}

TEST(RepeatedTensorTest, RefusesInvalidShapesAndTooManyBytes) {
  const float value = 1;
  EXPECT_EQ(RepeatedTensor(kFloat32, {-1}, &value).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(RepeatedTensor(kFloat32, {int64_t{1} << 62}, &value).ok());
  const MemoryLimit limit(1 << 20);
  EXPECT_EQ(RepeatedTensor(kFloat32, {int64_t{1} << 30}, &value).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace tensorbraid
