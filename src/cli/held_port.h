// Ports promised to processes that have not started yet.
#ifndef TENSORBRAID_CLI_HELD_PORT_H_
#define TENSORBRAID_CLI_HELD_PORT_H_

#include <utility>

#include "cli/fd.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// A free TCP port, kept from everybody who asks the system for one. It is bound with SO_REUSEADDR but not listened on,
// so that a server that sets SO_REUSEADDR too, as gRPC's does, can still bind it and listen, while this object lives.
// A second such server is refused by the first one's listening.
class HeldPort {
 public:
  static StatusOr<HeldPort> Take();
  int port() const { return port_; }

 private:
  HeldPort(Fd socket, int port) : socket_(std::move(socket)), port_(port) {}

  Fd socket_;
  int port_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_HELD_PORT_H_
