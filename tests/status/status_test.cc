// Tests the report of a cluster: the reports of its tasks, the conclusions from them, and the formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cli/status_text.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"
#include "cluster/status/cluster_report.h"
#include "cluster/status/metrics.h"
#include "cluster/testing/test_cluster.h"
#include "core/system/env_testutil.h"
#include "graph/model/node.h"
#include "status/prometheus_parser.h"
#include "status/report_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(StatusTest, EveryTaskKnowsTheWholeCluster) {
  TestCluster cluster(2, 2);
  for (const auto& [job, index] : {std::pair("ps", 1), std::pair("worker", 0)}) {
    const proto::ClusterReport report = ReportOf(cluster.task(job, index));
    EXPECT_EQ(report.asked(), StrCat(job, "/", index));
    std::vector<std::string> tasks;
    for (const auto& task : report.tasks()) {
      tasks.push_back(task.task());
      EXPECT_EQ(task.state(), "up") << task.problem();
      EXPECT_GT(task.memory_bytes(), 1e6);
      EXPECT_GE(task.peak_memory_bytes(), task.memory_bytes() / 2);
      EXPECT_THAT(task.address(), HasSubstr("localhost:"));
    }
    EXPECT_THAT(tasks, ElementsAre("ps/0", "ps/1", "worker/0", "worker/1"));
    EXPECT_FALSE(report.has_global_step());
  }
}

// A step of worker/0 takes an element from a queue on ps/0. The queue is empty until the test puts an element into it.
class BlockedQueueTest : public ::testing::Test {
 protected:
  // With `loop`, the step also has control flow on ps/0.
  void BlockAndAdvance(bool loop) {
    Graph g;
    const Output pred = Placeholder(g, kBool, {}, "pred");
    Output taken;
    Operation put;
    {
      auto device = g.Device("/job:ps/task:0");
      FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "input"});
      put = queue.Enqueue({1.0f});
      taken = queue.Dequeue()[0];
      if (loop) taken = NodeBuilder(g, "Switch").Input(taken).Input(pred).Finish().output(1);
    }
    auto session = Session::Create(g, {.target = cluster_.worker_target(0)}).value();
    std::thread step([&] {
      const std::vector<Feed> feeds = {{pred, Tensor::Scalar(true)}};
      const auto value = session->Run({taken}, loop ? feeds : std::vector<Feed>());
      EXPECT_TRUE(value.ok()) << value.status();
    });
    AwaitReport(cluster_.task("ps", 0), [](const auto& r) { return NumWaits(r, "ps/0") == 1; });
    AwaitReport(cluster_.task("ps", 0), [](const auto& r) { return NumWaits(r, "worker/0") == 1; });
    EXPECT_EQ(ReportOf(cluster_.task("ps", 0)).blocked_size(), 0);
    clock_.Advance(std::chrono::seconds(12));
    const auto report = ReportOf(cluster_.task("worker", 1));
    EXPECT_TRUE(session->Run({put}).ok());
    step.join();

    ASSERT_EQ(report.blocked_size(), 1) << report.DebugString();
    const auto& blocked = report.blocked(0);
    EXPECT_EQ(blocked.master(), "worker/0");
    EXPECT_EQ(blocked.seconds(), 12);
    EXPECT_EQ(blocked.cause(), "");
    EXPECT_THAT(blocked.unfinished_tasks(), ::testing::UnorderedElementsAre("ps/0", "worker/0"));
    ASSERT_EQ(blocked.waits_size(), 2) << blocked.DebugString();
    const auto& on_ps = blocked.waits(0);
    EXPECT_EQ(on_ps.task(), "ps/0");
    EXPECT_EQ(on_ps.op(), "QueueDequeueV2");
    EXPECT_EQ(on_ps.node(), "input_Dequeue");
    EXPECT_EQ(on_ps.resource(), "input");
    EXPECT_EQ(on_ps.seconds(), 12);
    const auto& on_worker = blocked.waits(1);
    EXPECT_EQ(on_worker.task(), "worker/0");
    EXPECT_EQ(on_worker.op(), "_Recv");
    EXPECT_EQ(on_worker.peer(), "ps/0");
    EXPECT_THAT(on_worker.tensor(), HasSubstr(loop ? "Switch" : "input_Dequeue:0"));
    EXPECT_EQ(on_worker.seconds(), 12);
    const std::string text = StatusText(report, report);
    EXPECT_THAT(text, AllOf(HasSubstr("worker/0 step "), HasSubstr("has run for 12 s"),
                            HasSubstr("ps/0 has waited 12 s for QueueDequeueV2 'input_Dequeue'"),
                            HasSubstr("on 'input'"), HasSubstr("from ps/0")));

    const auto after = ReportOf(cluster_.task("worker", 1));
    EXPECT_EQ(after.blocked_size(), 0) << after.DebugString();
    EXPECT_EQ(NumWaits(after, "ps/0") + NumWaits(after, "worker/0"), 0);
    EXPECT_EQ(TaskIn(after, "worker/0").step_seconds(), 12) << "two steps have overlapped";
    EXPECT_EQ(TaskIn(after, "worker/0").stepping_seconds(), 12) << "the latest began after 12 s";
  }

  ManualClockEnv clock_;
  ScopedEnv installed_{&clock_};
  TestCluster cluster_{1, 2, {.membership = {.heartbeat_timeout = std::chrono::hours(1)}, .exchange = {}}};
};

TEST_F(BlockedQueueTest, IsReportedWithItsOperationAndItsTime) { BlockAndAdvance(/*loop=*/false); }
TEST_F(BlockedQueueTest, IsReportedInAStepWithControlFlow) { BlockAndAdvance(/*loop=*/true); }

TEST(StatusTest, CountsStepsAndBytesAndReadsTheGlobalStep) {
  ManualClockEnv clock;
  const ScopedEnv installed(&clock);
  TestCluster cluster(1, 1);
  Graph g;
  Variable global_step, table;
  {
    auto device = g.Device("/job:ps/task:0");
    global_step = GetOrCreateGlobalStep(g);
    table = Variable(g, {250, 4}, Zeros(), {.name = "table"});
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const Operation add = global_step.AssignAdd(int64_t{41});
  ASSERT_TRUE(session->Run({add}).ok());
  const auto before = ReportOf(cluster.task("ps", 0));
  const auto bytes = [](const proto::ClusterReport& report, const std::string& task) {
    const auto& received = TaskIn(report, task).received();
    return received.empty() ? 0.0 : received[0].tensor_bytes();
  };
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Run({table}).ok());
  clock.Advance(std::chrono::seconds(2));
  // The parameter server's part of a step may end a little later than the step itself.
  const auto after = AwaitReport(cluster.task("ps", 0), [&](const proto::ClusterReport& report) {
    return TaskIn(report, "ps/0").staleness().parts() == TaskIn(before, "ps/0").staleness().parts() + 3;
  });
  EXPECT_EQ(after.global_step(), 41);
  EXPECT_EQ(TaskIn(after, "ps/0").global_step(), 41);
  EXPECT_FALSE(TaskIn(after, "worker/0").has_global_step());
  EXPECT_EQ(TaskIn(after, "ps/0").variables(), 2);
  EXPECT_EQ(TaskIn(after, "ps/0").variable_bytes(), 4000 + 8);
  EXPECT_EQ(TaskIn(after, "ps/0").steps(), 0);
  // The two steps have fetched different things. Of the steps in one second, only those of one signature are counted.
  EXPECT_EQ(TaskIn(before, "worker/0").steps(), 1);
  EXPECT_EQ(TaskIn(after, "worker/0").steps(), 3);
  EXPECT_EQ(TaskIn(after, "worker/0").steps_per_second(), 1.5);
  EXPECT_EQ(bytes(after, "worker/0"), bytes(before, "worker/0") + 3 * 4000);
  EXPECT_EQ(bytes(after, "ps/0"), bytes(before, "ps/0"));
  EXPECT_EQ(TaskIn(after, "worker/0").received(0).from(), "ps/0");
}

TEST(StatusTest, SlowStepsHaveARateWhileTheNextOneRuns) {
  ManualClockEnv clock;
  const ScopedEnv installed(&clock);
  TestCluster cluster(1, 1, {.membership = {.heartbeat_timeout = std::chrono::hours(1)}, .exchange = {}});
  Graph g;
  FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "input"});
  const Output taken = queue.Dequeue()[0];
  const Operation put = queue.Enqueue({1.0f});
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  const auto rate = [&] { return TaskIn(ReportOf(cluster.task("worker", 0)), "worker/0").steps_per_second(); };
  ASSERT_TRUE(session->Run({put}).ok());
  clock.Advance(std::chrono::seconds(20));
  ASSERT_TRUE(session->Run({taken}).ok());
  clock.Advance(std::chrono::seconds(20));
  std::thread step([&] { EXPECT_TRUE(session->Run({taken}).ok()); });
  AwaitReport(cluster.task("ps", 0), [](const auto& r) { return NumWaits(r, "worker/0") == 1; });
  clock.Advance(std::chrono::seconds(15));
  EXPECT_EQ(rate(), 1.0 / 35);  // one step has ended since the first `taken` began, 35 s ago
  ASSERT_TRUE(session->Run({put}).ok());
  step.join();
}

TEST(StatusTest, AgesOfGradientsAreThoseOfTheUpdateClocks) {
  TestCluster cluster(1, 1);
  Graph g;
  Variable x, global_step;
  {
    auto device = g.Device("/job:ps/task:0");
    x = Variable(g, {}, Zeros(), {.name = "x"});
    global_step = GetOrCreateGlobalStep(g);
  }
  AsyncReplicasOptimizer optimizer(std::make_shared<GradientDescentOptimizer>(0.1), {.staleness = {.max_age = 8}});
  const Operation train = optimizer.Minimize(Square(x - 1.0f), {.global_step = global_step});
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  for (int i = 0; i < 3; ++i) {
    const auto ran = session->Run({train});
    ASSERT_TRUE(ran.ok()) << ran.status();
  }
  // The optimizer keeps an UpdateClock (runtime/replicas/update_clock.h) for the variable.
  const auto staleness = TaskIn(ReportOf(cluster.task("ps", 0)), "ps/0").staleness();
  EXPECT_EQ(staleness.accepted(), 3);
  EXPECT_EQ(staleness.dropped(), 0);
  EXPECT_EQ(staleness.age_sum(), 0);
}

TEST(StatusTest, ATaskThatHasLeftOrCannotBeReachedIsReported) {
  TestCluster cluster(1, 2);
  AwaitReport(cluster.task("ps", 0), [](const auto& r) { return TaskIn(r, "worker/1").state() == "up"; });
  cluster.Stop("worker", 1);
  const auto report = AwaitReport(
      cluster.task("ps", 0), [](const proto::ClusterReport& r) { return TaskIn(r, "worker/1").state() == "left"; });
  EXPECT_EQ(TaskIn(report, "worker/0").state(), "up");
  // Worker 0 has never been connected to worker 1. The parameter server has been.
  AwaitReport(cluster.task("worker", 0), [](const auto& r) { return TaskIn(r, "worker/1").state() == "left"; });
}

TEST(StatusTest, AWorkerAsksAParameterServerAndMakesNoConnection) {
  TestCluster cluster(2, 3, {}, std::make_unique<SimNetwork>(1));
  auto& asked = cluster.task("worker", 0);
  for (int i : {0, 1}) {
    const auto ps = FullTaskName("ps", i);
    ASSERT_TRUE(asked.membership().connections().WaitFor(ps, MonotonicClock::time_point::max(), nullptr).ok());
  }
  AwaitReport(asked, [](const auto& r) { return TaskIn(r, "worker/2").state() == "up"; });
  EXPECT_EQ(ReportOf(asked).asked(), "worker/0");
  EXPECT_EQ(asked.membership().connections().Find(FullTaskName("worker", 1)), nullptr);
  for (const char* const ps : {"localhost:1000", "localhost:1001"}) cluster.network().Partition(ps, "localhost:2000");
  const auto report = ReportOf(asked, milliseconds(50));
  for (const char* const ps : {"localhost:1000", "localhost:1001"}) cluster.network().Heal(ps, "localhost:2000");
  EXPECT_EQ(TaskIn(report, "worker/0").state(), "up");
  EXPECT_EQ(TaskIn(report, "ps/0").state(), "no answer");
  EXPECT_EQ(TaskIn(report, "worker/1").state(), "not connected");
  EXPECT_THAT(TaskIn(report, "worker/1").problem(), HasSubstr(", which was asked about it, has not answered"));
}

TEST(StatusTest, AWorkerWithoutParameterServersAsksEachTask) {
  TestCluster cluster(0, 2);
  for (int i : {0, 1}) {
    AwaitReport(cluster.task("worker", i),
                [i](const auto& r) { return TaskIn(r, StrCat("worker/", 1 - i)).state() == "up"; });
  }
}

TEST(StatusTest, ATaskThatDoesNotAnswerDelaysTheReportUntilTheTimeout) {
  TestCluster cluster(1, 2, {}, std::make_unique<SimNetwork>(1));
  AwaitReport(cluster.task("ps", 0), [](const auto& r) { return TaskIn(r, "worker/1").state() == "up"; });
  cluster.network().Partition("localhost:1000", "localhost:2001");
  // On a busy machine, the other task may need longer than the timeout, too.
  milliseconds timeout(100);
  auto report = ReportOf(cluster.task("ps", 0), timeout);
  while (TaskIn(report, "worker/0").state() == "no answer") report = ReportOf(cluster.task("ps", 0), timeout *= 2);
  EXPECT_EQ(TaskIn(report, "worker/1").state(), "no answer");
  EXPECT_EQ(TaskIn(report, "worker/1").problem(), StrCat("no answer within ", timeout.count() / 1000.0, " s"));
  EXPECT_EQ(TaskIn(report, "worker/0").state(), "up");
  cluster.network().Heal("localhost:1000", "localhost:2001");
  AwaitReport(cluster.task("ps", 0), [](const auto& r) { return TaskIn(r, "worker/1").state() == "up"; });
}

proto::TaskReport* AddTask(proto::ClusterReport* report, const std::string& name, double rate) {
  auto* task = report->add_tasks();
  task->set_task(name);
  task->set_state("up");
  task->set_steps(100);
  task->set_steps_per_second(rate);
  return task;
}

TEST(SummaryTest, AStragglerHasLessThanHalfTheMedianRateOfTheOthers) {
  const auto stragglers = [](const std::vector<double>& rates) {
    proto::ClusterReport report;
    AddTask(&report, "ps/0", 0);
    for (size_t i = 0; i < rates.size(); ++i) AddTask(&report, StrCat("worker/", i), rates[i]);
    Summarize(&report);
    std::vector<std::string> names;
    for (const auto& task : report.tasks()) {
      if (task.straggler()) names.push_back(task.task());
    }
    return names;
  };
  EXPECT_THAT(stragglers({10}), IsEmpty());
  EXPECT_THAT(stragglers({10, 4}), ElementsAre("worker/1"));
  EXPECT_THAT(stragglers({10, 6}), IsEmpty());
  EXPECT_THAT(stragglers({10, 11, 0, 12, 9, 4}), ElementsAre("worker/2", "worker/5"));
  EXPECT_THAT(stragglers({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 1}), ElementsAre("worker/10"));
}

TEST(SummaryTest, TheCauseOfABlockedStepIsATaskThatDoesNotAnswer) {
  proto::ClusterReport report;
  auto* step = AddTask(&report, "worker/0", 1)->add_running();
  step->set_master("worker/0");
  step->set_number(7);
  step->set_seconds(3);
  step->add_unfinished_tasks("ps/0");
  auto* part = AddTask(&report, "ps/0", 0)->add_running();
  part->set_master("worker/0");
  part->set_number(7);
  part->add_waits()->set_op("AccumulatorTakeGradient");
  auto* silent = AddTask(&report, "worker/1", 1);
  Summarize(&report);
  EXPECT_EQ(report.blocked(0).cause(), "");
  silent->set_task("worker/1");
  report.mutable_tasks(2)->set_state("no answer");
  ASSERT_EQ(report.tasks(2).task(), "worker/1");
  Summarize(&report);
  EXPECT_EQ(report.blocked(0).cause(), "perhaps worker/1, which does not answer");
  EXPECT_THAT(StatusText(report, report), HasSubstr("cause: perhaps worker/1, which does not answer"));
  report.mutable_tasks(0)->set_state("no answer");  // ps/0
  Summarize(&report);
  EXPECT_EQ(report.blocked(0).cause(), "ps/0 does not answer");
}

TEST(StatusTextTest, RatesUseTheTimeThatPassedOnEachTask) {
  proto::ClusterReport before;
  for (const char* name : {"ps/0", "worker/0"}) AddTask(&before, name, 3)->set_up_seconds(10);
  before.mutable_tasks(0)->add_received()->set_from("worker/0");
  proto::ClusterReport after = before;
  after.mutable_tasks(0)->set_up_seconds(12);
  after.mutable_tasks(0)->set_busy_seconds(1);
  after.mutable_tasks(0)->mutable_received(0)->set_tensor_bytes(6e6);
  after.mutable_tasks(1)->set_up_seconds(14);
  const std::vector<std::string> lines = StrSplit(StatusText(before, after), '\n');
  EXPECT_EQ(lines[0], "2 of 2 tasks answer, asked by ");
  EXPECT_THAT(lines[3], AllOf(HasSubstr("ps/0 "), HasSubstr(" 50 % "), HasSubstr("3.0 MB/s")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("worker/0 "), HasSubstr(" 0 % "), HasSubstr("3.0 MB/s")));
  // A task that has been started again has no rates yet.
  after.mutable_tasks(0)->set_up_seconds(1);
  EXPECT_THAT(StatusText(before, after), Not(HasSubstr("MB/s")));
}

TEST(MetricsTest, AreInPrometheusFormatWhateverTheNames) {
  proto::ClusterReport report;
  report.set_global_step(123456789012);
  auto* ps = AddTask(&report, "ps/0", 0);
  ps->set_variable_bytes(1e15);
  ps->add_tables()->set_table("users");
  ps->mutable_tables(0)->set_rows(12);
  ps->mutable_tables(0)->set_hits(7);
  auto* traffic = ps->add_received();
  traffic->set_from("a \"strange\\name\"\nof a task");
  traffic->set_tensor_bytes(12.5e9);
  AddTask(&report, "worker/0", 12.5);
  AddTask(&report, "worker/1", 0)->set_state("no answer");
  auto* blocked = report.add_blocked();
  blocked->set_master("worker/0");
  blocked->set_seconds(17);
  const auto metrics = PrometheusParser::Parse(MetricsText(report));
  ASSERT_TRUE(metrics.ok()) << metrics.status() << "\n" << MetricsText(report);
  using Labels = std::map<std::string, std::string>;
  const auto value = [&](const std::string& name, const Labels& labels) {
    const auto family = metrics->find(name);
    if (family == metrics->end() || !family->second.samples.contains(labels)) return -1.0;
    return family->second.samples.at(labels);
  };
  EXPECT_EQ(value("tensorbraid_global_step", {}), 123456789012);
  EXPECT_EQ(value("tensorbraid_task_up", {{"task", "worker/0"}}), 1);
  EXPECT_EQ(value("tensorbraid_task_up", {{"task", "worker/1"}}), 0);
  EXPECT_EQ(value("tensorbraid_steps_total", {{"task", "worker/0"}}), 100);
  EXPECT_EQ(value("tensorbraid_steps_total", {{"task", "worker/1"}}), -1) << "a task that is not up has no values";
  EXPECT_EQ(value("tensorbraid_variable_bytes", {{"task", "ps/0"}}), 1e15);
  EXPECT_EQ(value("tensorbraid_table_rows", {{"task", "ps/0"}, {"table", "users"}}), 12);
  EXPECT_EQ(value("tensorbraid_table_hits_total", {{"task", "ps/0"}, {"table", "users"}}), 7);
  EXPECT_EQ(value("tensorbraid_received_bytes_total", {{"task", "ps/0"}, {"from", traffic->from()}}), 12.5e9);
  EXPECT_EQ(value("tensorbraid_blocked_steps", {{"task", "worker/0"}}), 1);
  EXPECT_EQ(value("tensorbraid_blocked_steps", {{"task", "ps/0"}}), 0);
  EXPECT_EQ(value("tensorbraid_blocked_seconds", {{"task", "worker/0"}}), 17);
}

TEST(MetricsTest, TheParserOfThisTestIsStrict) {
  const auto parses = [](const std::string& text) { return PrometheusParser::Parse(text).ok(); };
  const std::string head = "# HELP a_total x\n# TYPE a_total counter\n";
  EXPECT_TRUE(parses(head + "a_total{b=\"c\"} 1\na_total 2e+09\n"));
  for (const char* bad : {"a_total 1", "a_total -1\n", "a_total 1\na_total 2\n", "a_total{b=\"\n\"} 1\n", "a_total\n",
                          "a_total 1 x\n", "b_total 1\n", "a_total{b=\"c\",} 1\n", "a_total{1b=\"c\"} 1\n", ""}) {
    EXPECT_FALSE(parses(head + bad)) << bad;
  }
  EXPECT_FALSE(parses("a 1\n"));
  EXPECT_FALSE(parses("# HELP a x\n# TYPE a counter\na 1\n"));
}

}  // namespace
}  // namespace tensorbraid
