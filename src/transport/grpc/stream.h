// One end of a gRPC stream that carries packets, and the service that accepts such streams.
#ifndef TENSORBRAID_TRANSPORT_GRPC_STREAM_H_
#define TENSORBRAID_TRANSPORT_GRPC_STREAM_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A link has one stream for each kind.
enum ChannelKind { kControlChannel = 0, kBulkChannel = 1 };
inline constexpr int kNumChannels = 2;
inline constexpr const char* kChannelMethods[kNumChannels] = {"/tensorbraid.Worker/Control",
                                                              "/tensorbraid.Worker/Bulk"};

// The tag of an operation in a completion queue; Run is called when the operation completes.
class Tag {
 public:
  virtual ~Tag() = default;
  virtual void Run(bool ok) = 0;
};

// Accepts the streams of links, with messages as raw byte buffers. gRPC itself answers unknown methods with
// UNIMPLEMENTED.
class WorkerService final : public grpc::Service {
 public:
  using ServerRw = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  WorkerService();
  void RequestStream(ChannelKind kind, grpc::ServerContext* context, ServerRw* rw, grpc::ServerCompletionQueue* queue,
                     void* tag) {
    RequestAsyncBidiStreaming(kind, context, rw, queue, queue, tag);
  }
};

// An end of a bidirectional stream, accepted or opened by this process. At most one Read and one Write (or End) may be
// outstanding at a time.
class Stream {
 public:
  // An end that will be accepted: call Accept once.
  Stream() : accepted_(std::in_place) {}
  // An end that will be opened over `channel`: call Open once.
  explicit Stream(std::shared_ptr<grpc::Channel> channel) : opened_(std::in_place, std::move(channel)) {}

  void Accept(WorkerService* service, ChannelKind kind, grpc::ServerCompletionQueue* queue, Tag* tag) {
    service->RequestStream(kind, &accepted_->context, &accepted_->rw, queue, tag);
  }
  const grpc::ServerContext& accepted_context() const { return accepted_->context; }
  void Open(ChannelKind kind, grpc::CompletionQueue* queue, Tag* tag);
  grpc::ClientContext& context_to_open() { return opened_->context; }

  void Read(grpc::ByteBuffer* into, Tag* tag);
  void Write(const grpc::ByteBuffer& message, Tag* tag);
  // Ends writing: no Write may follow. The other side can read everything written before; its next Read then fails.
  void End(Tag* tag);
  // Makes all outstanding operations fail soon. Thread-safe.
  void Cancel();
  // After a failed Read: sets `why` to the reason, when the operation `tag` completes. False when this end cannot know
  // the reason, because it was accepted; `tag` is then not used.
  bool Finish(grpc::Status* why, Tag* tag);

 private:
  struct Accepted {
    Accepted() : rw(&context) {}
    grpc::ServerContext context;
    WorkerService::ServerRw rw;
  };
  struct Opened {
    explicit Opened(std::shared_ptr<grpc::Channel> to) : channel(std::move(to)), stub(channel) {}
    grpc::ClientContext context;
    const std::shared_ptr<grpc::Channel> channel;
    grpc::GenericStub stub;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw;
  };
  // One of the two is set.
  std::optional<Accepted> accepted_;
  std::optional<Opened> opened_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_STREAM_H_
