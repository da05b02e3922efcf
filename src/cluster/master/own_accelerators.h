// What a master knows about the accelerators of its own process.
#ifndef TENSORBRAID_CLUSTER_MASTER_OWN_ACCELERATORS_H_
#define TENSORBRAID_CLUSTER_MASTER_OWN_ACCELERATORS_H_

#include <string>
#include <vector>

#include "cluster/membership/cluster_view.h"
#include "core/text/device_name.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// For soft placement: starts the accelerators that nodes of the graph request of the task `self`, and removes those
// from `devices` that cannot be started or that the plugin has not found, with a warning. A driver that is too old or a
// card that another process uses is only noticed then. Blocks while a plugin starts, for seconds at most.
void RemoveDeadAccelerators(const Graph& graph, const std::string& self, std::vector<DeviceName>* devices);

// Whether nodes may run on `device`, a GPU, although they have not requested one. False if its task is not connected,
// so that the GPU is an assumption, and, with one warning of the process, if it is one of this task and cannot be
// started. Blocks while a plugin starts, for seconds at most.
bool CanPreferGpu(const DeviceName& device, const ClusterView& view);

// Why `requested`, which is not among `devices`, does not exist, and what to do. "" if it is no accelerator, or one of
// another task.
std::string WhyNoAccelerator(const DeviceName& requested, const std::string& self,
                             const std::vector<DeviceName>& devices);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_OWN_ACCELERATORS_H_
