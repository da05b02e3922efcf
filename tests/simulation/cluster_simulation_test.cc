// Whole clusters in simulation: servers, masters, sessions and training loops in one process, on one seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "core/logging.h"
#include "core/strings.h"
#include "simulation/simulate.h"
#include "simulation/training.h"

namespace tensorbraid {
namespace {

std::string Describe(const Trained& trained) {
  return StrCat("step ", trained.global_step, ", count ", trained.count, ", acknowledged ", trained.acknowledged,
                ", kills ", trained.kills, ", weights ", trained.weights);
}

// Trains in a simulation. The value is the final state.
SimulationResult SimulateTraining(uint64_t seed, const TrainingOptions& options, const SimulationOptions& how = {}) {
  return Simulate(
      seed,
      [&](Scheduler& scheduler) -> StatusOr<std::string> {
        TF_ASSIGN_OR_RETURN(const Trained trained, Train(scheduler, options));
        return Describe(trained);
      },
      how);
}

// Trains once for each seed, and reports the seeds whose training failed or broke an invariant. TENSORBRAID_TEST_SEED
// selects one seed, TENSORBRAID_SIMULATION_SEEDS another number of seeds. A build with sanitizers, which is several
// times slower, takes fewer.
void TrainOnSeeds(uint64_t seeds, const TrainingOptions& options,
                  const std::function<Status(const Trained&)>& invariants) {
  uint64_t first = 0;
#ifdef __SANITIZE_ADDRESS__
  seeds = (seeds + 3) / 4;
#endif
  if (const char* number = std::getenv("TENSORBRAID_SIMULATION_SEEDS")) seeds = std::strtoull(number, nullptr, 10);
  if (const char* only = std::getenv("TENSORBRAID_TEST_SEED")) {
    first = std::strtoull(only, nullptr, 10);
    seeds = 1;
  }
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    if (!options.checkpoint_dir.empty()) std::filesystem::remove_all(options.checkpoint_dir);
    const SimulationResult result = Simulate(seed, [&](Scheduler& scheduler) -> StatusOr<std::string> {
      TF_ASSIGN_OR_RETURN(const Trained trained, Train(scheduler, options));
      TF_RETURN_IF_ERROR(Annotate(invariants(trained), Describe(trained)));
      return "";
    });
    EXPECT_TRUE(result.status.ok()) << "TENSORBRAID_TEST_SEED=" << seed << ": " << result.status;
  }
}

Status Check(bool holds, const char* what) { return holds ? OkStatus() : Internal("does not hold: ", what); }

class ClusterSimulation : public ::testing::TestWithParam<Network> {};
INSTANTIATE_TEST_SUITE_P(Networks, ClusterSimulation, ::testing::Values(Network::kInproc, Network::kSim),
                         [](const auto& info) { return info.param == Network::kSim ? "Sim" : "Inproc"; });

TEST_P(ClusterSimulation, ASeedRepeatsATrainingBitForBitAndSeedsDiffer) {
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
    TF_RETURN_IF_ERROR(Check(t.count == static_cast<float>(t.global_step), "count == step"));
    return Check(t.acknowledged == t.global_step, "acknowledged == step");
  });
}

TEST_P(ClusterSimulation, SynchronousTrainingAppliesEachStepOnce) {
  TrainOnSeeds(20, {.network = GetParam(), .sync = true}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    return Check(t.count == static_cast<float>(t.global_step), "count == step");
  });
}

TEST_P(ClusterSimulation, EachGradientOfAnAsynchronousTrainingIsAppliedOrReportedAsDropped) {
  TrainOnSeeds(20, {.network = GetParam(), .num_workers = 3, .staleness = StalenessPolicy{.max_age = 0}},
               [](const Trained& t) {
                 TF_RETURN_IF_ERROR(Check(t.acknowledged == t.global_step, "acknowledged == step"));
                 return Check(t.count + static_cast<float>(t.dropped) == static_cast<float>(t.global_step),
                              "count + dropped == step");
               });
}

TEST(ClusterFaults, AKilledWorkerDoesNotHoldTheOthersBack) {
  const StalenessPolicy policy = {.max_lead = 1, .lost_after = std::chrono::milliseconds(500)};
  TrainOnSeeds(20, {.num_workers = 3, .staleness = policy, .worker_kills = 2}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    return Check(t.count >= static_cast<float>(t.acknowledged), "count >= acknowledged");
  });
}

TEST(ClusterFaults, AKilledWorkerLosesNoAcknowledgedStep) {
  TrainOnSeeds(20, {.worker_kills = 2}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    TF_RETURN_IF_ERROR(Check(t.count >= static_cast<float>(t.acknowledged), "count >= acknowledged"));
    return Check(t.count <= static_cast<float>(t.acknowledged + t.kills), "count <= acknowledged + kills");
  });
}

TEST(ClusterFaults, SynchronousTrainingSurvivesAKilledWorker) {
  TrainOnSeeds(20, {.sync = true, .worker_kills = 2}, [](const Trained& t) {
    TF_RETURN_IF_ERROR(Check(t.global_step >= 20, "the last step is reached"));
    return Check(t.count == static_cast<float>(t.global_step), "count == step");
  });
}

// A directory that ends with the test.
class ClusterRecovery : public ::testing::Test {
 protected:
  ClusterRecovery() { TB_CHECK(::mkdtemp(path_.data()) != nullptr); }
  ~ClusterRecovery() override { std::filesystem::remove_all(path_); }
  // An empty directory for each training.
  void TrainOnSeeds(uint64_t seeds, TrainingOptions options) {
    options.checkpoint_dir = path_ + "/training";
    tensorbraid::TrainOnSeeds(seeds, options,
                              [](const Trained& t) { return Check(t.global_step >= 20, "the last step is reached"); });
  }

 private:
  std::string path_ = ::testing::TempDir() + "cluster_recovery_XXXXXX";
};

TEST_F(ClusterRecovery, AsynchronousTrainingContinuesAfterALostParameterServer) { TrainOnSeeds(20, {.ps_kills = 2}); }

TEST_F(ClusterRecovery, TrainingContinuesWhileAllKindsOfTasksAreLost) {
  TrainOnSeeds(20, {.worker_kills = 2, .ps_kills = 2});
}

}  // namespace
}  // namespace tensorbraid
