// Simulates whole clusters: servers, masters, sessions and training loops in one process, from one seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "simulation/fault_plan.h"
#include "simulation/simulate.h"
#include "simulation/training.h"

namespace tensorbraid {
namespace {

// A test ends after this number of failed seeds.
constexpr int kMaxFailures = 3;
// The virtual time that one training run may take. Training with faults takes less: there are at most six faults, of at
// most 5 s each.
constexpr std::chrono::seconds kTimeLimit{120};

// Parses a list of numbers such as "1,4". Leaves out elements that are no numbers.
std::vector<size_t> NumbersOf(const char* text) {
  std::vector<size_t> numbers;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    size_t number = 0;
    if (absl::SimpleAtoi(part, &number)) numbers.push_back(number);
  }
  return numbers;
}

std::string Describe(const Trained& trained) {
  return StrCat("step ", trained.global_step, ", count ", trained.count, ", acknowledged ", trained.acknowledged,
                ", kills ", trained.kills, ", weights ", trained.weights);
}

// Trains in a simulation. The value of the result describes the final state.
SimulationResult SimulateTraining(uint64_t seed, const TrainingOptions& options, const SimulationOptions& how = {}) {
  return Simulate(
      seed,
      [&](Scheduler& scheduler) -> StatusOr<std::string> {
        TF_ASSIGN_OR_RETURN(const Trained trained, Train(scheduler, options));
        return Describe(trained);
      },
      how);
}

// The number of seeds of a test: TENSORBRAID_SIMULATION_SEEDS, or `usual`. A build with sanitizers, which is several
// times slower, uses fewer.
uint64_t NumSeeds(uint64_t usual) {
#ifdef TENSORBRAID_ASAN
  usual = (usual + 3) / 4;
#endif
  const char* const number = std::getenv("TENSORBRAID_SIMULATION_SEEDS");
  return number == nullptr ? usual : std::strtoull(number, nullptr, 10);
}

// Returns an error if the final state of a training run is wrong.
using Invariants = std::function<Status(const Trained&)>;

// Trains once, and returns the error of training or of the invariants.
Status TrainOnce(uint64_t seed, const TrainingOptions& options, const Invariants& invariants) {
  return Simulate(seed,
                  [&](Scheduler& scheduler) -> StatusOr<std::string> {
                    TF_ASSIGN_OR_RETURN(const Trained trained, Train(scheduler, options));
                    TF_RETURN_IF_ERROR(Annotate(invariants(trained), Describe(trained)));
                    return "";
                  },
                  {.scheduler = {.time_limit = kTimeLimit}})
      .status;
}

// Trains once for each seed, with faults that are drawn from the seed. Reports the seeds whose training failed or broke
// an invariant. For each such seed, it also reports a minimal subset of its faults with which training still fails.
// TENSORBRAID_TEST_SEED selects one seed, and TENSORBRAID_FAULTS some of its faults, by their numbers. With
// TENSORBRAID_SIMULATION_FIRST the test ends at the first seed that fails, and does not search for the subset.
void TrainOnSeeds(uint64_t usual, TrainingOptions options, const Invariants& invariants,
                  const std::optional<FaultPlanOptions>& faults = std::nullopt) {
  const char* const only_seed = std::getenv("TENSORBRAID_TEST_SEED");
  const char* const only_faults = std::getenv("TENSORBRAID_FAULTS");
  const uint64_t first = only_seed == nullptr ? 0 : std::strtoull(only_seed, nullptr, 10);
  const uint64_t seeds = only_seed == nullptr ? NumSeeds(usual) : 1;
  const bool only_first = std::getenv("TENSORBRAID_SIMULATION_FIRST") != nullptr;
  int failures = 0;
  for (uint64_t seed = first; seed < first + seeds && failures < (only_first ? 1 : kMaxFailures); ++seed) {
    FaultPlan plan;
    if (faults.has_value()) plan = DrawFaultPlan(seed, *faults);
    if (only_faults != nullptr) plan = Select(plan, NumbersOf(only_faults));
    const auto train = [&](const FaultPlan& some) {
      options.faults = some;
      return TrainOnce(seed, options, invariants);
    };
    const Status status = train(plan);
    if (status.ok()) continue;
    ++failures;
    if (only_first) {
      ADD_FAILURE() << "\nseed " << seed << ": " << status;
      continue;
    }
    const std::vector<size_t> needed =
        ShortestFailingPlan(plan, [&](const FaultPlan& some) { return !train(some).ok(); });
    std::string repeat = StrCat("TENSORBRAID_TEST_SEED=", seed);
    if (faults.has_value()) repeat += StrCat(" TENSORBRAID_FAULTS=", absl::StrJoin(needed, ","));
    ADD_FAILURE() << "seed " << seed << ": " << status << "\nFaults:\n"
                  << ToString(plan) << "To repeat the failure with the fewest faults: " << repeat << "\n"
                  << ToString(Select(plan, needed)) << train(Select(plan, needed));
  }
}

Status Check(bool holds, const char* what) { return holds ? OkStatus() : Internal("does not hold: ", what); }

class ClusterSimulation : public ::testing::TestWithParam<Network> {};
INSTANTIATE_TEST_SUITE_P(Networks, ClusterSimulation,
                         ::testing::Values(Network::kInproc, Network::kSim, Network::kLocal), [](const auto& info) {
                           return info.param == Network::kInproc ? "Inproc"
                                  : info.param == Network::kSim  ? "Sim"
                                                                 : "Local";
                         });

TEST_P(ClusterSimulation, ASeedRepeatsTrainingBitForBitAndSeedsDiffer) {
  std::set<uint64_t> schedules;
  std::set<std::string> ends;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const TrainingOptions options{.network = GetParam()};
    const SimulationResult first = SimulateTraining(seed, options);
    ASSERT_TRUE(first.status.ok()) << first.status;
    const SimulationResult again = SimulateTraining(seed, options, {.scheduler = {}, .shift_addresses = true});
    EXPECT_EQ(first.value, again.value) << "seed " << seed;
    EXPECT_EQ(first.schedule, again.schedule) << "seed " << seed;
    schedules.insert(first.schedule);
    ends.insert(first.value);
  }
  EXPECT_EQ(schedules.size(), 5u);
  EXPECT_GT(ends.size(), 1u);
}

TEST_P(ClusterSimulation, AsynchronousTrainingAppliesEachStepOnce) {
  TrainOnSeeds(20, {.network = GetParam()}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    TF_RETURN_IF_ERROR(Check(t.count == static_cast<double>(t.global_step), "count == step"));
    return Check(t.acknowledged == t.global_step, "acknowledged == step");
  });
}

TEST_P(ClusterSimulation, SynchronousTrainingAppliesEachStepOnce) {
  TrainOnSeeds(20, {.network = GetParam(), .sync = true}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    return Check(t.count == static_cast<double>(t.global_step), "count == step");
  });
}

TEST_P(ClusterSimulation, EachGradientOfAsynchronousTrainingIsAppliedOrReportedAsDropped) {
  TrainOnSeeds(20, {.network = GetParam(), .num_workers = 3, .staleness = StalenessPolicy{.max_age = 0}},
               [](const Trained& t) {
                 TF_RETURN_IF_ERROR(Check(t.acknowledged == t.global_step, "acknowledged == step"));
                 return Check(t.count + static_cast<double>(t.dropped) == static_cast<double>(t.global_step),
                              "count + dropped == step");
               });
}

using Kind = Fault::Kind;
const std::vector<Kind> kNetworkFaults = {Kind::kSlow, Kind::kCut, Kind::kCutOneWay, Kind::kLoseLinks, Kind::kConnects};
const std::vector<Kind> kAllFaults = {Kind::kKill,     Kind::kKillAtMessage, Kind::kKillAtChange, Kind::kStop,
                                      Kind::kCut,      Kind::kCutOneWay,     Kind::kSlow,         Kind::kLoseLinks,
                                      Kind::kConnects, Kind::kClockJump,     Kind::kDiskFails,    Kind::kDiskFull,
                                      Kind::kDiskSlow};

// Adds no check to those of Train() (simulation/training.h). Train() checks, for example, that all workers end without
// an error or, with may_lose_ps, that their errors name the lost parameter server.
Status NothingMore(const Trained&) { return OkStatus(); }

TEST(ClusterFaults, AKilledWorkerDoesNotHoldTheOthersBack) {
  const StalenessPolicy policy = {.max_lead = 1, .lost_after = std::chrono::milliseconds(500)};
  TrainOnSeeds(20, {.num_workers = 3, .staleness = policy}, NothingMore,
               FaultPlanOptions{.num_workers = 3, .kinds = {Kind::kKill, Kind::kKillAtMessage}});
}

TEST(ClusterFaults, AKilledWorkerLosesNoAcknowledgedStep) {
  TrainOnSeeds(
      20, {},
      // Train() checks that all acknowledged steps are applied. This is the upper bound: each kill may leave one more
      // step that was applied but not acknowledged.
      [](const Trained& t) {
        return Check(t.count <= static_cast<double>(t.acknowledged + t.kills), "count <= acknowledged + kills");
      },
      FaultPlanOptions{.kinds = {Kind::kKill, Kind::kKillAtMessage}});
}

TEST(ClusterFaults, SynchronousTrainingSurvivesAKilledWorker) {
  TrainOnSeeds(40, {.sync = true}, NothingMore,
               FaultPlanOptions{.kinds = {Kind::kKill, Kind::kKillAtMessage, Kind::kSlow}});
}

TEST(ClusterFaults, WithoutCheckpointsTheErrorNamesTheLostParameterServer) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(20, {.num_ps = 2, .sync = sync, .may_lose_ps = true}, NothingMore,
                 FaultPlanOptions{.num_ps = 2, .kinds = {Kind::kKill, Kind::kKillAtMessage}, .max_faults = 1});
  }
}

TEST(ClusterRecovery, AsynchronousTrainingContinues) {
  TrainOnSeeds(15, {.num_workers = 3, .last_step = 40, .checkpoints = true, .clients = 1}, NothingMore,
               FaultPlanOptions{.num_workers = 3, .kinds = kAllFaults});
}

TEST(ClusterRecovery, AsynchronousTrainingOnTwoParameterServersContinues) {
  TrainOnSeeds(15, {.num_ps = 2, .last_step = 40, .checkpoints = true}, NothingMore,
               FaultPlanOptions{.num_ps = 2, .kinds = kAllFaults});
}

TEST(ClusterRecovery, SynchronousTrainingContinues) {
  TrainOnSeeds(15, {.num_ps = 2, .sync = true, .last_step = 40, .checkpoints = true, .clients = 1}, NothingMore,
               FaultPlanOptions{.num_ps = 2, .kinds = kAllFaults});
}

// Two growing tables, whose lookups and updates travel in joined messages.
TEST_P(ClusterSimulation, RowsOfGrowingTablesAreThoseOfADictionary) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(6, {.network = GetParam(), .num_ps = 2, .sync = sync, .tables = 2}, NothingMore);
  }
}

TEST(ClusterFaults, AKilledWorkerLosesNoRowOfAnAcknowledgedStep) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(10, {.num_ps = 2, .sync = sync, .tables = 2}, NothingMore,
                 FaultPlanOptions{.num_ps = 2, .kinds = {Kind::kKill, Kind::kKillAtMessage, Kind::kSlow}});
  }
}

TEST(ClusterRecovery, TrainingOfGrowingTablesContinues) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(8, {.num_ps = 2, .sync = sync, .tables = 2, .last_step = 40, .checkpoints = true}, NothingMore,
                 FaultPlanOptions{.num_ps = 2, .kinds = kAllFaults});
  }
}

TEST(ClusterRecovery, TrainingContinuesFromIncrements) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(
        8, {.num_ps = 2, .sync = sync, .tables = 2, .last_step = 40, .checkpoints = true, .increments = true},
        NothingMore,
        FaultPlanOptions{.num_ps = 2, .kinds = {Kind::kPowerLoss, Kind::kKill, Kind::kKillAtChange, Kind::kStop}});
  }
}

TEST(ClusterRecovery, SynchronousTrainingWithASpareContinues) {
  TrainOnSeeds(15, {.num_workers = 3, .sync = true, .spares = 1, .last_step = 40, .checkpoints = true}, NothingMore,
               FaultPlanOptions{.num_workers = 3, .kinds = kAllFaults});
}

// Neighbours are tasks that share memory (Network::kLocal).
TEST(ClusterRecovery, TrainingOfNeighboursContinues) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(15, {.network = Network::kLocal, .num_ps = 2, .sync = sync, .last_step = 40, .checkpoints = true},
                 NothingMore, FaultPlanOptions{.num_ps = 2, .kinds = kAllFaults});
  }
}

TEST(ClusterRecovery, TrainingContinuesAfterALossOfPower) {
  for (const bool sync : {false, true}) {
    TrainOnSeeds(10, {.num_ps = 2, .sync = sync, .last_step = 40, .checkpoints = true}, NothingMore,
                 FaultPlanOptions{.num_ps = 2,
                                  // Losses of power are drawn twice as often as the others.
                                  .kinds = {Kind::kPowerLoss, Kind::kPowerLoss, Kind::kKill, Kind::kKillAtChange,
                                            Kind::kStop, Kind::kDiskSlow}});
  }
}

TEST(ClusterRecovery, TrainingContinuesWhenTheNetworkIsBad) {
  for (const bool sync : {false, true}) {
    // 50 seeds, so that seed 48 is one of them. With it, the last save of the chief fails after a background thread has
    // noticed the lost connection. This once made training fail.
    TrainOnSeeds(50, {.sync = sync, .checkpoints = true}, NothingMore, FaultPlanOptions{.kinds = kNetworkFaults});
  }
}

}  // namespace
}  // namespace tensorbraid
