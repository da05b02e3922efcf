// Tests how the report of a server shows the clusters that sessions bring with them and in which the server takes part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "cli/status_text.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"
#include "cluster/status/metrics.h"
#include "cluster/testing/test_cluster.h"
#include "core/system/env_testutil.h"
#include "core/text/logging.h"
#include "nlohmann/json.hpp"
#include "status/prometheus_parser.h"
#include "status/report_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> TaskNames(const proto::ClusterReport& report) {
  std::vector<std::string> names;
  for (const auto& task : report.tasks()) names.push_back(task.task());
  return names;
}

// Servers that are each started in a cluster of one task, local/0.
class SessionClustersStatusTest : public ::testing::Test {
 protected:
  SessionClustersStatusTest() {
    for (int i = 0; i < 4; ++i) {
      const TaskOptions options{.job = "local", .membership = {.heartbeat_timeout = std::chrono::hours(1)}};
      auto task = Task::Create(ClusterSpec({{"local", {Address(i)}}}), options, NewInprocTransport(network_)).value();
      TB_CHECK_OK(task->Start(Address(i)).status());
      PublishTask(Target(i), task);
      servers_.push_back(task);
    }
  }
  ~SessionClustersStatusTest() override {
    for (size_t i = 0; i < servers_.size(); ++i) WithdrawTask(Target(static_cast<int>(i)));
  }
  static std::string Address(int i) { return StrCat("localhost:", 3000 + i); }
  static std::string Target(int i) { return StrCat("grpc://", Address(i)); }

  ManualClockEnv clock_;
  ScopedEnv installed_{&clock_};
  std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
  std::vector<std::shared_ptr<Task>> servers_;
};

TEST_F(SessionClustersStatusTest, AreReportedWithTheirTasksAndTheWaitsOfTheirSteps) {
  Graph g;
  Output taken;
  Operation put;
  {
    auto device = g.Device("/job:ps/task:0");
    Variable table(g, {250}, Zeros(), {.name = "table"});
    FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "input"});
    put = queue.Enqueue({1.0f});
    taken = queue.Dequeue()[0];
  }
  // The master is server 1, and no step uses worker/1.
  const ClusterSpec spec({{"ps", {Address(0)}}, {"worker", {Address(1), Address(2)}}});
  auto session = Session::Create(g, {.target = Target(1), .cluster = spec}).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  std::thread step([&] { EXPECT_TRUE(session->Run({taken}).ok()); });
  const auto waits_on_both = [](const proto::ClusterReport& r) {
    return r.session_clusters_size() == 1 && NumWaits(r.session_clusters(0), "ps/0") == 1 &&
           NumWaits(r.session_clusters(0), "worker/0") == 1;
  };
  AwaitReport(*servers_[1], waits_on_both);
  clock_.Advance(std::chrono::seconds(12));
  const auto from_master = AwaitReport(*servers_[1], waits_on_both);
  const auto from_ps = AwaitReport(*servers_[0], waits_on_both);
  const auto from_unused = ReportOf(*servers_[2]);
  const auto from_stranger = ReportOf(*servers_[3]);
  ASSERT_TRUE(session->Run({put}).ok());
  step.join();

  // A server does not become a member of the session's cluster when it is asked for a report.
  EXPECT_EQ(from_unused.session_clusters_size(), 0);
  EXPECT_EQ(from_stranger.session_clusters_size(), 0);
  for (const auto& report : {from_master, from_ps}) {
    EXPECT_THAT(TaskNames(report), ElementsAre("local/0"));
    EXPECT_EQ(report.blocked_size(), 0) << report.DebugString();
    EXPECT_EQ(report.tasks(0).variables(), 0) << "the variables of the session must be counted apart";
    EXPECT_EQ(report.cluster(), "");
    ASSERT_EQ(report.session_clusters_size(), 1);
    const auto& cluster = report.session_clusters(0);
    EXPECT_EQ(cluster.cluster().size(), 16u);  // the digits of a 64-bit number
    EXPECT_EQ(cluster.asked(), "worker/0") << "the master of the session";
    EXPECT_EQ(cluster.master(), "worker/0");
    EXPECT_THAT(TaskNames(cluster), ElementsAre("ps/0", "worker/0", "worker/1"));
    EXPECT_EQ(TaskIn(cluster, "ps/0").state(), "up");
    EXPECT_EQ(TaskIn(cluster, "ps/0").address(), Address(0));
    EXPECT_EQ(TaskIn(cluster, "ps/0").variables(), 1);
    EXPECT_EQ(TaskIn(cluster, "ps/0").variable_bytes(), 1000);
    EXPECT_EQ(TaskIn(cluster, "worker/0").state(), "up");
    EXPECT_EQ(TaskIn(cluster, "worker/0").address(), Address(1));
    EXPECT_EQ(TaskIn(cluster, "worker/0").variables(), 0);
    EXPECT_EQ(TaskIn(cluster, "worker/0").steps(), 1);
    EXPECT_EQ(TaskIn(cluster, "worker/1").state(), "not connected");
    EXPECT_EQ(TaskIn(cluster, "worker/1").problem(), "the session has not used it yet");
    ASSERT_EQ(cluster.blocked_size(), 1) << cluster.DebugString();
    const auto& blocked = cluster.blocked(0);
    EXPECT_EQ(blocked.master(), "worker/0");
    EXPECT_EQ(blocked.seconds(), 12);
    EXPECT_EQ(blocked.cause(), "");
    ASSERT_EQ(blocked.waits_size(), 2);
    EXPECT_EQ(blocked.waits(0).task(), "ps/0");
    EXPECT_EQ(blocked.waits(0).node(), "input_Dequeue");
    EXPECT_EQ(blocked.waits(1).task(), "worker/0");
    EXPECT_EQ(blocked.waits(1).peer(), "ps/0");
    EXPECT_TRUE(EveryTaskAnswers(report)) << "a task that the session has not used need not answer";

    const std::string text = StatusText(report, report);
    EXPECT_THAT(text, AllOf(HasSubstr("1 of 1 tasks answer, asked by local/0\n"),
                            HasSubstr(StrCat("\ncluster ", cluster.cluster(),
                                             " of a session, whose master is worker/0 (localhost:3001): 2 of 3 tasks "
                                             "answer\n")),
                            HasSubstr("worker/0 step "), HasSubstr("not connected"),
                            HasSubstr("ps/0 has waited 12 s for QueueDequeueV2 'input_Dequeue'")));
    const auto json = nlohmann::json::parse(ReportJson(report));
    const auto& in_json = json["session_clusters"][0];
    EXPECT_EQ(in_json["cluster"], cluster.cluster());
    EXPECT_EQ(in_json["master"], "worker/0");
    EXPECT_EQ(in_json["tasks"].size(), 3u);
    EXPECT_EQ(in_json["tasks"][0]["task"], "ps/0");
    EXPECT_EQ(in_json["blocked"][0]["waits"][0]["node"], "input_Dequeue");
    EXPECT_EQ(json["tasks"].size(), 1u);
    EXPECT_EQ(json["cluster"], "");
  }

  ASSERT_TRUE(session->Close().ok());
  for (const int server : {0, 1}) {
    AwaitReport(*servers_[server], [](const auto& report) { return report.session_clusters_size() == 0; });
  }
}

TEST_F(SessionClustersStatusTest, OfOneServerAreReportedSeparately) {
  Graph g;
  Output on_other;
  {
    auto device = g.Device("/job:worker/task:1");
    on_other = Placeholder(g, kFloat32, {}, "x") + 1.0f;
  }
  std::vector<std::unique_ptr<Session>> sessions;
  for (const int other : {1, 2}) {
    const ClusterSpec spec({{"worker", {Address(0), Address(other)}}});
    sessions.push_back(Session::Create(g, {.target = Target(0), .cluster = spec}).value());
    ASSERT_TRUE(sessions.back()->Run({on_other}, {{"x:0", Tensor::Scalar(1.0f)}}).ok());
  }
  const auto report = ReportOf(*servers_[0]);
  ASSERT_EQ(report.session_clusters_size(), 2) << report.DebugString();
  EXPECT_NE(report.session_clusters(0).cluster(), report.session_clusters(1).cluster());
  std::vector<std::string> addresses;
  for (const auto& cluster : report.session_clusters()) addresses.push_back(TaskIn(cluster, "worker/1").address());
  EXPECT_THAT(addresses, ::testing::UnorderedElementsAre(Address(1), Address(2)));
  EXPECT_EQ(ReportOf(*servers_[2]).session_clusters_size(), 1);
}

TEST_F(SessionClustersStatusTest, VariablesOfASessionAreCountedApartFromThoseOfTheServer) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  auto home = Session::Create(g, {.target = Target(0)}).value();
  ASSERT_TRUE(home->Run({GlobalVariablesInitializer(g)}).ok());
  Graph other;
  Variable w(other, {10}, Zeros(), {.name = "w"});
  auto session =
      Session::Create(other, {.target = Target(0), .cluster = ClusterSpec({{"worker", {Address(0)}}})}).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(other)}).ok());
  const auto report = ReportOf(*servers_[0]);
  EXPECT_EQ(report.tasks(0).variable_bytes(), 4);
  ASSERT_EQ(report.session_clusters_size(), 1);
  EXPECT_EQ(report.session_clusters(0).tasks(0).variable_bytes(), 40);
}

TEST_F(SessionClustersStatusTest, MayBeginAndEndWhileServersAreAsked) {
  Graph g;
  Output on_ps;
  {
    auto device = g.Device("/job:ps/task:0");
    on_ps = Placeholder(g, kFloat32, {}, "x") + 1.0f;
  }
  const ClusterSpec spec({{"ps", {Address(0)}}, {"worker", {Address(1)}}});
  std::atomic<bool> done{false};
  std::thread client([&] {
    for (int i = 0; i < 30; ++i) {
      auto session = Session::Create(g, {.target = Target(1), .cluster = spec}).value();
      EXPECT_TRUE(session->Run({on_ps}, {{"x:0", Tensor::Scalar(1.0f)}}).ok());
    }
    done = true;
  });
  // The clock stands still, so no timeout ends a report: each task that is asked must answer or lose its link.
  std::thread asking_master([&] {
    while (!done) ReportOf(*servers_[1]);
  });
  while (!done) ReportOf(*servers_[0]);
  asking_master.join();
  client.join();
}

// A cluster of one parameter server and three workers. A session of worker/0 brings another cluster, which consists of
// the workers alone.
class SessionClusterOfAClusterTest : public ::testing::Test {
 protected:
  SessionClusterOfAClusterTest() {
    const auto& workers = cluster_.spec();
    const auto address = [&](int i) { return *workers.task_address("worker", i); };
    const ClusterSpec spec({{"chief", {address(0)}}, {"first", {address(1)}}, {"second", {address(2)}}});
    Output x = Placeholder(g_, kFloat32, {}, "x");
    {
      auto device = g_.Device("/job:first/task:0");
      x = x + 1.0f;
    }
    {
      auto device = g_.Device("/job:second/task:0");
      x = x + 1.0f;
    }
    session_ = Session::Create(g_, {.target = cluster_.worker_target(0), .cluster = spec}).value();
    EXPECT_TRUE(session_->Run({x}, {{"x:0", Tensor::Scalar(1.0f)}}).ok());
  }

  TestCluster cluster_{1, 3, {}, std::make_unique<SimNetwork>(1)};
  Graph g_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionClusterOfAClusterTest, IsReportedByEveryTaskOfTheServersCluster) {
  for (const auto& [job, index] :
       {std::pair("ps", 0), std::pair("worker", 0), std::pair("worker", 1), std::pair("worker", 2)}) {
    const auto report = ReportOf(cluster_.task(job, index));
    EXPECT_EQ(report.tasks_size(), 4);
    ASSERT_EQ(report.session_clusters_size(), 1) << job << "/" << index << ": " << report.DebugString();
    const auto& cluster = report.session_clusters(0);
    EXPECT_THAT(TaskNames(cluster), ElementsAre("chief/0", "first/0", "second/0"));
    EXPECT_EQ(cluster.master(), "chief/0");
    EXPECT_EQ(cluster.asked(), "chief/0");
    for (const auto& task : cluster.tasks()) EXPECT_EQ(task.state(), "up") << task.task() << ": " << task.problem();
  }
}

TEST_F(SessionClusterOfAClusterTest, IsReportedByItsOtherTasksIfTheMasterDoesNotAnswer) {
  AwaitReport(cluster_.task("worker", 1), [](const auto& r) { return TaskIn(r, "worker/2").state() == "up"; });
  const std::string chief = *cluster_.spec().task_address("worker", 0);
  const std::string first = *cluster_.spec().task_address("worker", 1);
  const std::string ps = *cluster_.spec().task_address("ps", 0);
  for (const std::string& other : {first, ps}) cluster_.network().Partition(chief, other);
  // On a busy machine the others may need longer for an answer, too.
  std::chrono::milliseconds timeout(200);
  proto::ClusterReport report;
  for (; timeout < std::chrono::minutes(1); timeout *= 3) {
    report = ReportOf(cluster_.task("worker", 1), timeout);
    if (report.session_clusters_size() != 1) continue;
    const auto& tasks = report.session_clusters(0).tasks();
    if (std::count_if(tasks.begin(), tasks.end(), [](const auto& task) { return task.state() == "up"; }) == 2) break;
  }
  for (const std::string& other : {first, ps}) cluster_.network().Heal(chief, other);
  ASSERT_EQ(report.session_clusters_size(), 1) << report.DebugString();
  const auto& cluster = report.session_clusters(0);
  EXPECT_EQ(cluster.asked(), "first/0");
  EXPECT_EQ(TaskIn(cluster, "first/0").state(), "up");
  EXPECT_EQ(TaskIn(cluster, "second/0").state(), "up") << TaskIn(cluster, "second/0").problem();
  EXPECT_EQ(TaskIn(cluster, "chief/0").state(), "no answer");
  EXPECT_EQ(TaskIn(cluster, "chief/0").problem(), StrCat("no answer within ", timeout.count() / 1000.0, " s"));
  EXPECT_FALSE(EveryTaskAnswers(report));
}

TEST(SessionClustersMetricsTest, HaveNamesAndALabelOfTheirOwn) {
  proto::ClusterReport report;
  const auto add_task = [](proto::ClusterReport* cluster, const std::string& name, double steps) {
    auto* task = cluster->add_tasks();
    task->set_task(name);
    task->set_address("localhost:2222");
    task->set_state("up");
    task->set_steps(steps);
  };
  add_task(&report, "worker/0", 7);
  for (const std::string number : {"00000000000000aa", "00000000000000bb"}) {
    auto* cluster = report.add_session_clusters();
    cluster->set_cluster(number);
    cluster->set_master("worker/0");
    cluster->set_global_step(5);
    add_task(cluster, "worker/0", 9);
    auto* blocked = cluster->add_blocked();
    blocked->set_master("worker/0");
    blocked->set_seconds(17);
  }
  const std::string text = MetricsText(report);
  const auto metrics = PrometheusParser::Parse(text);
  ASSERT_TRUE(metrics.ok()) << metrics.status() << "\n" << text;
  using Labels = std::map<std::string, std::string>;
  const auto samples = [&](const std::string& name) {
    const auto family = metrics->find(name);
    return family == metrics->end() ? std::map<Labels, double>() : family->second.samples;
  };
  const Labels own = {{"task", "worker/0"}};
  const Labels session = {{"cluster", "00000000000000aa"}, {"task", "worker/0"}};
  EXPECT_EQ(samples("tensorbraid_steps_total"), (std::map<Labels, double>{{own, 7}}));
  EXPECT_EQ(samples("tensorbraid_blocked_steps"), (std::map<Labels, double>{{own, 0}}));
  EXPECT_EQ(samples("tensorbraid_global_step").size(), 0u);
  EXPECT_EQ(samples("tensorbraid_session_steps_total").size(), 2u);
  EXPECT_EQ(samples("tensorbraid_session_steps_total").at(session), 9);
  EXPECT_EQ(samples("tensorbraid_session_blocked_steps").at(session), 1);
  EXPECT_EQ(samples("tensorbraid_session_blocked_seconds").at(session), 17);
  EXPECT_EQ(samples("tensorbraid_session_global_step").at({{"cluster", "00000000000000bb"}}), 5);
  Labels with_address = session;
  with_address["address"] = "localhost:2222";
  EXPECT_EQ(samples("tensorbraid_session_task_up").at(with_address), 1);
  report.clear_session_clusters();
  EXPECT_THAT(MetricsText(report), Not(HasSubstr("tensorbraid_session")));
}

}  // namespace
}  // namespace tensorbraid
