// The two ends of a gRPC stream behind one interface, and the gRPC settings of both.
#ifndef TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_
#define TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "tensorbraid/transport/server_limits.h"
#include "transport/grpc/lane.h"

namespace tensorbraid {

// The trailing metadata of a call that the server has failed. It is missing if the transport failed the call.
inline constexpr char kFromServer[] = "tensorbraid-from-server";

// Serves the lane methods with messages as raw byte buffers. gRPC itself answers unknown methods with UNIMPLEMENTED.
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

  grpc::ClientContext context_;

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> rw_;
};

// Our settings for channels and servers.
grpc::ChannelArguments ClientChannelArguments();
void ConfigureServer(const ServerLimits& limits, std::chrono::milliseconds handshake_timeout,
                     grpc::ServerBuilder* builder);
// Applies gRPC's process-wide settings. Must be called before any other use of gRPC; further calls have no effect.
// - Poll with poll(), unless GRPC_POLL_STRATEGY is set. The default is one epoll set for the whole process, with which
//   the thread of one lane reads the socket of the other. With 100 MB in flight, small messages then took up to 6 ms
//   (p99) instead of 0.1 ms, and the 100 MB took 45 ms instead of 25 ms.
// - Turn off Abseil's deadlock detection, which Debian's build runs by default in every lock of gRPC. It took 4 % of
//   the time of a small step.
// - Let malloc keep up to 64 MiB of free memory at the end of the heap. gRPC allocates a buffer for each read and then
//   frees it. When that memory goes back to the system each time, most reads have to fault in new pages: 100 MB took 55
//   ms instead of 30 ms.
// - Send gRPC's own log lines to our log, with area "grpc" and level debug, unless GRPC_VERBOSITY is set.
void InitGrpc();

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_STREAMS_H_
