#include "transport/grpc/bind_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/text/strings.h"
#include "transport/address.h"

namespace tensorbraid {

StatusOr<HostPort> BindAddress(const std::string& address, const std::string& override_host) {
  TF_ASSIGN_OR_RETURN(HostPort bind, ParseHostPort(address));
  if (!override_host.empty()) {
    bind.host = override_host;
  } else if (bind.host == "localhost") {
    // A single address. "localhost" may have two, and gRPC is content with one of them, so binding might succeed
    // although the other one is taken.
    bind.host = "127.0.0.1";
  } else if (!IsLoopbackHost(bind.host)) {
    bind.host = "::";
  }
  return bind;
}

Status CheckLoopback(const HostPort& bind, const std::string& address) {
  if (IsLoopbackHost(bind.host)) return OkStatus();
  return InvalidArgument("refuses to listen on ", address, " (", bind.ToString(), ") without TLS: anyone who can ",
                         "reach the port could run steps here. Either give --tls_cert, --tls_key and --tls_ca ",
                         "('tensorbraid certs' makes these files), or, in a network in which every machine is ",
                         "trusted, --insecure");
}

Status CheckTokenIsSecret(const HostPort& bind, const std::string& address) {
  if (IsLoopbackHost(bind.host)) return OkStatus();
  return InvalidArgument(
      "refuses to listen on ", address, " (", bind.ToString(), ") with --token_file and without TLS: ",
      "others on the network could read the token. Give --tls_cert and --tls_key, too ('tensorbraid certs' ",
      "makes these files)");
}

Status WhyBindFails(const HostPort& bind, const std::string& address) {
  const std::string port = std::to_string(bind.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(bind.host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return InvalidArgument("cannot listen on ", address, ": ", bind.host, ": ", gai_strerror(error));
  }
  int why = 0;
  for (const addrinfo* a = found; a != nullptr && why != EADDRINUSE; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (fd < 0) continue;
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (::bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 1) != 0) why = errno;
    close(fd);
  }
  freeaddrinfo(found);
  if (why == EADDRINUSE) {
    return AlreadyExists("cannot listen on ", address, ": port ", bind.port, " is taken by another server");
  }
  return InvalidArgument("cannot listen on ", address, " (", bind.ToString(),
                         "): ", why == 0 ? "gRPC failed to bind it and gave no reason" : std::strerror(why));
}

}  // namespace tensorbraid
