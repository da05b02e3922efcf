// A link that consists of a link of another transport, its base, and of a side lane.
//
// The link is up as soon as its base is, and sends over the base. Meanwhile each end opens its end of the lane
// (lane_kind.h), on a thread of the link. Then both switch:
//
//   the end that connected                    the end that accepted
//     |                                          its lane is open
//     | <---------------- kReady --------------- |
//   its lane is open: it switches
//     | -------------- kSwitched --------------> |
//     |                                          it switches
//     | <------------- kSwitched --------------- |
//
// Until an end has sent its first message of this picture, it may send kGivenUp instead. Then the link uses its base
// for good. An end that has sent kReady keeps its lane open until the other end has decided.
//
// Order. kSwitched is an end's last message over the base. It says how many BulkTensors the end has sent over the base
// before, because these travel on another channel than kSwitched. The receiver reads its lane from the moment the lane
// is open, because a lane may be able to send only while it is read. The receiver keeps what arrives there until it has
// delivered everything that came over the base. So the messages of a channel stay in order.
//
// The end. The base stays open to show that the peer is alive. When the base goes down, the link delivers what has
// arrived over the lane, and then goes down, too. A lane that breaks takes the base down, because messages in the lane
// may be lost.
//
// The states of an end:
//
//   state       sends over  receives over                         leaves the state
//   kOpening    base        base                                  Open has returned: kOpen or kOnBase
//   kOpen       base        base; what the lane brings is kept    kSwitched: see the picture
//                                                                 kOnBase: the peer gave up, or the base went down
//   kSwitched   lane        base until it is done, then lane      (at the end of the link)
//   kOnBase     base        base                                  (at the end of the link)
//
// What runs where. The base calls OnMessage, OnLaneMessage and OnLinkDown. The link's thread opens the lane, reads it,
// and reports the end of the link; in state kOnBase this thread has ended, and the base's OnLinkDown reports the end.
// Changes of the state, and all sending over the base before the switch, happen under `mu_`.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/threads/live_count.h"
#include "core/threads/mutex.h"
#include "transport/link_messages.h"
#include "transport/side_lane/lane_kind.h"
#include "transport/transport.h"

namespace tensorbraid {

class LaneLink final : public Link, public LinkHandler, public std::enable_shared_from_this<LaneLink> {
 public:
  // The two ends have agreed on `kind`; for `connected` and `word` see LaneOpening. `kind` and `threads` must outlive
  // the link's thread. `stay_awake`: how long that thread polls the lane for the next message, after a message or after
  // it was woken, before it sleeps.
  LaneLink(std::shared_ptr<Link> base, LaneKind* kind, bool connected, std::string word, LiveCount* threads,
           std::chrono::microseconds stay_awake);
  // Call once, when the base is up, before any other function.
  void Start(std::shared_ptr<LinkHandler> handler);

  const Hello& peer() const override { return base_->peer(); }
  void Send(Message message) override { SendBy(std::move(message), /*urgent=*/true); }
  void SendLater(Message message) override { SendBy(std::move(message), /*urgent=*/false); }
  // Whether the messages of the other end now arrive over the lane. For tests: users of a link do not notice a switch.
  bool receives_by_side_lane() const { return receives_by_lane_; }
  bool shares_memory() const override { return receives_by_lane_ && lane_->shares_memory(); }
  bool Share(Payload* payload) override { return state_ == State::kSwitched && lane_->Share(payload); }
  void Close(Status why) override;

  // The events of the base.
  void OnMessage(Message message) override;
  Status OnLaneMessage(const LaneMessage& message) override;
  void OnLinkDown(const Status& why) override;

 private:
  enum class State { kOpening, kOpen, kSwitched, kOnBase };

  void SendBy(Message message, bool urgent);
  void Switch() TB_REQUIRES(mu_);
  Status OnSwitched(uint64_t bulk_tensors) TB_REQUIRES(mu_);
  // Whether everything that the peer sent over the base before it switched has been delivered.
  bool BaseIsDone() const TB_REQUIRES(mu_) { return peers_bulk_tensors_ && bulk_received_ >= *peers_bulk_tensors_; }
  // Makes the link's thread call Look, which returns what has changed.
  void CallThread() TB_REQUIRES(mu_);

  void CloseBecause(const Status& lane_error);

  // --- The link's thread.
  void Run();
  // This end could not open its lane.
  void GiveUp(const Status& why);
  void LogBase(const Status& why);
  // This end has opened its lane. False if the peer has given up meanwhile, or the base is down.
  bool TakeLane(std::shared_ptr<SideLane> lane);
  // Reads the lane until the link is down, or until the state is kOnBase.
  void ReadLane();
  struct Events {
    bool down = false;  // of the base
    bool base_is_done = false;
  };
  Events Look();

  // Reports the end of the link to its handler. Called once, by the link's thread or, if that has ended, by the thread
  // on which the base goes down.
  void ReportDown();

  const std::shared_ptr<Link> base_;
  LaneKind* const kind_;
  const std::shared_ptr<LaneOpening> opening_;
  LiveCount* const threads_;
  const std::chrono::microseconds stay_awake_;
  std::shared_ptr<LinkHandler> handler_;  // set by Start, released after its OnLinkDown
  std::shared_ptr<SideLane> lane_;        // set under mu_, once, with state kOpen

  std::atomic<State> state_{State::kOpening};  // set under mu_
  std::atomic<bool> receives_by_lane_{false};  // set by the link's thread
  std::atomic<bool> called_{false};            // the thread should look at the fields under mu_; see CallThread
  std::atomic<bool> sleeps_{false};            // whether the link's thread sleeps; only a hint
  std::atomic<bool> closed_{false};            // by this side: messages that still arrive are dropped

  Mutex mu_;
  bool peer_is_ready_ TB_GUARDED_BY(mu_) = false;
  bool peer_gave_up_ TB_GUARDED_BY(mu_) = false;
  uint64_t bulk_sent_ TB_GUARDED_BY(mu_) = 0;                      // BulkTensors that were sent over the base
  uint64_t bulk_received_ TB_GUARDED_BY(mu_) = 0;                  // complete BulkTensors, over the base
  std::optional<uint64_t> peers_bulk_tensors_ TB_GUARDED_BY(mu_);  // how many the peer has sent; set when it switches
  std::optional<Status> why_down_ TB_GUARDED_BY(mu_);              // set when the base is down
  bool thread_runs_ TB_GUARDED_BY(mu_) = true;                     // the link's thread; it will report the end
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_LANE_LINK_H_
