// Answers every call of the connections that a server does not serve with an error, so that the callers learn why.
#ifndef TENSORBRAID_TRANSPORT_GRPC_REFUSING_SERVER_H_
#define TENSORBRAID_TRANSPORT_GRPC_REFUSING_SERVER_H_

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "core/system/fd.h"

namespace tensorbraid {

// A gRPC server apart from the one that serves, so no call of such a connection can be taken for another's. It starts,
// with its thread, when the first connection is refused. Used by one thread at a time.
class RefusingServer {
 public:
  // `credentials` are those of the server itself, because callers expect them. Every call fails with Unauthenticated
  // and the text `why`.
  RefusingServer(std::shared_ptr<grpc::ServerCredentials> credentials, std::string why);
  // Closes all connections.
  ~RefusingServer();
  RefusingServer(const RefusingServer&) = delete;
  RefusingServer& operator=(const RefusingServer&) = delete;

  // Takes a connection that the socket `listener` has accepted. Closes it at once if too many refused callers are still
  // connected; otherwise it is closed after some seconds.
  void Take(Fd connection, int listener);

 private:
  struct Running;
  // gRPC closes the descriptors. The inode tells whether one of them is still the connection.
  struct Refused {
    int fd;
    ino_t inode;
  };

  const std::shared_ptr<grpc::ServerCredentials> credentials_;
  const std::string why_;
  std::vector<Refused> open_;
  std::unique_ptr<Running> running_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_REFUSING_SERVER_H_
