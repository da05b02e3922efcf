#include "transport/grpc/call_server.h"

#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "transport/grpc/packets.h"
#include "transport/grpc/settings.h"

namespace tensorbraid {
namespace {

// gRPC sends an error's text in a header and rejects headers of more than 8 KiB.
constexpr size_t kMaxErrorBytes = 4000;

}  // namespace

// Kept alive by its outstanding operations, and by the handler until it has answered.
class CallServer::GrpcCall final : public Call, public std::enable_shared_from_this<GrpcCall> {
 public:
  GrpcCall(CallServer* server, grpc::ServerCompletionQueue* queue) : server_(server), queue_(queue) {
    server_->calls_->Add();
  }
  ~GrpcCall() override { server_->calls_->Remove(); }

  void Start() {
    const auto self = shared_from_this();
    context_.AsyncNotifyWhenDone(over_op_.Arm(self));
    server_->service_.RequestCall(&context_, &stream_, queue_, queue_, begin_op_.Arm(self));
  }

  const std::string& method() const override { return context_.method(); }
  const Caller& caller() const override { return caller_; }
  std::chrono::steady_clock::time_point deadline() const override {
    const auto at = context_.deadline();
    if (at == std::chrono::system_clock::time_point::max()) return std::chrono::steady_clock::time_point::max();
    const auto left = at - std::chrono::system_clock::now();
    // More than a year counts as never; adding a very long time would overflow.
    if (left > std::chrono::hours(24 * 365)) return std::chrono::steady_clock::time_point::max();
    return MonotonicClock::now() + left;
  }
  const Payload& request() const override { return request_; }
  void Answer(MessageParts answer) override {
    const Status fits = CheckCallSize(answer, "an answer");
    if (!fits.ok()) return Fail(fits);
    answer_ = ToByteBuffer(answer);
    stream_.WriteAndFinish(answer_, {}, grpc::Status::OK, end_op_.Arm(shared_from_this()));
  }
  void Fail(const Status& why) override {
    const std::string text(why.message().substr(0, kMaxErrorBytes));
    context_.AddTrailingMetadata(kFromServer, "1");
    stream_.Finish(grpc::Status(static_cast<grpc::StatusCode>(why.code()), text), end_op_.Arm(shared_from_this()));
  }
  void OnCancelled(std::function<void()> callback) override {
    {
      MutexLock lock(mu_);
      if (ended_) return;
      if (!cancelled_) {
        on_cancelled_ = std::move(callback);
        return;
      }
    }
    callback();
  }

 private:
  template <void (GrpcCall::*kMethod)(bool)>
  class Op final : public Tag {
   public:
    Tag* Arm(std::shared_ptr<GrpcCall> call) {
      call_ = std::move(call);
      return this;
    }
    void Disarm() { call_.reset(); }
    void Run(bool ok) override {
      const std::shared_ptr<GrpcCall> call = std::move(call_);
      (call.get()->*kMethod)(ok);
    }

   private:
    std::shared_ptr<GrpcCall> call_;
  };

  void Begun(bool ok) {
    if (!ok) return over_op_.Disarm();  // the server shuts down; no call has arrived, so over_op_ never completes
    server_->AcceptFrom(queue_);
    auto caller = server_->check_->Check(context_);
    if (!caller.ok()) return Fail(caller.status());
    caller_ = *std::move(caller);
    const Status counted = ticket_.Begin(server_->limits_, caller_.address, [this] { context_.TryCancel(); });
    if (!counted.ok()) return Fail(counted);
    stream_.Read(&message_, read_op_.Arm(shared_from_this()));
  }
  void DidRead(bool ok) {
    const Status accepted = ticket_.RequestArrived(ok ? message_.Length() : 0);
    if (!ok) return Fail(absl::InvalidArgumentError("the call has no request message"));
    if (!accepted.ok()) return Fail(accepted);
    if (!message_.Dump(&slices_).ok()) return Fail(absl::InternalError("cannot read the request message"));
    for (const grpc::Slice& slice : slices_) {
      request_.pieces.push_back({reinterpret_cast<const std::byte*>(slice.begin()), slice.size()});
    }
    server_->handler_->OnCall(shared_from_this());
  }
  void Over(bool) {
    std::function<void()> callback;
    {
      MutexLock lock(mu_);
      if (!context_.IsCancelled()) return;
      cancelled_ = true;
      callback = std::exchange(on_cancelled_, nullptr);
    }
    if (callback != nullptr) callback();
  }
  void Ended(bool) {
    std::function<void()> dropped;  // destroyed without the lock: it may hold the last reference to this call
    MutexLock lock(mu_);
    ended_ = true;
    dropped.swap(on_cancelled_);
  }

  CallServer* const server_;
  grpc::ServerCompletionQueue* const queue_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  Caller caller_;
  CallLimits::Ticket ticket_;
  grpc::ByteBuffer message_;
  std::vector<grpc::Slice> slices_;
  Payload request_;
  grpc::ByteBuffer answer_;
  Mutex mu_;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
  bool ended_ TB_GUARDED_BY(mu_) = false;
  std::function<void()> on_cancelled_ TB_GUARDED_BY(mu_);
  Op<&GrpcCall::Begun> begin_op_;
  Op<&GrpcCall::DidRead> read_op_;
  Op<&GrpcCall::Over> over_op_;
  Op<&GrpcCall::Ended> end_op_;
};

void CallServer::AcceptFrom(grpc::ServerCompletionQueue* queue) { std::make_shared<GrpcCall>(this, queue)->Start(); }

}  // namespace tensorbraid
