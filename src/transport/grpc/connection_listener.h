// Accepts the connections of a gRPC server, so that their number is bounded and their users are known: gRPC itself
// accepts any number, from every user.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CONNECTION_LISTENER_H_
#define TENSORBRAID_TRANSPORT_GRPC_CONNECTION_LISTENER_H_

#include <grpcpp/grpcpp.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/system/fd.h"
#include "core/text/host_port.h"
#include "core/threads/thread.h"
#include "tensorbraid/core/status.h"
#include "transport/grpc/refusing_server.h"

namespace tensorbraid {

// Listens on an address and passes each connection to a server. Used by one thread; it has a thread of its own.
class ConnectionListener {
 public:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  // Binds every address of `bind`. Port 0 takes a free port. Returns null if any of them cannot be bound; WhyBindFails
  // finds the reason.
  static std::unique_ptr<ConnectionListener> Bind(const HostPort& bind);
  // Calls Stop.
  ~ConnectionListener();
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  int port() const { return port_; }
  // Begins to accept, for a server that has started. Closes connections beyond `max_connections`; 0 stands for three
  // quarters of the files that the process may have open. Also closes connections beyond `max_per_address` from one
  // address; 0 stands for half of all connections, or for all of them from this machine itself. With `strangers`,
  // passes the connections of this machine's other users (CheckOtherEnd in peer_user.h) to it; if it is null, all users
  // are served. Call once.
  void Start(std::unique_ptr<Acceptor> acceptor, std::unique_ptr<RefusingServer> strangers, int max_connections,
             int max_per_address);
  // Frees the port, and returns when no connection is passed on any more. Open connections stay.
  void Stop();

 private:
  // An accepted connection. gRPC owns the descriptor and closes it. A new descriptor may then get the same number, so
  // the inode tells whether `fd` is still this connection: no two open sockets have the same inode.
  struct Connection {
    int fd;
    ino_t inode;
    std::string address;  // of the other side, without the port
  };

  ConnectionListener() = default;
  bool BindTo(const HostPort& bind);
  void Loop();
  void Accept(const Fd& listener);
  // Whether the connection from `address` is beyond the bound of all connections or of this address.
  bool IsOneTooMany(const std::string& address, bool own_machine);
  // Logs that a connection is refused, once for each reason.
  void LogRefusal(const Status& why);
  // Forgets connections that have been closed.
  void ForgetClosed();
  size_t OpenFrom(const std::string& address) const;

  int port_ = 0;
  std::vector<Fd> listeners_;
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<RefusingServer> strangers_;  // may be null
  size_t max_connections_ = 0;
  size_t max_per_address_ = 0;  // 0: not given
  // The next five are used only by the thread.
  std::vector<Connection> connections_;
  absl::flat_hash_map<std::string, size_t> by_address_;  // how many connections each address has
  bool warned_ = false;                                  // a warning was logged, and there has been no room since then
  absl::flat_hash_set<std::string> warned_of_;           // the addresses for which the same is true
  absl::flat_hash_set<std::string> refusals_;            // the reasons that were logged
  std::unique_ptr<Fd> stop_;                             // an eventfd; readable when the thread is to end
  Thread thread_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CONNECTION_LISTENER_H_
