// Tests what a membership knows about the tasks, and how that changes.
#include "cluster/membership/cluster_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/membership/membership.h"
#include "core/system/timer.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using State = TaskView::State;

class ClosableLink final : public Link {
 public:
  ClosableLink(const std::string& job, int index, uint64_t incarnation, int num_gpus = 0) {
    hello_.task = FullTaskName(job, index);
    hello_.incarnation = incarnation;
    hello_.devices = {{.type = "CPU", .id = 0, .memory_limit = 1, .incarnation = 100 + incarnation}};
    for (int i = 0; i < num_gpus; ++i) {
      hello_.devices.push_back({.type = "GPU", .id = i, .memory_limit = 2, .incarnation = 200 + incarnation});
    }
  }
  const Hello& peer() const override { return hello_; }
  void Send(Message) override {}
  void Close(Status why) override { closed = std::move(why); }
  Status closed;

 private:
  Hello hello_;
};

Hello WorkerHello() {
  Hello hello;
  hello.task = FullTaskName("worker", 0);
  hello.incarnation = 1;
  hello.devices = {{.type = "CPU", .id = 0, .memory_limit = 4, .incarnation = 9}};
  return hello;
}

std::vector<std::string> NamesOf(const ClusterView& view) {
  std::vector<std::string> names;
  for (const DeviceName& name : DeviceNamesOf(view)) names.push_back(name.ToString());
  return names;
}

class ClusterViewTest : public ::testing::Test {
 protected:
  const ClusterSpec one_ps_{{"ps", {"a:1"}}, {"worker", {"b:1"}}};
  const ClusterSpec two_ps_{{"ps", {"a:1", "c:1"}}, {"worker", {"b:1"}}};
  Membership membership_{nullptr, nullptr, one_ps_, WorkerHello(), {}};

  // Reports to the membership that a link has come up.
  std::shared_ptr<PeerConnection> Connect(const std::shared_ptr<Link>& link) {
    const auto received = membership_.connections().ReceivedFrom(link->peer().task);
    const auto connection = std::make_shared<PeerConnection>(link, received);
    membership_.OnLinkUp(connection);
    return connection;
  }
};

TEST_F(ClusterViewTest, CountsWhatATaskReceivesFromAnotherOverAllItsLinks) {
  for (const int incarnation : {5, 6}) {
    const auto connection = Connect(std::make_shared<ClosableLink>("ps", 0, incarnation));
    PeerConnection::Handling(*connection, 1000);
    PeerConnection::Handling(*connection, 0);
    EXPECT_FALSE(membership_.OnLinkDown(connection, Unavailable("broken")).ok());
  }
  const auto received = membership_.AllReceived();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].task, "/job:ps/replica:0/task:0");
  EXPECT_EQ(received[0].messages, 4u);
  EXPECT_EQ(received[0].tensor_bytes, 2000u);
}

TEST_F(ClusterViewTest, TheVersionGrowsWithEachChangeAndOnlyThen) {
  const auto first = membership_.view();
  EXPECT_EQ(membership_.view(), first);
  ASSERT_EQ(first->others.size(), 1u);
  EXPECT_EQ(first->others[0]->state, State::kNotSeen);
  const auto link = Connect(std::make_shared<ClosableLink>("ps", 0, 5));
  PeerConnection::Handling(*link, 0);
  const auto connected = membership_.view();
  EXPECT_GT(connected->version, first->version);
  EXPECT_EQ(connected->others[0]->state, State::kConnected);
  EXPECT_EQ(connected->others[0]->incarnation, 5u);
  membership_.OnLeave(link->peer(), {.status = Internal("no more data")});
  const auto left = membership_.view();
  EXPECT_GT(left->version, connected->version);
  EXPECT_EQ(left->others[0]->state, State::kLeft);
  EXPECT_EQ(left->others[0]->leave_status, Internal("no more data"));
  EXPECT_EQ(membership_.OnLinkDown(link, Cancelled("stopping")), Unavailable("ps/0 (a:1) is gone: stopping"));
  EXPECT_GT(membership_.view()->version, left->version);
  EXPECT_EQ(membership_.view()->others[0]->incarnation, 0u);
  // Snapshots do not change.
  EXPECT_EQ(first->others[0]->state, State::kNotSeen);
  EXPECT_EQ(connected->others[0]->state, State::kConnected);
}

TEST_F(ClusterViewTest, AWorkerIsReadyWhileItIsConnectedWithEveryParameterServer) {
  membership_.Update(two_ps_);
  EXPECT_EQ(ReadyToWork(*membership_.view()), Unavailable("waits for ps/0 (not reached yet), ps/1 (not reached yet)"));
  const auto first = Connect(std::make_shared<ClosableLink>("ps", 0, 5));
  EXPECT_EQ(ReadyToWork(*membership_.view()), Unavailable("waits for ps/1 (not reached yet)"));
  const auto second = Connect(std::make_shared<ClosableLink>("ps", 1, 6));
  EXPECT_EQ(ReadyToWork(*membership_.view()), OkStatus());
  membership_.OnLinkDown(first, Unavailable("broken")).IgnoreError();
  EXPECT_EQ(ReadyToWork(*membership_.view()), Unavailable("waits for ps/0 (connection lost)"));
  membership_.OnLeave(second->peer(), {.status = OkStatus()});
  EXPECT_EQ(ReadyToWork(*membership_.view()), Unavailable("waits for ps/0 (connection lost), ps/1 (has left)"));
  Connect(std::make_shared<ClosableLink>("ps", 0, 7));
  Connect(std::make_shared<ClosableLink>("ps", 1, 8));
  EXPECT_EQ(ReadyToWork(*membership_.view()), OkStatus());
}

TEST_F(ClusterViewTest, AParameterServerIsReadyWithoutAnyOtherTask) {
  Hello hello = WorkerHello();
  hello.task = FullTaskName("ps", 1);
  Membership membership(nullptr, nullptr, two_ps_, hello, {});
  EXPECT_EQ(ReadyToWork(*membership.view()), OkStatus());
}

// A view is made after each change, so in a cluster of hundreds of tasks it must not describe all of them again.
TEST_F(ClusterViewTest, ViewsShareTheTasksThatHaveNotChanged) {
  membership_.Update(two_ps_);
  const auto link = Connect(std::make_shared<ClosableLink>("ps", 0, 5));
  const auto before = membership_.view();
  Connect(std::make_shared<ClosableLink>("ps", 1, 6));
  const auto after = membership_.view();
  EXPECT_EQ(after->others[0], before->others[0]);
  EXPECT_NE(after->others[1], before->others[1]);
  EXPECT_EQ(membership_.OnLinkDown(link, Unavailable("broken")).code(), StatusCode::kUnavailable);
  EXPECT_EQ(membership_.view()->others[0]->state, State::kDisconnected);
  EXPECT_EQ(membership_.view()->others[1], after->others[1]);
}

TEST_F(ClusterViewTest, ATaskThatHasLeftStaysLeftWhenASecondLinkComesUp) {
  const auto first = Connect(std::make_shared<ClosableLink>("ps", 0, 5));
  membership_.OnLeave(first->peer(), {.status = Internal("no more data")});
  const auto second = Connect(std::make_shared<ClosableLink>("ps", 0, 5));
  for (const auto& link : {first, second}) membership_.OnLinkDown(link, Cancelled("stopping")).IgnoreError();
  EXPECT_EQ(membership_.view()->others[0]->state, State::kLeft);
  EXPECT_EQ(membership_.view()->others[0]->leave_status, Internal("no more data"));
  // A task that is started again has a new incarnation and has not left.
  Connect(std::make_shared<ClosableLink>("ps", 0, 6));
  EXPECT_EQ(membership_.view()->others[0]->state, State::kConnected);
}

TEST_F(ClusterViewTest, ATaskThatIsNotConnectedIsAssumedToHaveTheDevicesOfThisOne) {
  EXPECT_THAT(NamesOf(*membership_.view()),
              ElementsAre("/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"));
  const auto link = Connect(std::make_shared<ClosableLink>("ps", 0, 5, /*num_gpus=*/2));
  EXPECT_THAT(NamesOf(*membership_.view()),
              ElementsAre("/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0",
                          "/job:ps/replica:0/task:0/device:GPU:0", "/job:ps/replica:0/task:0/device:GPU:1"));
  const auto devices = DevicesOf(*membership_.view(), {*DeviceName::Parse("/device:GPU:*")});
  ASSERT_EQ(devices.size(), 3u);  // its own device is not filtered
  EXPECT_TRUE(devices[0].is_local);
  EXPECT_EQ(devices[2].incarnation, 205u);  // see ClosableLink
  EXPECT_EQ(membership_.OnLinkDown(link, Unavailable("broken")).code(), StatusCode::kUnavailable);
  EXPECT_EQ(DevicesOf(*membership_.view()).back().incarnation, 0u);
}

TEST_F(ClusterViewTest, TasksCanBeAddedAndRemovedWhileTheClusterRuns) {
  Status before;
  membership_.connections().Get(FullTaskName("ps", 1), std::chrono::seconds(1),
                                [&](const auto& link) { before = link.status(); });
  EXPECT_EQ(before.code(), StatusCode::kNotFound);
  membership_.Update(two_ps_);
  ASSERT_EQ(membership_.view()->others.size(), 2u);
  EXPECT_EQ(membership_.view()->others[1]->address, "c:1");
  const auto kept = std::make_shared<ClosableLink>("ps", 0, 5);
  const auto removed = std::make_shared<ClosableLink>("ps", 1, 6);
  Connect(kept);
  Connect(removed);
  membership_.Update(one_ps_);
  ASSERT_EQ(membership_.view()->others.size(), 1u);
  EXPECT_EQ(membership_.view()->others[0]->state, State::kConnected);
  EXPECT_EQ(kept->closed, OkStatus());
  EXPECT_EQ(removed->closed.code(), StatusCode::kUnavailable);
}

// A transport that looks up a link while it is asked to connect.
class ReentrantTransport final : public Transport {
 public:
  StatusOr<int> Listen(const std::string&, LinkAcceptor*) override { return 1; }
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds, ConnectDone) override {
    EXPECT_EQ(membership->connections().Find(hello.expected_task), nullptr);
    dialed.push_back(address);
  }
  void Shutdown() override {}
  Membership* membership = nullptr;
  std::vector<std::string> dialed;
};

TEST_F(ClusterViewTest, NoLockIsHeldWhileConnecting) {
  ReentrantTransport transport;
  Timer timer;
  Membership membership(&transport, &timer, one_ps_, WorkerHello(), {});
  transport.membership = &membership;
  membership.connections().KeepConnected(FullTaskName("ps", 0));
  membership.connections().Get(FullTaskName("ps", 0), std::chrono::seconds(1), [](const auto&) {});
  EXPECT_THAT(transport.dialed, ElementsAre("a:1"));  // once for both
}

TEST_F(ClusterViewTest, ACallThatWaitsForATaskFailsWhenTheTaskIsRemoved) {
  ReentrantTransport transport;
  Timer timer;
  Membership membership(&transport, &timer, one_ps_, WorkerHello(), {});
  transport.membership = &membership;
  Status got;
  membership.connections().Get(FullTaskName("ps", 0), std::chrono::seconds(100),
                               [&](const auto& link) { got = link.status(); });
  membership.Update(ClusterSpec({{"worker", {"b:1"}}}));
  EXPECT_EQ(got.code(), StatusCode::kNotFound) << got;
}

}  // namespace
}  // namespace tensorbraid
