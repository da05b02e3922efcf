// A link made of two lanes.
#ifndef TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_
#define TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_

#include <functional>
#include <memory>
#include <string>

#include "core/mutex.h"
#include "core/timer.h"
#include "transport/grpc/lane.h"
#include "transport/transport.h"

namespace tensorbraid {

// Opened lanes, after their handshake and with reading paused, become a link by Start(). It goes down when either lane
// ends, when something comes that is not a frame, or by Close.
class GrpcLink final : public Link, public std::enable_shared_from_this<GrpcLink> {
 public:
  // What it needs from its transport, which outlives every use: none is made once `on_gone` has been called.
  struct Context {
    LinkHandler* handler;
    Timer* timer;
    std::chrono::milliseconds close_grace;
    std::function<void(const std::shared_ptr<GrpcLink>&)> on_gone;  // after OnLinkDown
  };

  GrpcLink(Context context, Hello peer, std::shared_ptr<Lane> control, std::shared_ptr<Lane> bulk);

  // Calls OnLinkUp, then `then`, then reads.
  void Start(const std::function<void(const std::shared_ptr<Link>&)>& then);

  const Hello& peer() const override { return peer_; }
  void Send(Message message) override;
  void SendLater(Message message) override;
  void Close(Status why) override;

 private:
  void SendControl(const Message& message, Lane::When when);
  Lane::ReadNext OnRead(const grpc::ByteBuffer& message);
  // Takes the link down at once.
  void Break(const Status& why);
  // Around every call of the handler. The last one to end after the link went down delivers OnLinkDown.
  bool BeginCall();
  void EndCall();
  // False when the link was down already. Sets `deliver` when no call is under way that would deliver OnLinkDown.
  bool MarkDown(const Status& why, bool* deliver, std::shared_ptr<Lane> (*lanes)[kNumLanes]);
  void DeliverDown();
  std::shared_ptr<Lane> lane(LaneKind kind);

  Context context_;
  const Hello peer_;

  Mutex mu_;
  std::shared_ptr<Lane> lanes_[kNumLanes] TB_GUARDED_BY(mu_);  // null once down
  int calls_ TB_GUARDED_BY(mu_) = 1;  // of the handler, under way; from the beginning until Start has returned, too
  bool down_ TB_GUARDED_BY(mu_) = false;
  Status why_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_
