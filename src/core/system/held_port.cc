#include "core/system/held_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Binds all addresses of one family, because another process could otherwise take the same port on another address. An
// IPv6 socket binds the IPv4 addresses too.
StatusOr<Fd> BindAny(int family, int port) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return absl::ErrnoToStatus(errno, "cannot create a socket");
  const int on = 1;
  const int off = 0;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (family == AF_INET6 && ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0)) {
    return absl::ErrnoToStatus(errno, "cannot set a socket's options");
  }
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  (family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                      : reinterpret_cast<sockaddr_in&>(address).sin_port) = htons(static_cast<uint16_t>(port));
  const socklen_t size = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return absl::ErrnoToStatus(errno, port == 0 ? "cannot find a free port" : StrCat("cannot hold port ", port));
  }
  return socket;
}

}  // namespace

StatusOr<HeldPort> HeldPort::Take(int port) {
  StatusOr<Fd> socket = BindAny(AF_INET6, port);
  if (!socket.ok()) socket = BindAny(AF_INET, port);
  TF_RETURN_IF_ERROR(socket);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket->get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return absl::ErrnoToStatus(errno, "cannot read a socket's port");
  }
  const int taken = ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                                        : reinterpret_cast<sockaddr_in&>(address).sin_port);
  return HeldPort(*std::move(socket), taken);
}

}  // namespace tensorbraid
