// Assigns a device to every node of a graph.
#ifndef TENSORBRAID_PLACEMENT_PLACER_H_
#define TENSORBRAID_PLACEMENT_PLACER_H_

#include <functional>
#include <string>
#include <vector>

#include "core/text/device_name.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct PlacerOptions {
  // All devices that nodes may be placed on, in order of preference. Unconstrained nodes go to the first one, or to the
  // first GPU of the same task if they prefer it (preference.h).
  std::vector<DeviceName> devices;
  // If the requested device does not exist or has no kernel, uses another device of the same task, or else the first
  // device that has the kernels. If nodes that must share a device have conflicting requests, the first one applies.
  bool allow_soft_placement = false;
  bool log_placement = false;
  // What an error says about a device that does not exist: why, and what to do; "" for nothing. May be null.
  std::function<std::string(const DeviceName&)> why_missing = nullptr;
  // Whether a GPU can be used for nodes that have not asked for one. Called when one is first preferred. May be null.
  std::function<bool(const DeviceName&)> can_be_used = nullptr;
};

// Sets the device of every node to the full name of one of `options.devices`. Nodes that must share a device (colocated
// nodes, users of a reference or of a resource) are placed on one that suits all of them. The device that a variable or
// resource requests takes precedence over the devices that its users request. The users' requests only fill in what the
// request of the variable or resource leaves open. If a type of device is still open, the nodes may prefer a GPU; of
// nodes that must share a device, the variable decides, and without one any node. InvalidArgument if no device suits;
// the message names the node, the requested device and the devices that exist.
Status PlaceNodes(Graph* graph, const PlacerOptions& options);

// The error for a node whose requested device does not exist. `why`: PlacerOptions::why_missing says so; may be "".
Status NoSuchDevice(const Node& node, const DeviceName& requested, const std::vector<DeviceName>& devices,
                    const std::string& why = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_PLACEMENT_PLACER_H_
