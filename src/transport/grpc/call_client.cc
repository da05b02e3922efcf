#include "transport/grpc/call_client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <vector>

#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/stop.h"
#include "transport/grpc/caller_check.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/own_user.h"
#include "transport/grpc/packets.h"
#include "transport/grpc/settings.h"

namespace tensorbraid {
namespace {

// Owns the slices of a received message.
class MessageBuffer final : public Buffer {
 public:
  explicit MessageBuffer(std::vector<grpc::Slice> slices) : Buffer(nullptr, 0), slices_(std::move(slices)) {}
  const std::vector<grpc::Slice>& slices() const { return slices_; }

 private:
  const std::vector<grpc::Slice> slices_;
};

constexpr std::chrono::milliseconds kPartOfWait{100};

// Connects a client to its server.
class Connector {
 public:
  virtual ~Connector() = default;
  // Returns a channel that is connected, or with `or_fails` one whose calls fail with the reason why it is not. Other
  // than with `or_fails`, failed attempts are repeated. DeadlineExceeded if that takes until `until`; Cancelled if
  // there was no connection yet and this process is asked to stop; Unavailable, with a text of IsConnectError, if an
  // attempt fails; Unauthenticated as in ConnectForOwnUser. Thread-safe.
  virtual StatusOr<std::shared_ptr<grpc::Channel>> Connect(bool or_fails,
                                                           std::chrono::system_clock::time_point until) = 0;
  // False if the server may have taken the connection without answering anything, so that no call was served.
  virtual bool HasAnswered() { return true; }
};

Status TimedOut() { return DeadlineExceeded("the connection timed out"); }
Status AskedToStop() { return Cancelled("this process was asked to stop"); }

// gRPC's own way to connect.
class GrpcConnector final : public Connector {
 public:
  explicit GrpcConnector(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

  StatusOr<std::shared_ptr<grpc::Channel>> Connect(bool or_fails,
                                                   std::chrono::system_clock::time_point until) override {
    while (true) {
      const auto state = channel_->GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY) was_connected_ = true;
      if (state == GRPC_CHANNEL_READY || (or_fails && state == GRPC_CHANNEL_TRANSIENT_FAILURE)) return channel_;
      const auto now = std::chrono::system_clock::now();
      if (now >= until) return TimedOut();
      if (!was_connected_ && StopRequested()) return AskedToStop();
      // gRPC's wait cannot be woken, so it is done in parts.
      channel_->WaitForStateChange(state, std::min(until, now + kPartOfWait));
    }
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  std::atomic<bool> was_connected_{false};
};

// Connects to a server of the own user or root, and to no other one.
class OwnUserConnector final : public Connector {
 public:
  explicit OwnUserConnector(std::string address) : address_(std::move(address)) {}

  StatusOr<std::shared_ptr<grpc::Channel>> Connect(bool or_fails,
                                                   std::chrono::system_clock::time_point until) override {
    while (true) {
      Status failed;
      bool was_connected = false;
      {
        MutexLock lock(mu_);
        if (connection_.channel != nullptr && !connection_.IsLost()) return connection_.channel;
        was_connected = connection_.channel != nullptr;
        auto connected = ConnectForOwnUser(address_);
        if (connected.ok()) {
          connection_ = *std::move(connected);
          return connection_.channel;
        }
        failed = connected.status();
      }
      if (or_fails || !absl::IsUnavailable(failed)) return failed;
      const auto now = std::chrono::system_clock::now();
      if (now >= until) return TimedOut();
      if (!was_connected && StopRequested()) return AskedToStop();
      SleepFor(std::min<std::chrono::nanoseconds>(until - now, kPartOfWait));
    }
  }
  bool HasAnswered() override {
    MutexLock lock(mu_);
    return connection_.channel == nullptr || connection_.HasAnswered();
  }

 private:
  const std::string address_;
  Mutex mu_;
  OwnUserConnection connection_ TB_GUARDED_BY(mu_);  // the last one; without a channel before the first
};

class GrpcCallClient final : public CallClient {
 public:
  GrpcCallClient(std::string address, std::chrono::milliseconds patience, TlsOptions tls,
                 std::unique_ptr<Connector> connector, std::shared_ptr<OwnToken> token)
      : address_(std::move(address)),
        patience_(patience),
        tls_(std::move(tls)),
        token_(std::move(token)),
        connector_(std::move(connector)) {}

  Result Ask(const std::string& method, const MessageParts& request, Deadline deadline) override {
    Status fits = CheckCallSize(request, "a request");
    if (!fits.ok()) return {.status = std::move(fits), .answer = {}};
    const auto now = std::chrono::system_clock::now();
    const auto steady = MonotonicClock::now();
    const bool bounded = deadline != Deadline::max();
    const auto until = bounded ? now + (deadline - steady) : std::chrono::system_clock::time_point::max();
    auto connected_by = now + patience_;
    if (bounded) connected_by = std::min(connected_by, until);
    auto channel = connector_->Connect(/*or_fails=*/true, connected_by);
    if (GaveUp(channel.status())) return NotConnected(std::string(channel.status().message()));
    // If the first attempt to connect has failed, this call fails at once with the reason. gRPC has then not sent the
    // request, so it may be sent again below.
    Result result = CallOver(channel, method, request, bounded, until);
    if (!WasNotSent(result)) return result;
    Result why = NotConnected(std::string(result.status.message()));
    if (!absl::IsUnavailable(why.status)) return why;
    if (!has_waited_.exchange(true)) {
      TB_LOG(Info, "transport")
          << why.status.message() << "; waiting for it for up to "
          << std::chrono::ceil<std::chrono::seconds>(connected_by - std::chrono::system_clock::now()).count() << " s";
    }
    while (true) {
      channel = connector_->Connect(/*or_fails=*/false, connected_by);
      if (GaveUp(channel.status())) return why;
      result = CallOver(channel, method, request, bounded, until);
      // The server may have closed the connection at once, because it is ending.
      if (!WasNotSent(result) || StopRequested() || std::chrono::system_clock::now() >= connected_by) break;
      SleepFor(kPartOfWait);
    }
    return WasNotSent(result) ? NotConnected(std::string(result.status.message())) : result;
  }

  void CancelRunning() override {
    MutexLock lock(mu_);
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }

  void Cancel() override {
    MutexLock lock(mu_);
    cancelled_ = true;
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }

 private:
  static bool GaveUp(const Status& connecting) {
    return absl::IsDeadlineExceeded(connecting) || absl::IsCancelled(connecting);
  }
  static bool WasNotSent(const Result& result) {
    return !result.status.ok() && !result.from_server && IsConnectError(std::string(result.status.message()));
  }
  Result NotConnected(const std::string& why) const {
    return {.status = ConnectError(StrCat("no server answers at grpc://", address_), tls_, why), .answer = {}};
  }

  // Sends the request if the channel is connected or about to be, and waits for the answer.
  Result CallOver(const StatusOr<std::shared_ptr<grpc::Channel>>& channel, const std::string& method,
                  const MessageParts& request, bool bounded, std::chrono::system_clock::time_point until) {
    if (!channel.ok()) return {.status = channel.status(), .answer = {}};
    grpc::ClientContext context;
    if (Status added = token_->AddTo(address_, tls_, &context); !added.ok()) return {.status = added, .answer = {}};
    if (bounded) context.set_deadline(until);
    {
      MutexLock lock(mu_);
      if (cancelled_) return {.status = Cancelled("the client has been closed"), .answer = {}};
      running_.insert(&context);
    }
    grpc::CompletionQueue queue;
    grpc::GenericStub stub(*channel);
    auto call = stub.PrepareUnaryCall(&context, method, ToByteBuffer(request), &queue);
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->StartCall();
    call->Finish(&answer, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    {
      MutexLock lock(mu_);
      running_.erase(&context);
    }
    Result result;
    result.from_server = true;
    if (!status.ok()) {
      result.from_server = context.GetServerTrailingMetadata().contains(kFromServer);
      result.status = Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
      if (!result.from_server && absl::IsUnavailable(result.status) && !connector_->HasAnswered()) {
        result.status = Unavailable(kConnectErrorPrefix, ": ", status.error_message());
      }
      if (!result.from_server && absl::IsResourceExhausted(result.status)) {
        result.status = Annotate(
            result.status,
            StrCat("grpc://", address_, " refuses the request; its option --max_message_bytes limits the size"));
      }
      return result;
    }
    std::vector<grpc::Slice> slices;
    if (!answer.Dump(&slices).ok()) return {.status = Internal("cannot read the answer message"), .answer = {}};
    auto owner = MakeRef<MessageBuffer>(std::move(slices));
    for (const grpc::Slice& slice : owner->slices()) {
      result.answer.pieces.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
    }
    result.answer.owner = std::move(owner);
    return result;
  }

  const std::string address_;
  const std::chrono::milliseconds patience_;
  const TlsOptions tls_;
  const std::shared_ptr<OwnToken> token_;
  const std::unique_ptr<Connector> connector_;
  std::atomic<bool> has_waited_{false};  // a user is told once
  Mutex mu_;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
  std::set<grpc::ClientContext*> running_ TB_GUARDED_BY(mu_);
};

}  // namespace

StatusOr<std::unique_ptr<CallClient>> NewGrpcCallClient(const std::string& address, std::chrono::milliseconds patience,
                                                        const TlsOptions& tls, const std::string& token_file,
                                                        bool insecure) {
  InitGrpc();
  TF_ASSIGN_OR_RETURN(const auto credentials, NewChannelCredentials(tls));
  TF_ASSIGN_OR_RETURN(auto token, OwnToken::Open(token_file));
  std::unique_ptr<Connector> connector;
  if (IsForOwnUser(address, tls, insecure)) {
    connector = std::make_unique<OwnUserConnector>(address);
  } else {
    connector = std::make_unique<GrpcConnector>(NewGrpcChannel(address, credentials));
  }
  return std::make_unique<GrpcCallClient>(address, patience, tls, std::move(connector), std::move(token));
}

}  // namespace tensorbraid
