#include "transport/grpc/connecting.h"

#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "transport/codec.h"
#include "transport/grpc/packets.h"

namespace tensorbraid {

const Status& WasShutDown() {
  static const auto& status = *new Status(absl::CancelledError("the transport was shut down"));
  return status;
}

void Connecting::Start(std::chrono::milliseconds timeout) {
  link_id_ = owner_->NewLinkId();
  const auto where = ParseHostPort(address_);
  const auto self = shared_from_this();
  {
    MutexLock lock(mu_);
    timer_ = owner_->timer().RunAfter(timeout, [self] {
      self->Fail(Unavailable("no task answered at ", self->address_, " before the connection timeout"));
    });
  }
  if (!where.ok()) return Fail(where.status());
  Open(kControlChannel);
}

void Connecting::Open(ChannelKind kind) {
  const auto channel = owner_->NewChannel(kind);
  {
    // Store the channel before it opens: other threads may finish the handshake before this one runs again.
    MutexLock lock(mu_);
    if (done_ == nullptr) return;
    channels_[kind] = channel;
  }
  const Status opening = owner_->OpenChannel(
      channel, address_, [self = shared_from_this()](const auto& channel, bool ok) { self->Opened(channel, ok); });
  if (!opening.ok()) Fail(opening);
}

void Connecting::Opened(const std::shared_ptr<Channel>& channel, bool ok) {
  const auto self = shared_from_this();
  channel->SetHandlers([self](const grpc::ByteBuffer& message) { return self->OnAnswer(message); },
                       [self](const Status& why) { self->Fail(self->owner_->NoTaskAnswers(self->address_, why)); });
  if (!ok) return channel->ReportEnd();
  std::string packet;
  AppendPacket(Handshake{link_id_, static_cast<uint32_t>(channel->kind()), hello_}, &packet);
  channel->SendPackets(packet);
  if (channel->kind() == kBulkChannel) return;
  channel->Read();
  Open(kBulkChannel);  // after the control channel, so that the two get different queues at both ends
}

Channel::ReadNext Connecting::OnAnswer(const grpc::ByteBuffer& message) {
  PacketReader reader(message);
  const auto header = OnlyHeader(&reader);
  auto answer = header.ok() ? DecodeHandshakeAnswer(*header) : header.status();
  if (!answer.ok()) {
    Fail(Unavailable("the server at ", address_, " is not a task: ", std::string(answer.status().message())));
    return Channel::ReadNext::kPause;
  }
  if (!answer->status.ok()) {
    Fail(answer->status);
    return Channel::ReadNext::kPause;
  }
  std::shared_ptr<Channel> channels[kNumChannels];
  const auto done = Finish(&channels);
  if (done == nullptr) return Channel::ReadNext::kPause;
  if (auto link = owner_->NewLink(std::move(answer->hello), channels[kControlChannel], channels[kBulkChannel])) {
    link->Start(done);
  } else {
    for (const auto& channel : channels) channel->Cancel();
    done(WasShutDown());
  }
  owner_->ConnectEnded(shared_from_this());
  return Channel::ReadNext::kPause;
}

Transport::ConnectDone Connecting::Finish(std::shared_ptr<Channel> (*channels)[kNumChannels]) {
  Timer::Id timer;
  Transport::ConnectDone done;
  {
    MutexLock lock(mu_);
    done = std::exchange(done_, nullptr);
    timer = timer_;
    for (int i = 0; i < kNumChannels; ++i) (*channels)[i] = std::move(channels_[i]);
  }
  if (done != nullptr) owner_->timer().Cancel(timer);
  return done;
}

void Connecting::Fail(const Status& why) {
  std::shared_ptr<Channel> channels[kNumChannels];
  const auto done = Finish(&channels);
  if (done == nullptr) return;
  for (const auto& channel : channels) {
    if (channel != nullptr) channel->Cancel();
  }
  // On the timer thread, because the current thread may be the user's.
  owner_->timer().RunAfter({}, [self = shared_from_this(), done, why] {
    done(why);
    self->owner_->ConnectEnded(self);
  });
}

}  // namespace tensorbraid
