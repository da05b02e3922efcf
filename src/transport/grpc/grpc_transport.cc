#include "transport/grpc/grpc_transport.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/system/timer.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/live_count.h"
#include "core/threads/mutex.h"
#include "core/threads/polling_gate.h"
#include "core/threads/polling_time.h"
#include "core/threads/thread.h"
#include "transport/codec.h"
#include "transport/grpc/bind_address.h"
#include "transport/grpc/call_server.h"
#include "transport/grpc/caller_check.h"
#include "transport/grpc/connecting.h"
#include "transport/grpc/connection_listener.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/grpc_link.h"
#include "transport/grpc/own_user.h"
#include "transport/grpc/packets.h"
#include "transport/grpc/settings.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

// Enough for the two channels of a link to have different threads, and for several busy links not to share a thread if
// there are cores for more.
int NumQueues() { return std::clamp(2 * NumCores(), 4, 16); }

class GrpcTransport final : public Transport, private Connecting::Owner {
 public:
  explicit GrpcTransport(const GrpcOptions& options) : options_(options) {}
  ~GrpcTransport() override { Shutdown(); }

  void ServeCalls(CallHandler* handler) override { call_handler_ = handler; }
  StatusOr<int> Listen(const std::string& address, LinkAcceptor* acceptor) override;
  void Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
               ConnectDone done) override;
  void Shutdown() override;

 private:
  // A link that is waiting for the handshakes of both channels.
  struct HalfOpen {
    std::shared_ptr<Channel> channels[kNumChannels];
    Hello hello;
  };

  std::shared_ptr<Channel> NewChannel(ChannelKind kind) override {
    return std::make_shared<Channel>(kind, options_.bulk_part_bytes, &streams_);
  }
  Status OpenChannel(const std::shared_ptr<Channel>& channel, const std::string& address, Opened opened) override;
  Status NoTaskAnswers(const std::string& address, const Status& why) const override {
    if (absl::IsUnauthenticated(why)) return Annotate(why, StrCat("the task at ", address));
    return ConnectError(StrCat("no task answers at ", address), options_.tls, std::string(why.message()));
  }
  void ConnectEnded(const std::shared_ptr<Connecting>& connecting) override;
  std::shared_ptr<GrpcLink> NewLink(Hello peer, std::shared_ptr<Channel> control,
                                    std::shared_ptr<Channel> bulk) override;
  Timer& timer() override { return timer_; }
  uint64_t NewLinkId() override;

  void Poll(grpc::CompletionQueue* queue);
  // Accepts the next channel stream of this kind that arrives on a connection of this queue.
  void RequestChannel(ChannelKind kind, grpc::ServerCompletionQueue* queue);
  void Accepted(const std::shared_ptr<Channel>& channel, const StatusOr<Caller>& caller);
  Channel::ReadNext OnHandshake(const std::shared_ptr<Channel>& channel, const grpc::ByteBuffer& message);
  void Accept(HalfOpen both);
  // Sends `answer`, an error, on the control channel. Channels that the other side does not close are cancelled soon.
  void Refuse(const HandshakeAnswer& answer, const std::shared_ptr<Channel> (&channels)[kNumChannels]);
  void HandshakeTimedOut(const std::shared_ptr<Channel>& channel);

  const GrpcOptions options_;
  LinkAcceptor* acceptor_ = nullptr;  // set by Listen
  Timer timer_;
  LiveCount streams_;
  WorkerService service_;
  CallHandler* call_handler_ = nullptr;
  std::unique_ptr<CallServer> calls_;    // null without ServeCalls
  std::unique_ptr<CallerCheck> check_;   // constant after Listen
  std::shared_ptr<OwnToken> own_token_;  // constant after Listen
  // A connection belongs to one queue, whose thread reads its socket and runs its channel. gRPC assigns accepted
  // connections to the queues round-robin, and OpenChannel does the same with outgoing ones. So the two channels of a
  // link have different threads, which serve other links too.
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<ConnectionListener> listener_;
  std::shared_ptr<grpc::ChannelCredentials> channel_credentials_;  // constant after Listen
  std::vector<Thread> threads_;

  std::atomic<size_t> next_queue_{0};

  Mutex mu_;
  CondVar cv_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::mt19937_64 random_ TB_GUARDED_BY(mu_){RandomSeed()};
  absl::flat_hash_set<std::shared_ptr<GrpcLink>> links_ TB_GUARDED_BY(mu_);
  absl::flat_hash_set<std::shared_ptr<Connecting>> connecting_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, HalfOpen> half_open_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<const Channel*, Timer::Id> handshake_timers_ TB_GUARDED_BY(mu_);
};

void GrpcTransport::RequestChannel(ChannelKind kind, grpc::ServerCompletionQueue* queue) {
  auto stream = std::make_unique<Stream>();
  Stream* raw = stream.get();
  const auto channel = NewChannel(kind);
  Tag* tag = channel->Opening(std::move(stream), [this, channel, queue, raw](bool ok) {
    if (!ok) return channel->Abandon();  // the server shuts down; no stream has arrived
    RequestChannel(channel->kind(), queue);
    Accepted(channel, check_->Check(raw->accepted_context()));
  });
  raw->Accept(&service_, kind, queue, tag);
}

void GrpcTransport::Accepted(const std::shared_ptr<Channel>& channel, const StatusOr<Caller>& caller) {
  const Status allowed = caller.ok() ? CheckIsTask(*caller, "a connection between tasks") : caller.status();
  if (!allowed.ok()) {
    TB_LOG(Debug, "transport") << "refused a connection: " << allowed.message();
    // The bulk channel has no answer; the connecting task closes it when it reads the one on the control channel.
    if (channel->kind() == kBulkChannel) return channel->Cancel();
    return Refuse({.status = allowed, .hello = {}}, {channel, nullptr});
  }
  {
    MutexLock lock(mu_);
    if (stopping_) return channel->Cancel();
    handshake_timers_[channel.get()] =
        timer_.RunAfter(options_.handshake_timeout, [this, channel] { HandshakeTimedOut(channel); });
  }
  std::weak_ptr<Channel> weak = channel;
  channel->SetHandlers(
      [this, weak](const grpc::ByteBuffer& message) {
        const auto channel = weak.lock();
        return channel == nullptr ? Channel::ReadNext::kPause : OnHandshake(channel, message);
      },
      [](const Status&) {});
  channel->Read();
}

Channel::ReadNext GrpcTransport::OnHandshake(const std::shared_ptr<Channel>& channel, const grpc::ByteBuffer& message) {
  PacketReader reader(message);
  const auto header = OnlyHeader(&reader);
  const auto handshake = header.ok() ? DecodeHandshake(*header) : header.status();
  if (!handshake.ok() || handshake->channel != channel->kind()) {
    TB_LOG(Debug, "transport") << "dropped a connection with an invalid handshake";
    channel->Cancel();
    return Channel::ReadNext::kPause;
  }
  HalfOpen both;
  {
    MutexLock lock(mu_);
    if (stopping_) {
      channel->Cancel();
      return Channel::ReadNext::kPause;
    }
    HalfOpen& half = half_open_[handshake->link_id];
    if (half.channels[channel->kind()] != nullptr) {
      channel->Cancel();
      return Channel::ReadNext::kPause;
    }
    half.channels[channel->kind()] = channel;
    if (channel->kind() == kControlChannel) half.hello = handshake->hello;
    if (half.channels[kControlChannel] == nullptr || half.channels[kBulkChannel] == nullptr)
      return Channel::ReadNext::kPause;
    both = std::move(half);
    half_open_.erase(handshake->link_id);
    for (const auto& channel : both.channels) {
      auto timer = handshake_timers_.find(channel.get());
      if (timer == handshake_timers_.end()) continue;
      timer_.Cancel(timer->second);
      handshake_timers_.erase(timer);
    }
  }
  Accept(std::move(both));
  return Channel::ReadNext::kPause;
}

void GrpcTransport::HandshakeTimedOut(const std::shared_ptr<Channel>& channel) {
  {
    MutexLock lock(mu_);
    if (handshake_timers_.erase(channel.get()) == 0) return;
    for (auto it = half_open_.begin(); it != half_open_.end(); ++it) {
      if (it->second.channels[channel->kind()] != channel) continue;
      half_open_.erase(it);
      break;
    }
  }
  channel->Cancel();
}

void GrpcTransport::Accept(HalfOpen both) {
  HandshakeAnswer answer;
  answer.status = acceptor_->OnHello(both.hello, &answer.hello);
  std::shared_ptr<GrpcLink> link;
  if (answer.status.ok()) {
    link = NewLink(both.hello, both.channels[kControlChannel], both.channels[kBulkChannel]);
    if (link == nullptr) answer.status = Unavailable("the task is stopping");
  }
  if (link == nullptr) return Refuse(answer, both.channels);
  std::string packet;
  AppendPacket(answer, &packet);
  both.channels[kControlChannel]->SendPackets(packet);
  link->Start([](const std::shared_ptr<Link>&) {});
}

void GrpcTransport::Refuse(const HandshakeAnswer& answer, const std::shared_ptr<Channel> (&channels)[kNumChannels]) {
  std::string packet;
  AppendPacket(answer, &packet);
  channels[kControlChannel]->SendPackets(packet);
  for (const auto& channel : channels) {
    if (channel == nullptr) continue;
    channel->SetHandlers([](const grpc::ByteBuffer&) { return Channel::ReadNext::kYes; }, [](const Status&) {});
    channel->Read();
    timer_.RunAfter(options_.close_grace, [channel] { channel->Cancel(); });
  }
  channels[kControlChannel]->End();
}

uint64_t GrpcTransport::NewLinkId() {
  MutexLock lock(mu_);
  return random_();
}

Status GrpcTransport::OpenChannel(const std::shared_ptr<Channel>& channel, const std::string& address, Opened opened) {
  std::shared_ptr<grpc::Channel> to;
  if (IsForOwnUser(address, options_.tls, options_.insecure)) {
    auto connected = ConnectForOwnUser(address);
    if (absl::IsUnavailable(connected.status())) return NoTaskAnswers(address, connected.status());
    TF_RETURN_IF_ERROR(connected);
    to = connected->channel;
  } else {
    to = NewGrpcChannel(address, channel_credentials_);
  }
  auto stream = std::make_unique<Stream>(std::move(to));
  Stream* raw = stream.get();
  TF_RETURN_IF_ERROR(own_token_->AddTo(address, options_.tls, &raw->context_to_open()));
  Tag* tag =
      channel->Opening(std::move(stream), [channel, opened = std::move(opened)](bool ok) { opened(channel, ok); });
  raw->Open(channel->kind(), queues_[next_queue_++ % queues_.size()].get(), tag);
  return OkStatus();
}

std::shared_ptr<GrpcLink> GrpcTransport::NewLink(Hello peer, std::shared_ptr<Channel> control,
                                                 std::shared_ptr<Channel> bulk) {
  GrpcLink::Context context{acceptor_, &timer_, options_.close_grace, [this](const std::shared_ptr<GrpcLink>& link) {
                              MutexLock lock(mu_);
                              links_.erase(link);
                              cv_.NotifyAll();
                            }};
  auto link = std::make_shared<GrpcLink>(std::move(context), std::move(peer), std::move(control), std::move(bulk));
  MutexLock lock(mu_);
  if (stopping_) return nullptr;
  links_.insert(link);
  return link;
}

void GrpcTransport::ConnectEnded(const std::shared_ptr<Connecting>& connecting) {
  MutexLock lock(mu_);
  connecting_.erase(connecting);
  cv_.NotifyAll();
}

StatusOr<int> GrpcTransport::Listen(const std::string& address, LinkAcceptor* acceptor) {
  TB_CHECK(acceptor_ == nullptr);
  TF_ASSIGN_OR_RETURN(const HostPort bind, BindAddress(address, options_.bind_address));
  if (!options_.tls.enabled() && !options_.insecure) TF_RETURN_IF_ERROR(CheckLoopback(bind, address));
  if (!options_.token_file.empty() && !options_.tls.enabled()) {
    TF_RETURN_IF_ERROR(CheckTokenIsSecret(bind, address));
  }
  TF_ASSIGN_OR_RETURN(check_, CallerCheck::Create(options_.token_file, options_.client_token_file));
  TF_ASSIGN_OR_RETURN(own_token_, OwnToken::Open(options_.token_file));
  TF_ASSIGN_OR_RETURN(const auto server_credentials, NewServerCredentials(options_.tls));
  TF_ASSIGN_OR_RETURN(channel_credentials_, NewChannelCredentials(options_.tls));
  grpc::ServerBuilder builder;
  ConfigureServer(options_.limits, options_.handshake_timeout, &builder);
  listener_ = ConnectionListener::Bind(bind);
  if (listener_ == nullptr) return WhyBindFails(bind, address);
  auto connections = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, server_credentials);
  builder.RegisterService(&service_);
  if (call_handler_ != nullptr) {
    calls_ = std::make_unique<CallServer>(call_handler_, check_.get(),
                                          std::make_shared<CallLimits>(options_.limits, &timer_), &streams_);
    calls_->Register(&builder);
  }
  for (int i = NumQueues(); i > 0; --i) queues_.push_back(builder.AddCompletionQueue());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    for (auto& queue : queues_) {
      queue->Shutdown();
      void* tag;
      bool ok;
      while (queue->Next(&tag, &ok)) {
      }
    }
    queues_.clear();
    return Internal("cannot listen on ", address, ": gRPC cannot start a server, and gives no reason");
  }
  acceptor_ = acceptor;
  for (auto& queue : queues_) {
    for (const ChannelKind kind : {kControlChannel, kBulkChannel}) RequestChannel(kind, queue.get());
    if (calls_ != nullptr) calls_->AcceptFrom(queue.get());
    threads_.emplace_back("tb-grpc", [this, q = queue.get()] { Poll(q); });
  }
  const bool serves_all_users = options_.insecure || check_->needs_token() || !options_.tls.ca.empty();
  listener_->Start(std::move(connections),
                   serves_all_users ? nullptr : std::make_unique<RefusingServer>(server_credentials, WhyRefused()),
                   options_.limits.max_connections, options_.limits.max_connections_per_address);
  return listener_->port();
}

void GrpcTransport::Connect(const std::string& address, const Hello& hello, std::chrono::milliseconds timeout,
                            ConnectDone done) {
  TB_CHECK(acceptor_ != nullptr);
  auto connecting =
      std::make_shared<Connecting>(static_cast<Connecting::Owner*>(this), address, hello, std::move(done));
  {
    MutexLock lock(mu_);
    if (stopping_) return;
    connecting_.insert(connecting);
  }
  connecting->Start(timeout);
}

void GrpcTransport::Poll(grpc::CompletionQueue* queue) {
  const auto stay_awake = NumCores() > 1 ? options_.stay_awake : std::chrono::microseconds(0);
  void* tag;
  bool ok;
  PollingGate& gate = PollingGate::OfProcess();
  Clock::time_point now = Clock::now(), awake_until = now;
  PollingTime polling;
  while (true) {
    if (now < awake_until && gate.IsOpen(now)) {
      const auto got = queue->AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC));
      if (got == grpc::CompletionQueue::SHUTDOWN) return;
      if (got == grpc::CompletionQueue::TIMEOUT) {
        polling.FoundNothing();
        now = gate.Yield();
        continue;
      }
      polling.End();
    } else {
      polling.End();
      if (!queue->Next(&tag, &ok)) return;
    }
    static_cast<Tag*>(tag)->Run(ok);
    now = Clock::now();
    awake_until = now + stay_awake;
  }
}

void GrpcTransport::Shutdown() {
  absl::flat_hash_set<std::shared_ptr<GrpcLink>> links;
  absl::flat_hash_set<std::shared_ptr<Connecting>> connecting;
  absl::flat_hash_map<uint64_t, HalfOpen> half_open;
  {
    MutexLock lock(mu_);
    if (std::exchange(stopping_, true)) return;
    links = links_;
    connecting = connecting_;
    half_open.swap(half_open_);
  }
  if (server_ == nullptr) return;
  listener_->Stop();
  for (const auto& link : links) link->Close(WasShutDown());
  for (const auto& c : connecting) c->Fail(WasShutDown());
  for (auto& [id, half] : half_open) {
    for (auto& channel : half.channels) {
      if (channel != nullptr) channel->Cancel();
    }
  }
  // Stops listening and waits for the accepted streams; those that have not ended by then are cancelled.
  server_->Shutdown(std::chrono::system_clock::now() + options_.close_grace);
  {
    MutexLock lock(mu_);
    cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return links_.empty() && connecting_.empty(); });
  }
  streams_.WaitForNone();
  for (auto& queue : queues_) queue->Shutdown();
  for (auto& thread : threads_) thread.Join();
  server_ = nullptr;
}

}  // namespace

std::unique_ptr<Transport> NewGrpcTransport(const GrpcOptions& options) {
  InitGrpc();
  return std::make_unique<GrpcTransport>(options);
}

}  // namespace tensorbraid
