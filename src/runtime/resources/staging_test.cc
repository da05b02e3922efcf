#include <gtest/gtest.h>

#include <optional>

#include "runtime/resources/staging_resource.h"

namespace tensorbraid {
namespace {

using Staged = StagingArea::Tuple;

struct PutResult {
  std::optional<Status> status;
  WaitingResource::Done done() {
    return [this](Status s) { status = std::move(s); };
  }
};
struct GetResult {
  std::optional<StatusOr<Staged>> result;
  WaitingResource::TakeDone done() {
    return [this](StatusOr<Staged> r) { result = std::move(r); };
  }
  int32_t value(size_t i = 0) const { return (**result)[i].scalar<int32_t>(); }
};

const std::vector<DType> kOneInt{kInt32};
Staged StagedInt(int32_t v) { return {Tensor::Scalar(v)}; }

TEST(StagingAreaTest, ReturnsTuplesInOrderAndWaitsForThem) {
  auto area = MakeRef<StagingArea>("s", StagingLimits{});
  GetResult first, peeked;
  area->Get(kOneInt, nullptr, first.done());
  area->Peek(1, kOneInt, nullptr, peeked.done());
  EXPECT_FALSE(first.result.has_value());
  for (int i = 1; i <= 3; ++i) {
    PutResult put;
    area->Put(StagedInt(i), nullptr, put.done());
    EXPECT_TRUE(put.status->ok());
  }
  EXPECT_EQ(first.value(), 1);
  EXPECT_EQ(peeked.value(), 3);
  EXPECT_EQ(area->size(), 2);
  GetResult wrong;
  area->Get({kFloat32}, nullptr, wrong.done());
  EXPECT_TRUE(absl::IsInvalidArgument(wrong.result->status()));
  EXPECT_EQ(area->size(), 2);
}

TEST(StagingAreaTest, PutWaitsForRoom) {
  auto area = MakeRef<StagingArea>("s", StagingLimits{.capacity = 1});
  PutResult a, b, c;
  area->Put(StagedInt(1), nullptr, a.done());
  area->Put(StagedInt(2), nullptr, b.done());
  area->Put(StagedInt(3), nullptr, c.done());
  EXPECT_FALSE(b.status.has_value());
  GetResult got;
  area->Get(kOneInt, nullptr, got.done());
  EXPECT_TRUE(b.status->ok());
  EXPECT_FALSE(c.status.has_value());
  area->Clear();
  EXPECT_TRUE(c.status->ok());
  EXPECT_EQ(area->size(), 1);
}

TEST(StagingAreaTest, MemoryIsBounded) {
  auto area = MakeRef<StagingArea>("s", StagingLimits{.memory = 8});
  PutResult large, a, b, c;
  area->Put({Tensor::Vector<int32_t>({1, 2, 3})}, nullptr, large.done());
  EXPECT_TRUE(absl::IsResourceExhausted(*large.status));
  area->Put(StagedInt(1), nullptr, a.done());
  area->Put(StagedInt(2), nullptr, b.done());
  area->Put(StagedInt(3), nullptr, c.done());
  EXPECT_TRUE(b.status->ok());
  EXPECT_FALSE(c.status.has_value());
  GetResult got;
  area->Get(kOneInt, nullptr, got.done());
  EXPECT_TRUE(c.status->ok());
}

TEST(StagingAreaTest, ACancelledStepStopsWaiting) {
  auto area = MakeRef<StagingArea>("s", StagingLimits{});
  CancellationManager step;
  GetResult got, late;
  area->Get(kOneInt, &step, got.done());
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_TRUE(absl::IsCancelled(got.result->status()));
  area->Get(kOneInt, &step, late.done());
  EXPECT_TRUE(absl::IsCancelled(late.result->status()));
  PutResult put;
  area->Put(StagedInt(1), nullptr, put.done());
  EXPECT_EQ(area->size(), 1);
}

class StagingMapTest : public ::testing::Test {
 protected:
  Status PutNow(int64_t key, const std::vector<int32_t>& indices, const std::vector<int32_t>& values) {
    Staged tuple;
    for (int32_t v : values) tuple.push_back(Tensor::Scalar(v));
    PutResult put;
    map_->Put(key, Tensor::Vector(indices), std::move(tuple), nullptr, put.done());
    return *put.status;
  }
  RefPtr<StagingMap> map_ = MakeRef<StagingMap>("m", std::vector<DType>{kInt32, kInt32}, StagingLimits{});
};

TEST_F(StagingMapTest, TuplesAreAssembledAndTakenByKey) {
  GetResult five;
  map_->Get(5, Tensor::Vector<int32_t>({0, 1}), {kInt32, kInt32}, /*remove=*/false, nullptr, five.done());
  ASSERT_TRUE(PutNow(5, {1}, {51}).ok());
  EXPECT_EQ(map_->incomplete_size(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(PutNow(5, {1}, {51})));
  EXPECT_FALSE(five.result.has_value());
  ASSERT_TRUE(PutNow(5, {0}, {50}).ok());
  EXPECT_EQ(five.value(0), 50);
  EXPECT_EQ(five.value(1), 51);
  EXPECT_EQ(map_->size(), 1);
  ASSERT_TRUE(PutNow(3, {0, 1}, {30, 31}).ok());
  GetResult any;
  map_->GetAny(Tensor::Vector<int32_t>({0, 1}), {kInt32, kInt32}, nullptr, any.done());
  EXPECT_EQ((**any.result)[0].scalar<int64_t>(), 3);
  EXPECT_EQ(any.value(1), 30);
}

TEST_F(StagingMapTest, ComponentsAreTakenOnce) {
  ASSERT_TRUE(PutNow(5, {0, 1}, {50, 51}).ok());
  GetResult second, again, first;
  map_->Get(5, Tensor::Vector<int32_t>({1}), {kInt32}, /*remove=*/true, nullptr, second.done());
  EXPECT_EQ(second.value(), 51);
  map_->Get(5, Tensor::Vector<int32_t>({1}), {kInt32}, /*remove=*/true, nullptr, again.done());
  EXPECT_TRUE(absl::IsInvalidArgument(again.result->status()));
  map_->Get(5, Tensor::Vector<int32_t>({0}), {kInt32}, /*remove=*/true, nullptr, first.done());
  EXPECT_EQ(first.value(), 50);
  EXPECT_EQ(map_->size(), 0);
}

TEST_F(StagingMapTest, InvalidIndicesAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(PutNow(1, {1, 0}, {1, 0})));
  EXPECT_TRUE(absl::IsInvalidArgument(PutNow(1, {2}, {1})));
  EXPECT_TRUE(absl::IsInvalidArgument(PutNow(1, {-1}, {1})));
  EXPECT_TRUE(absl::IsInvalidArgument(PutNow(1, {0, 1}, {1})));
  EXPECT_EQ(map_->incomplete_size(), 0);
}

TEST(StagingMapMemoryTest, ATupleThatIsDroppedBecauseItsKeyExistsFreesItsMemory) {
  auto map = MakeRef<StagingMap>("m", std::vector<DType>{kInt32, kInt32}, StagingLimits{.memory = 16});
  const auto put = [&](int64_t key, int32_t index) {
    PutResult put;
    map->Put(key, Tensor::Vector<int32_t>({index}), StagedInt(1), nullptr, put.done());
    return put.status.has_value() && put.status->ok();
  };
  ASSERT_TRUE(put(5, 0) && put(5, 1));  // 8 bytes
  ASSERT_TRUE(put(5, 0) && put(5, 1));  // dropped when it is complete, since key 5 has a tuple
  EXPECT_TRUE(put(6, 0) && put(6, 1));  // 16 bytes
}

}  // namespace
}  // namespace tensorbraid
