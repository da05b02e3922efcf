#include "transport/ucx/ucx_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/inproc/inproc_transport.h"
#include "transport/local/local_transport.h"
#include "transport/new_transport.h"
#include "transport/transport_test_util.h"
#include "transport/ucx/ucx_lane.h"

// UCX replaces functions that sanitizers replace, too.
#if !defined(__SANITIZE_ADDRESS__) && !defined(TENSORBRAID_TSAN)

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<UcxContext> Context() {
  static const auto& context = *new std::shared_ptr<UcxContext>(UcxContext::Create(/*loopback_only=*/true).value());
  return context;
}

class UcxTransportTest : public ::testing::Test {
 protected:
  std::unique_ptr<Transport> NewPlain() { return NewInprocTransport(network_); }
  std::unique_ptr<Transport> NewUcx(UcxTransportOptions options = {}) {
    return NewUcxTransport(NewPlain(), Context(), options);
  }
  static std::string Listen(Transport& transport, Recorder& handler) {
    return StrCat("localhost:", transport.Listen("localhost:0", &handler).value());
  }
  // Both ways.
  static void ExpectTraffic(Link& link, Recorder& at_link, Recorder& at_peer) {
    link.Send(MakeEager(1, "hello"));
    EXPECT_EQ(at_peer.WaitForControl(1).back().bytes, "hello");
    at_peer.WaitForLink()->Send(MakeBulk(1, Pattern(3 << 20, 1)));
    EXPECT_TRUE(at_link.WaitForBulk(1).at(0) == Pattern(3 << 20, 1));
  }

  const std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
  Recorder a_{"a"}, b_{"b"};
};

TEST_F(UcxTransportTest, ATaskWithoutUcxIsReachedByTheBase) {
  const auto a = NewUcx(), b = NewPlain();
  Listen(*a, a_);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), HelloFrom("a")).value();
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxTransportTest, ATaskWithAnotherVersionOfUcxIsReachedByTheBase) {
  const auto a = NewPlain(), b = NewUcx();
  Listen(*a, a_);
  Hello hello = HelloFrom("a");
  hello.ucx.version = "0.1";
  const auto link = ConnectAndWait(*a, Listen(*b, b_), hello).value();
  EXPECT_FALSE(link->peer().ucx.accepted);
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxTransportTest, WithoutAnAnswerTheLinkUsesTheBase) {
  const auto a = NewPlain(), b = NewUcx({.choice_timeout = std::chrono::milliseconds(50)});
  Listen(*a, a_);
  Hello hello = HelloFrom("a");
  hello.ucx.version = Context()->library().version;
  const auto link = ConnectAndWait(*a, Listen(*b, b_), hello).value();
  EXPECT_TRUE(link->peer().ucx.accepted);
  const auto told = a_.WaitForControl(2);
  EXPECT_TRUE(std::holds_alternative<UcxAddress>(told[0].message));
  ASSERT_TRUE(std::holds_alternative<LaneChoice>(told[1].message));
  EXPECT_FALSE(std::get<LaneChoice>(told[1].message).side_lane);
  EXPECT_THAT(std::get<LaneChoice>(told[1].message).why, HasSubstr("did not answer in time"));
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxTransportTest, NeighboursWithLocalLanesUseThese) {
  const UcxTransportOptions options{.leave_neighbours = true};
  const auto a = NewLocalTransport(NewUcx(options)), b = NewLocalTransport(NewUcx(options));
  Listen(*a, a_);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), HelloFrom("a")).value();
  AwaitSideLane(*link, *b_.WaitForLink(), a_);
  EXPECT_TRUE(link->shares_memory());
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxTransportTest, ALinkThatBreaksDuringTheChoiceIsAnError) {
  const auto a = NewPlain(), b = NewUcx();
  a_.on_up = [](const std::shared_ptr<Link>& link) { link->Close(Aborted("no")); };
  Listen(*a, a_);
  Hello hello = HelloFrom("a");
  hello.ucx.version = Context()->library().version;
  ConnectAndWait(*a, Listen(*b, b_), hello).status().IgnoreError();
  EXPECT_FALSE(a_.WaitForDown().ok());
  b->Shutdown();  // does not wait for the rest of the choice's time
  EXPECT_EQ(b_.ups(), b_.downs());
}

// Two ends of a lane, without links.
class UcxLaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(a_->Connect(b_->address()).ok());
    ASSERT_TRUE(b_->Connect(a_->address()).ok());
  }
  // Sends a probe from a to b. The sender has to work as well, until it has arrived.
  void Probe() {
    a_->SendProbe();
    const auto arrived = [&] {
      EXPECT_TRUE(a_->Receive([](Message) {}).ok());
      return b_->probed();
    };
    ASSERT_TRUE(b_->WorkUntil(Deadline(), arrived).ok());
  }
  static MonotonicClock::time_point Deadline() { return MonotonicClock::now() + kTestPatience; }

  const std::shared_ptr<UcxLane> a_ = UcxLane::Create(Context()).value(), b_ = UcxLane::Create(Context()).value();
};

TEST_F(UcxLaneTest, APayloadIsReceivedIntoMemoryOfItsOwn) {
  const std::string sent = Pattern(8 << 20, 1);
  ASSERT_TRUE(a_->Send(MakeBulk(1, sent), true).ok());
  Message received;
  const auto on_message = [&](Message m) { received = std::move(m); };
  const auto arrived = [&] {
    EXPECT_TRUE(b_->Receive(on_message).ok());
    return std::holds_alternative<BulkTensor>(received);
  };
  // The sender has to work as well.
  ASSERT_TRUE(a_->WorkUntil(Deadline(), arrived).ok());
  const Payload& payload = std::get<BulkTensor>(received).payload;
  ASSERT_TRUE(payload.owner);
  EXPECT_TRUE(payload.owner->writable());
  ASSERT_EQ(payload.pieces.size(), 1u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(payload.pieces[0].data()), payload.size()), sent);
}

TEST_F(UcxLaneTest, AProbeShowsThatTheWayIsOpen) {
  EXPECT_FALSE(b_->probed());
  Probe();
}

TEST_F(UcxLaneTest, WakeEndsASleep) {
  std::atomic<bool> wanted{false};
  Thread sleeper("sleeper", [&] {
    while (!wanted) b_->Sleep([&] { return wanted.load(); });
  });
  wanted = true;
  b_->Wake();
  sleeper.Join();
}

TEST_F(UcxLaneTest, ALostPeerBreaksTheLane) {
  Probe();
  b_->End();
  const auto is_broken = [&] {
    EXPECT_TRUE(a_->Send(MakeEager(1, "hello"), true).ok());
    return !a_->Receive([](Message) {}).ok();
  };
  a_->WorkUntil(Deadline(), is_broken).IgnoreError();
  EXPECT_TRUE(is_broken());
  EXPECT_TRUE(a_->IsDrained());
}

// The reader has not looked yet when another thread finds out by sending.
TEST_F(UcxLaneTest, WhatHasArrivedIsReceivedBeforeALaneIsReportedAsBroken) {
  Probe();
  ASSERT_TRUE(b_->Send(MakeEager(1, "the last one"), true).ok());
  size_t received = 0;
  const auto on_message = [&](Message) { ++received; };
  b_->SendProbe();  // arrives after the message
  const auto arrived = [&] {
    EXPECT_TRUE(b_->Receive([](Message) {}).ok());
    return a_->probed();
  };
  ASSERT_TRUE(a_->WorkUntil(Deadline(), arrived).ok());
  b_->End();
  const auto send = [&] {
    EXPECT_TRUE(a_->Send(Heartbeat{}, true).ok());
    return false;
  };
  EXPECT_TRUE(absl::IsUnavailable(a_->WorkUntil(Deadline(), send)));
  EXPECT_TRUE(a_->Receive(on_message).ok());
  EXPECT_EQ(received, 1u);
  EXPECT_TRUE(absl::IsUnavailable(a_->Receive(on_message).status()));
}

TEST(NewTransportTest, TheProtocolsHaveNames) {
  for (const char* protocol : {"", "grpc", "grpc+ucx", "grpc+verbs", "grpc+gdr"}) {
    const auto transport = NewTransport(protocol, "localhost", {});
    EXPECT_TRUE(transport.ok()) << transport.status();
  }
  const Status unknown = NewTransport("tcp", "localhost", {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(unknown)) << unknown;
  EXPECT_THAT(unknown.message(), HasSubstr("'grpc+ucx'"));
}

}  // namespace
}  // namespace tensorbraid

#endif
