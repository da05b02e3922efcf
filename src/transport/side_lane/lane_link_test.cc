#include "transport/side_lane/lane_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <utility>

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
  void Close(Status) override {}

  std::vector<Message> sent;

 private:
  const Hello peer_ = HelloFrom("peer");
};

// A lane that keeps what is sent, and hands on what the test puts into it.
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
  // Blocks until a message waits for the link.
  void AwaitArriving() {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return !arriving_.empty(); });
  }
  bool ended() {
    MutexLock lock(mu_);
    return ended_;
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
};

class LaneLinkTest : public ::testing::Test {
 protected:
  ~LaneLinkTest() override {
    if (!is_down_) GoDown();
    threads_.WaitForNone();
  }
  void GoDown() {
    is_down_ = true;
    link_->OnBaseDown(Unavailable("gone"));
  }

  Recorder handler_{"self"};
  LiveCount threads_;
  const std::shared_ptr<KeepingLink> base_ = std::make_shared<KeepingLink>();
  const std::shared_ptr<KeepingLane> lane_ = std::make_shared<KeepingLane>();
  const std::shared_ptr<LaneLink> link_ =
      std::make_shared<LaneLink>(base_, /*may_switch=*/true, &handler_, &threads_, std::chrono::microseconds(0));
  bool is_down_ = false;
};

TEST_F(LaneLinkTest, TheLastMessageByTheBaseSaysHowManyBulkTensorsCameBefore) {
  link_->Send(MakeEager(1, "first"));
  link_->Send(MakeBulk(1, "a"));
  link_->Send(MakeBulk(2, "b"));
  ASSERT_TRUE(link_->Switch(lane_));
  link_->Send(MakeEager(2, "second"));
  link_->Send(MakeBulk(3, "c"));
  ASSERT_EQ(base_->sent.size(), 4u);
  const auto& choice = std::get<LaneChoice>(base_->sent.back());
  EXPECT_TRUE(choice.side_lane);
  EXPECT_EQ(choice.bulk_tensors, 2u);
  EXPECT_EQ(lane_->sent.size(), 2u);
}

TEST_F(LaneLinkTest, MessagesOfTheLaneWaitForThoseThatWereSentBefore) {
  ASSERT_TRUE(link_->Switch(lane_));
  lane_->Arrive(MakeEager(2, "by the lane"));
  lane_->Arrive(MakeBulk(2, "by the lane, too"));
  link_->OnBaseMessage(MakeEager(1, "by the base"));
  EXPECT_FALSE(link_->receives_by_side_lane());
  link_->OnPeerSwitched(/*bulk_tensors=*/1);
  BulkTensor part = MakeBulk(1, "whole");
  part.meta.bytes = 10;
  link_->OnBaseMessage(part);
  EXPECT_FALSE(link_->receives_by_side_lane());
  part.offset = 5;
  link_->OnBaseMessage(part);
  const auto control = handler_.WaitForControl(2);
  EXPECT_EQ(control[0].bytes, "by the base");
  EXPECT_EQ(control[1].bytes, "by the lane");
  const auto bulk = handler_.WaitForBulk(2);
  EXPECT_EQ(bulk[0], "wholewhole");
  EXPECT_EQ(bulk[1], "by the lane, too");
  EXPECT_TRUE(link_->receives_by_side_lane());
  EXPECT_TRUE(absl::IsUnavailable((GoDown(), handler_.WaitForDown())));
}

TEST_F(LaneLinkTest, WhatFollowsALostMessageIsNotHandedOn) {
  ASSERT_TRUE(link_->Switch(lane_));
  link_->OnPeerSwitched(/*bulk_tensors=*/1);
  lane_->Arrive(MakeBulk(2, "by the lane"));
  GoDown();
  EXPECT_FALSE(handler_.WaitForDown().ok());
  EXPECT_EQ(handler_.bulk_parts(), 0u);
  EXPECT_TRUE(lane_->ended());
}

TEST_F(LaneLinkTest, ALinkThatIsDownDoesNotSwitch) {
  GoDown();
  EXPECT_FALSE(link_->Switch(lane_));
  EXPECT_EQ(handler_.downs(), 1u);
  EXPECT_TRUE(base_->sent.empty());
}

// The peer has switched, has sent its last messages by the lane and has closed the link, before this side switches.
TEST_F(LaneLinkTest, WhatAPeerSentByTheLaneBeforeItLeftIsHandedOn) {
  link_->OnPeerSwitched(/*bulk_tensors=*/0);
  GoDown();
  EXPECT_EQ(handler_.downs(), 0u);
  Thread peer("peer", [this] { lane_->Arrive(MakeEager(1, "the last one")); });
  lane_->AwaitArriving();
  EXPECT_TRUE(link_->Switch(lane_));
  peer.Join();
  EXPECT_TRUE(absl::IsUnavailable(handler_.WaitForDown()));
  EXPECT_EQ(handler_.WaitForControl(1).at(0).bytes, "the last one");
}

TEST_F(LaneLinkTest, WithoutALaneTheEndOfALinkWhosePeerHasSwitchedIsDelivered) {
  link_->OnPeerSwitched(/*bulk_tensors=*/0);
  GoDown();
  EXPECT_EQ(handler_.downs(), 0u);
  link_->StayOnBase();
  EXPECT_EQ(handler_.downs(), 1u);
}

// An answer may follow at once.
TEST_F(LaneLinkTest, AnUrgentMessageWakesTheThreadThatReceives) {
  ASSERT_TRUE(link_->Switch(lane_));
  lane_->AwaitSleeps(1);
  link_->SendLater(MakeEager(1, "not urgent"));
  EXPECT_EQ(lane_->sleeps(), 1);
  link_->Send(MakeEager(2, "urgent"));
  lane_->AwaitSleeps(2);
}

TEST_F(LaneLinkTest, MessagesThatBreakTheOrderAreDropped) {
  ASSERT_TRUE(link_->Switch(lane_));
  link_->OnPeerSwitched(/*bulk_tensors=*/0);
  link_->OnBaseMessage(MakeEager(1, "too late"));
  link_->OnBaseMessage(MakeBulk(1, "too late"));
  lane_->Arrive(MakeEager(2, "by the lane"));
  EXPECT_EQ(handler_.WaitForControl(1).at(0).bytes, "by the lane");
  EXPECT_EQ(handler_.bulk_parts(), 0u);
}

}  // namespace
}  // namespace tensorbraid
