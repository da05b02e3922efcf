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

class GrpcCallClient final : public CallClient {
 public:
  GrpcCallClient(std::string address, std::chrono::milliseconds patience, TlsOptions tls,
                 const std::shared_ptr<grpc::ChannelCredentials>& credentials, std::shared_ptr<OwnToken> token)
      : address_(std::move(address)),
        patience_(patience),
        tls_(std::move(tls)),
        token_(std::move(token)),
        channel_(NewGrpcChannel(address_, credentials)),
        stub_(channel_) {}

  Result Ask(const std::string& method, const MessageParts& request, Deadline deadline) override {
    Status fits = CheckCallSize(request, "a request");
    if (!fits.ok()) return {.status = std::move(fits), .answer = {}};
    const auto now = std::chrono::system_clock::now();
    const auto steady = MonotonicClock::now();
    const bool bounded = deadline != Deadline::max();
    const auto until = bounded ? now + (deadline - steady) : std::chrono::system_clock::time_point::max();
    auto connected_by = now + patience_;
    if (bounded) connected_by = std::min(connected_by, until);
    if (!Connects(/*or_fails=*/true, connected_by)) {
      return NotConnected(StopRequested() ? "this process was asked to stop" : "the connection timed out");
    }
    // If the first attempt to connect has failed, this call fails at once with the reason. gRPC has then not sent the
    // request, so it may be sent again below.
    Result result = Call(method, request, bounded, until);
    if (!WasNotSent(result)) return result;
    Result why = NotConnected(std::string(result.status.message()));
    if (!absl::IsUnavailable(why.status)) return why;
    if (!has_waited_.exchange(true)) {
      TB_LOG(Info, "transport")
          << why.status.message() << "; waiting for it for up to "
          << std::chrono::ceil<std::chrono::seconds>(connected_by - std::chrono::system_clock::now()).count() << " s";
    }
    if (!Connects(/*or_fails=*/false, connected_by)) return why;
    result = Call(method, request, bounded, until);
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
  // Begins to connect if the channel is not connected. Waits until it is connected, or with `or_fails` until an attempt
  // has failed. Returns false if that does not happen by `until`, or if the channel was never connected and this
  // process is asked to stop meanwhile.
  bool Connects(bool or_fails, std::chrono::system_clock::time_point until) {
    // gRPC's wait cannot be woken, so it is done in parts.
    constexpr std::chrono::milliseconds kPart{100};
    while (true) {
      const auto state = channel_->GetState(/*try_to_connect=*/true);
      if (state == GRPC_CHANNEL_READY) was_connected_ = true;
      if (state == GRPC_CHANNEL_READY || (or_fails && state == GRPC_CHANNEL_TRANSIENT_FAILURE)) return true;
      const auto now = std::chrono::system_clock::now();
      if (now >= until || (!was_connected_ && StopRequested())) return false;
      channel_->WaitForStateChange(state, std::min(until, now + kPart));
    }
  }
  static bool WasNotSent(const Result& result) {
    return !result.status.ok() && !result.from_server && IsConnectError(std::string(result.status.message()));
  }
  Result NotConnected(const std::string& why) const {
    return {.status = ConnectError(StrCat("no server answers at grpc://", address_), tls_, why), .answer = {}};
  }

  // Sends the request if the channel is connected or about to be, and waits for the answer.
  Result Call(const std::string& method, const MessageParts& request, bool bounded,
              std::chrono::system_clock::time_point until) {
    grpc::ClientContext context;
    if (Status added = token_->AddTo(address_, tls_, &context); !added.ok()) return {.status = added, .answer = {}};
    if (bounded) context.set_deadline(until);
    {
      MutexLock lock(mu_);
      if (cancelled_) return {.status = Cancelled("the client has been closed"), .answer = {}};
      running_.insert(&context);
    }
    grpc::CompletionQueue queue;
    auto call = stub_.PrepareUnaryCall(&context, method, ToByteBuffer(request), &queue);
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
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  std::atomic<bool> has_waited_{false};  // a user is told once
  std::atomic<bool> was_connected_{false};
  Mutex mu_;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
  std::set<grpc::ClientContext*> running_ TB_GUARDED_BY(mu_);
};

}  // namespace

StatusOr<std::unique_ptr<CallClient>> NewGrpcCallClient(const std::string& address, std::chrono::milliseconds patience,
                                                        const TlsOptions& tls, const std::string& token_file) {
  InitGrpc();
  TF_ASSIGN_OR_RETURN(const auto credentials, NewChannelCredentials(tls));
  TF_ASSIGN_OR_RETURN(auto token, OwnToken::Open(token_file));
  return std::make_unique<GrpcCallClient>(address, patience, tls, credentials, std::move(token));
}

}  // namespace tensorbraid
