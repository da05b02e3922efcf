// Gives every node of a graph its device.
#ifndef TENSORBRAID_PLACEMENT_PLACER_H_
#define TENSORBRAID_PLACEMENT_PLACER_H_

#include <vector>

#include "core/device_name.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

struct PlacerOptions {
  // All devices that nodes may go to, in order of preference; the first is where unconstrained nodes go.
  std::vector<DeviceName> devices;
  // Takes another device of the same task, or the first of all, when the one asked for does not exist or has no kernel.
  bool allow_soft_placement = false;
  bool log_placement = false;
};

// Sets the device of every node to the full name of one of `options.devices`. Nodes that must share a device (colocated
// ones, users of a reference or of a resource) get one that suits all of them; users go where the state is, and what
// they ask for counts where nothing is asked for the state. InvalidArgument when there is none: the message names the
// node, what was asked for and what exists.
Status PlaceNodes(Graph* graph, const PlacerOptions& options);

// The error for a node whose device there is not.
Status NoSuchDevice(const Node& node, const DeviceName& wanted, const std::vector<DeviceName>& devices);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PLACEMENT_PLACER_H_
