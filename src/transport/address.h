// Names of this machine.
#ifndef TENSORBRAID_TRANSPORT_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_ADDRESS_H_

#include <string_view>

namespace tensorbraid {

// localhost, 127.x.x.x, ::1: only programs on the same machine get there.
inline bool IsLoopbackHost(std::string_view host) {
  return host == "localhost" || host == "::1" || host.substr(0, 4) == "127.";
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_ADDRESS_H_
