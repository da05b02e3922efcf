#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "executor/evaluate.h"
#include "runtime/resources/accumulator_resource.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"

namespace tensorbraid {
namespace {

class AccumulatorTest : public ::testing::Test {
 protected:
  static void Add(ThreadPool&, const Tensor& a, const Tensor& b, Tensor* out) {
    for (int64_t i = 0; i < a.num_elements(); ++i)
      out->inplace_data<float>()[i] = a.data<float>()[i] + b.data<float>()[i];
  }
  static void Divide(ThreadPool&, const Tensor& a, int64_t n, Tensor* out) {
    for (int64_t i = 0; i < a.num_elements(); ++i) out->inplace_data<float>()[i] = a.data<float>()[i] / n;
  }
  RefPtr<AccumulatorResource> Make(AccumulatorResource::Reduction reduction = AccumulatorResource::Reduction::kMean) {
    return MakeRef<DenseAccumulator>("a", kFloat32, Shape({-1}), reduction, DenseAccumulator::Arithmetic{Add, Divide});
  }
  Status Apply(AccumulatorResource& a, int64_t step, std::vector<float> v) {
    return a.Apply(step, {Tensor::Vector(v)}, pool_).status();
  }
  AccumulatorResource::TakeDone Into(std::optional<StatusOr<Tensor>>* result) {
    return [result](StatusOr<AccumulatorResource::Gradient> taken) {
      if (taken.ok()) {
        *result = std::move((*taken)[0]);
      } else {
        *result = taken.status();
      }
    };
  }

  ThreadPool pool_{"test", 1};
};

TEST_F(AccumulatorTest, TakeWaitsForEnoughGradientsAndReturnsTheMean) {
  auto a = Make();
  std::optional<StatusOr<Tensor>> taken;
  a->Take(2, nullptr, pool_, Into(&taken));
  ASSERT_TRUE(Apply(*a, 0, {1, 2}).ok());
  EXPECT_FALSE(taken.has_value());
  ASSERT_TRUE(Apply(*a, 0, {3, 6}).ok());
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ((**taken).data<float>()[0], 2);
  EXPECT_EQ((**taken).data<float>()[1], 4);
  EXPECT_EQ(a->num_accumulated(), 0);
}

TEST_F(AccumulatorTest, ASumCountsAsTheGradientsOfItsWorkers) {
  auto a = Make();
  std::optional<StatusOr<Tensor>> taken;
  a->Take(4, nullptr, pool_, Into(&taken));
  const auto apply = [&](int64_t step, const std::vector<int64_t>& workers, float sum) {
    return a->ApplySum(step, workers, {Tensor::Vector<float>({sum})}, pool_).value();
  };
  EXPECT_EQ(apply(0, {0, 1, 2}, 9), GradientOutcome::kCounted);
  EXPECT_EQ(apply(0, {1}, 100), GradientOutcome::kCounted) << "it was counted before, and is not added again";
  EXPECT_EQ(apply(0, {2, 3}, 100), GradientOutcome::kRefused);
  EXPECT_FALSE(taken.has_value());
  EXPECT_EQ(apply(0, {3}, 3), GradientOutcome::kCounted);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ((**taken).data<float>()[0], 3) << "(9 + 3) / 4";
  EXPECT_EQ(apply(0, {5}, 1), GradientOutcome::kDropped);
  EXPECT_EQ(apply(1, {0, 1}, 1), GradientOutcome::kCounted) << "a new round";
  for (const std::vector<int64_t>& wrong : {std::vector<int64_t>{}, std::vector<int64_t>{4, 4}}) {
    const auto refused = a->ApplySum(1, wrong, {Tensor::Vector<float>({1})}, pool_);
    EXPECT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  }
}

TEST_F(AccumulatorTest, ARestartDropsTheRoundAndFailsWaitingTakes) {
  auto a = Make();
  ASSERT_TRUE(Apply(*a, 0, {1}).ok());
  std::optional<StatusOr<Tensor>> taken;
  a->Take(2, nullptr, pool_, Into(&taken));
  a->Restart(7);
  ASSERT_TRUE(taken.has_value());
  EXPECT_TRUE(absl::IsAborted(taken->status())) << taken->status();
  EXPECT_EQ(a->num_accumulated(), 0);
  ASSERT_TRUE(Apply(*a, 6, {2}).ok());
  EXPECT_EQ(a->num_accumulated(), 0) << "the gradient is older than the accumulator's step";
  taken.reset();
  a->Take(1, nullptr, pool_, Into(&taken));
  ASSERT_TRUE(Apply(*a, 7, {5}).ok());
  EXPECT_EQ((**taken).data<float>()[0], 5);
}

TEST_F(AccumulatorTest, GradientsBeyondTheRequiredNumberArePartOfTheMean) {
  auto a = Make();
  for (float v : {1.0F, 2.0F, 6.0F}) ASSERT_TRUE(Apply(*a, 0, {v}).ok());
  std::optional<StatusOr<Tensor>> taken;
  a->Take(1, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).data<float>()[0], 3);
}

TEST_F(AccumulatorTest, TheSumIsNotDivided) {
  auto a = Make(AccumulatorResource::Reduction::kSum);
  for (float v : {1.0F, 2.0F}) ASSERT_TRUE(Apply(*a, 0, {v}).ok());
  std::optional<StatusOr<Tensor>> taken;
  a->Take(2, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).data<float>()[0], 3);
}

TEST_F(AccumulatorTest, StaleGradientsAreDropped) {
  auto a = Make();
  a->SetGlobalStep(5);
  ASSERT_TRUE(Apply(*a, 4, {100}).ok());
  EXPECT_EQ(a->num_accumulated(), 0);
  ASSERT_TRUE(Apply(*a, 5, {1}).ok());
  std::optional<StatusOr<Tensor>> taken;
  a->Take(1, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).data<float>()[0], 1);
  // Take() has advanced the accumulator to step 6.
  ASSERT_TRUE(Apply(*a, 5, {100}).ok());
  EXPECT_EQ(a->num_accumulated(), 0);
}

TEST_F(AccumulatorTest, SharedGradientsAreNotModified) {
  auto a = Make();
  const Tensor shared = Tensor::Vector<float>({1});
  ASSERT_TRUE(a->Apply(0, {shared}, pool_).ok());
  ASSERT_TRUE(a->Apply(0, {shared}, pool_).ok());
  ASSERT_TRUE(Apply(*a, 0, {4}).ok());
  EXPECT_EQ(shared.data<float>()[0], 1);
  std::optional<StatusOr<Tensor>> taken;
  a->Take(3, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).data<float>()[0], 2);
}

TEST_F(AccumulatorTest, TheFirstGradientIsMovedInAndAddedToInPlace) {
  auto a = Make(AccumulatorResource::Reduction::kSum);
  AccumulatorResource::Gradient first(1);
  first[0] = Tensor::Vector<float>({1});
  const void* bytes = first[0].raw_data();
  ASSERT_TRUE(a->Apply(0, std::move(first), pool_).ok());
  ASSERT_TRUE(Apply(*a, 0, {2}).ok());
  std::optional<StatusOr<Tensor>> taken;
  a->Take(2, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).raw_data(), bytes);
}

TEST_F(AccumulatorTest, ACancelledTakeTakesNothing) {
  auto a = Make();
  CancellationManager step;
  std::optional<StatusOr<Tensor>> cancelled;
  std::optional<StatusOr<Tensor>> taken;
  a->Take(1, &step, pool_, Into(&cancelled));
  step.Cancel(absl::CancelledError("stop"));
  EXPECT_EQ(cancelled->status().code(), absl::StatusCode::kCancelled);
  ASSERT_TRUE(Apply(*a, 0, {1}).ok());
  EXPECT_EQ(a->num_accumulated(), 1);
  a->Take(1, &step, pool_, Into(&taken));  // does not wait, so the cancellation has no effect
  EXPECT_TRUE(taken->ok());
}

TEST_F(AccumulatorTest, GradientsOfAnotherShapeOrTypeAreRefused) {
  auto a = Make();
  EXPECT_EQ(a->Apply(0, {Tensor::Scalar(1.0F)}, pool_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a->Apply(0, {Tensor::Vector<double>({1})}, pool_).status().code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(Apply(*a, 0, {1}).ok());
  EXPECT_EQ(Apply(*a, 0, {1, 2}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(a->num_accumulated(), 1);
}

TEST_F(AccumulatorTest, ConcurrentGradientsAreAllAdded) {
  auto a = Make(AccumulatorResource::Reduction::kSum);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) EXPECT_TRUE(Apply(*a, 0, {1}).ok());
    });
  }
  for (auto& t : threads) t.join();
  std::optional<StatusOr<Tensor>> taken;
  a->Take(2000, nullptr, pool_, Into(&taken));
  EXPECT_EQ((**taken).data<float>()[0], 2000);
}

void AddFloatRow(const Tensor& from, int64_t row, Tensor* to, int64_t to_row) {
  to->inplace_data<float>()[to_row] += from.data<float>()[row];
}
void DivideFloatRow(Tensor* values, int64_t row, int64_t n) {
  values->inplace_data<float>()[row] /= static_cast<float>(n);
}

TEST_F(AccumulatorTest, SparseGradientsAreAddedRowByRow) {
  auto a = MakeRef<SparseAccumulator>("a", kFloat32, Shape({5}), AccumulatorResource::Reduction::kMean,
                                      SparseAccumulator::Arithmetic{AddFloatRow, DivideFloatRow});
  const auto apply = [&](std::vector<int64_t> indices, std::vector<float> values) {
    return a->Apply(0, {Tensor::Vector(indices), Tensor::Vector(values)}, pool_).status();
  };
  ASSERT_TRUE(apply({0, 2}, {1, 2}).ok());
  EXPECT_EQ(apply({5}, {1}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(apply({1, 2}, {1}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(apply({2, 3}, {4, 8}).ok());
  EXPECT_EQ(a->num_accumulated(), 2);
  std::optional<StatusOr<AccumulatorResource::Gradient>> taken;
  a->Take(2, nullptr, pool_, [&](StatusOr<AccumulatorResource::Gradient> t) { taken = std::move(t); });
  ASSERT_TRUE(taken->ok());
  EXPECT_EQ((**taken)[0].ToString(), Tensor::Vector<int64_t>({0, 2, 3}).ToString());
  EXPECT_EQ((**taken)[1].ToString(), Tensor::Vector<float>({1, 3, 8}).ToString());
  EXPECT_EQ((**taken)[2].ToString(), Tensor::Vector<int64_t>({5}).ToString());
}

// With many gradients of the same rows, the accumulator sums before the end.
TEST_F(AccumulatorTest, SparseGradientsOfTheSameRowsAreAddedToo) {
  for (const auto reduction : {AccumulatorResource::Reduction::kSum, AccumulatorResource::Reduction::kMean}) {
    auto a = MakeRef<SparseAccumulator>("a", kFloat32, Shape({-1}), reduction,
                                        SparseAccumulator::Arithmetic{AddFloatRow, DivideFloatRow});
    constexpr int kGradients = 8;
    const Tensor first = Tensor::Vector<float>({1, 2});
    for (int i = 0; i < kGradients; ++i) {
      const Tensor values = i == 0 ? first : Tensor::Vector<float>({1, 2});
      ASSERT_TRUE(a->Apply(0, {Tensor::Vector<int64_t>({3, 7 + i % 2}), values}, pool_).ok());
    }
    std::optional<StatusOr<AccumulatorResource::Gradient>> taken;
    a->Take(kGradients, nullptr, pool_, [&](StatusOr<AccumulatorResource::Gradient> t) { taken = std::move(t); });
    ASSERT_TRUE(taken->ok());
    EXPECT_EQ((**taken)[0].ToString(), Tensor::Vector<int64_t>({3, 7, 8}).ToString());
    const bool mean = reduction == AccumulatorResource::Reduction::kMean;
    EXPECT_EQ((**taken)[1].ToString(),
              Tensor::Vector<float>(mean ? std::vector<float>{1, 2, 2} : std::vector<float>{8, 8, 8}).ToString());
    EXPECT_EQ(first.data<float>()[0], 1) << "the caller's tensor has changed";
  }
}

TEST_F(AccumulatorTest, WorksAsOpsOfAGraph) {
  Graph g;
  ConditionalAccumulator a(g, kFloat32, {.shape = Shape({2}), .shared_name = "grads", .name = "grads"});
  const Operation apply = a.ApplyGrad(Tensor::Vector<float>({2, 4}), 0);
  const Output take = a.TakeGrad(1);
  const Output count = a.NumAccumulated();
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(take.shape(), Shape({2}));
  ResourceManager resources;
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {apply}, .resources = &resources}).ok());
  EXPECT_EQ((*Evaluate({count}, {}, {.resources = &resources}))[0].scalar<int32_t>(), 1);
  EXPECT_EQ((*Evaluate({take}, {}, {.resources = &resources}))[0].data<float>()[1], 4);
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {a.SetGlobalStep(9)}, .resources = &resources}).ok());
  ASSERT_TRUE(Evaluate({}, {}, {.targets = {apply}, .resources = &resources}).ok());
  EXPECT_EQ((*Evaluate({count}, {}, {.resources = &resources}))[0].scalar<int32_t>(), 0);
}

}  // namespace
}  // namespace tensorbraid
