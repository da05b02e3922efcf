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

// `base` connects the tasks and serves calls. Two tasks that have a kind of lane in common get a LaneLink. It uses the
// link of the base until the lane is open, and for good if the lane cannot be opened; the log says why. The end that
// accepts the link prefers earlier kinds. Each LaneLink has a thread, which calls the handler for both channels. Two
// tasks without a common kind use the link of the base itself.
std::unique_ptr<Transport> NewSideLaneTransport(std::unique_ptr<Transport> base,
                                                std::vector<std::shared_ptr<LaneKind>> kinds,
                                                const SideLaneOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SIDE_LANE_SIDE_LANE_TRANSPORT_H_
