#include "transport/sim/sim_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

struct Task {
  Task(SimNetwork& network, const std::string& name) : handler(name), transport(network.NewTransport()) {}
  void Listen(int port = 0) {
    address = StrCat("localhost:", *transport->Listen(StrCat("localhost:", port), &handler));
  }
  Recorder handler;
  std::unique_ptr<Transport> transport;
  std::string address;
};

// Returns a log of what the handlers received when only handlers send: a exchanges messages with b and c. Each entry
// has the name of the receiver and the number of the message, or "bulk" and the offset of the part.
std::string Exchange(uint32_t seed) {
  SimNetwork network(seed);
  std::string log;
  Task a(network, "a"), b(network, "b"), c(network, "c");
  const auto record = [&](const char* who) {
    return [&log, who](const std::shared_ptr<Link>& link, const Message& m) {
      if (const auto* bulk = std::get_if<BulkTensor>(&m)) {
        log += StrCat(who, " bulk ", bulk->offset, " ");
      } else {
        const uint64_t n = std::get<EndStep>(m).step.counter;
        log += StrCat(who, " ", n, " ");
        if (n < 20) link->Send(EndStep{{1, n + 1}});
      }
    };
  };
  a.handler.on_message = record("a");
  b.handler.on_message = record("b");
  c.handler.on_message = record("c");
  a.handler.on_up = [](const std::shared_ptr<Link>& link) {
    link->Send(MakeBulk(1, Pattern(3 << 20, 1)));
    link->Send(EndStep{});
  };
  for (Task* task : {&a, &b, &c}) task->Listen();
  EXPECT_TRUE(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).ok());
  EXPECT_TRUE(ConnectAndWait(*a.transport, c.address, HelloFrom("a")).ok());
  a.handler.WaitForControl(20);
  b.handler.WaitForBulk(1);
  c.handler.WaitForBulk(1);
  for (Task* task : {&a, &b, &c}) task->transport->Shutdown();
  return log;
}

TEST(SimNetworkScheduleTest, ControlOvertakesBulkUnderSomeSchedule) {
  bool overtaken = false;
  for (uint32_t seed = 0; seed < 20 && !overtaken; ++seed) {
    const std::string log = Exchange(seed);
    const size_t bulk = log.find("b bulk 0"), control = log.find("b 0");
    ASSERT_NE(bulk, std::string::npos);
    ASSERT_NE(control, std::string::npos);
    overtaken = control < bulk;  // though sent later
  }
  EXPECT_TRUE(overtaken);
}

// A network with the tasks a and b.
class SimNetworkTest : public ::testing::Test {
 protected:
  // Makes the network, where both tasks listen; b on a free port if `port_of_b` is 0.
  void Start(const SimOptions& options = {}, int port_of_b = 0) {
    network_ = std::make_unique<SimNetwork>(seed_, options);
    a_ = std::make_unique<Task>(*network_, "a");
    b_ = std::make_unique<Task>(*network_, "b");
    a_->Listen();
    b_->Listen(port_of_b);
  }
  // Connects a to b.
  StatusOr<std::shared_ptr<Link>> Connect() { return ConnectAndWait(*a_->transport, b_->address, HelloFrom("a")); }
  // As Start, and connects a to b.
  void StartConnected(const SimOptions& options = {}) {
    Start(options);
    const auto link = Connect();
    ASSERT_TRUE(link.ok()) << link.status();
    link_ = *link;
  }

  const uint32_t seed_ = TestSeed();
  const SeedReport report_{seed_};
  std::unique_ptr<SimNetwork> network_;
  std::unique_ptr<Task> a_, b_;
  std::shared_ptr<Link> link_;  // of a
};

TEST_F(SimNetworkTest, TensorsOfConcurrentSendersArriveWholeThoughTheirPartsAlternate) {
  ASSERT_NO_FATAL_FAILURE(StartConnected({.max_bulk_part_bytes = 1000}));
  constexpr uint32_t kSenders = 4, kEach = 25;
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (uint32_t i = 0; i < kEach; ++i) link_->Send(MakeBulk(s * kEach + i, Pattern(20000, s)));
    });
  }
  for (std::thread& sender : senders) sender.join();
  std::vector<std::string> sent;
  for (uint32_t i = 0; i < kSenders * kEach; ++i) sent.push_back(Pattern(20000, i / kEach));
  EXPECT_THAT(b_->handler.WaitForBulk(kSenders * kEach), ::testing::UnorderedElementsAreArray(sent));
}

TEST_F(SimNetworkTest, AKilledTaskIsUnavailableUntilItListensAgain) {
  Start({}, 5000);
  ASSERT_TRUE(Connect().ok());
  network_->KillTask(b_->address);
  const Status why = a_->handler.WaitForDown();
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(why.message(), ::testing::HasSubstr("b"));
  EXPECT_EQ(Connect().status().code(), absl::StatusCode::kUnavailable);
  Task again(*network_, "b");
  again.Listen(5000);
  EXPECT_TRUE(Connect().ok());
}

TEST_F(SimNetworkTest, APartitionDelaysAndHealingDeliversInOrder) {
  ASSERT_NO_FATAL_FAILURE(StartConnected());
  b_->handler.WaitForLink();
  network_->Partition(a_->address, b_->address);
  for (uint64_t i = 0; i < 100; ++i) link_->Send(EndStep{{1, i}});
  // When this returns, the virtual clock has passed the timeout and the times at which the messages were due.
  EXPECT_EQ(Connect().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b_->handler.control_messages(), 0u);
  EXPECT_EQ(a_->handler.downs() + b_->handler.downs(), 0u);
  network_->Heal(a_->address, b_->address);
  const auto got = b_->handler.WaitForControl(100);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
}

TEST_F(SimNetworkTest, AOneWayPartitionLetsMessagesBackThrough) {
  ASSERT_NO_FATAL_FAILURE(StartConnected());
  const auto back = b_->handler.WaitForLink();
  network_->PartitionOneWay(a_->address, b_->address);
  link_->Send(EndStep{{1, 1}});
  back->Send(EndStep{{1, 2}});
  EXPECT_EQ(std::get<EndStep>(a_->handler.WaitForControl(1)[0].message).step.counter, 2u);
  EXPECT_EQ(Connect().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b_->handler.control_messages(), 0u);
  network_->Heal(a_->address, b_->address);
  EXPECT_EQ(std::get<EndStep>(b_->handler.WaitForControl(1)[0].message).step.counter, 1u);
}

TEST_F(SimNetworkTest, APausedTaskGetsItsMessagesWhenItResumesAndCanBeKilled) {
  ASSERT_NO_FATAL_FAILURE(StartConnected());
  b_->handler.WaitForLink();
  network_->PauseTask(b_->address);
  for (uint64_t i = 0; i < 100; ++i) link_->Send(EndStep{{1, i}});
  EXPECT_EQ(Connect().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b_->handler.control_messages(), 0u);
  network_->ResumeTask(b_->address);
  const auto got = b_->handler.WaitForControl(100);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
  network_->PauseTask(b_->address);
  network_->KillTask(b_->address);
  EXPECT_EQ(a_->handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SimNetworkTest, AnAttemptToConnectThatArrivesTwiceLeavesOneLink) {
  Start();
  network_->SetConnectFaults({.late = 0, .duplicate = 1});
  ASSERT_TRUE(Connect().ok());
  b_->handler.WaitForLink(2);
  EXPECT_EQ(b_->handler.WaitForDown(1).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(a_->handler.ups(), 1u);
  EXPECT_EQ(a_->handler.downs(), 0u);
}

TEST_F(SimNetworkTest, WhatIsSentToALinkThatNeverComesUpIsDropped) {
  Start();
  network_->SetConnectFaults({.late = 0, .duplicate = 1});
  b_->handler.on_up = [](const std::shared_ptr<Link>& link) { link->Send(EndStep{}); };
  constexpr int kConnections = 20;  // in some of them the message arrives before the second link is down
  for (int i = 0; i < kConnections; ++i) {
    ASSERT_TRUE(Connect().ok());
    b_->handler.WaitForLink(2 * i + 2);
    EXPECT_EQ(b_->handler.WaitForDown(i + 1).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_EQ(a_->handler.WaitForControl(kConnections).size(), kConnections);
  EXPECT_EQ(a_->handler.ups(), kConnections);
}

TEST_F(SimNetworkTest, ATaskIsKilledAtTheMessageThatWasChosen) {
  ASSERT_NO_FATAL_FAILURE(StartConnected());
  network_->AtMessage(4, [&] { network_->KillTask(b_->address); });
  for (uint64_t i = 0; i < 10; ++i) link_->Send(EndStep{{1, i}});
  EXPECT_EQ(b_->handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b_->handler.control_messages(), 3u);
}

TEST_F(SimNetworkTest, LossyLinksBreakOnBothSidesAndNeverSkipAMessage) {
  ASSERT_NO_FATAL_FAILURE(StartConnected({.link_loss = 0.01}));
  for (uint64_t i = 0; i < 5000; ++i) link_->Send(EndStep{{1, i}});
  EXPECT_EQ(a_->handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b_->handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  const auto got = b_->handler.WaitForControl(0);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
}

}  // namespace
}  // namespace tensorbraid
