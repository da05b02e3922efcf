// Tests when Server::Join returns and what it logs, and how tasks are added to a cluster.
#include "cluster/membership/membership.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "cluster/membership/join.h"
#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/logging.h"
#include "tensorbraid/graph/graph.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/sim/sim_network.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// While it exists, what this process writes to standard error can be read here.
class StderrReader {
 public:
  StderrReader() : stderr_(::dup(STDERR_FILENO)) {
    TB_CHECK(::pipe2(pipe_, O_CLOEXEC) == 0);
    ::dup2(pipe_[1], STDERR_FILENO);
    ::close(pipe_[1]);
  }
  ~StderrReader() {
    ::dup2(stderr_, STDERR_FILENO);
    ::close(stderr_);
    ::close(pipe_[0]);
  }
  // Blocks until a line contains `part`, and returns the line.
  std::string WaitForLine(const std::string& part) {
    std::string line;
    char c;
    while (::read(pipe_[0], &c, 1) == 1) {
      if (c != '\n') {
        line += c;
      } else if (line.find(part) != std::string::npos) {
        return line;
      } else {
        line.clear();
      }
    }
    return "standard error was closed";
  }

 private:
  const int stderr_;
  int pipe_[2];
};

std::shared_ptr<Task> StartPs(const ClusterSpec& cluster, const std::shared_ptr<InprocNetwork>& network) {
  TaskOptions options{.job = "ps", .index = 0};
  options.membership.join_log_after = std::chrono::milliseconds(1);
  auto task = Task::Create(cluster, options, NewInprocTransport(network)).value();
  TB_CHECK_OK(task->Start(*cluster.task_address("ps", 0)).status());
  return task;
}

// Waits until the task is connected to ps/0.
bool IsConnectedToPs(Task& task) {
  const auto connection = task.membership().connections().WaitFor(
      "/job:ps/replica:0/task:0", std::chrono::steady_clock::time_point::max(), nullptr);
  return connection.ok();
}

TEST(JoinTest, LogsTheTasksThatNeverConnectedAgainAndAgain) {
  const ClusterSpec cluster(
      {{"ps", {"localhost:1000", "localhost:1001"}}, {"worker", {"localhost:2000", "localhost:2001"}}});
  const auto network = std::make_shared<InprocNetwork>();
  const auto ps = StartPs(cluster, network);
  const auto worker = Task::Create(cluster, {.job = "worker", .index = 1}, NewInprocTransport(network)).value();
  ASSERT_TRUE(worker->Start("localhost:2001").ok());
  ASSERT_TRUE(IsConnectedToPs(*worker));
  StderrReader log;
  std::thread join([&] { EXPECT_TRUE(JoinCluster(&ps->membership()).ok()); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(log.WaitForLine("waiting for"),
                AllOf(HasSubstr("worker/0 (localhost:2000)"), Not(HasSubstr("worker/1")), Not(HasSubstr("ps/1"))));
  }
  ps->Stop(OkStatus());
  join.join();
}

TEST(JoinTest, LogsTheTasksThatStillWork) {
  const ClusterSpec cluster({{"ps", {"localhost:1000"}}, {"worker", {"localhost:2000"}}});
  const auto network = std::make_shared<InprocNetwork>();
  const auto ps = StartPs(cluster, network);
  const auto worker = Task::Create(cluster, {.job = "worker", .index = 0}, NewInprocTransport(network)).value();
  ASSERT_TRUE(worker->Start("localhost:2000").ok());
  // Otherwise the worker might leave before it knows of its connection, and the parameter server would not hear of it.
  ASSERT_TRUE(IsConnectedToPs(*worker));
  StderrReader log;
  std::thread join([&] { EXPECT_TRUE(JoinCluster(&ps->membership()).ok()); });
  for (int i = 0; i < 2; ++i) EXPECT_THAT(log.WaitForLine("still works"), HasSubstr("worker/0 still works"));
  worker->Stop(OkStatus());
  join.join();
}

TEST(JoinTest, SaysThatAClusterOfParameterServersAloneIsNeverOver) {
  const ClusterSpec cluster({{"ps", {"localhost:1000"}}});
  const auto ps = StartPs(cluster, std::make_shared<InprocNetwork>());
  StderrReader log;
  std::thread join([&] { EXPECT_TRUE(JoinCluster(&ps->membership()).ok()); });
  EXPECT_THAT(log.WaitForLine("only parameter servers"), HasSubstr("ps/0 serves until it is stopped"));
  ps->Stop(OkStatus());
  join.join();
}

TEST(MembershipTest, ATaskThatIsAddedWhileTheClusterRunsTakesPartInSteps) {
  const ClusterSpec one_ps({{"ps", {"localhost:1000"}}, {"worker", {"localhost:2000"}}});
  const ClusterSpec two_ps({{"ps", {"localhost:1000", "localhost:1001"}}, {"worker", {"localhost:2000"}}});
  const auto network = std::make_shared<InprocNetwork>();
  const auto start = [&](const ClusterSpec& cluster, const std::string& job, int index) {
    auto task = Task::Create(cluster, {.job = job, .index = index}, NewInprocTransport(network)).value();
    TB_CHECK_OK(task->Start(*cluster.task_address(job, index)).status());
    return task;
  };
  const auto ps0 = start(one_ps, "ps", 0);
  const auto worker = start(one_ps, "worker", 0);
  const auto ps1 = start(two_ps, "ps", 1);
  Graph g;
  Operation on_ps1;
  {
    auto device = g.Device("/job:ps/task:1");
    on_ps1 = NodeBuilder(g, "NoOp").Finish();
  }
  const auto session = worker->master().NewSession(&g, {});
  const auto run = [&]() -> Status {
    const auto never = std::chrono::steady_clock::time_point::max();
    TF_ASSIGN_OR_RETURN(const auto graph, session->Prepare({.feeds = {}, .fetches = {}, .targets = {on_ps1}}, never));
    return session->Run(graph, {}, never).status();
  };
  EXPECT_EQ(run().code(), absl::StatusCode::kInvalidArgument);
  worker->membership().Update(two_ps);
  EXPECT_EQ(run(), OkStatus());
  session->Close();
}

// Runs Join for tasks of a cluster with one parameter server, each on a thread of its own.
class JoinedTasks {
 public:
  explicit JoinedTasks(TestCluster& cluster) : cluster_(cluster) {}
  ~JoinedTasks() {
    for (auto& [task, join] : joins_) cluster_.task(task.first, task.second).Stop(OkStatus());
  }
  void Start(const std::string& job, int index) {
    joins_[{job, index}] =
        std::async(std::launch::async, [&task = cluster_.task(job, index)] { return JoinCluster(&task.membership()); });
  }
  // Stops a task, as a program does when its Join has returned, or when a user interrupts it.
  void Stop(const std::string& job, int index) {
    cluster_.task(job, index).Stop(OkStatus());
    joins_.erase({job, index});
  }
  bool IsOver(const std::string& job, int index, std::chrono::seconds wait = std::chrono::seconds(0)) {
    return joins_.at({job, index}).wait_for(wait) == std::future_status::ready;
  }
  // Blocks until the Join of the task has returned.
  Status Result(const std::string& job, int index) {
    if (!IsOver(job, index, std::chrono::minutes(5))) return DeadlineExceeded("Join has not returned");
    return joins_.at({job, index}).get();
  }

 private:
  TestCluster& cluster_;
  std::map<std::pair<std::string, int>, std::future<Status>> joins_;
};

// Blocks until the task and worker 0 both have the link between them.
void WaitForLinkWithChief(TestCluster& cluster, const std::string& job, int index) {
  const auto wait = [](Task& task, const std::string& other) {
    TB_CHECK_OK(
        task.membership().connections().WaitFor(other, std::chrono::steady_clock::time_point::max(), nullptr).status());
  };
  wait(cluster.task("worker", 0), FullTaskName(job, index));
  wait(cluster.task(job, index), FullTaskName("worker", 0));
}

// Blocks until the view of a task is as `done` wants it.
void Await(Task& task, const std::function<bool(const ClusterView&)>& done) {
  TB_CHECK(task.membership().AwaitView(MonotonicClock::time_point::max(), done) != nullptr);
}

bool Serves(const ClusterView& view, const std::string& job, int index) {
  return std::any_of(view.others.begin(), view.others.end(),
                     [&](const auto& task) { return task->name == FullTaskName(job, index) && task->only_serves; });
}

TEST(JoinTest, WorkersThatOnlyServeDoNotWaitForEachOther) {
  TestCluster cluster(1, 3);
  JoinedTasks joined(cluster);
  joined.Start("ps", 0);
  joined.Start("worker", 1);
  joined.Start("worker", 2);
  WaitForLinkWithChief(cluster, "ps", 0);
  Await(cluster.task("ps", 0), [](const auto& view) { return Serves(view, "worker", 1) && Serves(view, "worker", 2); });
  EXPECT_FALSE(joined.IsOver("ps", 0));
  EXPECT_FALSE(joined.IsOver("worker", 1));
  cluster.Stop("worker", 0);
  EXPECT_EQ(joined.Result("worker", 1), OkStatus());
  EXPECT_EQ(joined.Result("worker", 2), OkStatus());
  EXPECT_EQ(joined.Result("ps", 0), OkStatus());
}

TEST(JoinTest, WorkersHearFromAParameterServerHowTheWorkEndsAndHaveNoConnectionWithEachOther) {
  TestCluster cluster(1, 3);
  JoinedTasks joined(cluster);
  joined.Start("ps", 0);
  WaitForLinkWithChief(cluster, "ps", 0);
  for (int i : {1, 2}) {
    joined.Start("worker", i);
    Await(cluster.task("ps", 0), [i](const auto& view) { return Serves(view, "worker", i); });
  }
  for (int i : {1, 2}) {
    auto& connections = cluster.task("worker", i).membership().connections();
    EXPECT_NE(connections.Find(FullTaskName("ps", 0)), nullptr);
    for (int other : {0, 3 - i}) EXPECT_EQ(connections.Find(FullTaskName("worker", other)), nullptr);
  }
  cluster.Stop("worker", 0, Internal("no more data"));
  for (const auto& [job, index] : {std::pair("worker", 1), std::pair("worker", 2), std::pair("ps", 0)}) {
    const Status status = joined.Result(job, index);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("worker/0 failed"), HasSubstr("no more data")));
  }
}

// A program ends when Join has returned, so a parameter server may leave at the moment at which it knows.
TEST(JoinTest, AParameterServerThatStopsAtOnceHasToldTheWorkersBefore) {
  for (int i = 0; i < 20; ++i) {
    TestCluster cluster(1, 2);
    JoinedTasks joined(cluster);
    joined.Start("worker", 1);
    WaitForLinkWithChief(cluster, "ps", 0);
    auto& ps = cluster.task("ps", 0);
    Await(ps, [](const auto& view) { return Serves(view, "worker", 1); });
    const auto end = std::async(std::launch::async, [&ps] {
      JoinCluster(&ps.membership()).IgnoreError();
      ps.Stop(OkStatus());
    });
    cluster.Stop("worker", 0, Internal("no more data"));
    EXPECT_THAT(std::string(joined.Result("worker", 1).message()), HasSubstr("no more data"));
  }
}

TEST(JoinTest, AWorkerWhoseParameterServersStayAwayWatchesTheOthersItself) {
  TaskOptions options;
  options.membership.lost_after = std::chrono::seconds(1);
  TestCluster cluster(1, 2, options);
  JoinedTasks joined(cluster);
  joined.Start("worker", 1);
  const auto serves = [](const auto& view) { return Serves(view, "worker", 1); };
  auto& chief = cluster.task("worker", 0);
  Await(cluster.task("ps", 0), serves);
  EXPECT_EQ(chief.membership().connections().Find(FullTaskName("worker", 1)), nullptr);
  cluster.Stop("ps", 0);
  Await(chief, serves);
  cluster.Start("ps", 0);  // it can come back later, too
  Await(cluster.task("ps", 0), serves);
  EXPECT_FALSE(joined.IsOver("worker", 1));
  cluster.Stop("worker", 0);
  EXPECT_EQ(joined.Result("worker", 1), OkStatus());
}

TEST(JoinTest, AWorkerThatLosesAllOtherTasksAtOnceEnds) {
  TaskOptions options;
  options.membership.lost_after = std::chrono::milliseconds(50);
  TestCluster cluster(TestCluster::NotStarted{}, 1, 2, options, nullptr);
  cluster.Start("ps", 0);
  cluster.Start("worker", 1);  // and worker 0 is never started
  JoinedTasks joined(cluster);
  joined.Start("worker", 1);
  Await(cluster.task("ps", 0), [](const auto& view) { return Serves(view, "worker", 1); });
  cluster.Stop("ps", 0);
  const Status status = joined.Result("worker", 1);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker/0 is lost"));
}

TEST(JoinTest, AWorkerThatOnlyServesSeesTheErrorOfTheChief) {
  TestCluster cluster(0, 3);
  JoinedTasks joined(cluster);
  joined.Start("worker", 1);
  joined.Start("worker", 2);
  for (int i : {1, 2}) WaitForLinkWithChief(cluster, "worker", i);
  cluster.Stop("worker", 0, Internal("no more data"));
  const Status status = joined.Result("worker", 1);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("worker/0 failed"), HasSubstr("no more data")));
}

TEST(JoinTest, ATaskThatOnlyServedDoesNotEndTheOthersWhenItLeaves) {
  TestCluster cluster(1, 2);
  JoinedTasks joined(cluster);
  const auto only_serves = [&](int worker) {
    return StrCat("worker/", worker, " (", *cluster.spec().task_address("worker", worker), ") only serves");
  };
  ConfigureLog("cluster=debug");
  StderrReader log;
  joined.Start("worker", 0);
  log.WaitForLine(only_serves(0));  // at the parameter server
  joined.Stop("worker", 0);
  joined.Start("ps", 0);
  joined.Start("worker", 1);
  log.WaitForLine(only_serves(1));
  EXPECT_EQ(joined.Result("worker", 1), OkStatus());  // all other workers have left
  EXPECT_FALSE(joined.IsOver("ps", 0));               // worker 1 still serves
  joined.Stop("worker", 1);
  EXPECT_EQ(joined.Result("ps", 0), OkStatus());
  ConfigureLog("");
}

}  // namespace
}  // namespace tensorbraid
