#include "transport/grpc/grpc_link.h"

#include <algorithm>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "transport/codec.h"
#include "transport/grpc/bulk_window.h"

namespace tensorbraid {
namespace {

// Each end of a new link sends the other this many pings, one after the other. The shortest round trip is used, because
// in the others a message may have waited for a thread.
constexpr uint32_t kPings = 4;

}  // namespace

GrpcLink::GrpcLink(Context context, Hello peer, std::shared_ptr<Channel> control, std::shared_ptr<Channel> bulk)
    : context_(std::move(context)), peer_(std::move(peer)), channels_{std::move(control), std::move(bulk)} {}

void GrpcLink::Start(const std::function<void(const std::shared_ptr<Link>&)>& then) {
  const auto self = shared_from_this();
  const std::shared_ptr<Channel> channels[] = {channel(kControlChannel), channel(kBulkChannel)};
  const auto ended = [self](const Status& why) {
    self->Break(Unavailable("the connection to ", self->peer_.task, " has ended",
                            why.ok() ? "" : StrCat(": ", std::string(why.message()))));
  };
  const auto on_read = [self](const grpc::ByteBuffer& m) { return self->OnRead(m); };
  // If the channels are null, the link has been closed already.
  if (channels[kControlChannel] != nullptr) {
    channels[kControlChannel]->SetHandlers(on_read, [bulk = channels[kBulkChannel], ended](const Status& why) {
      bulk->Cancel();
      ended(why);
    });
  }
  if (channels[kBulkChannel] != nullptr) {
    // When the other side closes the link, the end of the bulk channel may arrive before the last control messages,
    // which travel on another connection. They may say that the task leaves, so the link waits for them.
    channels[kBulkChannel]->SetHandlers(on_read, [this, ended](const Status& why) {
      context_.timer->RunAfter(context_.close_grace, [ended, why] { ended(why); });
    });
  }
  handler_ = context_.acceptor->OnLinkUp(self);
  then(self);
  SendPing();
  for (const auto& channel : channels) {
    if (channel != nullptr) channel->Read();
  }
  EndCall();
}

std::shared_ptr<Channel> GrpcLink::channel(ChannelKind kind) {
  MutexLock lock(mu_);
  return channels_[kind];
}

void GrpcLink::Send(Message message) {
  if (auto* bulk = std::get_if<BulkTensor>(&message)) {
    if (auto to = channel(kBulkChannel)) to->SendBulk(std::move(*bulk));
    return;
  }
  SendControl(message, Channel::When::kSoon);
}

void GrpcLink::SendLater(Message message) {
  TB_CHECK(!std::holds_alternative<BulkTensor>(message));
  SendControl(message, Channel::When::kWithTheNext);
}

template <typename M>
void GrpcLink::SendControl(const M& message, Channel::When when) {
  const auto to = channel(kControlChannel);
  if (to == nullptr) return;
  static thread_local std::string packet;
  packet.clear();
  const Payload* payload = nullptr;
  if constexpr (std::is_same_v<M, Message>) {
    if (Status bad = AppendPacket(message, &packet); !bad.ok()) return Close(bad);
    payload = PayloadOf(message);
  } else {
    AppendPacket(message, &packet);
  }
  to->SendPackets(packet, payload, when);
  if (packet.capacity() > 1 << 20) packet = {};
}

void GrpcLink::SendLaneMessage(const LaneMessage& message) { SendControl(message, Channel::When::kSoon); }

void GrpcLink::SendPing() {
  Ping ping;
  {
    MutexLock lock(mu_);
    ping.number = pings_++;
    pinged_ = MonotonicClock::now();
  }
  SendControl(ping, Channel::When::kSoon);
}

void GrpcLink::OnPing(const Ping& ping) {
  std::shared_ptr<Channel> bulk;
  std::chrono::nanoseconds round_trip;
  {
    MutexLock lock(mu_);
    // Ignores a ping that is out of order: no correct peer sends one.
    if (ping.number >= kPings || ping.number != (ping.is_answer ? pings_ - 1 : answers_)) return;
    if (ping.is_answer) {
      round_trip_ = std::min<std::chrono::nanoseconds>(round_trip_, MonotonicClock::now() - pinged_);
      round_trip = round_trip_;
      if (pings_ == kPings) bulk = channels_[kBulkChannel];
    } else {
      ++answers_;
    }
  }
  if (!ping.is_answer) return SendControl(Ping{.number = ping.number, .is_answer = true}, Channel::When::kSoon);
  if (bulk != nullptr) return bulk->SetBulkWindow(BulkWindow(round_trip));
  if (ping.number + 1 < kPings) SendPing();
}

void GrpcLink::Received(size_t bulk_bytes) {
  BulkAck ack;
  {
    MutexLock lock(mu_);
    const uint64_t before = std::exchange(bulk_received_, bulk_received_ + bulk_bytes);
    if (before / kBulkAckBytes == bulk_received_ / kBulkAckBytes) return;
    ack.received_bytes = bulk_received_;
  }
  SendControl(ack, Channel::When::kSoon);
}

Channel::ReadNext GrpcLink::OnRead(const grpc::ByteBuffer& bytes) {
  const SendBatch answers;
  PacketReader reader(bytes);
  std::span<const std::byte> header;
  for (;;) {
    Payload payload;
    auto more = reader.Next(&header, &payload);
    if (more.ok() && !*more) return Channel::ReadNext::kYes;
    auto decoded = more.ok() ? DecodeLinkMessage(header, std::move(payload)) : more.status();
    if (!decoded.ok()) {
      BreakForMalformedData(decoded.status());
      return Channel::ReadNext::kYes;
    }
    if (const auto* ping = std::get_if<Ping>(&*decoded)) {
      OnPing(*ping);
      continue;
    }
    if (const auto* ack = std::get_if<BulkAck>(&*decoded)) {
      if (const auto to = channel(kBulkChannel)) to->BulkAcknowledged(ack->received_bytes);
      continue;
    }
    // The link is down. Reading goes on, so that the stream ends in order, but messages are dropped.
    if (!BeginCall()) return Channel::ReadNext::kYes;
    if (const auto* lane = std::get_if<LaneMessage>(&*decoded)) {
      const Status ok = handler_->OnLaneMessage(*lane);
      EndCall();
      if (!ok.ok()) BreakForMalformedData(ok);
      continue;
    }
    auto& message = std::get<Message>(*decoded);
    const auto* const bulk = std::get_if<BulkTensor>(&message);
    const size_t bulk_bytes = bulk == nullptr ? 0 : bulk->payload.size();
    handler_->OnMessage(std::move(message));
    EndCall();
    if (bulk_bytes > 0) Received(bulk_bytes);
  }
}

void GrpcLink::BreakForMalformedData(const Status& what) {
  Break(Unavailable("the connection to ", peer_.task,
                    " was closed because it sent malformed data: ", std::string(what.message())));
}

bool GrpcLink::BeginCall() {
  MutexLock lock(mu_);
  if (down_) return false;
  ++calls_;
  return true;
}

void GrpcLink::EndCall() {
  {
    MutexLock lock(mu_);
    if (--calls_ > 0 || !down_) return;
  }
  DeliverDown();
}

bool GrpcLink::MarkDown(const Status& why, bool* deliver, std::shared_ptr<Channel> (*channels)[kNumChannels]) {
  MutexLock lock(mu_);
  if (std::exchange(down_, true)) return false;
  why_ = why;
  *deliver = calls_ == 0;
  for (int i = 0; i < kNumChannels; ++i) (*channels)[i] = std::move(channels_[i]);
  return true;
}

void GrpcLink::DeliverDown() {
  Status why;
  {
    MutexLock lock(mu_);
    why = why_;
  }
  const auto self = shared_from_this();
  handler_->OnLinkDown(why);
  handler_ = nullptr;
  const auto on_gone = std::move(context_.on_gone);
  on_gone(self);
}

void GrpcLink::Break(const Status& why) {
  bool deliver;
  std::shared_ptr<Channel> channels[kNumChannels];
  if (!MarkDown(why, &deliver, &channels)) return;
  for (const auto& channel : channels) channel->Cancel();
  if (deliver) DeliverDown();
}

void GrpcLink::Close(Status why) {
  bool deliver;
  std::shared_ptr<Channel> channels[kNumChannels];
  if (!MarkDown(why, &deliver, &channels)) return;
  // The control channel first sends what is queued. The bulk channel is cancelled only later: otherwise the other side
  // could see its end, and take the link down, before it has received the last control messages.
  channels[kBulkChannel]->DropQueue();
  context_.timer->RunAfter(context_.close_grace, [control = channels[kControlChannel], bulk = channels[kBulkChannel]] {
    control->Cancel();
    bulk->Cancel();
  });
  channels[kControlChannel]->End();
  // On the timer thread, because the caller of Close may hold locks that the handler takes.
  if (deliver) context_.timer->RunAfter({}, [self = shared_from_this()] { self->DeliverDown(); });
}

}  // namespace tensorbraid
