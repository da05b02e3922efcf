// Recognizes host names that mean this machine.
#ifndef TENSORBRAID_TRANSPORT_ADDRESS_H_
#define TENSORBRAID_TRANSPORT_ADDRESS_H_

#include <string_view>

namespace tensorbraid {

// True for localhost, 127.x.x.x and ::1, which only programs on the same machine can reach. False for names such as
// "127.example", which may belong to other machines.
inline bool IsLoopbackHost(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_ADDRESS_H_
