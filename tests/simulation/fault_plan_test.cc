#include "simulation/fault_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using Kind = Fault::Kind;

TEST(FaultPlan, ASeedDrawsTheSameFaultsAgainAndAnotherSeedDrawsOthers) {
  const FaultPlanOptions options = {.num_ps = 2, .num_workers = 3, .kinds = {Kind::kKill, Kind::kStop, Kind::kCut}};
  EXPECT_EQ(ToString(DrawFaultPlan(7, options)), ToString(DrawFaultPlan(7, options)));
  EXPECT_NE(ToString(DrawFaultPlan(7, options)), ToString(DrawFaultPlan(8, options)));
}

// Of twenty faults, only 3 and 16 are needed, and only together do they make the plan fail.
TEST(FaultPlan, AFailingPlanIsCutDownToTheFaultsThatItNeeds) {
  FaultPlan plan(20);
  for (size_t i = 0; i < plan.size(); ++i) plan[i].n = i;  // the faults are told apart by `n`
  const auto fails = [](const FaultPlan& some) {
    const auto has = [&](uint64_t n) {
      return std::any_of(some.begin(), some.end(), [&](const Fault& fault) { return fault.n == n; });
    };
    return has(3) && has(16);
  };
  EXPECT_THAT(ShortestFailingPlan(plan, fails), ElementsAre(3, 16));
  EXPECT_THAT(ShortestFailingPlan(plan, [](const FaultPlan&) { return true; }), ElementsAre());
}

}  // namespace
}  // namespace tensorbraid
