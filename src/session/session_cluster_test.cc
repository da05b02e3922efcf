// Tests sessions with their own cluster (SessionOptions::cluster).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"
#include "transport/inproc/inproc_transport.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Servers that are each started in a cluster of one task, /job:local/replica:0/task:0.
class SessionClusterTest : public ::testing::Test {
 protected:
  void StartServers(int count) {
    for (int i = 0; i < count; ++i) servers_.push_back(Start(i));
  }
  std::shared_ptr<Task> Start(int i, int cpus = 1) {
    TaskOptions options{.job = "local", .device_count = {{"CPU", cpus}}};
    auto task = Task::Create(ClusterSpec({{"local", {Address(i)}}}), options, NewInprocTransport(network_)).value();
    TB_CHECK_OK(task->Start(Address(i)).status());
    PublishTask(Target(i), task);
    return task;
  }
  ~SessionClusterTest() override {
    for (size_t i = 0; i < servers_.size(); ++i) WithdrawTask(Target(static_cast<int>(i)));
  }
  static std::string Address(int i) { return StrCat("localhost:", 3000 + i); }
  static std::string Target(int i) { return StrCat("grpc://", Address(i)); }
  StatusOr<std::unique_ptr<Session>> Open(Graph& g, int master, const ClusterSpec& cluster) {
    return Session::Create(g, {.target = Target(master), .cluster = cluster});
  }

  std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
  std::vector<std::shared_ptr<Task>> servers_;
};

Output On(Graph& g, const char* device, Output x, double times) {
  auto scope = g.Device(device);
  return x * times;
}

TEST_F(SessionClusterTest, TasksHaveTheirNamesInTheSessionsCluster) {
  StartServers(3);
  Graph g;
  auto x = Placeholder(g, kFloat32, {2}, "x");
  auto sum = On(g, "/job:worker/task:1", x, 2) + On(g, "/job:worker/task:2", x, 3) + On(g, "/job:ps/task:0", x, 4);
  // The master is not the first task of the cluster. No server runs as worker/0, which the step does not use.
  auto session = Open(g, 2, ClusterSpec({{"ps", {Address(1)}}, {"worker", {"localhost:9", Address(0), Address(2)}}}));
  ASSERT_TRUE(session.ok()) << session.status();
  auto result = (*session)->Run({sum}, {{x, Tensor::Of<float>({2}, {1, 10})}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].ToString(), "float32[2] [9 90]");
}

TEST_F(SessionClusterTest, IndicesMayHaveGaps) {
  StartServers(2);
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = On(g, "/job:worker/task:7", x, 5);
  auto session = Open(g, 0, ClusterSpec::Sparse({{"worker", {{3, Address(0)}, {7, Address(1)}}}}));
  ASSERT_TRUE(session.ok()) << session.status();
  auto result = (*session)->Run({y}, {{x, Tensor::Scalar(2.0f)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].scalar<float>(), 10);
  EXPECT_THAT((*session)->ListDevices(),
              ElementsAre("/job:worker/replica:0/task:3/device:CPU:0", "/job:worker/replica:0/task:7/device:CPU:0"));
  Graph other;
  auto z = On(other, "/job:worker/task:1", Placeholder(other, kFloat32, {}, "x"), 5);
  auto without = Open(other, 0, ClusterSpec::Sparse({{"worker", {{3, Address(0)}, {7, Address(1)}}}}));
  const Status s = (*without)->Run({z}, {{"x:0", Tensor::Scalar(2.0f)}}).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("/task:7"));
}

TEST_F(SessionClusterTest, ClustersOnTheSameServersDoNotShareState) {
  StartServers(3);
  Graph g;
  Variable v;
  {
    auto device = g.Device("/job:worker/task:1");
    v = Variable(g, {}, Zeros(), {.name = "v"});
  }
  auto add = v.AssignAdd(1.0f);
  const Operation init = GlobalVariablesInitializer(g);
  // Three clusters with the same master and names: the second has another task 1, the third equals the first.
  std::vector<std::unique_ptr<Session>> sessions;
  for (int other : {0, 2, 0}) {
    auto session = Open(g, 1, ClusterSpec({{"worker", {Address(1), Address(other)}}}));
    ASSERT_TRUE(session.ok()) << session.status();
    sessions.push_back(*std::move(session));
  }
  for (auto& session : sessions) {
    EXPECT_EQ(session->Run({v}).status().code(), StatusCode::kFailedPrecondition);
    const Status s = session->Run({init}).status();
    ASSERT_TRUE(s.ok()) << s;
  }
  for (size_t i = 0; i < sessions.size(); ++i) {
    for (size_t n = 0; n <= i; ++n) ASSERT_TRUE(sessions[i]->Run({add}).ok());
  }
  for (size_t i = 0; i < sessions.size(); ++i) {
    auto value = sessions[i]->Run({v});
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ((*value)[0].scalar<float>(), static_cast<float>(i + 1));
  }
  // The server's original cluster does not share their state either.
  Graph local;
  Variable same(local, {}, Zeros(), {.name = "v"});
  auto home = Session::Create(local, {.target = Target(0)}).value();
  EXPECT_EQ(home->Run({same}).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(SessionClusterTest, AServerMayHaveDevicesThatTheMasterDoesNotHave) {
  servers_.push_back(Start(0));
  servers_.push_back(Start(1, 3));
  Graph g;
  auto y = On(g, "/job:worker/task:1/cpu:2", Placeholder(g, kFloat32, {}, "x"), 5);
  auto session = Open(g, 0, ClusterSpec({{"worker", {Address(0), Address(1)}}})).value();
  auto result = session->Run({y}, {{"x:0", Tensor::Scalar(2.0f)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].scalar<float>(), 10);
  EXPECT_EQ(session->ListDevices().size(), 4u);  // one of worker/0 and three of worker/1
}

TEST_F(SessionClusterTest, TheMasterMustBeInTheClusterOnce) {
  StartServers(2);
  Graph g;
  Placeholder(g, kFloat32, {}, "x");
  Status s = Open(g, 0, ClusterSpec({{"worker", {Address(1)}}})).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr(Address(0)));
  s = Open(g, 0, ClusterSpec({{"worker", {Address(0)}}, {"ps", {Address(0)}}})).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
  EXPECT_EQ(Session::Create(g, {.cluster = ClusterSpec({{"worker", {Address(1)}}})}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(SessionClusterTest, ALostServerFailsItsStepsAndANewSessionUsesTheRestartedOne) {
  StartServers(2);
  Graph g;
  Output element;
  Output y;
  {
    auto device = g.Device("/job:worker/task:1");
    FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .capacity = 1, .name = "q"});
    element = queue.Dequeue()[0];
    y = Placeholder(g, kFloat32, {}, "x") * 2.0;
  }
  const ClusterSpec cluster({{"worker", {Address(0), Address(1)}}});
  auto session = Open(g, 0, cluster).value();
  ASSERT_TRUE(session->Run({y}, {{"x:0", Tensor::Scalar(2.0f)}}).ok());
  std::thread stopper([&] {
    WithdrawTask(Target(1));
    servers_[1]->Stop(OkStatus());
    servers_[1] = nullptr;
  });
  Status s = session->Run({element}).status();
  EXPECT_TRUE(s.code() == StatusCode::kUnavailable || s.code() == StatusCode::kCancelled) << s;
  stopper.join();
  EXPECT_EQ(session->Run({y}, {{"x:0", Tensor::Scalar(2.0f)}}).status().code(), StatusCode::kUnavailable);
  servers_[1] = Start(1);
  auto again = Open(g, 0, cluster).value();
  EXPECT_TRUE(again->Run({y}, {{"x:0", Tensor::Scalar(2.0f)}}).ok());
}

TEST_F(SessionClusterTest, ANewSessionOfARestartedMasterAbortsTheSessionsOfTheOldOne) {
  StartServers(4);
  Graph g;
  const Output y = On(g, "/job:worker/task:1", Placeholder(g, kFloat32, {}, "x"), 5);
  const Output z = On(g, "/job:worker/task:1", Placeholder(g, kFloat32, {}, "w"), 5);
  const auto run = [&](Session& session) { return session.Run({y}, {{"x:0", Tensor::Scalar(2.0f)}}).status(); };
  const auto cluster = [](int master) { return ClusterSpec({{"worker", {Address(master), Address(1)}}}); };
  // Server 0 is cut off, but still runs. Server 2 takes over its name, at another address.
  auto old = Open(g, 0, cluster(0)).value();
  auto another_of_the_same_process = Open(g, 0, cluster(0)).value();
  ASSERT_TRUE(run(*old).ok());
  ASSERT_TRUE(run(*another_of_the_same_process).ok());
  ASSERT_TRUE(run(*old).ok());
  auto restarted = Open(g, 2, cluster(2)).value();
  Status s = run(*restarted);
  ASSERT_TRUE(s.ok()) << s;
  for (Session* session : {old.get(), another_of_the_same_process.get()}) {
    // The worker ends the session in the background, so one more run may pass, or fail while it ends.
    for (s = run(*session); s.ok() || absl::IsUnavailable(s);) s = run(*session);
    EXPECT_EQ(s.code(), StatusCode::kAborted) << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr("has been restarted"));
    // The old session cannot come back with another signature either, which would end the new session.
    s = session->Run({z}, {{"w:0", Tensor::Scalar(2.0f)}}).status();
    EXPECT_EQ(s.code(), StatusCode::kAborted) << s;
  }
  s = run(*restarted);
  EXPECT_TRUE(s.ok()) << s;
}

TEST_F(SessionClusterTest, ClosingASessionCancelsItsWaitsOnOtherTasks) {
  StartServers(2);
  Graph g;
  Output element;
  Operation begin;
  Output begun;
  {
    auto device = g.Device("/job:worker/task:1");
    FIFOQueue empty(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "empty"});
    FIFOQueue started(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "started"});
    element = empty.Dequeue()[0];
    begin = started.Enqueue({Operand(1).ToOutput(g)});
    begun = started.Dequeue()[0];
  }
  for (int i = 0; i < 20; ++i) {
    auto session = Open(g, 0, ClusterSpec({{"worker", {Address(0), Address(1)}}})).value();
    std::thread closer([&] {
      EXPECT_TRUE(session->Run({begun}).ok());
      EXPECT_TRUE(session->Close().ok());
    });
    const auto result = session->Run({element, begin});
    closer.join();
    EXPECT_EQ(result.status().code(), StatusCode::kCancelled) << result.status();
  }
}

TEST(SessionFiltersTest, HideTheDevicesOfOtherTasks) {
  TestCluster cluster(2, 2);
  Graph g;
  auto y = On(g, "/job:ps/task:1", Placeholder(g, kFloat32, {}, "x"), 5);
  const auto run = [&](std::vector<std::string> filters) {
    auto session = Session::Create(g, {.target = cluster.worker_target(0), .device_filters = std::move(filters)});
    if (!session.ok()) return session.status();
    return (*session)->Run({y}, {{"x:0", Tensor::Scalar(2.0f)}}).status();
  };
  EXPECT_TRUE(run({}).ok());
  EXPECT_TRUE(run({"/job:ps"}).ok());
  EXPECT_TRUE(run({"/job:worker", "/job:ps/task:1/device:CPU:0"}).ok());
  EXPECT_EQ(run({"/job:ps/task:0"}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(run({"no device"}).code(), StatusCode::kInvalidArgument);
  auto session = Session::Create(g, {.target = cluster.worker_target(1), .device_filters = {"/job:ps/task:1"}}).value();
  // The master's own devices are always listed.
  EXPECT_THAT(session->ListDevices(),
              ElementsAre("/job:worker/replica:0/task:1/device:CPU:0", "/job:ps/replica:0/task:1/device:CPU:0"));
}

TEST(SessionStateTest, IsSharedUnlessTheSessionIsolatesIt) {
  TestCluster cluster(1, 1);
  Graph g;
  Variable v;
  {
    auto device = g.Device("/job:ps/task:0");
    v = Variable(g, {}, Zeros(), {.name = "v"});
  }
  const Operation init = GlobalVariablesInitializer(g);
  const auto open = [&](bool isolated) {
    return Session::Create(g, {.target = cluster.worker_target(0), .isolate_session_state = isolated}).value();
  };
  auto own = open(true);
  ASSERT_TRUE(own->Run({init}).ok());
  EXPECT_TRUE(own->Run({v}).ok());
  EXPECT_EQ(open(false)->Run({v}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(open(true)->Run({v}).status().code(), StatusCode::kFailedPrecondition);
}

// Runs on the networks (TENSORBRAID_TEST_NETWORK) whose tasks pass buffers to each other: inproc and local. The
// parameter says whether the variable is a reference variable; otherwise it is a resource.
class ReadByAnotherTaskTest : public ::testing::TestWithParam<bool> {};

TEST_P(ReadByAnotherTaskTest, AnUnchangedVariableIsNotCopied) {
  const char* const network = std::getenv("TENSORBRAID_TEST_NETWORK");
  if (network != nullptr && (network == std::string("sim") || network == std::string("grpc")))
    GTEST_SKIP() << network << " copies";
  TestCluster cluster(1, 1);
  Graph g;
  Output v;
  {
    auto on_ps = g.Device("/job:ps/task:0");
    v = NodeBuilder(g, GetParam() ? "VariableV2" : "VarHandleOp")
            .Name("v")
            .Attr("dtype", kFloat32)
            .Attr("shape", Shape({10000}))
            .Output();
  }
  const auto update = [&](const char* of_reference, const char* of_handle, Output value) {
    auto on_ps = g.Device("/job:ps/task:0");
    return NodeBuilder(g, GetParam() ? of_reference : of_handle).Input(v).Input(value).Finish();
  };
  const Operation assign = update("Assign", "AssignVariableOp", Fill(g, {10000}, 2.0f));
  const Operation add = update("AssignAdd", "AssignAddVariableOp", Fill(g, {10000}, 1.0f));
  Output read;
  {
    auto on_ps = g.Device("/job:ps/task:0");
    read = GetParam() ? Identity(v) : NodeBuilder(g, "ReadVariableOp").Input(v).Attr("dtype", kFloat32).Output();
  }
  Output arrived;
  {
    auto on_worker = g.Device("/job:worker/task:0");
    arrived = Identity(read);
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto fetch = [&] {
    auto result = (*session)->Run({arrived});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->at(0) : Tensor(kFloat32, {10000});
  };
  // A value that was assigned before the tasks have found out that they share memory is copied.
  Tensor first, second;
  const auto give_up = MonotonicClock::now() + std::chrono::minutes(1);
  do {
    ASSERT_TRUE((*session)->Run({assign}).ok());
    first = fetch();
    second = fetch();
  } while (first.raw_data() != second.raw_data() && MonotonicClock::now() < give_up);
  EXPECT_EQ(first.raw_data(), second.raw_data());
  // While `first` and `second` hold the buffer, an update goes to another one.
  ASSERT_TRUE((*session)->Run({add}).ok());
  const Tensor third = fetch(), fourth = fetch();
  EXPECT_EQ(third.raw_data(), fourth.raw_data());
  EXPECT_NE(third.raw_data(), first.raw_data());
  EXPECT_EQ(first.data<float>()[9999], 2.0f);
  EXPECT_EQ(fourth.data<float>()[9999], 3.0f);
}

INSTANTIATE_TEST_SUITE_P(Variables, ReadByAnotherTaskTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Reference" : "Resource"; });

}  // namespace
}  // namespace tensorbraid
