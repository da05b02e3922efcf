#include "transport/ucx/ucx_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/threads/thread.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/link_messages.h"
#include "transport/local/local_kind.h"
#include "transport/new_transport.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/transport_test_util.h"
#include "transport/ucx/ucx_kind.h"

// Not built with these sanitizers, because UCX replaces functions that they replace, too.
#if !defined(TENSORBRAID_ASAN) && !defined(TENSORBRAID_TSAN)

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<UcxContext> Context() {
  static const auto& context = *new std::shared_ptr<UcxContext>(UcxContext::Create(/*loopback_only=*/true).value());
  return context;
}

class UcxKindTest : public ::testing::Test {
 protected:
  static constexpr char kId[] = "ucx";
  std::unique_ptr<Transport> NewPlain() { return NewInprocTransport(network_); }
  std::unique_ptr<Transport> NewUcx(UcxOptions options = {}) {
    return NewSideLaneTransport(NewPlain(), {NewUcxKind(Context(), options)});
  }
  static std::string Listen(Transport& transport, LinkAcceptor& acceptor) {
    return StrCat("localhost:", transport.Listen("localhost:0", &acceptor).value());
  }
  // Checks that messages pass in both directions.
  static void ExpectTraffic(Link& link, Recorder& at_link, Recorder& at_peer) {
    link.Send(MakeEager(1, "hello"));
    EXPECT_EQ(at_peer.WaitForControl(1).back().bytes, "hello");
    at_peer.WaitForLink()->Send(MakeBulk(1, Pattern(3 << 20, 1)));
    EXPECT_TRUE(at_link.WaitForBulk(1).at(0) == Pattern(3 << 20, 1));
  }
  // The Hello of a task that offers UCX.
  static Hello Offering(const std::string& version) {
    Hello hello = HelloFrom("a");
    hello.lanes = {{.kind = kId, .word = version}};
    return hello;
  }

  const std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
  Recorder a_{"a"}, b_{"b"};
};

TEST_F(UcxKindTest, ATaskWithoutUcxIsReachedByTheBase) {
  const auto a = NewUcx(), b = NewPlain();
  Listen(*a, a_);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), HelloFrom("a")).value();
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxKindTest, ATaskWithAnotherVersionOfUcxIsReachedByTheBase) {
  const auto a = NewPlain(), b = NewUcx();
  Listen(*a, a_);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), Offering("0.1")).value();
  EXPECT_TRUE(link->peer().lanes.empty());
  ExpectTraffic(*link, a_, b_);
}

// A task that receives messages about lanes, and answers none of them.
class SilentEnd final : public Recorder {
 public:
  using Recorder::Recorder;
  std::shared_ptr<LinkHandler> OnLinkUp(const std::shared_ptr<Link>& link) override {
    class Handler final : public LinkHandler {
     public:
      Handler(SilentEnd* end, std::shared_ptr<LinkHandler> others) : end_(end), others_(std::move(others)) {}
      void OnMessage(Message message) override { others_->OnMessage(std::move(message)); }
      void OnLinkDown(const Status& why) override { others_->OnLinkDown(why); }
      Status OnLaneMessage(const LaneMessage& message) override {
        MutexLock lock(end_->mu_);
        end_->told_.push_back(message);
        end_->cv_.NotifyAll();
        return OkStatus();
      }

     private:
      SilentEnd* const end_;
      const std::shared_ptr<LinkHandler> others_;
    };
    return std::make_shared<Handler>(this, Recorder::OnLinkUp(link));
  }
  std::vector<LaneMessage> WaitForLaneMessages(size_t n) {
    MutexLock lock(mu_);
    EXPECT_TRUE(cv_.WaitFor(mu_, kTestPatience, [&]() TB_REQUIRES(mu_) { return told_.size() >= n; }));
    return told_;
  }

 private:
  Mutex mu_;
  CondVar cv_;
  std::vector<LaneMessage> told_ TB_GUARDED_BY(mu_);
};

TEST_F(UcxKindTest, WithoutAnAnswerTheLinkUsesTheBase) {
  const auto a = NewPlain(), b = NewUcx({.open_timeout = std::chrono::milliseconds(50)});
  SilentEnd silent("a");
  Listen(*a, silent);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), Offering(Context()->library().version)).value();
  ASSERT_EQ(link->peer().lanes.size(), 1u);
  EXPECT_TRUE(link->peer().lanes[0].is_answer);
  const auto told = silent.WaitForLaneMessages(2);
  EXPECT_EQ(told.at(0).kind, LaneMessage::Kind::kNote);
  EXPECT_TRUE(UcxAddress::Parse(told.at(0).text).ok());
  EXPECT_EQ(told.at(1).kind, LaneMessage::Kind::kGivenUp);
  EXPECT_THAT(told.at(1).text, HasSubstr("did not answer in time"));
  ExpectTraffic(*link, silent, b_);
  a->Shutdown();
  b->Shutdown();
}

TEST_F(UcxKindTest, NeighboursPreferSharedMemory) {
  const auto both = [this] { return NewSideLaneTransport(NewPlain(), {NewLocalKind(), NewUcxKind(Context())}); };
  const auto a = both(), b = both();
  Listen(*a, a_);
  const auto link = ConnectAndWait(*a, Listen(*b, b_), HelloFrom("a")).value();
  AwaitSideLane(*link, *b_.WaitForLink(), a_);
  EXPECT_TRUE(link->shares_memory());
  ExpectTraffic(*link, a_, b_);
}

TEST_F(UcxKindTest, ALinkThatBreaksWhileItsLaneOpensGoesDownAtOnce) {
  const auto a = NewPlain(), b = NewUcx();
  a_.on_up = [](const std::shared_ptr<Link>& link) { link->Close(Aborted("no")); };
  Listen(*a, a_);
  ConnectAndWait(*a, Listen(*b, b_), Offering(Context()->library().version)).status().IgnoreError();
  EXPECT_FALSE(a_.WaitForDown().ok());
  b->Shutdown();  // does not wait for the rest of open_timeout
  EXPECT_EQ(b_.ups(), b_.downs());
}

TEST_F(UcxKindTest, AddressesAreParsedAndMalformedOnesRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(UcxAddress::Parse("short").status()));
  const UcxAddress address{.address = std::string("a\0b", 3), .secret = ~uint64_t{0}};
  const auto parsed = UcxAddress::Parse(address.ToString()).value();
  EXPECT_EQ(parsed.address, address.address);
  EXPECT_EQ(parsed.secret, address.secret);
}

// Two ends of a lane, without links.
class UcxLaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(a_->Connect(b_->address()).ok());
    ASSERT_TRUE(b_->Connect(a_->address()).ok());
  }
  // Sends a probe from a to b. Until the probe has arrived, the sender has to work as well.
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
  ASSERT_TRUE(a_->Send(MakeBulk(1, sent), /*urgent=*/true).ok());
  Message received = Heartbeat();
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
    EXPECT_TRUE(a_->Send(MakeEager(1, "hello"), /*urgent=*/true).ok());
    return !a_->Receive([](Message) {}).ok();
  };
  a_->WorkUntil(Deadline(), is_broken).IgnoreError();
  EXPECT_TRUE(is_broken());
  EXPECT_TRUE(a_->IsDrained());
}

// Another thread, by sending, finds out that the lane is broken before the reader has received what has arrived.
TEST_F(UcxLaneTest, WhatHasArrivedIsReceivedBeforeALaneIsReportedAsBroken) {
  Probe();
  ASSERT_TRUE(b_->Send(MakeEager(1, "the last one"), /*urgent=*/true).ok());
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
    EXPECT_TRUE(a_->Send(Heartbeat{}, /*urgent=*/true).ok());
    return false;
  };
  EXPECT_TRUE(absl::IsUnavailable(a_->WorkUntil(Deadline(), send)));
  EXPECT_TRUE(a_->Receive(on_message).ok());
  EXPECT_EQ(received, 1u);
  EXPECT_TRUE(absl::IsUnavailable(a_->Receive(on_message).status()));
}

TEST(NewTransportTest, MakesTheTransportOfEachProtocolAndRefusesOtherNames) {
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
