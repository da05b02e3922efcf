// Accelerators of a task that cannot be used: the driver is too old, or another process has taken the card.
#ifndef TENSORBRAID_CLUSTER_WORKER_DEAD_ACCELERATORS_H_
#define TENSORBRAID_CLUSTER_WORKER_DEAD_ACCELERATORS_H_

#include <optional>

#include "core/text/device_name.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Starts the accelerators of this task on which nodes of `part` are placed. The error of one that cannot be started
// carries its name for the master, which may then place the nodes on the CPU. Blocks while a plugin starts, for seconds
// at most.
Status StartAccelerators(const Graph& part);

// The devices that such an error is about: all devices of a type of one task, as a name without a number, or one of
// them. Nothing for any other status.
std::optional<DeviceName> DeadAcceleratorsOf(const Status& status);

// Such an error with the advice to allow soft placement. Any other status as it is.
Status AdviseSoftPlacement(const Status& status);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_DEAD_ACCELERATORS_H_
