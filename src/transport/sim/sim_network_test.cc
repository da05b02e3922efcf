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

// A log of what handlers received when only handlers send: a exchanges messages with b and c.
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

TEST(SimNetworkTest, ControlOvertakesBulkUnderSomeSchedule) {
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

TEST(SimNetworkTest, TensorsOfConcurrentSendersArriveWholeThoughTheirPartsAlternate) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed, {.max_bulk_part_bytes = 1000});
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  const auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  constexpr uint32_t kSenders = 4, kEach = 25;
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (uint32_t i = 0; i < kEach; ++i) (*link)->Send(MakeBulk(s * kEach + i, Pattern(20000, s)));
    });
  }
  for (std::thread& sender : senders) sender.join();
  std::vector<std::string> sent;
  for (uint32_t i = 0; i < kSenders * kEach; ++i) sent.push_back(Pattern(20000, i / kEach));
  EXPECT_THAT(b.handler.WaitForBulk(kSenders * kEach), ::testing::UnorderedElementsAreArray(sent));
}

TEST(SimNetworkTest, AKilledTaskIsUnavailableUntilItListensAgain) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen(5000);
  ASSERT_TRUE(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).ok());
  network.KillTask(b.address);
  const Status why = a.handler.WaitForDown();
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(why.message(), ::testing::HasSubstr("b"));
  EXPECT_EQ(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).status().code(), absl::StatusCode::kUnavailable);
  Task again(network, "b");
  again.Listen(5000);
  EXPECT_TRUE(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).ok());
}

TEST(SimNetworkTest, APartitionDelaysAndHealingDeliversInOrder) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  b.handler.WaitForLink();
  network.Partition(a.address, b.address);
  for (uint64_t i = 0; i < 100; ++i) (*link)->Send(EndStep{{1, i}});
  // When this returns, the virtual clock has passed the timeout and the times at which the messages were due.
  EXPECT_EQ(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b.handler.control_messages(), 0u);
  EXPECT_EQ(a.handler.downs() + b.handler.downs(), 0u);
  network.Heal(a.address, b.address);
  const auto got = b.handler.WaitForControl(100);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
}

TEST(SimNetworkTest, AOneWayPartitionLetsMessagesBackThrough) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  const auto back = b.handler.WaitForLink();
  network.PartitionOneWay(a.address, b.address);
  (*link)->Send(EndStep{{1, 1}});
  back->Send(EndStep{{1, 2}});
  EXPECT_EQ(std::get<EndStep>(a.handler.WaitForControl(1)[0].message).step.counter, 2u);
  EXPECT_EQ(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b.handler.control_messages(), 0u);
  network.Heal(a.address, b.address);
  EXPECT_EQ(std::get<EndStep>(b.handler.WaitForControl(1)[0].message).step.counter, 1u);
}

TEST(SimNetworkTest, APausedTaskGetsItsMessagesWhenItResumesAndCanBeKilled) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  b.handler.WaitForLink();
  network.PauseTask(b.address);
  for (uint64_t i = 0; i < 100; ++i) (*link)->Send(EndStep{{1, i}});
  EXPECT_EQ(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b.handler.control_messages(), 0u);
  network.ResumeTask(b.address);
  const auto got = b.handler.WaitForControl(100);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
  network.PauseTask(b.address);
  network.KillTask(b.address);
  EXPECT_EQ(a.handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
}

TEST(SimNetworkTest, ConnectionsThatComeLateOrTwiceLeaveOneLink) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  network.SetConnectFaults({.late = 0, .duplicate = 1});
  ASSERT_TRUE(ConnectAndWait(*a.transport, b.address, HelloFrom("a")).ok());
  b.handler.WaitForLink(2);
  EXPECT_EQ(b.handler.WaitForDown(1).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(a.handler.ups(), 1u);
  EXPECT_EQ(a.handler.downs(), 0u);
}

TEST(SimNetworkTest, ATaskIsKilledAtTheMessageThatWasChosen) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed);
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  network.AtMessage(4, [&] { network.KillTask(b.address); });
  for (uint64_t i = 0; i < 10; ++i) (*link)->Send(EndStep{{1, i}});
  EXPECT_EQ(b.handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b.handler.control_messages(), 3u);
}

TEST(SimNetworkTest, LossyLinksBreakOnBothSidesAndNeverSkipAMessage) {
  const uint32_t seed = TestSeed();
  const SeedReport report(seed);
  SimNetwork network(seed, {.link_loss = 0.01});
  Task a(network, "a"), b(network, "b");
  a.Listen();
  b.Listen();
  auto link = ConnectAndWait(*a.transport, b.address, HelloFrom("a"));
  ASSERT_TRUE(link.ok());
  for (uint64_t i = 0; i < 5000; ++i) (*link)->Send(EndStep{{1, i}});
  EXPECT_EQ(a.handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(b.handler.WaitForDown().code(), absl::StatusCode::kUnavailable);
  const auto got = b.handler.WaitForControl(0);
  for (uint64_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::get<EndStep>(got[i].message).step.counter, i);
}

}  // namespace
}  // namespace tensorbraid
