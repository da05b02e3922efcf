// Determines the address that a server binds, and the error to report when binding fails.
#ifndef TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_

#include <string>

#include "core/text/host_port.h"

namespace tensorbraid {

// The address to bind for a server that its cluster calls `address`. For a loopback name, this is that address alone;
// for any other name, all interfaces. A non-empty `override_host` is bound as it is instead. InvalidArgument for a
// malformed address.
StatusOr<HostPort> BindAddress(const std::string& address, const std::string& override_host);

// InvalidArgument if other machines can reach `bind`; the error explains how to listen there. `address` is what the
// user wrote. For servers without TLS.
Status CheckLoopback(const HostPort& bind, const std::string& address);

// InvalidArgument if other machines can reach `bind`, for servers that use tokens without TLS.
Status CheckTokenIsSecret(const HostPort& bind, const std::string& address);

// The error to report after a failed attempt to listen on `bind`: AlreadyExists when the port is taken, else
// InvalidArgument. `address` is what the user wrote.
Status WhyBindFails(const HostPort& bind, const std::string& address);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_BIND_ADDRESS_H_
