// Asks the kernel which user of this machine has the other end of a TCP connection, or listens on a port.
//
// The question is netlink's SOCK_DIAG_BY_FAMILY for one exact socket, which needs no privileges. The kernel answers
// with the user who made the socket, as a user id of this process's user namespace, and looks in this process's network
// namespace only. No answer counts as a user when the kernel cannot name one: the socket was closed meanwhile (closed
// sockets look like root's), the id does not exist in this user namespace, or the kernel was built without
// CONFIG_INET_DIAG. docs/design/0030-users-of-a-machine.md has more.
#ifndef TENSORBRAID_CORE_SYSTEM_PEER_USER_H_
#define TENSORBRAID_CORE_SYSTEM_PEER_USER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/system/fd.h"
#include "core/text/host_port.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// All functions are thread-safe. Except for ConnectToOwnUser they do not block.

// How many bytes a TCP connection has received so far, also after its end; 0 if the socket is not of TCP.
uint64_t BytesReceived(const Fd& socket);

// Whether programs of this user may use what this process owns: the effective user of this process, or root.
bool IsOwnUserOrRoot(uid_t user);

// The other end of a TCP connection.
struct OtherEnd {
  bool is_here = false;       // on this machine
  std::optional<uid_t> user;  // only if it is here and the kernel names the user
};
OtherEnd OtherEndOf(const Fd& socket);

// OK if the other end of the TCP connection `socket` is on another machine, or belongs to this process's user or root.
// PermissionDenied otherwise, which names the other user.
Status CheckOtherEnd(const Fd& socket);

// Connects to a port of a loopback address, if the listening process belongs to this process's user or root. Nothing is
// sent otherwise. Returns a socket that does not block. PermissionDenied if another user, or one that the kernel does
// not name, listens there; Unavailable if no process does, or if none takes the connection within `timeout`;
// InvalidArgument if `where` is not a numeric address or "localhost". Blocks only while the queue of the listening
// socket is full.
StatusOr<Fd> ConnectToOwnUser(const HostPort& where, std::chrono::milliseconds timeout);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_PEER_USER_H_
