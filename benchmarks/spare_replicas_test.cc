#include "spare_replicas.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

TEST(SpareReplicas, WithoutSparesNothingIsDroppedAndAStepTakesAsLongAsTheSlowest) {
  const SpareReplicas equal = SimulateSpareReplicas({2.0}, 4, 4, 100, 1);
  EXPECT_DOUBLE_EQ(equal.step_ms, 2);
  EXPECT_EQ(equal.dropped_share, 0);
  const SpareReplicas mixed = SimulateSpareReplicas({1.0, 1.0, 1.0, 9.0}, 1000, 1000, 10, 1);
  EXPECT_DOUBLE_EQ(mixed.step_ms, 9) << "of a thousand replicas some are slow in every step";
  EXPECT_EQ(mixed.dropped_share, 0);
}

TEST(SpareReplicas, SparesHideSlowGradientsWhichAreDropped) {
  std::vector<double> times(19, 1.0);
  times.push_back(10.0);
  const SpareReplicas plain = SimulateSpareReplicas(times, 18, 18, 10'000, 1);
  const SpareReplicas spare = SimulateSpareReplicas(times, 18, 20, 10'000, 1);
  EXPECT_LT(spare.step_ms, 0.8 * plain.step_ms);
  EXPECT_GT(spare.dropped_share, 0.0);
  EXPECT_LT(spare.dropped_share, 0.2);
}

TEST(SpareReplicas, ALateReplicaTakesPartInTheStepThatRunsWhenItArrives) {
  // Two equal replicas, and each step needs one gradient. In each step, the other gradient arrives at the same moment
  // and is late.
  const SpareReplicas half = SimulateSpareReplicas({1.0}, 1, 2, 1'000, 1);
  EXPECT_DOUBLE_EQ(half.step_ms, 1);
  EXPECT_NEAR(half.dropped_share, 0.5, 0.01);
}

}  // namespace
}  // namespace tensorbraid
