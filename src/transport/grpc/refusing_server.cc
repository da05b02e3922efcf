#include "transport/grpc/refusing_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <sys/stat.h>

#include <utility>

#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "transport/grpc/settings.h"
#include "transport/grpc/stream.h"

namespace tensorbraid {
namespace {

constexpr size_t kMostRefused = 64;
// How long a refused caller may stay connected.
constexpr int kStayMs = 5000;

ino_t InodeOfRefused(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

struct RefusingServer::Running {
  // Deletes itself when it is over.
  class RefusedCall final : public Tag {
   public:
    RefusedCall(Running* server, const std::string* why) : server_(server), why_(why) {
      server_->service.RequestCall(&context_, &stream_, server_->queue.get(), server_->queue.get(), this);
    }
    void Run(bool ok) override {
      if (!ok || has_begun_) {
        delete this;
        return;
      }
      MutexLock lock(server_->mu);
      if (server_->is_over) {
        delete this;
        return;
      }
      has_begun_ = true;
      new RefusedCall(server_, why_);
      context_.AddTrailingMetadata(kFromServer, "1");
      stream_.Finish(grpc::Status(grpc::StatusCode::UNAUTHENTICATED, *why_), this);
    }

   private:
    Running* const server_;
    const std::string* const why_;
    bool has_begun_ = false;
    grpc::GenericServerContext context_;
    grpc::GenericServerAsyncReaderWriter stream_{&context_};
  };

  // The server may fail to start; then `server` is null.
  Running(const std::shared_ptr<grpc::ServerCredentials>& credentials, const std::string* why) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument("grpc.server_handshake_timeout_ms", kStayMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kStayMs);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kStayMs);
    acceptor = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials);
    builder.RegisterAsyncGenericService(&service);
    queue = builder.AddCompletionQueue();
    server = builder.BuildAndStart();
    if (server != nullptr) new RefusedCall(this, why);
    thread = Thread("tb-refuse", [this] {
      void* tag;
      bool ok;
      while (queue->Next(&tag, &ok)) static_cast<Tag*>(tag)->Run(ok);
    });
  }
  ~Running() {
    if (server != nullptr) server->Shutdown(gpr_inf_past(GPR_CLOCK_REALTIME));
    {
      MutexLock lock(mu);
      is_over = true;
      queue->Shutdown();
    }
    thread.Join();
  }

  Mutex mu;
  bool is_over TB_GUARDED_BY(mu) = false;  // `queue` takes no operations any more
  grpc::AsyncGenericService service;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  std::unique_ptr<grpc::Server> server;
  Thread thread;
};

RefusingServer::RefusingServer(std::shared_ptr<grpc::ServerCredentials> credentials, std::string why)
    : credentials_(std::move(credentials)), why_(std::move(why)) {}

RefusingServer::~RefusingServer() = default;

void RefusingServer::Take(Fd connection, int listener) {
  std::erase_if(open_, [](const Refused& c) { return InodeOfRefused(c.fd) != c.inode; });
  if (open_.size() >= kMostRefused) return;
  if (running_ == nullptr) running_ = std::make_unique<Running>(credentials_, &why_);
  if (running_->server == nullptr) return;
  open_.push_back({connection.get(), InodeOfRefused(connection.get())});
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.listener_fd = listener;
  parameters.fd = connection.Release();
  running_->acceptor->HandleNewConnection(&parameters);
}

}  // namespace tensorbraid
