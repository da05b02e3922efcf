// Tasks that have UCX exchange their messages by it: by RDMA, where the hardware has it.
#ifndef TENSORBRAID_TRANSPORT_UCX_UCX_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_UCX_UCX_TRANSPORT_H_

#include <chrono>
#include <memory>

#include "transport/transport.h"
#include "transport/ucx/ucx_library.h"

namespace tensorbraid {

struct UcxTransportOptions {
  // Links to tasks of this machine and user stay on the base, because a LocalTransport around this one handles them.
  bool leave_neighbours = false;
  // As in GrpcOptions.
  std::chrono::microseconds stay_awake{100};
  // How long the two ends of a link may take until messages come through UCX. Then the link uses its base.
  std::chrono::milliseconds choice_timeout = std::chrono::seconds(5);
};

// Adds lanes by UCX to `base`, which connects the tasks, serves calls, and carries all messages of tasks without UCX.
// Each link begins on `base`: the Hellos tell whether both ends want UCX and have the same version. If they do, each
// end sends the other the address of its worker over `base`, and both send a probe through UCX. Once the probes have
// arrived, both switch to the lane (LaneLink). The link of `base` stays open as a sign of life.
//
// Where UCX does not connect the two, the link uses `base`, and the reason is logged. Each link with a lane has a
// thread, which calls the handler for both lanes of the link. What travels through UCX is not encrypted.
std::unique_ptr<Transport> NewUcxTransport(std::unique_ptr<Transport> base, std::shared_ptr<UcxContext> context,
                                           const UcxTransportOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_UCX_UCX_TRANSPORT_H_
