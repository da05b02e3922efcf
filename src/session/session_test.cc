#include "tensorbraid/session/session.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <utility>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

TEST(SessionTest, AssignAddCountsInALocalSession) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  auto add = v.AssignAdd(1.0f);
  Operation init = GlobalVariablesInitializer(g);
  Output read;
  {
    auto after = g.ControlDependencies({add});
    read = v.Read();
  }
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({init}).ok());
  for (int i = 1; i <= 3; ++i) {
    auto r = (*session)->Run({read});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ((*r)[0].scalar<float>(), i);
  }
}

TEST(SessionTest, AFetchedVariableHasTheValueThatTheStepLeaves) {
  Graph g;
  const Variable v(g, {}, Zeros(), {.name = "v"});
  const Operation add = v.AssignAdd(1.0f);
  const Output before = v.value() * 10.0f;
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({v.initializer()}).ok());
  for (int i = 1; i <= 100; ++i) {
    const auto values = session->Run({v, add});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].scalar<float>(), i);
  }
  EXPECT_EQ(session->Run({v, before}).value()[1].scalar<float>(), 1000);
  EXPECT_EQ(session->Run({v}, {{before, Tensor::Scalar(0.0f)}}).value()[0].scalar<float>(), 100);
}

TEST(SessionTest, AFetchedVariableThatIsFedHasTheFedValue) {
  Graph g;
  const Variable v(g, {}, Zeros(), {.name = "v"});
  const Variable other(g, {}, Zeros(), {.name = "other"});
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const Tensor seven = Tensor::Scalar(7.0f);
  const auto values = session->Run({v, other, v.value()}, {{v.value(), seven}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].scalar<float>(), 7);
  EXPECT_EQ((*values)[1].scalar<float>(), 0);
  EXPECT_EQ((*values)[2].scalar<float>(), 7);
  EXPECT_EQ(session->Prepare({v}, {v.value()}).value().Run({seven}).value()[0].scalar<float>(), 7);
  EXPECT_EQ(session->Run({v}).value()[0].scalar<float>(), 0);

  // A fetch makes no operation, not even in a scope in which reads are new.
  const auto scope = g.ControlDependencies({v.initializer()});
  const size_t operations = g.operations().size();
  EXPECT_TRUE(session->Run({v}).ok());
  EXPECT_EQ(g.operations().size(), operations);
}

TEST(SessionTest, WrongFeedsAndFetchesAreRefused) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {-1, 2}, "x");
  auto y = Identity(x, "y");
  auto session = Session::Create(g).value();
  const auto run = [&](std::vector<Fetch> fetches, std::vector<Feed> feeds) {
    return session->Run(fetches, feeds).status();
  };
  EXPECT_EQ(run({y}, {}).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(run({y}, {}).message().find("session_test.cc:"), absl::string_view::npos) << run({y}, {});
  EXPECT_EQ(run({y}, {{x, Tensor(kFloat32, {3})}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(run({y}, {{x, Tensor(kInt32, {3, 2})}}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(run({"z:0"}, {}).code(), StatusCode::kNotFound);
  EXPECT_TRUE(run({"y:0"}, {{"x:0", Tensor::Of<float>({1, 2}, {1, 2})}}).ok());
}

TEST(SessionTest, ATensorOfAnotherGraphOrFedTwiceCannotBeFed) {
  Graph g, other;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = Identity(x, "y");
  auto foreign = Placeholder(other, kFloat32, {}, "foreign");
  const Tensor one = Tensor::Scalar(1.0f), two = Tensor::Scalar(2.0f);
  auto session = Session::Create(g).value();
  const auto expect_refused = [](const Status& s, const char* name) {
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
    EXPECT_NE(s.message().find(name), absl::string_view::npos) << s;
  };
  expect_refused(session->Run({y}, {{x, one}, {foreign, two}}).status(), "foreign:0");
  expect_refused(session->Run({y}, {{x, one}, {"x:0", two}}).status(), "'x:0' is fed twice");
  expect_refused(session->Run({y}, {{x, one}, {Output{}, two}}).status(), "feed 1 is not valid");
  expect_refused(session->Prepare({y}, {x, foreign}).status(), "foreign:0");
  expect_refused(session->Prepare({y}, {x, x}).status(), "'x:0' is fed twice");
  expect_refused(session->Run({x, Output{}}, {{x, one}}).status(), "fetch 1 is not valid");
}

TEST(SessionTest, PreparedRunsHaveConnections) {
  Graph g, other;
  Variable v(g, {}, Constant(2.0), {.name = "v"});
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = Identity(x, "y"), z = Identity(y * 10.0f, "z"), u = Identity(v.value(), "u");
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const auto value = [&](const Fetch& fetch, const std::vector<Output>& feeds, const TensorConnection& connection) {
    const auto prepared = session->Prepare({fetch}, feeds, {connection}).value();
    return prepared.Run(std::vector<Tensor>(feeds.size(), Tensor::Scalar(3.0f))).value()[0].scalar<float>();
  };
  EXPECT_EQ(value(z, {}, {v.value(), x}), 20) << "a variable in the place of a placeholder";
  EXPECT_EQ(value(z, {x}, {x, y}), 30) << "a fed tensor in the place of another one";
  EXPECT_EQ(value(u, {x}, {x, v.value()}), 3) << "in the place of a variable";
  const auto expect_refused = [&](const std::vector<TensorConnection>& connections, const char* words) {
    const Status s = session->Prepare({z}, {x}, connections).status();
    EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
    EXPECT_NE(s.message().find(words), absl::string_view::npos) << s;
  };
  expect_refused({{x, z}}, "'z:0' is both connected and fetched");
  expect_refused({{y, x}}, "'x:0' is fed more than once");
  expect_refused({{z, y}}, "a connection of tensors would close a cycle at");
  expect_refused({{y, y}}, "'y:0' is connected to itself");
  expect_refused({{x, Placeholder(other, kFloat32, {}, "foreign")}}, "connected tensor 'foreign:0' belongs to another");
  expect_refused({{x, Output{}}}, "an end of connection 0 is not valid");
}

TEST(SessionTest, RunsFailOnceTheGraphIsDestroyed) {
  auto g = std::make_unique<Graph>();
  Variable v(*g, {}, Zeros(), {.name = "v"});
  auto x = Placeholder(*g, kFloat32, {}, "x");
  auto y = x * 2.0;
  auto session = Session::Create(*g).value();
  const auto prepared = session->Prepare({y}, {x}).value();
  const Tensor one = Tensor::Scalar(1.0f);
  ASSERT_TRUE(prepared.Run({one}).ok());
  g.reset();
  const auto expect_destroyed = [](const Status& s, const std::string& what) {
    EXPECT_EQ(s.code(), StatusCode::kFailedPrecondition) << s;
    EXPECT_NE(s.message().find(what), absl::string_view::npos) << s;
  };
  expect_destroyed(session->Run({y}, {{x, one}}).status(), "Session::Run: the Graph has been destroyed");
  expect_destroyed(session->Run({v}).status(), "Session::Run: the Graph has been destroyed");
  expect_destroyed(session->Run({"y:0"}).status(), "Session::Run: the Graph has been destroyed");
  expect_destroyed(session->Prepare({y}, {x}).status(), "Session::Prepare: the Graph has been destroyed");
  expect_destroyed(prepared.Run({one}).status(), "Session::Prepared::Run: the Graph has been destroyed");
  EXPECT_DEATH(session->graph(), "session_test.cc:[0-9]+: graph: Session::graph: the Graph has been destroyed");
  // A session of another graph refuses fetches and feeds of the destroyed graph.
  Graph other;
  auto z = Placeholder(other, kFloat32, {}, "z");
  auto second = Session::Create(other).value();
  expect_destroyed(second->Run({y}, {{z, one}}).status(), "is used after its Graph was destroyed");
  expect_destroyed(second->Run({v}).status(), "VarHandleOp 'v' (session_test.cc:");
  expect_destroyed(second->Run({z}, {{x, one}}).status(), "feed: Placeholder 'x' (session_test.cc:");
  EXPECT_TRUE(session->Close().ok());
}

// A Supervisor, for example, runs steps on its own threads, to read the global step.
TEST(SessionTest, AGraphMayBeDestroyedWhileAnotherThreadRunsSteps) {
  for (int round = 0; round < 20; ++round) {
    auto g = std::make_unique<Graph>();
    const Output x = Placeholder(*g, kFloat32, {}, "x");
    std::vector<Output> sums = {x};
    for (int i = 0; i < 50; ++i) sums.push_back(sums.back() + x);
    auto session = Session::Create(*g).value();
    const auto one = Tensor::Scalar(1.0f);
    std::promise<void> first_step;
    bool started = false;
    Status last;
    std::thread runs([&] {
      // Each step has other fetches than the step before, so that it must read the graph.
      for (size_t i = 0; last.ok(); i = (i + 1) % sums.size()) {
        last = session->Run({sums[i], sums[i / 2]}, {{x, one}}).status();
        if (!std::exchange(started, true)) first_step.set_value();
      }
    });
    first_step.get_future().wait();
    g.reset();
    runs.join();
    EXPECT_TRUE(absl::IsFailedPrecondition(last)) << last;
  }
}

TEST(SessionTest, FollowsAGraphThatIsMoved) {
  Graph g;
  Output x, y;
  std::unique_ptr<Session> session;
  {
    Graph first;
    x = Placeholder(first, kFloat32, {}, "x");
    y = x * 2.0;
    session = Session::Create(first).value();
    g = std::move(first);
  }
  EXPECT_EQ(&session->graph(), &g);
  const auto value = session->Run({y, Square(y)}, {{x, Tensor::Scalar(3.0f)}});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[1].scalar<float>(), 36);
}

TEST(SessionTest, AControlDependencyOnAPlaceholderNeedsItsFeed) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  Output y;
  {
    auto after = g.ControlDependencies(std::vector<Output>{x});
    y = Identity(Operand(1.0f).ToOutput(g));
  }
  auto session = Session::Create(g).value();
  const auto value = session->Run({y}, {{x, Tensor::Scalar(2.0f)}});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 1);
  EXPECT_EQ(session->Run({y}).status().code(), StatusCode::kInvalidArgument);
}

TEST(SessionTest, TheErrorOfAnUninitializedVariableNamesItAndItsInitializer) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "weights"});
  auto session = Session::Create(g).value();
  const Status s = session->Run({v}).status();
  EXPECT_EQ(s.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(s.message().find("uninitialized value weights"), absl::string_view::npos) << s;
  EXPECT_NE(s.message().find("run its initializer (weights/Assign"), absl::string_view::npos) << s;
  EXPECT_NE(s.message().find("make it after all variables and after the optimizer's minimize"), absl::string_view::npos)
      << s;
}

TEST(SessionTest, TheErrorOfAnUnknownDeviceListsTheDevices) {
  Graph g;
  Output c;
  {
    auto device = g.Device("/device:CPU:7");
    c = Identity(Operand(1.0f).ToOutput(g));
  }
  auto session = Session::Create(g, {.device_count = {{"CPU", 2}}}).value();
  const Status s = session->Run({c}).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("/device:CPU:1"), absl::string_view::npos) << s;
  auto soft = Session::Create(g, {.device_count = {{"CPU", 2}}, .allow_soft_placement = true}).value();
  EXPECT_TRUE(soft->Run({c}).ok());
}

TEST(SessionTest, TheErrorOfAnOpWithoutAKernelListsTheSupportedTypes) {
  Graph g;
  auto x = Placeholder(g, kString, {2, 2}, "x");
  auto number = NodeBuilder(g, "Cast").Name("number").Input(x).Attr("DstT", kFloat32).Output();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  const Status s = session->Run({number}, {{x, Tensor(kString, {2, 2})}}).status();
  EXPECT_EQ(s.code(), StatusCode::kInvalidArgument) << s;
  for (const char* part : {"Cast 'number'", "session_test.cc:", "CPU", "float32"}) {
    EXPECT_NE(s.message().find(part), absl::string_view::npos) << part << " in " << s;
  }
}

// A queue and the operations on it, on ps/0.
struct Queue {
  explicit Queue(Graph& g, std::string shared_name = "") {
    auto device = g.Device("/job:ps/task:0");
    queue = FIFOQueue(g, {kFloat32}, {.shapes = {Shape()}, .shared_name = std::move(shared_name), .name = "input"});
    put = queue.Enqueue({1.0f});
    take = queue.Dequeue()[0];
    size = queue.Size();
  }
  FIFOQueue queue;
  Operation put;
  Output take, size;
};

TEST(ClusterSessionTest, AQueueEndsWithItsSessionUnlessItHasASharedName) {
  TestCluster cluster(1, 1);
  const auto size_in_second_session = [&](const std::string& shared_name) {
    Graph g;
    Queue q(g, shared_name);
    {
      auto first = Session::Create(g, {.target = cluster.worker_target()}).value();
      EXPECT_TRUE(first->Run({q.put}).ok());
      EXPECT_EQ(first->Run({q.size}).value()[0].scalar<int32_t>(), 1);
    }
    auto second = Session::Create(g, {.target = cluster.worker_target()}).value();
    return second->Run({q.size}).value()[0].scalar<int32_t>();
  };
  EXPECT_EQ(size_in_second_session(""), 0);
  EXPECT_EQ(size_in_second_session("shared"), 1);
}

TEST(ClusterSessionTest, AStepThatWaitsForLongSaysForWhichOperation) {
  TestCluster cluster(1, 1, {.membership = {.slow_wait = std::chrono::milliseconds(10)}, .exchange = {}});
  const auto log_of_step = [&](std::chrono::milliseconds timeout) {
    Graph g;
    FIFOQueue here(g, {kFloat32}, {.shapes = {Shape()}, .name = "here"});
    const Output local = here.Dequeue()[0];
    const Output remote = Queue(g).take;
    testing::internal::CaptureStderr();
    auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
    EXPECT_EQ(session->Run({local, remote}, {}, {.timeout = timeout}).status().code(), StatusCode::kDeadlineExceeded);
    return testing::internal::GetCapturedStderr();
  };
  const std::vector<std::string> parts = {"waiting for ps/0, this task", "QueueDequeueV2 'here_Dequeue'", "on 'here'",
                                          "tensor 'input_Dequeue:0' from ps/0"};
  const auto missing = [&parts](const std::string& log) {
    for (const std::string& part : parts) {
      if (log.find(part) == std::string::npos) return part;
    }
    return std::string();
  };
  // On a busy machine, a short step may end before it is looked at.
  std::string log;
  for (std::chrono::milliseconds timeout(500); timeout < std::chrono::minutes(1); timeout *= 3) {
    log = log_of_step(timeout);
    if (missing(log).empty()) break;
  }
  EXPECT_EQ(missing(log), "") << log;
}

TEST(ClusterSessionTest, VariablesLiveOnTheParameterServer) {
  TestCluster cluster(1, 2);
  Graph g;
  Variable v;
  {
    auto device = g.Device("/job:ps/task:0");
    v = Variable(g, {4}, Zeros(), {.name = "v"});
  }
  auto delta = Placeholder(g, kFloat32, {4}, "delta");
  Operation add = v.AssignAdd(delta);
  Operation init = GlobalVariablesInitializer(g);
  auto first = Session::Create(g, {.target = cluster.worker_target(0)}).value();
  auto second = Session::Create(g, {.target = cluster.worker_target(1)}).value();
  ASSERT_TRUE(first->Run({init}).ok());
  const Tensor ones = Tensor::Of<float>({4}, {1, 2, 3, 4});
  for (int i = 0; i < 10; ++i) {
    const Status a = first->Run({add}, {{delta, ones}}).status();
    ASSERT_TRUE(a.ok()) << a;
    const Status b = second->Run({add}, {{delta, ones}}).status();
    ASSERT_TRUE(b.ok()) << b;
  }
  auto value = second->Run({v});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].ToString(), "float32[4] [20 40 60 80]");
}

TEST(ClusterSessionTest, LargeTensorsCrossBothWaysUnderATinyBudget) {
  // Both tasks send large tensors to each other in one step, while the exchange may buffer almost nothing.
  TestCluster cluster(1, 1, {.membership = {}, .exchange = {.eager_limit = 16, .eager_budget = 64}});
  Graph g;
  std::vector<Output> back;
  const auto big = Placeholder(g, kFloat32, {1 << 18}, "big");
  for (int i = 0; i < 8; ++i) {
    Output there, here;
    {
      auto device = g.Device("/job:ps/task:0");
      there = Identity(big);
    }
    {
      auto device = g.Device("/job:worker/task:0");
      here = Identity(there);
    }
    {
      auto device = g.Device("/job:ps/task:0");
      back.push_back(Identity(here));
    }
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  Tensor value(kFloat32, {1 << 18});
  for (size_t i = 0; i < value.data<float>().size(); ++i) value.mutable_data<float>()[i] = static_cast<float>(i);
  auto r = session->Run(std::vector<Fetch>(back.begin(), back.end()), {{big, value}});
  ASSERT_TRUE(r.ok()) << r.status();
  for (const Tensor& t : *r) EXPECT_EQ(t.data<float>()[12345], 12345.0f);
}

TEST(ClusterSessionTest, StringsCrossTasks) {
  TestCluster cluster(1, 1);
  Graph g;
  auto x = Placeholder(g, kString, {-1}, "x");
  Output there;
  {
    auto device = g.Device("/job:ps/task:0");
    there = Identity(x);
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  auto r = session->Run({there}, {{x, Tensor::Vector<std::string>({"", "tokens", std::string(100'000, 'x')})}});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ((*r)[0].data<std::string>()[1], "tokens");
  EXPECT_EQ((*r)[0].data<std::string>()[2].size(), 100'000u);
}

TEST(ClusterSessionTest, TheErrorOfAStoppedParameterServerNamesIt) {
  TestCluster cluster(1, 1);
  Graph g;
  Variable v;
  {
    auto device = g.Device("/job:ps/task:0");
    v = Variable(g, {}, Zeros(), {.name = "v"});
  }
  Operation init = GlobalVariablesInitializer(g);
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({init}).ok());
  cluster.Stop("ps", 0);
  Status s = session->Run({v}).status();
  EXPECT_EQ(s.code(), StatusCode::kUnavailable) << s;
  EXPECT_NE(s.message().find("ps/0"), absl::string_view::npos) << s;
  // The restarted server has a new incarnation: the old session is aborted; a new one finds uninitialised variables.
  cluster.Start("ps", 0);
  auto again = Session::Create(g, {.target = cluster.worker_target()}).value();
  s = again->Run({v}).status();
  EXPECT_EQ(s.code(), StatusCode::kFailedPrecondition) << s;
  s = session->Run({v}).status();
  EXPECT_EQ(s.code(), StatusCode::kAborted) << s;
}

TEST(SessionTest, ADeadlineNamesTheOpThatTheStepWaitsFor) {
  Graph g;
  FIFOQueue queue(g, {kInt32}, {.shapes = {Shape()}, .name = "q"});
  const auto element = queue.Dequeue();
  auto session = Session::Create(g).value();
  // On a busy machine, a short step may end before the op begins to wait.
  Status late;
  for (std::chrono::milliseconds timeout(20); timeout < std::chrono::minutes(1); timeout *= 3) {
    late = session->Run({element[0]}, {}, {.timeout = timeout}).status();
    EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late;
    if (late.message().find("QueueDequeueV2") != absl::string_view::npos) break;
  }
  for (const char* part : {"QueueDequeueV2 'q_Dequeue' (session_test.cc:", "_q'", "Timed out waiting"}) {
    EXPECT_NE(late.message().find(part), absl::string_view::npos) << late;
  }
}

TEST(SessionTest, ATargetWithoutItsSchemeGetsTheLikelyFix) {
  Graph g;
  const Status status = Session::Create(g, {.target = "localhost:2222"}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("did you mean 'grpc://localhost:2222'?"), absl::string_view::npos) << status;
  const Status no_port = Session::Create(g, {.target = "grpc://localhost"}).status();
  EXPECT_EQ(no_port.code(), absl::StatusCode::kInvalidArgument) << no_port;
  EXPECT_NE(no_port.message().find("the port is missing"), absl::string_view::npos) << no_port;
}

}  // namespace
}  // namespace tensorbraid
