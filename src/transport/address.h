// Host names that mean this machine.
#ifndef TENSORBRAID_TRANSPORT_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_ADDRESS_H_

#include <string_view>

namespace tensorbraid {

// True for localhost, 127.x.x.x and ::1, which only programs on the same machine can reach.
inline bool IsLoopbackHost(std::string_view host) {
  return host == "localhost" || host == "::1" || host.substr(0, 4) == "127.";
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_ADDRESS_H_
