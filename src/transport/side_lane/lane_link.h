// A link that consists of a link of another transport, its base, and perhaps of a side lane.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "core/live_count.h"
#include "core/mutex.h"
#include "transport/side_lane/side_lane.h"
#include "transport/transport.h"

namespace tensorbraid {

// The link comes up by ComeUp, once both sides have chosen the side lane or the base. Messages of the base that arrive
// earlier are kept until then.
class LaneLink final : public Link, public std::enable_shared_from_this<LaneLink> {
 public:
  // `handler` and `threads` must outlive the link's thread and its calls.
  LaneLink(std::shared_ptr<Link> base, LinkHandler* handler, LiveCount* threads, std::chrono::microseconds stay_awake)
      : base_(std::move(base)), handler_(handler), threads_(threads), stay_awake_(stay_awake) {}

  const Hello& peer() const override { return base_->peer(); }
  void Send(Message message) override { SendBy(std::move(message), true); }
  void SendLater(Message message) override { SendBy(std::move(message), false); }
  bool shares_memory() const override { return lane_ != nullptr && lane_->shares_memory(); }
  bool Share(Payload* payload) override { return lane_ != nullptr && lane_->Share(payload); }
  void Close(Status why) override;

  // Calls OnLinkUp. `lane` is null if the link communicates by its base. Only the first call counts.
  void ComeUp(std::shared_ptr<SideLane> lane);
  // Calls `done` with the link once it is up, or with an error if it went down before.
  void WhenUp(Transport::ConnectDone done);

  // Events of the base.
  void OnBaseMessage(Message message);
  void OnBaseDown(const Status& why);

 private:
  enum class State { kChoosing, kComingUp, kUp, kDown };

  void SendBy(Message message, bool urgent);
  // The thread of the side lane.
  void Run();
  void LaneFailed(const Status& why);
  bool IsDown() const { return base_down_.load(std::memory_order_acquire); }

  const std::shared_ptr<Link> base_;
  LinkHandler* const handler_;
  LiveCount* const threads_;
  const std::chrono::microseconds stay_awake_;
  std::shared_ptr<SideLane> lane_;  // set before OnLinkUp
  std::atomic<bool> base_down_{false};
  std::atomic<bool> closed_{false};  // by this side: messages that still arrive are dropped

  Mutex mu_;
  State state_ TB_GUARDED_BY(mu_) = State::kChoosing;
  Status why_down_ TB_GUARDED_BY(mu_);
  std::vector<Message> early_ TB_GUARDED_BY(mu_);  // of the base, before the link is up; they own their payloads
  Transport::ConnectDone when_up_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
