// Connections over loopback between programs of one user.
//
// On loopback without TLS and `insecure`, a server serves its own user and root; others need a token
// (connection_listener.h). A client connects only to servers of its own user or root, because another user may listen
// on the port of a server that has ended. docs/design/0030-users-of-a-machine.md says why and how.
#ifndef TENSORBRAID_TRANSPORT_GRPC_OWN_USER_H_
#define TENSORBRAID_TRANSPORT_GRPC_OWN_USER_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

// The error of a server for the callers that it refuses.
std::string WhyRefused();

// Whether a client must check the user of the server at `address` ("host:port"): it is on loopback, without TLS.
bool IsForOwnUser(const std::string& address, const TlsOptions& tls, bool insecure);

// A connection to a server of the own user or root.
struct OwnUserConnection {
  std::shared_ptr<grpc::Channel> channel;  // of this connection alone: it does not connect again
  Fd socket;                               // a duplicate, which tells when the connection is lost
  bool IsLost() const;
  // Whether the server has sent HTTP/2's greeting. One that closes the connection before has served no call.
  bool HasAnswered() const;
};
// Connects to `address`, for which IsForOwnUser is true. Nothing is sent to a server of another user:
// Unauthenticated, with what to do. Unavailable if no server listens there; the text is one of IsConnectError
// (credentials.h). Blocks for at most a second, and only while the server accepts no connections. Thread-safe.
StatusOr<OwnUserConnection> ConnectForOwnUser(const std::string& address);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_OWN_USER_H_
