#include "planner/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/strings.h"
#include "planner/advice.h"
#include "planner/interval.h"
#include "planner/model/calibration.h"
#include "planner/model/devices.h"
#include "planner/report.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A product of 1,000 examples with weights of 4 MB, and half a second of computation that was measured.
PlanInput OneProduct() {
  tensorbraid::Graph g;
  {
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = 1}));
    auto x = Placeholder(g, kFloat32, {1000, 1000}, "x");
    Variable w(g, {1000, 1000}, Zeros(), {.name = "weights"});
    GradientDescentOptimizer(0.1).Minimize(ReduceSum(MatMul(x, w)), {.name = "train"});
  }
  EXPECT_TRUE(g.status().ok()) << g.status();
  PlanInput input;
  input.graph.graph_def = *g.ToGraphDef();
  input.graph.feeds = {{"x:0", {1000, 1000}}};
  input.graph.targets = {"train"};
  input.graph.measured.between_steps_ns = 0.5e9;
  input.hardware.host_cores = 2;
  input.hardware.link = {.out_bytes_per_s = 12.5e6, .in_bytes_per_s = 12.5e6};
  return input;
}

PlanRow One(const PlanInput& input, const Configuration& c) {
  const auto row = PlanOne(input, c);
  EXPECT_TRUE(row.ok()) << row.status();
  return row.value_or(PlanRow{});
}

TEST(PlannerTest, ARowHasTheBoundsOfItsResources) {
  const PlanRow row = One(OneProduct(), {.workers = 3});
  EXPECT_NEAR(row.bounds.server_link, 12.5e6 / 4e6, 1e-6);
  EXPECT_NEAR(row.bounds.worker_link, 3 * 12.5e6 / 4e6, 1e-6);
  EXPECT_NEAR(row.bounds.compute, 3 / 0.6, 0.6);  // the product takes some 0.1 s
  EXPECT_LE(row.prediction.steps_per_s, row.bounds.server_link * 1.02);
  EXPECT_NEAR(row.speed_up, row.prediction.examples_per_s / *LocalExamplesPerS(OneProduct(), 0), 1e-9);
  EXPECT_LT(row.speed_up, 3);
}

TEST(PlannerTest, TasksOfOneMachineHaveNoLinksUnlessEachHasItsOwn) {
  PlanInput input = OneProduct();
  input.hardware.one_machine = true;
  EXPECT_EQ(One(input, {.workers = 2}).bounds.server_link, 0);
  EXPECT_LT(One(input, {.workers = 1}).prediction.step_ms, 900);
  input.hardware.link_per_task = true;
  EXPECT_GT(One(input, {.workers = 1}).prediction.step_ms, 1100) << "two transfers of 0.32 s";
}

TEST(PlannerTest, ASearchFindsWhatHelpsAgainstTheBound) {
  PlanInput input = OneProduct();
  input.training.steps = 10;
  const auto rows = Search(input, {.workers = 8},
                           {.servers = {1, 4},
                            .modes = {Mode::kAsync},
                            .wires = {Wire::kFloat32, {Wire::kInt8, Wire::kInt8}},
                            .placements = {Placement::kRoundRobin, Placement::kEven},
                            .batches = {0}});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 6u) << "with one server the placements do not differ";
  const Configuration& best = rows->front().configuration;
  EXPECT_EQ(best.servers, 4);
  EXPECT_EQ(best.placement, Placement::kEven) << "the only variable must be divided";
  EXPECT_EQ(WireText(best.wire), "int8");
  EXPECT_EQ(rows->back().prediction.bound, Bound::kServerLink);
}

TEST(PlannerTest, SumsPerHostDivideTheBytesByTheWorkersOfAMachine) {
  PlanInput input = OneProduct();
  input.hardware.workers_per_machine = 4;
  input.hardware.host_cores = 16;
  input.graph.measured.between_steps_ns = 0;
  for (const Mode mode : {Mode::kAsync, Mode::kSync}) {
    const PlanRow plain = One(input, {.workers = 8, .mode = mode});
    const PlanRow sums = One(input, {.workers = 8, .mode = mode, .sum_per_host = true});
    EXPECT_EQ(plain.prediction.bound, Bound::kServerLink);
    EXPECT_NEAR(sums.bounds.server_link, 4 * plain.bounds.server_link, 1e-6);
    // The server's link passes the 4 MB of a step in 0.32 s, and the computation takes some 0.1 s. At the slowest, both
    // machines read at the same time and write at the same time. At the fastest, one reads while the other one writes.
    EXPECT_GT(plain.prediction.steps_per_s, 8 / (16 * 0.32 + 0.2));
    EXPECT_LT(plain.prediction.steps_per_s, mode == Mode::kAsync ? 1.02 / 0.32 : 8 / (15 * 0.32));
    EXPECT_GT(sums.prediction.steps_per_s, 8 / (4 * 0.32 + 0.2));
    EXPECT_LT(sums.prediction.steps_per_s, 8 / (2 * 0.32));
  }
  EXPECT_THAT(std::string(PlanOne(input, {.workers = 6, .sum_per_host = true}).status().message()),
              HasSubstr("the same number of workers on each machine"));
  const auto rows = Search(input, {.workers = 8},
                           {.servers = {1},
                            .modes = {Mode::kSync},
                            .wires = {Wire::kFloat32},
                            .placements = {Placement::kRoundRobin},
                            .batches = {0},
                            .sums = {false, true}});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_TRUE(rows->front().configuration.sum_per_host);
}

TEST(PlannerTest, ASearchPrefersFewerServersIfTheyAreAsFast) {
  PlanInput input = OneProduct();
  input.hardware.link = {};
  const auto rows = Search(input, {.workers = 1},
                           {.servers = {1, 2, 4},
                            .modes = {Mode::kAsync},
                            .wires = {Wire::kFloat32},
                            .placements = {Placement::kRoundRobin},
                            .batches = {0}});
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->front().configuration.servers, 1);
}

TEST(PlannerTest, TheMeasuredConfigurationIsExactAfterCalibration) {
  for (const double measured_ms : {5000.0, 560.0}) {
    PlanInput input = OneProduct();
    // The kernels take 0.1 s by the measurement, so the model alone gives 0.6 s.
    for (const char* node : {"MatMul", "gradients/MatMul_grad/MatMul_1"}) input.graph.measured.node_ns[node] = 0.05e9;
    input.graph.measured.step_ns = measured_ms * 1e6;
    input.graph.measured.cpu_ns = 1e9;
    const Hardware here = ThisMachine(2, SharedMemoryCosts());
    const auto model_ns = Calibrate(&input, here);
    ASSERT_TRUE(model_ns.ok()) << model_ns.status();
    EXPECT_GT(*model_ns, 0.5e9);
    input.hardware = here;
    EXPECT_NEAR(One(input, {}).prediction.step_ms, measured_ms, 0.01 * measured_ms);
    // Of the five seconds, the process used its cores for one.
    EXPECT_NEAR(input.graph.measured.idle_ns, measured_ms > 1000 ? 4e9 : 0, 0.5e9);
  }
}

TEST(PlannerTest, TasksThatShareCoresCostEachOtherWhatTheyUsedWhenMeasured) {
  PlanInput input = OneProduct();
  MeasuredStep& measured = input.graph.measured;
  for (const char* node : {"MatMul", "gradients/MatMul_grad/MatMul_1"}) measured.node_ns[node] = 0.1e6;
  measured.between_steps_ns = 0.1e6;
  // Both processes are busy nearly all the time, though the model explains only a part of it.
  measured.step_ns = 2e6;
  measured.cpu_ns = 1.6e6;
  measured.server_cpu_ns = 1.8e6;
  const Hardware here = ThisMachine(2, SharedMemoryCosts());
  input.hardware = here;
  ASSERT_TRUE(Calibrate(&input, here).ok());
  const Prediction alone = One(input, {}).prediction;
  EXPECT_NEAR(alone.step_ms, 2, 0.15);
  EXPECT_NEAR(alone.cpu_ms, 3.4, 0.34);
  EXPECT_FALSE(alone.tasks_compete);
  const PlanRow four = One(input, {.workers = 4});
  EXPECT_NEAR(four.prediction.cpu_ms, alone.cpu_ms, 0.1 * alone.cpu_ms);
  EXPECT_NEAR(four.prediction.steps_per_s, 2 / (alone.cpu_ms / 1e3), 0.1 * four.prediction.steps_per_s);
  EXPECT_TRUE(four.prediction.tasks_compete);
  EXPECT_THAT(Caution({four}), HasSubstr("From 4 workers on"));
  // On machines of their own, they do not compete.
  input.hardware.one_machine = false;
  EXPECT_EQ(Caution({One(input, {.workers = 4})}), "");
}

TEST(PlannerTest, ThreadsThatPolledWhenMeasuredSleepWhereCoresAreShared) {
  const auto cpu_us = [](double polling_ns, bool link_per_task) {
    PlanInput input = OneProduct();
    MeasuredStep& measured = input.graph.measured;
    for (const char* node : {"MatMul", "gradients/MatMul_grad/MatMul_1"}) measured.node_ns[node] = 0.1e6;
    measured.step_ns = 1e6;
    measured.cpu_ns = measured.server_cpu_ns = 0.8e6;
    measured.polling_ns = measured.server_polling_ns = polling_ns;
    Hardware here = ThisMachine(2, SharedMemoryCosts());
    here.link_per_task = link_per_task;
    input.hardware = here;
    EXPECT_TRUE(Calibrate(&input, here).ok());
    return One(input, {.workers = 4}).prediction.cpu_ms * 1e3;
  };
  // Some messages of a step, 2.4 us each at either end.
  const double without = cpu_us(0, false);
  EXPECT_GT(cpu_us(1e6, false) - without, 2 * 2.4);
  EXPECT_LT(cpu_us(1e6, false) - without, 20 * 2.4);
  // They cost no more than the polling did.
  EXPECT_NEAR(cpu_us(1e3, false) - without, 2, 1.5);
  EXPECT_EQ(cpu_us(1e6, true), cpu_us(0, true)) << "over a link they slept when they were measured";
}

TEST(PlannerTest, AWakeUpCostsWhatThisMachineNeedsForIt) {
  const auto cpu_us = [](double wake_us) {
    PlanInput input = OneProduct();
    MeasuredStep& measured = input.graph.measured;
    for (const char* node : {"MatMul", "gradients/MatMul_grad/MatMul_1"}) measured.node_ns[node] = 0.1e6;
    measured.step_ns = 1e6;
    measured.cpu_ns = measured.server_cpu_ns = 0.8e6;
    measured.polling_ns = measured.server_polling_ns = 1e6;
    input.machine.wake.busy_ns = wake_us * 1e3;
    const Hardware here = ThisMachine(2, SharedMemoryCosts());
    input.hardware = here;
    EXPECT_TRUE(Calibrate(&input, here).ok());
    return One(input, {.workers = 4}).prediction.cpu_ms * 1e3;
  };
  const double without = cpu_us(0);
  EXPECT_GT(cpu_us(3), without + 2);
  EXPECT_NEAR(cpu_us(6) - without, 2 * (cpu_us(3) - without), 2);
}

TEST(PlannerTest, AProgramThatWasMeasuredInOneProcessIsPlannedForACluster) {
  for (const double measured_ms : {5.0, 50.0}) {
    PlanInput input = OneProduct();
    MeasuredStep& measured = input.graph.measured;
    measured = {.local = true};
    for (const char* node : {"MatMul", "gradients/MatMul_grad/MatMul_1"}) measured.node_ns[node] = 5e6;
    measured.step_ns = measured_ms * 1e6;
    measured.cpu_ns = 20e6;
    const WayCosts usual = input.hardware.local;
    ASSERT_TRUE(Calibrate(&input, ThisMachine(2, SharedMemoryCosts())).ok());
    EXPECT_NEAR(*LocalStepNs(input, 0), measured_ms * 1e6, 0.3 * measured_ms * 1e6);
    EXPECT_EQ(input.hardware.local.message_ns, usual.message_ns) << "nothing was learnt of messages";
    EXPECT_LT(One(input, {}).speed_up, 1) << "the values and the gradients cross a link";
  }
}

TEST(IntervalTest, ShortStepsOfTasksThatCompeteAreLessSure) {
  Prediction p;
  p.cpu_ms = 0.1;
  p.messages = 10;
  const MeasuredStep steady = {.polling_ns = 1e5, .step_ns = 1e6, .shortest_ns = 1e6, .longest_ns = 1e6};
  const auto alone = IntervalOf(p, 0.1, steady, {});
  EXPECT_GT(alone.low, 0.85);
  EXPECT_LT(alone.high, 1.2);
  p.tasks_compete = true;
  EXPECT_LT(IntervalOf(p, 0.9, steady, {}).low, 0.65) << "all messages: predicted up to 72 % too fast";
  EXPECT_GT(IntervalOf(p, 0.05, steady, {}).low, 0.85) << "LeNet: predicted up to 8 % too fast";
  MeasuredMachine unsteady;
  unsteady.wake.highest_busy_ns = unsteady.wake.busy_ns + 2000;  // 20 us of 100 us
  EXPECT_NEAR(1 / IntervalOf(p, 0.5, steady, unsteady).low - 1 / IntervalOf(p, 0.5, steady, {}).low, 0.2, 1e-9);
}

TEST(IntervalTest, WhatTheMeasurementVariesIsAdded) {
  const Prediction p;
  MeasuredStep measured = {.step_ns = 1e6, .shortest_ns = 0.9e6, .longest_ns = 1.3e6};
  const Interval none = IntervalOf(p, 0, {}, {}), some = IntervalOf(p, 0, measured, {});
  EXPECT_NEAR(1 / some.low - 1 / none.low, 0.3, 1e-9);
  EXPECT_NEAR(1 / none.high - 1 / some.high, 0.1, 1e-9);
  EXPECT_NEAR(1 / some.high - 1 / IntervalOf(p, 0, measured, {.others_share = 0.4}).high, 0.4, 1e-9);
}

TEST(MachineTest, IsKeptWithTheProfile) {
  const std::string directory = testing::TempDir();
  const MeasuredMachine machine = {
      .wake = {.busy_ns = 3000, .lowest_busy_ns = 2000, .highest_busy_ns = 5000, .idle_ns = 20000, .measured = true},
      .others_share = 0.25};
  ASSERT_TRUE(WriteMachine(directory, machine).ok());
  const auto read = ReadMachine(directory);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->wake.highest_busy_ns, 5000);
  EXPECT_EQ(read->others_share, 0.25);
  EXPECT_FALSE(ReadMachine(directory + "/none")->wake.measured) << "profiles of older releases have no such file";
  EXPECT_THAT(MeasuredText({.step_ns = 2e6}, machine, 1e6),
              AllOf(HasSubstr("one PS and one worker: 2 ms"), HasSubstr("costs 3 us (2 to 5)")));
  EXPECT_THAT(MeasuredText({.local = true, .step_ns = 2e6}, {}, 1e6), HasSubstr("in one process"));
  EXPECT_THAT(BusyWarning(machine), HasSubstr("other programs used 25 % of this machine's cores"));
  EXPECT_EQ(BusyWarning({.others_share = 0.1}), "");
}

TEST(WakeUpTest, HandingOverCostsTime) {
  const WakeUpCost cost = MeasureWakeUp();
  EXPECT_GT(cost.busy_ns, 0);
  EXPECT_LE(cost.lowest_busy_ns, cost.busy_ns);
  EXPECT_GE(cost.highest_busy_ns, cost.busy_ns);
  EXPECT_GT(cost.idle_ns, 0);
}

// Eight workers share the link of the only server.
TEST(AdviceTest, ItsFiguresAreThoseOfTheTables) {
  PlanInput input = OneProduct();
  input.training.steps = 10;
  const PlanRow now = One(input, {.workers = 8});
  ASSERT_EQ(now.prediction.bound, Bound::kServerLink);
  const std::vector<Remedy> remedies = Remedies(input, now, 2);
  const auto gain = [&](const std::string& change) {
    const auto found = std::ranges::find(remedies, change, &Remedy::change);
    EXPECT_NE(found, remedies.end()) << change;
    return found == remedies.end() ? 0 : found->gain;
  };
  const auto speed = [&](const Configuration& c) {
    return One(input, c).prediction.examples_per_s / now.prediction.examples_per_s;
  };
  EXPECT_EQ(gain("2 PS"), speed({.servers = 2, .workers = 8}));
  EXPECT_EQ(gain("2 PS with --placement=even"), speed({.servers = 2, .workers = 8, .placement = Placement::kEven}));
  EXPECT_EQ(gain("--wire=ps:int8"), speed({.workers = 8, .wire = Wire::kInt8}));
  // The only variable stays on one server.
  EXPECT_THAT(Advice(now, remedies), AllOf(HasSubstr("what helps is "), HasSubstr("2 PS with --placement=even ("),
                                           HasSubstr("; 2 PS does not help"), HasSubstr("times as fast")));
}

TEST(PlannerTest, DevicesOfTheTableComputeAtTheirSpeed) {
  const auto v100 = SpeedOf("v100", 0.5), cpu = SpeedOf("epyc-7763", 0.5);
  ASSERT_TRUE(v100.ok() && cpu.ok());
  EXPECT_EQ(v100->flops_per_s, 15.7e12 / 2);
  EXPECT_EQ(cpu->cores, 64);
  PlanInput input = OneProduct();
  input.graph.measured = {};
  input.hardware.link = {};
  input.hardware.worker_device = *v100;
  const double gpu_ms = One(input, {}).prediction.step_ms;
  input.hardware.worker_device = *SpeedOf("k80-die", 0.5);
  EXPECT_GT(One(input, {}).prediction.step_ms, gpu_ms);
  EXPECT_THAT(std::string(SpeedOf("v10", 1).status().message()), HasSubstr("did you mean v100?"));
  for (const KnownDevice& device : KnownDevices()) {
    EXPECT_FALSE(device.source.empty()) << device.name;
    EXPECT_GT(device.gflops_per_core, 0) << device.name;
    EXPECT_GT(device.memory_gb_s, 0) << device.name;
  }
}

TEST(PlanReportTest, TableJsonAndPictureSayTheSame) {
  const PlanInput input = OneProduct();
  std::vector<PlanRow> rows;
  for (const int workers : {1, 2, 8}) rows.push_back(One(input, {.workers = workers}));
  EXPECT_THAT(ScalingTable(rows), AllOf(HasSubstr("PS link"), HasSubstr("speed-up")));
  EXPECT_THAT(ScalingTable(rows), HasSubstr("likely"));
  const std::vector<std::string> lines = StrSplit(JsonLines(rows), '\n');
  ASSERT_EQ(lines.size(), 4u) << "one for each row, and nothing after the last end of line";
  const auto json = nlohmann::json::parse(lines[2]);
  EXPECT_EQ(json["workers"], 8);
  EXPECT_EQ(json["bound"], "PS link");
  EXPECT_NEAR(json["bounds"]["ps_link"].get<double>(), 3.125, 1e-6);
  EXPECT_LT(json["lowest_steps_per_s"], json["steps_per_s"]);
  EXPECT_GT(json["highest_steps_per_s"], json["steps_per_s"]);
  EXPECT_THAT(SpeedUpChart(rows), AllOf(HasSubstr("<svg"), HasSubstr("predicted"), HasSubstr("PS links")));
  EXPECT_THAT(SearchTable(rows, 2), HasSubstr("round_robin"));
}

}  // namespace
}  // namespace tensorbraid::planner
