#include "transport/local/lane_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::string SocketError(const char* what) { return StrCat(what, ": ", std::strerror(errno)); }

socklen_t AbstractAddress(const std::string& name, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  const size_t n = std::min(name.size(), sizeof(address->sun_path) - 1);
  std::memcpy(address->sun_path + 1, name.data(), n);  // the name begins after a zero byte
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
}

// Refuses processes of other users. A process of the same user may do everything that this process may do, so it would
// gain nothing by misusing the lane.
Status CheckSameUser(const Fd& socket) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return Unavailable(SocketError("the user at the other end of a local socket is unknown"));
  }
  if (peer.uid != geteuid()) {
    return absl::PermissionDeniedError(StrCat("the other end of a local socket belongs to user ", peer.uid));
  }
  return OkStatus();
}

}  // namespace

bool WaitReadable(std::span<pollfd> sockets, MonotonicClock::time_point deadline) {
  const auto poll_for = [&](int timeout_ms) { return ::poll(sockets.data(), sockets.size(), timeout_ms) > 0; };
  return Env::Default().WaitInSystem(
      [&] { return poll_for(0); },
      [&] {
        if (deadline == MonotonicClock::time_point::max()) {
          poll_for(-1);
        } else {
          const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - MonotonicClock::now()).count();
          poll_for(static_cast<int>(std::max<int64_t>(left, 0)));
        }
      },
      deadline);
}

std::string MachineAndUser() {
  // Reads the file of the real system in a simulation, too, whose own files are simulated.
  auto file = Env::System().OpenSequential("/proc/sys/kernel/random/boot_id");
  if (!file.ok()) return "";
  char id[64];
  const auto n = (*file)->Read(sizeof id, id);
  if (!n.ok() || *n == 0) return "";
  const std::string text(id, *n);
  return StrCat(text.substr(0, text.find('\n')), "/", geteuid());
}

bool IsOtherUser(std::string_view mine, std::string_view theirs) {
  return mine != theirs && !mine.empty() && mine.substr(0, mine.rfind('/')) == theirs.substr(0, theirs.rfind('/'));
}

StatusOr<Fd> ListenForNeighbours(std::string* name) {
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return Unavailable(SocketError("cannot create a local socket"));
  // Two simulations may draw the same random seeds, so the process id is needed. Two transports in one simulation draw
  // different seeds.
  *name = StrCat("tensorbraid/", getpid(), "/", RandomSeed());
  sockaddr_un address;
  const socklen_t size = AbstractAddress(*name, &address);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd.get(), 128) != 0) {
    return Unavailable(SocketError("cannot listen on a local socket"));
  }
  return fd;
}

StatusOr<Fd> AcceptNeighbour(const Fd& listening) {
  for (;;) {
    pollfd incoming{.fd = listening.get(), .events = POLLIN, .revents = 0};
    WaitReadable(std::span(&incoming, 1), MonotonicClock::time_point::max());
    Fd fd(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.is_open()) {
      TF_RETURN_IF_ERROR(CheckSameUser(fd));
      return fd;
    }
    if (errno == EINVAL || errno == EBADF) return Cancelled("the local socket was shut down");
    if (errno != EINTR && errno != ECONNABORTED) return Unavailable(SocketError("cannot accept a neighbour"));
  }
}

StatusOr<Fd> ConnectToNeighbour(const std::string& name) {
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return Unavailable(SocketError("cannot create a local socket"));
  sockaddr_un address;
  const socklen_t size = AbstractAddress(name, &address);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return Unavailable(SocketError("cannot reach its local socket (is it in another container?)"));
  }
  TF_RETURN_IF_ERROR(CheckSameUser(fd));
  return fd;
}

Status SendFd(const Fd& socket, const FdMessage& message, int fd) {
  iovec bytes{const_cast<FdMessage*>(&message), sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  if (sendmsg(socket.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof message)) {
    return Unavailable(SocketError("cannot pass a descriptor to a neighbour"));
  }
  return OkStatus();
}

StatusOr<Fd> ReceiveFd(const Fd& socket, std::chrono::milliseconds timeout, FdMessage* message) {
  pollfd incoming{.fd = socket.get(), .events = POLLIN, .revents = 0};
  WaitReadable(std::span(&incoming, 1), MonotonicClock::now() + timeout);
  iovec bytes{message, sizeof *message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  Fd fd;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (n >= 0 && rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
      rights->cmsg_len == CMSG_LEN(sizeof(int))) {
    int received;
    std::memcpy(&received, CMSG_DATA(rights), sizeof received);
    fd = Fd(received);
  }
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return DeadlineExceeded("a neighbour has passed no descriptor within ", timeout.count(), " ms");
  }
  if (n < 0) return Unavailable(SocketError("a neighbour has passed no descriptor"));
  if (n != static_cast<ssize_t>(sizeof *message) || !fd.is_open()) {
    return InvalidArgument("a neighbour has sent ", n, " bytes where a descriptor was expected");
  }
  return fd;
}

}  // namespace tensorbraid
