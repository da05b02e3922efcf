// The Unix sockets over which neighbours (tasks of one machine and one user) pass descriptors to each other. Their
// names are abstract: they are not in the file system and disappear with the process.
#ifndef TENSORBRAID_TRANSPORT_LOCAL_LANE_SOCKET_H_
#define TENSORBRAID_TRANSPORT_LOCAL_LANE_SOCKET_H_

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/system/clock.h"
#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Identifies this machine since it was booted, and the user of this process. Two tasks with equal texts are neighbours.
// Empty if the system does not tell.
std::string MachineAndUser();
// Whether two such texts name the same machine but different users.
bool IsOtherUser(std::string_view mine, std::string_view theirs);

// Blocks until one of the sockets has an event in its `events`, or is closed at the other end, and fills in `revents`.
// Returns false if the deadline passes first.
bool WaitReadable(std::span<pollfd> sockets, MonotonicClock::time_point deadline);

// Listens on a new abstract name, which it returns in `name`. Does not block.
StatusOr<Fd> ListenForNeighbours(std::string* name);
// Takes the next connection, and blocks until there is one. PermissionDenied if a process of another user has
// connected; Cancelled once the listening socket has been shut down.
StatusOr<Fd> AcceptNeighbour(const Fd& listening);
// Does not block. PermissionDenied if a process of another user listens there, Unavailable if no process does.
StatusOr<Fd> ConnectToNeighbour(const std::string& name);

// A message with one descriptor. The meaning of `a`, `b` and `c` is up to the sender and the receiver.
struct FdMessage {
  uint64_t a = 0;
  uint64_t b = 0;
  uint64_t c = 0;
};
// Does not block: Unavailable if the socket's buffer is full.
Status SendFd(const Fd& socket, const FdMessage& message, int fd);
// Blocks until a message arrives. DeadlineExceeded after `timeout`.
StatusOr<Fd> ReceiveFd(const Fd& socket, std::chrono::milliseconds timeout, FdMessage* message);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LOCAL_LANE_SOCKET_H_
