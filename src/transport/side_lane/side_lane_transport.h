// Adds side lanes to another transport.
#ifndef TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_TRANSPORT_H_

#include <chrono>
#include <memory>
#include <vector>

#include "transport/side_lane/lane_kind.h"
#include "transport/transport.h"

namespace tensorbraid {

struct SideLaneOptions {
  // How long the thread of a link polls for the next message before it sleeps. It yields the processor after each poll.
  // A process that may use only one core does not poll.
  std::chrono::microseconds stay_awake{100};
};

// `base` connects the tasks, serves calls, and carries all messages of two tasks that have no kind of lane in common:
// their link is the one of the base, with nothing in between. Two tasks that have one get a LaneLink, which uses the
// base until the lane is open, and for good if it cannot be opened; the log says why. Earlier kinds are preferred, by
// the end that accepts the link. Each LaneLink has a thread, which calls the handler for both channels.
std::unique_ptr<Transport> NewSideLaneTransport(std::unique_ptr<Transport> base,
                                                std::vector<std::shared_ptr<LaneKind>> kinds,
                                                const SideLaneOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_TRANSPORT_H_
