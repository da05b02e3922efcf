// Parses and writes the addresses of tasks in the form that users write.
#ifndef TENSORBRAID_CORE_TEXT_HOST_PORT_H_
#define TENSORBRAID_CORE_TEXT_HOST_PORT_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct HostPort {
  std::string host;  // a name or an IPv4 address, or an IPv6 address without its brackets
  int port = 0;      // 0..65535
  // "host:port", or "[::1]:port" for an IPv6 address.
  std::string ToString() const;
};

// Parses "host:port" or "[ipv6]:port". InvalidArgument otherwise; the message quotes `address` and says what is wrong.
StatusOr<HostPort> ParseHostPort(std::string_view address);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_HOST_PORT_H_
