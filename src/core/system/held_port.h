// Reserves ports for processes that have not started yet.
#ifndef TENSORBRAID_CORE_SYSTEM_HELD_PORT_H_
#define TENSORBRAID_CORE_SYSTEM_HELD_PORT_H_

#include <utility>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A free TCP port, which the system gives to no other process that asks for a free port while this object lives. It is
// bound with SO_REUSEADDR but not listened on, so a server that also sets SO_REUSEADDR, as gRPC's does, can still bind
// it and listen. A second such server fails, because the first one is listening.
class HeldPort {
 public:
  // Takes this port, or any free port if it is 0. The system's error if the port is in use.
  static StatusOr<HeldPort> Take(int port = 0);
  int port() const { return port_; }

 private:
  HeldPort(Fd socket, int port) : socket_(std::move(socket)), port_(port) {}

  Fd socket_;
  int port_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_HELD_PORT_H_
