#include "planner/simulation/simulation.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/model/summed_step.h"

namespace tensorbraid::planner {
namespace {

constexpr double kMillisecond = 1e6;  // in ns
constexpr double kMegabyte = 1e6;

// A model that computes for `compute_ms` and has one variable of `mb`, on one server.
StepProgram OneVariable(double compute_ms, double mb) {
  return ProgramOf({.variable_bytes = {mb * kMegabyte}, .step_ns = compute_ms * kMillisecond}, {0}, 1);
}

ClusterModel Machines(int servers, int workers, double mb_per_s) {
  return SeparateMachines(servers, workers, 8,
                          {.out_bytes_per_s = mb_per_s * kMegabyte, .in_bytes_per_s = mb_per_s * kMegabyte}, {});
}

Prediction Predict(const StepProgram& program, const ClusterModel& cluster, const TrainingModel& training = {}) {
  const auto prediction = Simulate(program, cluster, training);
  EXPECT_TRUE(prediction.ok()) << prediction.status();
  return prediction.value_or(Prediction{});
}

TEST(SimulationTest, OneWorkerComputesAndTransfers) {
  // Values to the worker and gradients back, 40 MB at 100 MB/s each, and 50 ms of computation.
  const Prediction p = Predict(OneVariable(50, 40), Machines(1, 1, 100));
  EXPECT_NEAR(p.step_ms, 850, 0.1);
  EXPECT_NEAR(p.steps_per_s, 1 / 0.85, 1e-3);
  EXPECT_NEAR(p.compute_share, 50.0 / 850, 1e-3);
  EXPECT_NEAR(p.server_link_use, 400.0 / 850, 1e-3);
  EXPECT_EQ(p.mean_staleness, 0);
}

TEST(SimulationTest, AFullLinkOfTheServerBoundsAllWorkers) {
  // Eight workers need 8 x 40 MB in each direction for a step of each: 3.2 s at 100 MB/s.
  const Prediction p = Predict(OneVariable(50, 40), Machines(1, 8, 100), {.warm_up_steps = 10, .steps = 40});
  EXPECT_NEAR(p.steps_per_s, 100.0 / 40, 0.05);
  EXPECT_GT(p.server_link_use, 0.95);
  EXPECT_EQ(p.bound, Bound::kServerLink);
  EXPECT_EQ(BoundName(p.bound), "PS link");
  EXPECT_NEAR(p.mean_staleness, 7, 0.5) << "each other worker updates once between a worker's read and update";
}

TEST(SimulationTest, WorkersOfAMachineSendOneSum) {
  // Four workers on two machines. Values and sums of 40 MB pass the server's link once for each machine, at 100 MB/s:
  // 800 ms in each direction. All workers of a machine compute at the same time: 50 ms. To copy the values takes 0.1
  // ns, and to add a gradient 0.25 ns, for each byte.
  const StepProgram program = SummedStep(OneVariable(50, 40), 2);
  const Prediction sync = Predict(program, Machines(1, 2, 100), {.mode = Mode::kSync});
  // The machines take turns in parts of 1 MiB, which take 10.5 ms, so one of them has its values and sum a part
  // earlier.
  EXPECT_NEAR(1e3 / sync.updates_per_s, 800 + 4 + 50 + 10 + 800, 3 * 10.5);
  const Prediction alone = Predict(program, Machines(1, 1, 100));
  EXPECT_NEAR(alone.step_ms, 400 + 4 + 50 + 10 + 400, 1);
  EXPECT_NEAR(alone.examples_per_s, 2 * alone.steps_per_s, 1e-6);
  // Machines with one core for both workers compute twice as long.
  ClusterModel one_core = Machines(1, 1, 100);
  one_core.host_cores = {1, 1};
  EXPECT_NEAR(Predict(program, one_core).step_ms, 400 + 4 + 100 + 10 + 400, 1);
}

TEST(SimulationTest, WorkersOfOneMachineShareItsCores) {
  StepProgram program = OneVariable(50, 0.001);
  const Prediction p = Predict(program, OneMachine(1, 4, 2, {.shares_memory = true}));
  EXPECT_NEAR(p.step_ms, 100, 0.5);
  EXPECT_EQ(p.bound, Bound::kCompute);
}

TEST(SimulationTest, SynchronousWorkersWithoutSparesWaitForTheSlowest) {
  // The mean of the largest of n exponential variables is their mean times 1 + 1/2 + ... + 1/n.
  const StepProgram program = OneVariable(10, 0.001);
  const auto stragglers = Stragglers::Parse("only-exponential:1");
  ASSERT_TRUE(stragglers.ok());
  for (const int n : {1, 4, 16}) {
    double expected_ms = 0;
    for (int i = 1; i <= n; ++i) expected_ms += 10.0 / i;
    const Prediction p = Predict(program, Machines(1, n, 0),
                                 {.mode = Mode::kSync, .stragglers = *stragglers, .warm_up_steps = 0, .steps = 4000});
    EXPECT_NEAR(1e3 / p.updates_per_s, expected_ms, 0.03 * expected_ms) << n;
    EXPECT_EQ(p.dropped_share, 0) << n;
  }
}

TEST(SimulationTest, TheFirstUpdateWithSparesIsAnOrderStatistic) {
  // The mean of the n-th of n + b exponential variables is their mean times 1/(b + 1) + ... + 1/(n + b). All workers
  // begin the first step at the same time, and those whose gradients are used end it with the update.
  const StepProgram program = OneVariable(10, 0.001);
  const auto stragglers = Stragglers::Parse("only-exponential:1");
  ASSERT_TRUE(stragglers.ok());
  const int n = 4, spares = 1, seeds = 4000;
  double sum_ms = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    sum_ms += Predict(program, Machines(1, n + spares, 0),
                      {.mode = Mode::kSync,
                       .spares = spares,
                       .stragglers = *stragglers,
                       .seed = static_cast<uint64_t>(seed),
                       .warm_up_steps = 0,
                       .steps = 1})
                  .step_ms;
  }
  const double expected_ms = 10 * (1.0 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5);
  EXPECT_NEAR(sum_ms / seeds, expected_ms, 0.03 * expected_ms);
}

TEST(SimulationTest, GradientsOfSpareWorkersAreDroppedWhenLate) {
  const auto stragglers = Stragglers::Parse("slow:0.2:5");
  ASSERT_TRUE(stragglers.ok());
  const TrainingModel training = {.mode = Mode::kSync, .stragglers = *stragglers, .steps = 300};
  TrainingModel with_spares = training;
  with_spares.spares = 3;
  const StepProgram program = OneVariable(10, 0.001);
  const Prediction without = Predict(program, Machines(1, 8, 0), training);
  const Prediction with = Predict(program, Machines(1, 8, 0), with_spares);
  // Without spares, one of eight is slow in 1 - 0.8^8 = 83 % of the steps: 43.3 ms on average.
  EXPECT_NEAR(1e3 / without.updates_per_s, 10 + 40 * 0.8322, 2);
  EXPECT_EQ(without.bound, Bound::kStragglers);
  EXPECT_GT(with.updates_per_s, 2 * without.updates_per_s);
  EXPECT_GT(with.dropped_share, 0.1);
}

TEST(SimulationTest, BoundedWorkersStayNearTheSlowest) {
  // Unbounded, a worker that is five times as slow now and then leaves the others behind; bounded by 0, all make the
  // same number of steps, as in synchronous training.
  const auto stragglers = Stragglers::Parse("slow:0.2:5");
  ASSERT_TRUE(stragglers.ok());
  const StepProgram program = OneVariable(10, 0.001);
  const auto steps_per_s = [&](Mode mode, int max_ahead) {
    return Predict(program, Machines(1, 8, 0),
                   {.mode = mode, .max_ahead = max_ahead, .stragglers = *stragglers, .steps = 1500})
        .steps_per_s;
  };
  EXPECT_NEAR(steps_per_s(Mode::kAsync, 0), 8 / 0.018, 10);  // 10 ms x (0.8 + 0.2 x 5)
  EXPECT_NEAR(steps_per_s(Mode::kBounded, 0), 8 / 0.0433, 5);
  EXPECT_GT(steps_per_s(Mode::kBounded, 4), 1.2 * steps_per_s(Mode::kBounded, 0));
}

TEST(SimulationTest, ServersDivideTheBytes) {
  const StepProgram one = OneVariable(50, 40);
  // The link of the worker still bounds its step; each server has a quarter of the bytes.
  const Prediction p = Predict(DividedOver(one, 4), Machines(4, 1, 100));
  EXPECT_NEAR(p.step_ms, 850, 0.1);
  EXPECT_NEAR(p.server_link_use, 100.0 / 850, 1e-3);
  EXPECT_NEAR(p.worker_link_use, 400.0 / 850, 1e-3);
  const auto many = [&](int servers) {
    return Predict(DividedOver(one, servers), Machines(servers, 8, 100), {.warm_up_steps = 10, .steps = 40})
        .steps_per_s;
  };
  EXPECT_GT(many(4), 1.9 * many(1));
}

TEST(SimulationTest, UpdatesOfOneVariableRunOneAfterTheOther) {
  StepProgram program = OneVariable(0, 0.001);
  for (Activity& a : program.activities) {
    if (a.accumulates) a.ns = 1 * kMillisecond;
  }
  const Prediction p = Predict(program, Machines(1, 8, 0));
  EXPECT_NEAR(p.steps_per_s, 1000, 10) << "although the server has eight cores";
}

TEST(SimulationTest, ASumOfRowsIsAsLongAsAllGradients) {
  StepProgram program = OneVariable(0, 0.001);
  for (Activity& a : program.activities) {
    if (!a.accumulates) continue;
    a.ns = 1 * kMillisecond;
    a.accumulate_ns = 0.1 * kMillisecond;
  }
  const auto update_ms = [&] { return 1e3 / Predict(program, Machines(1, 4, 0), {.mode = Mode::kSync}).updates_per_s; };
  EXPECT_NEAR(update_ms(), 4 * 0.1 + 1, 0.02);
  for (Activity& a : program.activities) a.by_rows = a.accumulates;
  EXPECT_NEAR(update_ms(), (2 + 3 + 4) * 0.1 + 4, 0.02);
}

TEST(SimulationTest, AnnouncedTensorsWaitForTheRequest) {
  StepProgram program = OneVariable(0, 1);
  ClusterModel cluster = SeparateMachines(1, 1, 8, {}, {.latency_ns = 1 * kMillisecond});
  EXPECT_NEAR(Predict(program, cluster).step_ms, 4, 0.01);  // request, values, gradients, answer
  for (TensorTransfer& t : program.transfers) t.announced = true;
  EXPECT_NEAR(Predict(program, cluster).step_ms, 8, 0.01);
}

TEST(SimulationTest, ASeedRepeats) {
  const auto stragglers = Stragglers::Parse("lognormal:0.3");
  ASSERT_TRUE(stragglers.ok());
  const auto run = [&](uint64_t seed) {
    return Predict(OneVariable(50, 0.1), Machines(1, 6, 100), {.stragglers = *stragglers, .seed = seed}).step_ms;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST(SimulationTest, ImpossibleClustersAreRefused) {
  EXPECT_FALSE(Simulate(OneVariable(1, 1), Machines(1, 0, 0), {}).ok());
  EXPECT_FALSE(Simulate(DividedOver(OneVariable(1, 1), 2), Machines(1, 1, 0), {}).ok());
  EXPECT_FALSE(Simulate(OneVariable(1, 1), Machines(1, 2, 0), {.mode = Mode::kSync, .spares = 2}).ok());
}

TEST(StragglersTest, MeansAreThoseOfTheDraws) {
  for (const char* text : {"none", "lognormal:0.5", "exponential:0.3", "only-exponential:2", "slow:0.1:4"}) {
    const auto stragglers = Stragglers::Parse(text);
    ASSERT_TRUE(stragglers.ok()) << stragglers.status();
    std::mt19937_64 random(1);
    double sum = 0;
    for (int i = 0; i < 100000; ++i) sum += stragglers->Draw(random);
    EXPECT_NEAR(sum / 100000, stragglers->Mean(), 0.03 * stragglers->Mean()) << text;
  }
  for (const char* text :
       {"", "normal:1", "lognormal", "lognormal:x", "lognormal:inf", "exponential:nan", "slow:2:3", "slow:0.1"}) {
    EXPECT_FALSE(Stragglers::Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tensorbraid::planner
