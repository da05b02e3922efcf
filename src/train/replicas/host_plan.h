// Which workers share a host, and which of them sums the gradients of its host (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_HOST_PLAN_H_
#define TENSORBRAID_TRAIN_REPLICAS_HOST_PLAN_H_

#include <cstdint>
#include <string>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct HostPlan {
  int64_t replica = 0;           // the number of this worker among all workers
  int64_t replicas = 1;          // the number of workers
  int64_t on_host = 1;           // the number of workers on this worker's host
  std::string sums_device = "";  // the device of the first worker on this host
  bool sums_here = true;         // whether this worker is the first
  bool meets = false;            // whether any host has several workers; the same for all workers
};

// The plan of the worker at `worker_device` ("/job:worker/task:1"). Workers are the tasks of its job and of the jobs
// "chief", "master" and "worker". They share a host if their addresses have the same host. InvalidArgument if the
// cluster has no such task.
StatusOr<HostPlan> PlanOfHost(const ClusterSpec& cluster, const std::string& worker_device);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_HOST_PLAN_H_
