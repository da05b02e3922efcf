// Where the tasks of a cluster are, when they come back at other addresses.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cluster/registry/running_watch.h"
#include "tensorbraid/cluster/cluster_spec.h"

namespace tensorbraid {

// The addresses of tasks that have moved: where each was, and where it is now.
using AddressMoves = std::map<std::string, std::string>;

// The cluster with the addresses of now. So it does not matter what the program calls its jobs.
ClusterSpec AfterMoves(const ClusterSpec& cluster, const AddressMoves& moves);

// Thread-safe.
class ClusterWatch {
 public:
  virtual ~ClusterWatch() = default;
  using Changed = std::function<void(const AddressMoves& moves)>;
  // Calls `changed` whenever a task has another address than before, with all moves since this process has found its
  // cluster.
  virtual std::unique_ptr<RunningWatch> Start(Changed changed) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_CLUSTER_WATCH_H_
