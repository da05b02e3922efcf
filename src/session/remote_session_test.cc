// Sessions on a server that is reached through its MasterService. The server is in this process; the target names it as
// another would.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/strings.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/data_flow_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/server.h"
#include "tensorbraid/session.h"
#include "tensorbraid/variable.h"

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

TEST_F(RemoteSessionTest, FeedsFetchesAndFollowsAGraphThatGrows) {
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

TEST_F(RemoteSessionTest, LargeTensorsTravelBothWays) {
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

TEST_F(RemoteSessionTest, ADeadlineEndsAStepThatWaits) {
  Graph g;
  FIFOQueue queue(g, {kInt32}, {.shapes = {Shape()}, .capacity = 1, .name = "q"});
  auto element = queue.Dequeue();
  auto session = Connect(g);
  const auto late = session->Run({element[0]}, {}, {.timeout = std::chrono::milliseconds(50)});
  EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
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

// Whether the server learns of the step before or after it forgets the session is left to chance.
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

TEST(RemoteSessionWithoutServerTest, IsUnavailable) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  (void)x;
  // A port that was free a moment ago, and whose owner is gone.
  std::string address;
  {
    auto server = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker"});
    ASSERT_TRUE(server.ok());
    address = (*server)->address();
  }
  const auto session =
      Session::Create(g, {.target = "grpc://" + address, .operation_timeout = std::chrono::milliseconds(100)});
  EXPECT_EQ(session.status().code(), absl::StatusCode::kUnavailable) << session.status();
}

}  // namespace
}  // namespace tensorbraid
