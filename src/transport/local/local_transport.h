// Neighbours (tasks of one machine and one user) pass memory to each other instead of bytes.
#ifndef TENSORBRAID_TRANSPORT_LOCAL_LOCAL_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_LOCAL_LOCAL_TRANSPORT_H_

#include <chrono>
#include <memory>

#include "transport/local/local_lane.h"
#include "transport/transport.h"

namespace tensorbraid {

struct LocalTransportOptions {
  LocalLaneOptions lane = {};
  // How long the thread of a link polls for the next message before it sleeps. It yields the processor after each poll.
  // A process that may use only one core does not poll.
  std::chrono::microseconds stay_awake{100};
};

// Adds local lanes to `base`, which connects the tasks, serves calls, and carries all messages of tasks that are not
// neighbours. Each link begins on `base`: the Hellos tell whether the two tasks are neighbours. If they are, the
// connecting side reaches the other one's Unix socket and passes it the memory of the rings. Then both switch to the
// local lane (LaneLink). The link of `base` stays open as a sign of life: when it goes down, this link delivers what is
// left in the ring and goes down too.
//
// Where a local lane is not possible (another container, seccomp, no shared memory), the link uses `base`, and the
// reason is logged. Each link with a local lane has a thread, which calls the handler for both lanes of the link.
std::unique_ptr<Transport> NewLocalTransport(std::unique_ptr<Transport> base,
                                             const LocalTransportOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LOCAL_LOCAL_TRANSPORT_H_
