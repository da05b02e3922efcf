// "host:port", as clusters name their tasks.
#ifndef TENSORBRAID_TRANSPORT_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_ADDRESS_H_

#include <string>
#include <string_view>

#include "tensorbraid/status.h"

namespace tensorbraid {

struct HostPort {
  std::string host;  // without the brackets of an IPv6 address
  int port = 0;      // 0..65535

  std::string ToString() const;  // with brackets where needed
};

// InvalidArgument, naming `address`, unless it is HOST:PORT or [IPV6]:PORT.
StatusOr<HostPort> ParseHostPort(std::string_view address);

// localhost, 127.x.x.x, ::1.
bool IsLoopbackHost(std::string_view host);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_ADDRESS_H_
