// A link that consists of a link of another transport, its base, and perhaps of a side lane.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/threads/live_count.h"
#include "core/threads/mutex.h"
#include "transport/side_lane/side_lane.h"
#include "transport/transport.h"

namespace tensorbraid {

// The link is up as soon as its base is, and sends by it. When the two ends have agreed on a side lane, each switches
// to it: its last message by the base (LaneChoice) says so, and how many BulkTensors it has sent by the base before.
// The receiver hands on what arrives by the lane after it has handed on all of that. So messages stay in order.
//
// The base remains as a sign of life: when it goes down, the link hands on what has arrived by the lane, and goes down.
class LaneLink final : public Link, public std::enable_shared_from_this<LaneLink> {
 public:
  // `may_switch` is false if there will be no side lane. `handler` and `threads` must outlive the link's thread and its
  // calls. `stay_awake`: how long that thread polls the lane for the next message, after a message or after it was
  // woken, before it sleeps. A message that is sent wakes it.
  LaneLink(std::shared_ptr<Link> base, bool may_switch, LinkHandler* handler, LiveCount* threads,
           std::chrono::microseconds stay_awake)
      : base_(std::move(base)),
        handler_(handler),
        threads_(threads),
        stay_awake_(stay_awake),
        sends_by_(may_switch ? SendsBy::kBaseForNow : SendsBy::kBase) {}

  const Hello& peer() const override { return base_->peer(); }
  void Send(Message message) override { SendBy(std::move(message), true); }
  void SendLater(Message message) override { SendBy(std::move(message), false); }
  bool receives_by_side_lane() const override { return receives_by_lane_; }
  bool shares_memory() const override { return receives_by_lane_ && lane_->shares_memory(); }
  bool Share(Payload* payload) override { return sends_by_ == SendsBy::kLane && lane_->Share(payload); }
  void Close(Status why) override;

  // Call at most one of these two, once; after the peer has switched, one must be called. Switch sends by `lane` from
  // now on, and tells the peer. It returns false, and does not use the lane, if the link is down and the peer has not
  // switched.
  bool Switch(std::shared_ptr<SideLane> lane);
  void StayOnBase();
  // The peer has switched, after so many BulkTensors by the base.
  void OnPeerSwitched(uint64_t bulk_tensors);

  // Events of the base.
  void OnBaseMessage(Message message);
  void OnBaseDown(const Status& why);

 private:
  enum class SendsBy { kBaseForNow, kBase, kLane };

  void SendBy(Message message, bool urgent);
  // The thread of the side lane.
  void Run();
  void LaneFailed(const Status& why);
  bool IsDown() const { return base_down_.load(std::memory_order_acquire); }
  void LookWhetherBaseIsDone() TB_REQUIRES(mu_);
  void DeliverDown();

  const std::shared_ptr<Link> base_;
  LinkHandler* const handler_;
  LiveCount* const threads_;
  const std::chrono::microseconds stay_awake_;
  std::shared_ptr<SideLane> lane_;         // set under mu_, once, before sends_by_ is kLane
  std::atomic<bool> base_down_{false};     // set under mu_
  std::atomic<bool> base_is_done_{false};  // the peer has switched, and what it sent before has been handed on
  std::atomic<bool> receives_by_lane_{false};
  std::atomic<bool> sleeps_{false};  // the lane's thread; a hint
  std::atomic<bool> closed_{false};  // by this side: messages that still arrive are dropped

  Mutex send_mu_;  // held while a message is sent by the base, as long as this side may switch
  std::atomic<SendsBy> sends_by_;
  uint64_t bulk_sent_ TB_GUARDED_BY(send_mu_) = 0;  // by the base

  Mutex mu_;
  Status why_down_ TB_GUARDED_BY(mu_);
  // The base went down after the peer had switched and before this side has: the link goes down when this side knows
  // whether it has a lane, which then may bring the peer's last messages.
  bool down_waits_ TB_GUARDED_BY(mu_) = false;
  uint64_t bulk_received_ TB_GUARDED_BY(mu_) = 0;                  // by the base: BulkTensors of which all parts are
  std::optional<uint64_t> peers_bulk_tensors_ TB_GUARDED_BY(mu_);  // set when the peer switches
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
