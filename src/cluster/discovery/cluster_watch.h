// Where the tasks of a cluster are, when they come back at other addresses.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_

#include <functional>
#include <memory>

#include "cluster/registry/running_watch.h"
#include "tensorbraid/cluster/cluster_spec.h"

namespace tensorbraid {

// Thread-safe.
class ClusterWatch {
 public:
  virtual ~ClusterWatch() = default;
  using Changed = std::function<void(const ClusterSpec& cluster)>;
  // Calls `changed` with the whole cluster whenever the address of a task has changed since the cluster was found.
  virtual std::unique_ptr<RunningWatch> Start(Changed changed) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_
