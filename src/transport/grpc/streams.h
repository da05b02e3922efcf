// The two ends of a gRPC stream, made to look alike, and how both are configured.
#ifndef TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_
#define TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "transport/grpc/lane.h"

namespace tensorbraid {

// Serves the lane methods with messages as they are; gRPC itself answers unknown methods with UNIMPLEMENTED.
class WorkerService final : public grpc::Service {
 public:
  using ServerRw = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;
  WorkerService();
  void RequestLane(LaneKind kind, grpc::ServerContext* context, ServerRw* rw, grpc::ServerCompletionQueue* queue,
                   void* tag) {
    RequestAsyncBidiStreaming(kind, context, rw, queue, queue, tag);
  }
};

class ServerStream final : public Stream {
 public:
  void Read(grpc::ByteBuffer* into, Tag* tag) override { rw_.Read(into, tag); }
  void Write(const grpc::ByteBuffer& message, Tag* tag) override { rw_.Write(message, tag); }
  void End(Tag* tag) override { rw_.Finish(grpc::Status::OK, tag); }
  void Cancel() override { context_.TryCancel(); }
  bool Finish(grpc::Status*, Tag*) override { return false; }

  grpc::ServerContext context_;
  WorkerService::ServerRw rw_{&context_};
};

class ClientStream final : public Stream {
 public:
  explicit ClientStream(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)), stub_(channel_) {}
  void Prepare(LaneKind kind, grpc::CompletionQueue* queue) {
    rw_ = stub_.PrepareCall(&context_, kLaneMethods[kind], queue);
  }
  void Start(Tag* tag) { rw_->StartCall(tag); }
  void Read(grpc::ByteBuffer* into, Tag* tag) override { rw_->Read(into, tag); }
  void Write(const grpc::ByteBuffer& message, Tag* tag) override { rw_->Write(message, tag); }
  void End(Tag* tag) override { rw_->WritesDone(tag); }
  void Cancel() override { context_.TryCancel(); }
  bool Finish(grpc::Status* why, Tag* tag) override {
    rw_->Finish(why, tag);
    return true;
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw_;
};

// Our settings of a channel and of a server.
grpc::ChannelArguments ClientChannelArguments();
void ConfigureServer(grpc::ServerBuilder* builder);
// Settings of gRPC that belong to the process; to be called before anything else of it is used, once or more often.
// - Polling by poll(), unless GRPC_POLL_STRATEGY says otherwise. With the default, one epoll set for the whole process,
//   the thread of one lane reads the socket of the other: measured with 100 MB under way, small messages took up to
//   6 ms (p99) instead of 0.1, and 100 MB took 45 ms instead of 25.
// - Abseil's search for deadlocks in every lock of gRPC, which Debian's build does by default, is off: it took 4 % of
//   the time of a small step.
// - The heap keeps up to 64 MiB of free memory at its end. gRPC takes a buffer for each read and frees it in between;
//   given back to the system each time, its pages were made anew for most of what came: 100 MB took 55 ms instead
//   of 30.
// - gRPC's own log lines become ours, of area "grpc" and level debug, unless GRPC_VERBOSITY asks for them.
void InitGrpc();

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_
