#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "runtime/resources/barrier_resource.h"

namespace tensorbraid {
namespace {

using Taken = std::optional<StatusOr<QueueResource::Tuple>>;

class BarrierTest : public ::testing::Test {
 protected:
  Status Insert(int64_t component, const std::vector<std::string>& keys, const std::vector<float>& values) {
    return barrier_->Insert(Tensor::Vector(keys), component, Tensor::Vector(values));
  }
  void Take(int64_t n, Taken* taken, bool small = false, CancellationManager* step = nullptr) {
    barrier_->Take(n, small, step, [taken](StatusOr<QueueResource::Tuple> t) { *taken = std::move(t); });
  }
  static std::string Keys(const Taken& taken) { return (**taken)[1].ToString(); }

  RefPtr<BarrierResource> barrier_ =
      MakeRef<BarrierResource>("b", std::vector<DType>{kFloat32, kFloat32}, std::vector<Shape>{Shape(), Shape()});
};

TEST_F(BarrierTest, TakeWaitsForCompleteTuples) {
  Taken taken;
  Take(2, &taken);
  ASSERT_TRUE(Insert(0, {"a", "b", "c"}, {1, 2, 3}).ok());
  ASSERT_TRUE(Insert(1, {"c"}, {30}).ok());
  EXPECT_FALSE(taken.has_value());
  EXPECT_EQ(barrier_->incomplete_size(), 2);
  ASSERT_TRUE(Insert(1, {"a"}, {10}).ok());
  ASSERT_TRUE(taken.has_value() && taken->ok());
  EXPECT_EQ(Keys(taken), Tensor::Vector<std::string>({"c", "a"}).ToString());
  EXPECT_EQ((**taken)[3].ToString(), Tensor::Vector<float>({30, 10}).ToString());
  EXPECT_EQ(barrier_->ready_size(), 0);
}

TEST_F(BarrierTest, AKeyHasTheIndexOfTheInsertThatFirstUsedIt) {
  ASSERT_TRUE(Insert(0, {"a", "b"}, {1, 2}).ok());
  ASSERT_TRUE(Insert(1, {"b"}, {20}).ok());  // has no new key
  ASSERT_TRUE(Insert(1, {"c"}, {30}).ok());
  ASSERT_TRUE(Insert(0, {"c"}, {3}).ok());
  ASSERT_TRUE(Insert(1, {"a"}, {10}).ok());
  Taken taken;
  Take(3, &taken);
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  EXPECT_EQ((**taken)[0].ToString(), Tensor::Vector<int64_t>({kFirst, kFirst, kFirst + 1}).ToString());
}

TEST_F(BarrierTest, AnInsertWithoutKeysSucceedsUntilIncompleteTuplesAreDropped) {
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/false).ok());
  EXPECT_TRUE(Insert(0, {}, {}).ok());
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/true).ok());
  EXPECT_TRUE(absl::IsCancelled(Insert(0, {}, {})));
}

TEST_F(BarrierTest, AWaitingTakeGetsASmallBatchWhenTheBarrierCloses) {
  ASSERT_TRUE(Insert(0, {"a"}, {1}).ok());
  ASSERT_TRUE(Insert(1, {"a"}, {10}).ok());
  Taken taken;
  Take(2, &taken, /*small=*/true);
  EXPECT_FALSE(taken.has_value());
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/false).ok());
  ASSERT_TRUE(taken.has_value() && taken->ok());
  EXPECT_EQ((**taken)[3].ToString(), Tensor::Vector<float>({10}).ToString());
}

TEST_F(BarrierTest, AWaitingTakeGetsASmallBatchWhileOtherTuplesAreIncomplete) {
  ASSERT_TRUE(Insert(0, {"a", "b"}, {1, 2}).ok());
  Taken taken;
  Take(2, &taken, /*small=*/true);
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/false).ok());
  EXPECT_FALSE(taken.has_value());
  ASSERT_TRUE(Insert(1, {"a"}, {10}).ok());
  ASSERT_TRUE(taken.has_value() && taken->ok());
  EXPECT_EQ((**taken)[3].ToString(), Tensor::Vector<float>({10}).ToString());
  ASSERT_TRUE(Insert(1, {"b"}, {20}).ok());
  Taken next;
  Take(2, &next, /*small=*/true);
  ASSERT_TRUE(next.has_value() && next->ok());
  EXPECT_EQ((**next)[3].ToString(), Tensor::Vector<float>({20}).ToString());
}

TEST_F(BarrierTest, InvalidInsertsAreRefused) {
  ASSERT_TRUE(Insert(0, {"a"}, {1}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(Insert(0, {"a"}, {2})));
  EXPECT_TRUE(absl::IsInvalidArgument(Insert(2, {"a"}, {2})));
  EXPECT_TRUE(absl::IsInvalidArgument(Insert(1, {"a", "b"}, {2})));
  EXPECT_TRUE(absl::IsInvalidArgument(
      barrier_->Insert(Tensor::Vector<std::string>({"a"}), 1, Tensor::Of<float>({1, 2}, {1, 2}))));
  EXPECT_TRUE(Insert(1, {}, {}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(BarrierResource::CheckOptions({kFloat32}, {})));
}

TEST_F(BarrierTest, IncompleteTuplesCanBeCompletedAfterClosing) {
  ASSERT_TRUE(Insert(0, {"a", "b"}, {1, 2}).ok());
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/false).ok());
  EXPECT_TRUE(absl::IsCancelled(barrier_->Close(/*cancel_pending=*/false)));
  EXPECT_TRUE(absl::IsCancelled(Insert(0, {"new"}, {1})));
  ASSERT_TRUE(Insert(1, {"b"}, {20}).ok());
  Taken three, one, small;
  Take(3, &three);
  EXPECT_TRUE(absl::IsOutOfRange(three->status()));
  Take(5, &small, /*small=*/true);
  EXPECT_EQ(Keys(small), Tensor::Vector<std::string>({"b"}).ToString());
  Take(1, &one);  // waits for the incomplete tuple
  EXPECT_FALSE(one.has_value());
  ASSERT_TRUE(Insert(1, {"a"}, {10}).ok());
  EXPECT_EQ(Keys(one), Tensor::Vector<std::string>({"a"}).ToString());
  EXPECT_TRUE(absl::IsCancelled(Insert(1, {"a"}, {10})));
}

TEST_F(BarrierTest, ClosingCanDropIncompleteTuples) {
  Taken taken;
  Take(1, &taken);
  ASSERT_TRUE(Insert(0, {"a"}, {1}).ok());
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/false).ok());
  ASSERT_TRUE(barrier_->Close(/*cancel_pending=*/true).ok());
  EXPECT_EQ(barrier_->incomplete_size(), 0);
  EXPECT_TRUE(absl::IsOutOfRange(taken->status()));
  EXPECT_TRUE(absl::IsCancelled(Insert(1, {"a"}, {1})));
}

TEST_F(BarrierTest, ACancelledStepStopsWaiting) {
  Taken taken;
  CancellationManager step;
  Take(1, &taken, /*small=*/false, &step);
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_TRUE(absl::IsCancelled(taken->status()));
}

}  // namespace
}  // namespace tensorbraid
