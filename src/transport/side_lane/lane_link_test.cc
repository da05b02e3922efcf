#include "transport/side_lane/lane_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

// A base that keeps what is sent.
class KeepingLink final : public Link {
 public:
  const Hello& peer() const override { return peer_; }
  void Send(Message message) override { sent.push_back(std::move(message)); }
  void Close(Status why) override { closed = std::move(why); }
  void SendLaneMessage(const LaneMessage& message) override {
    MutexLock lock(mu_);
    told_.push_back(message);
    cv_.NotifyAll();
  }
  // The first `n` messages about the lane.
  std::vector<LaneMessage> WaitForTold(size_t n) {
    MutexLock lock(mu_);
    EXPECT_TRUE(cv_.WaitFor(mu_, kTestPatience, [&]() TB_REQUIRES(mu_) { return told_.size() >= n; }));
    return told_;
  }
  size_t told() {
    MutexLock lock(mu_);
    return told_.size();
  }

  std::vector<Message> sent;
  Status closed;

 private:
  const Hello peer_ = HelloFrom("peer");
  Mutex mu_;
  CondVar cv_;
  std::vector<LaneMessage> told_ TB_GUARDED_BY(mu_);
};

// A lane that keeps what is sent, and delivers what the test puts into it.
class KeepingLane final : public SideLane {
 public:
  Status Send(const Message& message, bool) override {
    sent.push_back(message);
    return OkStatus();
  }
  StatusOr<bool> Receive(const std::function<void(Message)>& on_message) override {
    std::deque<Message> messages;
    {
      MutexLock lock(mu_);
      messages.swap(arriving_);
    }
    for (Message& message : messages) on_message(std::move(message));
    MutexLock lock(mu_);
    received_ += messages.size();
    cv_.NotifyAll();
    return !messages.empty();
  }
  void Sleep(const std::function<bool()>& wanted) override {
    MutexLock lock(mu_);
    ++sleeps_;
    cv_.NotifyAll();
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return !arriving_.empty() || wanted() || std::exchange(woken_, false); });
  }
  void End() override {
    MutexLock lock(mu_);
    ended_ = true;
    cv_.NotifyAll();
  }
  void Abandon() override {
    MutexLock lock(mu_);
    abandoned_ = true;
  }
  void Wake() override {
    MutexLock lock(mu_);
    woken_ = true;
    cv_.NotifyAll();
  }

  // Blocks until the link has taken the message.
  void Arrive(Message message) {
    MutexLock lock(mu_);
    const size_t before = received_;
    arriving_.push_back(std::move(message));
    cv_.NotifyAll();
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return received_ > before; });
  }
  // Blocks until the link's thread has gone to sleep `n` times.
  void AwaitSleeps(int n) {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return sleeps_ >= n; });
  }
  int sleeps() {
    MutexLock lock(mu_);
    return sleeps_;
  }
  bool ended() {
    MutexLock lock(mu_);
    return ended_;
  }

  bool abandoned() {
    MutexLock lock(mu_);
    return abandoned_;
  }

  std::vector<Message> sent;

 private:
  Mutex mu_;
  CondVar cv_;
  std::deque<Message> arriving_ TB_GUARDED_BY(mu_);
  size_t received_ TB_GUARDED_BY(mu_) = 0;
  bool woken_ TB_GUARDED_BY(mu_) = false;
  int sleeps_ TB_GUARDED_BY(mu_) = 0;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  bool abandoned_ TB_GUARDED_BY(mu_) = false;
};

// A kind whose lane is open when the test says so.
class TestKind final : public LaneKind {
 public:
  std::string id() const override { return "test"; }
  std::string name() const override { return "a lane for tests"; }
  std::string Offer() override { return ""; }
  Status Accepts(const std::string&) override { return OkStatus(); }
  std::string Answer(const std::string&) override { return ""; }
  StatusOr<std::shared_ptr<SideLane>> Open(const std::shared_ptr<LaneOpening>& opening) override {
    {
      MutexLock lock(mu_);
      opening_ = opening;
    }
    TF_RETURN_IF_ERROR(opening->WaitUntil([this] {
      MutexLock lock(mu_);
      return opened_.has_value();
    }));
    MutexLock lock(mu_);
    return *opened_;
  }
  // Lets Open return.
  void Opened(StatusOr<std::shared_ptr<SideLane>> lane) {
    std::shared_ptr<LaneOpening> opening;
    {
      MutexLock lock(mu_);
      opened_ = std::move(lane);
      opening = opening_;
    }
    if (opening != nullptr) opening->Wake();
  }

 private:
  Mutex mu_;
  std::shared_ptr<LaneOpening> opening_ TB_GUARDED_BY(mu_);
  std::optional<StatusOr<std::shared_ptr<SideLane>>> opened_ TB_GUARDED_BY(mu_);
};

using Said = LaneMessage::Kind;

// Tests the end that connected if kConnected is true, otherwise the end that accepted.
template <bool kConnected>
class OneEndTest : public ::testing::Test {
 protected:
  OneEndTest() { link_->Start(handler_.OnLinkUp(link_)); }
  ~OneEndTest() override {
    if (!is_down_) GoDown();
    threads_.WaitForNone();
  }
  void GoDown() {
    is_down_ = true;
    link_->OnLinkDown(Unavailable("gone"));
  }
  Status Hear(Said kind, uint64_t bulk_tensors = 0) {
    return link_->OnLaneMessage({.kind = kind, .text = "because", .bulk_tensors = bulk_tensors});
  }
  // This end has switched. The peer has not.
  void Switch() {
    kind_.Opened(lane_);
    if (!kConnected) {
      EXPECT_EQ(base_->WaitForTold(1).at(0).kind, Said::kReady);
      return;  // it switches when it hears that the peer has
    }
    EXPECT_TRUE(Hear(Said::kReady).ok());
    EXPECT_EQ(base_->WaitForTold(1).at(0).kind, Said::kSwitched);
  }

  Recorder handler_{"self"};
  LiveCount threads_;
  TestKind kind_;
  const std::shared_ptr<KeepingLink> base_ = std::make_shared<KeepingLink>();
  const std::shared_ptr<KeepingLane> lane_ = std::make_shared<KeepingLane>();
  const std::shared_ptr<LaneLink> link_ =
      std::make_shared<LaneLink>(base_, &kind_, kConnected, "", &threads_, std::chrono::microseconds(0));
  bool is_down_ = false;
};
using ConnectedEndTest = OneEndTest<true>;
using AcceptedEndTest = OneEndTest<false>;

TEST_F(ConnectedEndTest, TheLastMessageByTheBaseSaysHowManyBulkTensorsCameBefore) {
  link_->Send(MakeEager(1, "first"));
  link_->Send(MakeBulk(1, "a"));
  link_->Send(MakeBulk(2, "b"));
  Switch();
  link_->Send(MakeEager(2, "second"));
  link_->Send(MakeBulk(3, "c"));
  EXPECT_EQ(base_->sent.size(), 3u);
  EXPECT_EQ(base_->WaitForTold(1).at(0).bulk_tensors, 2u);
  EXPECT_EQ(lane_->sent.size(), 2u);
}

TEST_F(ConnectedEndTest, ItSwitchesWhenBothEndsAreOpen) {
  EXPECT_TRUE(Hear(Said::kReady).ok());
  link_->Send(MakeEager(1, "by the base"));
  EXPECT_EQ(base_->sent.size(), 1u);
  kind_.Opened(lane_);
  EXPECT_EQ(base_->WaitForTold(1).at(0).kind, Said::kSwitched);
}

TEST_F(AcceptedEndTest, ItSwitchesWhenThePeerHas) {
  Switch();
  link_->Send(MakeBulk(1, "by the base"));
  EXPECT_EQ(base_->sent.size(), 1u);
  EXPECT_TRUE(Hear(Said::kSwitched).ok());
  link_->Send(MakeBulk(2, "by the lane"));
  const auto told = base_->WaitForTold(2);
  EXPECT_EQ(told.at(1).kind, Said::kSwitched);
  EXPECT_EQ(told.at(1).bulk_tensors, 1u);
  EXPECT_EQ(lane_->sent.size(), 1u);
}

TEST_F(ConnectedEndTest, MessagesOfTheLaneWaitForThoseThatWereSentBefore) {
  Switch();
  lane_->Arrive(MakeEager(2, "by the lane"));
  lane_->Arrive(MakeBulk(2, "by the lane, too"));
  link_->OnMessage(MakeEager(1, "by the base"));
  EXPECT_FALSE(link_->receives_by_side_lane());
  EXPECT_TRUE(Hear(Said::kSwitched, /*bulk_tensors=*/1).ok());
  BulkTensor part = MakeBulk(1, "whole");
  part.meta.bytes = 10;
  link_->OnMessage(part);
  EXPECT_FALSE(link_->receives_by_side_lane());
  part.offset = 5;
  link_->OnMessage(part);
  const auto control = handler_.WaitForControl(2);
  EXPECT_EQ(control[0].bytes, "by the base");
  EXPECT_EQ(control[1].bytes, "by the lane");
  const auto bulk = handler_.WaitForBulk(2);
  EXPECT_EQ(bulk[0], "wholewhole");
  EXPECT_EQ(bulk[1], "by the lane, too");
  EXPECT_TRUE(link_->receives_by_side_lane());
  EXPECT_TRUE(absl::IsUnavailable((GoDown(), handler_.WaitForDown())));
}

TEST_F(AcceptedEndTest, WhatFollowsALostMessageIsNotHandedOn) {
  Switch();
  EXPECT_TRUE(Hear(Said::kSwitched, /*bulk_tensors=*/1).ok());
  lane_->Arrive(MakeBulk(2, "by the lane"));
  GoDown();
  EXPECT_FALSE(handler_.WaitForDown().ok());
  EXPECT_EQ(handler_.bulk_parts(), 0u);
  EXPECT_TRUE(lane_->ended());
}

TEST_F(ConnectedEndTest, ALinkThatIsDownDoesNotSwitch) {
  EXPECT_TRUE(Hear(Said::kReady).ok());
  GoDown();
  kind_.Opened(lane_);
  EXPECT_FALSE(handler_.WaitForDown().ok());
  EXPECT_EQ(handler_.downs(), 1u);
}

TEST_F(AcceptedEndTest, ALinkThatIsDownBeforeThePeerSwitchesGivesItsLaneUp) {
  Switch();
  GoDown();
  EXPECT_FALSE(handler_.WaitForDown().ok());
  threads_.WaitForNone();
  EXPECT_TRUE(lane_->abandoned());
}

// The peer has switched, has sent its last messages over the lane and has closed the link.
TEST_F(AcceptedEndTest, WhatAPeerSentByTheLaneBeforeItLeftIsHandedOn) {
  Switch();
  EXPECT_TRUE(Hear(Said::kSwitched).ok());
  lane_->Arrive(MakeEager(1, "the last one"));
  GoDown();
  EXPECT_TRUE(absl::IsUnavailable(handler_.WaitForDown()));
  EXPECT_EQ(handler_.WaitForControl(1).at(0).bytes, "the last one");
}

TEST_F(ConnectedEndTest, AnEndThatCannotOpenItsLaneTellsThePeer) {
  kind_.Opened(Unavailable("no shared memory"));
  const auto told = base_->WaitForTold(1);
  EXPECT_EQ(told.at(0).kind, Said::kGivenUp);
  EXPECT_EQ(told.at(0).text, "no shared memory");
  threads_.WaitForNone();
  EXPECT_TRUE(Hear(Said::kReady).ok());  // the peer has sent it before it heard kGivenUp
  EXPECT_EQ(base_->told(), 1u);
  link_->Send(MakeEager(1, "hello"));
  EXPECT_EQ(base_->sent.size(), 1u);
  link_->OnMessage(MakeEager(2, "hello, too"));
  EXPECT_EQ(handler_.WaitForControl(1).at(0).bytes, "hello, too");
  GoDown();
  EXPECT_EQ(handler_.downs(), 1u);  // reported by the base
}

TEST_F(AcceptedEndTest, AnOpenLaneThatThePeerGivesUpIsAbandoned) {
  Switch();
  EXPECT_TRUE(Hear(Said::kGivenUp).ok());
  threads_.WaitForNone();
  EXPECT_TRUE(lane_->abandoned());
  link_->Send(MakeBulk(1, "by the base"));
  EXPECT_EQ(base_->sent.size(), 1u);
  EXPECT_EQ(base_->told(), 1u);
}

TEST_F(AcceptedEndTest, ALaneThatThePeerGivesUpNeedNotOpen) {
  EXPECT_TRUE(Hear(Said::kGivenUp).ok());
  threads_.WaitForNone();
  EXPECT_EQ(base_->told(), 0u);
}

// The answer to an urgent message may follow at once.
TEST_F(ConnectedEndTest, AnUrgentMessageWakesTheThreadThatReceives) {
  Switch();
  lane_->AwaitSleeps(1);
  const int before = lane_->sleeps();
  link_->SendLater(MakeEager(1, "not urgent"));
  EXPECT_EQ(lane_->sleeps(), before);
  link_->Send(MakeEager(2, "urgent"));
  lane_->AwaitSleeps(before + 1);
}

TEST_F(ConnectedEndTest, MessagesThatBreakTheOrderAreDropped) {
  Switch();
  EXPECT_TRUE(Hear(Said::kSwitched).ok());
  link_->OnMessage(MakeEager(1, "too late"));
  link_->OnMessage(MakeBulk(1, "too late"));
  lane_->Arrive(MakeEager(2, "by the lane"));
  EXPECT_EQ(handler_.WaitForControl(1).at(0).bytes, "by the lane");
  EXPECT_EQ(handler_.bulk_parts(), 0u);
}

TEST_F(ConnectedEndTest, MessagesAboutTheLaneThatBreakTheRulesAreErrors) {
  EXPECT_FALSE(Hear(Said::kSwitched).ok());  // the end that connected switches first
  Switch();
  EXPECT_FALSE(Hear(Said::kReady).ok());  // the second time
  EXPECT_FALSE(Hear(Said::kGivenUp).ok());
  EXPECT_TRUE(Hear(Said::kSwitched).ok());
  EXPECT_FALSE(Hear(Said::kSwitched).ok());
  EXPECT_FALSE(Hear(static_cast<Said>(77)).ok());
}

TEST_F(AcceptedEndTest, MessagesAboutTheLaneThatBreakTheRulesAreErrors) {
  EXPECT_FALSE(Hear(Said::kReady).ok());
  EXPECT_FALSE(Hear(Said::kSwitched).ok());                          // this end is not ready
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(Hear(Said::kNote).ok());  // as many as LaneOpening keeps
  EXPECT_FALSE(Hear(Said::kNote).ok());
}

}  // namespace
}  // namespace tensorbraid
