// A link over two gRPC streams, one per channel.
#ifndef TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_
#define TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_

#include <functional>
#include <memory>
#include <string>

#include "core/system/clock.h"
#include "core/system/timer.h"
#include "transport/grpc/channel.h"
#include "transport/link_messages.h"
#include "transport/transport.h"

namespace tensorbraid {

// Takes two opened channels whose handshake is complete and whose reading is paused; Start() brings the link up. The
// link goes down when either channel ends, when the peer sends malformed data, or by Close.
class GrpcLink final : public Link, public std::enable_shared_from_this<GrpcLink> {
 public:
  // What the link uses of its transport. The link uses none of it after calling `on_gone`, so the transport must live
  // until then.
  struct Context {
    LinkAcceptor* acceptor;
    Timer* timer;
    std::chrono::milliseconds close_grace;
    std::function<void(const std::shared_ptr<GrpcLink>&)> on_gone;  // after OnLinkDown
  };

  GrpcLink(Context context, Hello peer, std::shared_ptr<Channel> control, std::shared_ptr<Channel> bulk);

  // Calls OnLinkUp, then `then`, then starts reading.
  void Start(const std::function<void(const std::shared_ptr<Link>&)>& then);

  const Hello& peer() const override { return peer_; }
  void Send(Message message) override;
  void SendLater(Message message) override;
  void Close(Status why) override;
  void SendLaneMessage(const LaneMessage& message) override;

 private:
  // Sends a Message, or a message of link_messages.h, on the control channel.
  template <typename M>
  void SendControl(const M& message, Channel::When when);
  void SendPing();
  void OnPing(const Ping& ping);
  // Acknowledges bulk bytes that have arrived.
  void Received(size_t bulk_bytes);
  Channel::ReadNext OnRead(const grpc::ByteBuffer& message);
  // Takes the link down at once.
  void Break(const Status& why);
  void BreakForMalformedData(const Status& what);
  // These two enclose every call of the handler; BeginCall returns false when the link is down. When the link goes down
  // during calls, the last of them to end delivers OnLinkDown.
  bool BeginCall();
  void EndCall();
  // Marks the link as down and moves its channels out; false when it was down already. Sets `deliver` when no handler
  // call is running, so that the caller has to deliver OnLinkDown.
  bool MarkDown(const Status& why, bool* deliver, std::shared_ptr<Channel> (*channels)[kNumChannels]);
  void DeliverDown();
  std::shared_ptr<Channel> channel(ChannelKind kind);

  Context context_;
  const Hello peer_;
  std::shared_ptr<LinkHandler> handler_;  // set by Start before reading starts; released when the link is down

  Mutex mu_;
  std::shared_ptr<Channel> channels_[kNumChannels] TB_GUARDED_BY(mu_);  // null once down
  int calls_ TB_GUARDED_BY(mu_) = 1;  // running calls of the handler; Start() counts as one, from construction on
  bool down_ TB_GUARDED_BY(mu_) = false;
  Status why_ TB_GUARDED_BY(mu_);
  uint64_t bulk_received_ TB_GUARDED_BY(mu_) = 0;  // bytes
  uint32_t pings_ TB_GUARDED_BY(mu_) = 0;          // sent, and answered except for the last
  uint32_t answers_ TB_GUARDED_BY(mu_) = 0;        // to the pings of the other side
  MonotonicClock::time_point pinged_ TB_GUARDED_BY(mu_);
  std::chrono::nanoseconds round_trip_ TB_GUARDED_BY(mu_) = std::chrono::nanoseconds::max();  // the shortest
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_GRPC_LINK_H_
