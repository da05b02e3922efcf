#include "transport/grpc/call_client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/clock.h"
#include "core/host_port.h"
#include "core/mutex.h"
#include "core/strings.h"
#include "transport/grpc/packets.h"
#include "transport/grpc/streams.h"

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
  GrpcCallClient(std::string address, std::chrono::milliseconds patience)
      : address_(std::move(address)), patience_(patience) {
    std::string target = address_;
    if (const auto where = ParseHostPort(address_); where.ok() && where->host == "localhost") {
      target = HostPort{"127.0.0.1", where->port}.ToString();
    }
    channel_ = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), ClientChannelArguments());
    stub_ = std::make_unique<grpc::GenericStub>(channel_);
  }

  Result Ask(const std::string& method, const MessageParts& request, Deadline deadline) override {
    Status fits = CheckCallSize(request, "a request");
    if (!fits.ok()) return {.status = std::move(fits), .answer = {}};
    const auto now = std::chrono::system_clock::now();
    const auto steady = MonotonicClock::now();
    const bool bounded = deadline != Deadline::max();
    const auto until = bounded ? now + (deadline - steady) : std::chrono::system_clock::time_point::max();
    auto connected_by = now + patience_;
    if (bounded) connected_by = std::min(connected_by, until);
    if (!channel_->WaitForConnected(connected_by)) {
      return {.status = Unavailable("no server answers at grpc://", address_), .answer = {}};
    }
    grpc::ClientContext context;
    if (bounded) context.set_deadline(until);
    {
      MutexLock lock(mu_);
      if (cancelled_) return {.status = Cancelled("the client has been closed"), .answer = {}};
      running_.insert(&context);
    }
    grpc::CompletionQueue queue;
    auto call = stub_->PrepareUnaryCall(&context, method, ToByteBuffer(request), &queue);
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

  void Cancel() override {
    MutexLock lock(mu_);
    cancelled_ = true;
    for (grpc::ClientContext* context : running_) context->TryCancel();
  }

 private:
  const std::string address_;
  const std::chrono::milliseconds patience_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  Mutex mu_;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
  std::set<grpc::ClientContext*> running_ TB_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<CallClient> NewGrpcCallClient(const std::string& address, std::chrono::milliseconds patience) {
  InitGrpc();
  return std::make_unique<GrpcCallClient>(address, patience);
}

}  // namespace tensorbraid
