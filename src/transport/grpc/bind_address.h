// Where a server binds, and why it could not.
#ifndef TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_

#include <string>

#include "core/host_port.h"

namespace tensorbraid {

// Loopback names bind that address alone, other names every interface; `override_host`, when not empty, is taken as it
// is. InvalidArgument for an address that is none.
StatusOr<HostPort> BindAddress(const std::string& address, const std::string& override_host);

// After a failed attempt to listen on `bind`: AlreadyExists when the port is taken, else InvalidArgument. `address` is
// what the user wrote.
Status WhyBindFails(const HostPort& bind, const std::string& address);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_
