#include "core/system/peer_user.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The address of one end. IPv4 addresses that a socket for IPv6 reports are IPv4 addresses here.
struct EndPoint {
  bool is_v6 = false;
  uint32_t address[4] = {};  // in network order; IPv4 uses the first word
  uint16_t port = 0;         // in network order
  uint32_t interface = 0;    // of a link-local address

  bool HasAddressOf(const EndPoint& other) const {
    return is_v6 == other.is_v6 && std::equal(std::begin(address), std::end(address), std::begin(other.address));
  }
  bool is_loopback() const {
    if (!is_v6) return (ntohl(address[0]) >> 24) == 127;
    return address[0] == 0 && address[1] == 0 && address[2] == 0 && address[3] == htonl(1);
  }
};

EndPoint MakeEndPoint(bool is_v6, const void* address, uint16_t port) {
  constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  EndPoint end{.is_v6 = is_v6, .port = port};
  if (is_v6 && std::memcmp(address, kMapped, sizeof kMapped) == 0) {
    end.is_v6 = false;
    std::memcpy(end.address, static_cast<const unsigned char*>(address) + sizeof kMapped, 4);
  } else {
    std::memcpy(end.address, address, is_v6 ? 16 : 4);
  }
  return end;
}

std::optional<EndPoint> EndPointOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return MakeEndPoint(false, &v4.sin_addr, v4.sin_port);
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  EndPoint end = MakeEndPoint(true, &v6.sin6_addr, v6.sin6_port);
  end.interface = v6.sin6_scope_id;
  return end;
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::optional<EndPoint> EndPointOf(const Fd& socket, NameOf name_of) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (name_of(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return std::nullopt;
  return EndPointOf(address);
}

// The state of a listening socket, which the kernel's headers do not name.
constexpr uint8_t kListening = 10;

// What the kernel says about a socket.
struct KernelSocket {
  uid_t user;
  uint32_t inode;  // 0: no process has the socket any more, and `user` says nothing
  uint64_t cookie;
  bool is_listening;
};

// Returns the socket with the address `own` that is connected to `other`, or else the one that listens for connections
// to `own`.
std::optional<KernelSocket> AskKernel(const EndPoint& own, const EndPoint& other) {
  const Fd netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink.is_open()) return std::nullopt;
  struct {
    nlmsghdr header;
    inet_diag_req_v2 body;
  } request = {};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.header.nlmsg_seq = 1;
  request.body.sdiag_family = own.is_v6 ? AF_INET6 : AF_INET;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0u;
  request.body.id.idiag_sport = own.port;
  request.body.id.idiag_dport = other.port;
  std::memcpy(request.body.id.idiag_src, own.address, sizeof own.address);
  std::memcpy(request.body.id.idiag_dst, other.address, sizeof other.address);
  request.body.id.idiag_if = own.interface;
  request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(netlink.get(), &request, sizeof request, 0, reinterpret_cast<sockaddr*>(&kernel), sizeof kernel) < 0) {
    return std::nullopt;
  }
  // The kernel has answered before sendto() returns.
  alignas(nlmsghdr) char answer[4096];
  sockaddr_nl from{};
  socklen_t from_size = sizeof from;
  const ssize_t size =
      ::recvfrom(netlink.get(), answer, sizeof answer, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &from_size);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer);
  if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg))) || from.nl_pid != 0 ||
      header->nlmsg_type != SOCK_DIAG_BY_FAMILY || header->nlmsg_seq != 1) {
    return std::nullopt;
  }
  const auto* found = reinterpret_cast<const inet_diag_msg*>(answer + NLMSG_HDRLEN);
  const bool found_v6 = found->idiag_family == AF_INET6;
  const EndPoint its_own = MakeEndPoint(found_v6, found->id.idiag_src, found->id.idiag_sport);
  const EndPoint its_other = MakeEndPoint(found_v6, found->id.idiag_dst, found->id.idiag_dport);
  const bool is_listening = found->idiag_state == kListening;
  if (its_own.port != own.port) return std::nullopt;
  if (!is_listening && (its_other.port != other.port || !its_own.HasAddressOf(own) || !its_other.HasAddressOf(other))) {
    return std::nullopt;
  }
  const auto* cookie = found->id.idiag_cookie;
  return KernelSocket{.user = found->idiag_uid,
                      .inode = found->idiag_inode,
                      .cookie = uint64_t{cookie[1]} << 32 | cookie[0],
                      .is_listening = is_listening};
}

std::string ReadSystemFile(const char* path) {
  auto file = Env::System().OpenSequential(path);
  if (!file.ok()) return "";
  char text[4096];
  const auto n = (*file)->Read(sizeof text, text);
  return n.ok() ? std::string(text, *n) : "";
}

// Users that this process's user namespace does not have all look like one user id. Whether `user` may be one of them.
bool StandsForForeignUsers(uid_t user) {
  uint64_t overflow = 65534;
  static_cast<void>(absl::SimpleAtoi(ReadSystemFile("/proc/sys/kernel/overflowuid"), &overflow));
  if (user != overflow) return false;
  // A namespace that has all users: "0 0 4294967295".
  std::vector<std::string> words =
      absl::StrSplit(ReadSystemFile("/proc/self/uid_map"), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return words != std::vector<std::string>{"0", "0", "4294967295"};
}

// The user of a socket; none if the kernel does not name one. `ask` asks for the socket, and may do so twice: a socket
// that is closed while the kernel answers may seem to be root's, but then it has no inode in a later answer.
template <typename AskAgain>
std::optional<uid_t> UserOf(const KernelSocket& socket, AskAgain ask) {
  if (socket.inode == 0 || StandsForForeignUsers(socket.user)) return std::nullopt;
  if (socket.user == 0) {
    const std::optional<KernelSocket> again = ask();
    if (!again.has_value() || again->cookie != socket.cookie || again->inode != socket.inode) return std::nullopt;
  }
  return socket.user;
}

// Whether `address` is one of this machine's.
bool IsOwnAddress(const EndPoint& end) {
  const Fd socket(::socket(end.is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_in);
  if (end.is_v6) {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    v6.sin6_family = AF_INET6;
    v6.sin6_scope_id = end.interface;
    std::memcpy(&v6.sin6_addr, end.address, 16);
    size = sizeof v6;
  } else {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, end.address, 4);
  }
  return ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0;
}

std::string SystemError() { return std::strerror(errno); }

// Connects once, as ConnectToOwnUser does. PermissionDenied also if a server starts or stops meanwhile: the kernel then
// names no user.
StatusOr<Fd> ConnectOnce(const sockaddr_storage& address, socklen_t address_size, const EndPoint& listening,
                         std::chrono::milliseconds timeout) {
  // No connection has the port 0, so the kernel answers with the listening socket.
  EndPoint no_port{.is_v6 = listening.is_v6};
  std::copy(std::begin(listening.address), std::end(listening.address), no_port.address);
  const auto ask = [&] { return AskKernel(listening, no_port); };

  const std::optional<KernelSocket> before = ask();
  Fd socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return Unavailable("cannot make a socket: ", SystemError());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), address_size) != 0) {
    if (errno != EINPROGRESS) return Unavailable(SystemError());
    pollfd event{socket.get(), POLLOUT, 0};
    if (::poll(&event, 1, static_cast<int>(timeout.count())) != 1) return Unavailable("the connection timed out");
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Unavailable(std::strerror(error));
  }
  // If nothing listens there, and the system chose this very port for our end, the socket is connected to itself.
  sockaddr_storage here{};
  socklen_t here_size = sizeof here;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&here), &here_size);
  if (const std::optional<EndPoint> own = EndPointOf(here); own.has_value() && own->port == listening.port) {
    return Unavailable("no server listens there");
  }
  // The same socket listened before and after, and meanwhile no other one could listen there. So the connection is that
  // socket's, although no process may have accepted it yet.
  const std::optional<KernelSocket> after = ask();
  if (before.has_value() && after.has_value() && before->cookie != after->cookie) {
    return Unavailable("another server has begun to listen there");
  }
  if (!before.has_value() && after.has_value()) return Unavailable("a server has just begun to listen there");
  if (before.has_value() && !after.has_value()) return Unavailable("the server has just stopped listening there");
  const std::optional<uid_t> user =
      before.has_value() && before->is_listening ? UserOf(*before, ask) : std::optional<uid_t>();
  if (!user.has_value()) {
    return absl::PermissionDeniedError("the kernel does not name the user of the process that listens there");
  }
  if (!IsOwnUserOrRoot(*user)) {
    return absl::PermissionDeniedError(StrCat("the process that listens there belongs to user ", *user));
  }
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

uint64_t BytesReceived(const Fd& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received : 0;
}

bool IsOwnUserOrRoot(uid_t user) { return user == 0 || user == ::geteuid(); }

OtherEnd OtherEndOf(const Fd& socket) {
  const std::optional<EndPoint> own = EndPointOf(socket, ::getsockname);
  const std::optional<EndPoint> other = EndPointOf(socket, ::getpeername);
  // A connection that is lost already may have come from this machine.
  if (!own.has_value() || !other.has_value()) return {.is_here = true, .user = std::nullopt};
  const auto ask = [&]() -> std::optional<KernelSocket> {
    auto found = AskKernel(*other, *own);
    if (found.has_value() && found->is_listening) return std::nullopt;
    return found;
  };
  const std::optional<KernelSocket> found = ask();
  if (found.has_value()) return {.is_here = true, .user = UserOf(*found, ask)};
  const bool is_here = own->is_loopback() || other->is_loopback() || other->HasAddressOf(*own) || IsOwnAddress(*other);
  return {.is_here = is_here, .user = std::nullopt};
}

Status CheckOtherEnd(const Fd& socket) {
  const OtherEnd other = OtherEndOf(socket);
  if (!other.is_here) return OkStatus();
  if (!other.user.has_value()) {
    return absl::PermissionDeniedError("the kernel does not name the user at the other end of the connection");
  }
  if (IsOwnUserOrRoot(*other.user)) return OkStatus();
  return absl::PermissionDeniedError(StrCat("the other end of the connection belongs to user ", *other.user));
}

StatusOr<Fd> ConnectToOwnUser(const HostPort& where, std::chrono::milliseconds timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  const std::string host = where.host == "localhost" ? "127.0.0.1" : where.host;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(where.port).c_str(), &hints, &found); error != 0) {
    return InvalidArgument("'", where.host, "' is not a numeric address: ", gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  sockaddr_storage server{};
  std::memcpy(&server, found->ai_addr, found->ai_addrlen);
  const std::optional<EndPoint> listening = EndPointOf(server);
  if (!listening.has_value()) return InvalidArgument("'", where.host, "' is not an address of IPv4 or IPv6");
  constexpr int kAttempts = 3;  // the refusal of a server that starts or stops meanwhile does not last
  for (int attempt = 1;; ++attempt) {
    StatusOr<Fd> connected = ConnectOnce(server, found->ai_addrlen, *listening, timeout);
    if (!absl::IsPermissionDenied(connected.status()) || attempt == kAttempts) return connected;
  }
}

}  // namespace tensorbraid
