// Tests sessions that use the MasterService of a server. The server is in this process, but its target is an address
// that the session does not recognise as local.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/text/strings.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

class RemoteSessionTest : public ::testing::Test {
 protected:
  RemoteSessionTest() {
    auto server = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker"});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const std::string address = server_->address();
    target_ = StrCat("grpc://127.0.0.1", address.substr(address.rfind(':')));
  }
  std::unique_ptr<Session> Connect(Graph& g) {
    auto session = Session::Create(g, {.target = target_});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  std::unique_ptr<Server> server_;
  std::string target_;
};

TEST_F(RemoteSessionTest, FeedsFetchesAndSendsNodesAddedToTheGraph) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {-1, 2}, "x");
  auto y = x * 2.0;
  auto session = Connect(g);
  const Tensor value = Tensor::Of<float>({1, 2}, {1, 2});
  auto first = session->Run({y, x}, {{x, value}});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)[0].data<float>()[1], 4);
  EXPECT_EQ((*first)[1].data<float>()[0], 1);
  auto z = y + 1.0;
  auto second = session->Run({z}, {{x, value}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ((*second)[0].data<float>()[1], 5);
  EXPECT_THAT(session->ListDevices(), ::testing::ElementsAre("/job:worker/replica:0/task:0/device:CPU:0"));
}

TEST_F(RemoteSessionTest, FollowsAGraphThatIsMovedAndFailsOnceItIsDestroyed) {
  auto first = std::make_unique<Graph>();
  auto x = Placeholder(*first, kFloat32, {}, "x");
  auto session = Connect(*first);
  auto moved = std::make_unique<Graph>(std::move(*first));
  first.reset();
  const Tensor three = Tensor::Scalar(3.0f);
  const auto value = session->Run({Square(x)}, {{x, three}});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 9);
  moved.reset();
  EXPECT_TRUE(absl::IsFailedPrecondition(session->Run({x}, {{x, three}}).status()));
}

TEST_F(RemoteSessionTest, ATracedRunReturnsWhenEachNodeRan) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto y = Square(x, "y");
  auto session = Connect(g);
  RunMetadata metadata("earlier");
  ASSERT_TRUE(session->Run({y}, {{x, Tensor::Scalar(2.0f)}}, {}, &metadata).ok());
  EXPECT_EQ(metadata.serialized(), "") << "not traced";
  ASSERT_TRUE(session
                  ->Run({y}, {{x, Tensor::Scalar(2.0f)}},
                        {.trace_level = TraceLevel::kFull, .output_partition_graphs = true}, &metadata)
                  .ok());
  EXPECT_THAT(metadata.serialized(), HasSubstr("Square"));
  EXPECT_THAT(metadata.ToChromeTrace().value(),
              ::testing::AllOf(HasSubstr(R"("name":"Square","cat":"Op","ph":"X")"), HasSubstr(R"("name":"y","op")")));
}

TEST_F(RemoteSessionTest, VariablesOutliveTheSessionAndPreparedRunsUpdateThem) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  auto by = Placeholder(g, kFloat32, {}, "by");
  auto add = v.AssignAdd(by);
  {
    auto session = Connect(g);
    ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
    auto prepared = session->Prepare({add}, {by});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(prepared->Run({Tensor::Scalar(2.0f)}).ok());
  }
  auto again = Connect(g);
  auto value = again->Run({v});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 6);
}

TEST_F(RemoteSessionTest, APreparedRunHasConnections) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {}, "x"), y = Placeholder(g, kFloat32, {}, "y");
  const Output seven = Identity(Const(g, Tensor::Scalar(7.0f))), z = x - y;
  auto session = Connect(g);
  const auto prepared = session->Prepare({z}, {x}, {{seven, y}});
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->Run({Tensor::Scalar(10.0f)}).value()[0].scalar<float>(), 3);
  EXPECT_THAT(session->Prepare({z, y}, {x}, {{seven, y}}).status().message(),
              HasSubstr("'y:0' is both connected and fetched"));
}

TEST_F(RemoteSessionTest, ResetClearsTheContainersThatItNames) {
  Graph g;
  const Variable kept(g, {}, Zeros(), {.name = "kept"});
  Variable gone;
  {
    auto container = g.Container("temporary");
    gone = Variable(g, {}, Zeros(), {.name = "gone"});
  }
  const auto exists = [&](const Variable& v, const std::string& target) {
    return Session::Create(g, {.target = target}).value()->Run({v}).ok();
  };
  for (const std::string& target : {target_, server_->target()}) {  // from another process, and from this one
    ASSERT_TRUE(Connect(g)->Run({GlobalVariablesInitializer(g)}).ok());
    EXPECT_TRUE(exists(gone, target));
    ASSERT_TRUE(Session::Reset({.target = target}, {"temporary"}).ok());
    EXPECT_FALSE(exists(gone, target));
    EXPECT_TRUE(exists(kept, target));
    ASSERT_TRUE(Session::Reset({.target = target}).ok());
    EXPECT_FALSE(exists(kept, target));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Session::Reset({})));
  EXPECT_TRUE(absl::IsInvalidArgument(Session::Reset({.target = "localhost:1"})));
}

TEST_F(RemoteSessionTest, LargeTensorsAreFedAndFetched) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {-1}, "x");
  auto y = x + 1.0;
  auto session = Connect(g);
  Tensor large(kFloat32, {3'000'000});
  for (int64_t i = 0; i < 3'000'000; ++i) large.mutable_data<float>()[i] = static_cast<float>(i % 1000);
  auto result = session->Run({y}, {{x, large}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].data<float>()[2'999'999], 1000);
}

TEST_F(RemoteSessionTest, ErrorsKeepTheirCodeAndNode) {
  Graph g;
  auto x = Placeholder(g, kFloat32, Shape::Unknown(), "x");
  auto reshaped = Reshape(x, Tensor::Of<int32_t>({1}, {5}));
  auto session = Connect(g);
  const auto result = session->Run({reshaped}, {{x, Tensor::Of<float>({2}, {1, 2})}});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("Reshape"));
}

TEST_F(RemoteSessionTest, ADeadlineEndsAWaitingStep) {
  Graph g;
  FIFOQueue queue(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "q"});
  auto element = queue.Dequeue();
  auto session = Connect(g);
  const auto late = session->Run({element[0]}, {}, {.timeout = std::chrono::milliseconds(50)});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
}

TEST_F(RemoteSessionTest, ADeadlineNamesTheOpThatTheStepWaitsForAndItsTask) {
  Graph g;
  FIFOQueue queue(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "q"});
  auto element = queue.Dequeue();
  auto session = Connect(g);
  // The server answers shortly before the deadline. On a busy machine this answer arrives in time only if the timeout
  // is long enough.
  const std::string named = "worker/0: QueueDequeueV2 'q_Dequeue'";
  Status late;
  for (std::chrono::seconds timeout(1); timeout < std::chrono::minutes(1); timeout *= 3) {
    late = session->Run({element[0]}, {}, {.timeout = timeout}).status();
    ASSERT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded) << late;
    if (late.message().find(named) != absl::string_view::npos) break;
  }
  EXPECT_THAT(std::string(late.message()), HasSubstr(named));
}

TEST_F(RemoteSessionTest, TheErrorOfALostMasterNamesTargetAndTask) {
  Graph g;
  auto x = Const(g, Tensor::Scalar(1.0f));
  // A busy machine may need longer than this for a session. The last call waits for all of it.
  const SessionOptions options{.target = target_, .operation_timeout = std::chrono::seconds(1)};
  auto session = Session::Create(g, options);
  while (absl::IsDeadlineExceeded(session.status()) || absl::IsUnavailable(session.status())) {
    session = Session::Create(g, options);
  }
  ASSERT_TRUE(session.ok()) << session.status();
  server_.reset();
  const Status lost = (*session)->Run({x}).status();
  EXPECT_EQ(lost.code(), absl::StatusCode::kUnavailable) << lost;
  for (const std::string& part : {std::string("worker/0"), target_, std::string("make a new session")}) {
    EXPECT_THAT(std::string(lost.message()), HasSubstr(part));
  }
}

TEST_F(RemoteSessionTest, AMasterThatWasRestartedAsksForANewSession) {
  Graph g;
  auto x = Const(g, Tensor::Scalar(1.0f));
  auto session = Connect(g);
  const std::string port = target_.substr(target_.rfind(':'));
  server_.reset();
  auto server = Server::Create(ClusterSpec({{"worker", {"localhost" + port}}}), {.job_name = "worker"});
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  // Until the client has noticed that its old connection is gone, the master is Unavailable.
  Status status = session->Run({x}).status();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (status.code() == absl::StatusCode::kUnavailable && std::chrono::steady_clock::now() < end) {
    status = session->Run({x}).status();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  for (const std::string& part : {target_, std::string("is not found."), std::string("Session handle is not found"),
                                  std::string("worker/0"), std::string("make a new session")}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

TEST_F(RemoteSessionTest, ReadsAndUpdatesOfAnUninitialisedVariableFailWithTheSameCode) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  auto session = Connect(g);
  for (const Fetch& fetch : {Fetch(v), Fetch(v.AssignAdd(1.0))}) {
    const Status status = session->Run({fetch}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("Attempting to use uninitialized value v"));
  }
}

TEST_F(RemoteSessionTest, ClosingTheSessionCancelsItsSteps) {
  Graph g;
  FIFOQueue begun(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "begun"});
  FIFOQueue empty(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "empty"});
  auto one = Placeholder(g, kInt32, {}, "one");
  auto begin = begun.Enqueue({one});
  auto wait_for_begin = begun.Dequeue();
  auto element = empty.Dequeue();
  auto session = Connect(g);
  std::thread closer([&] {
    EXPECT_TRUE(session->Run({wait_for_begin[0]}).ok());
    EXPECT_TRUE(session->Close().ok());
  });
  const auto result = session->Run({element[0], begin}, {{one, Tensor::Of<int32_t>({}, {1})}});
  closer.join();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
}

TEST_F(RemoteSessionTest, CancelRunsEndsTheStepsAndKeepsTheSession) {
  for (const std::string& target : {std::string(), target_}) {
    Graph g;
    FIFOQueue begun(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "begun"});
    FIFOQueue empty(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "empty"});
    const std::vector<Feed> feeds = {{Placeholder(g, kInt32, {}, "one"), Tensor::Scalar(int32_t{1})}};
    auto begin = begun.Enqueue({feeds[0].output});
    auto wait_for_begin = begun.Dequeue();
    auto element = empty.Dequeue();
    auto session = Session::Create(g, {.target = target}).value();
    std::thread canceller([&] {
      EXPECT_TRUE(session->Run({wait_for_begin[0]}).ok());
      session->CancelRuns();
    });
    const auto result = session->Run({element[0], begin}, feeds);
    canceller.join();
    EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
    const Status later = session->Run({begin}, feeds).status();
    EXPECT_TRUE(later.ok()) << later;
  }
}

// It is left to chance whether the server receives the step before or after it deletes the session.
TEST_F(RemoteSessionTest, StepsThatStartWhileTheSessionClosesAreCancelled) {
  Graph g;
  FIFOQueue queue(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "q"});
  auto element = queue.Dequeue();
  for (int i = 0; i < 10; ++i) {
    auto session = Connect(g);
    std::thread closer([&] { EXPECT_TRUE(session->Close().ok()); });
    const auto result = session->Run({element[0]});
    closer.join();
    EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
  }
}

TEST(RemoteSessionWithoutServerTest, CreateReturnsUnavailable) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  (void)x;
  // The port of a server that has stopped.
  std::string address;
  {
    auto server = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker"});
    ASSERT_TRUE(server.ok());
    address = (*server)->address();
  }
  const auto session =
      Session::Create(g, {.target = "grpc://" + address, .operation_timeout = std::chrono::milliseconds(1000)});
  EXPECT_EQ(session.status().code(), absl::StatusCode::kUnavailable) << session.status();
}

}  // namespace
}  // namespace tensorbraid
