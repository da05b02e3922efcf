#include "train/replicas/host_plan.h"

#include <map>
#include <set>

#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<HostPlan> PlanOfHost(const ClusterSpec& cluster, const std::string& worker_device) {
  TF_ASSIGN_OR_RETURN(const DeviceName own, DeviceName::Parse(worker_device));
  if (!own.job || !own.task) {
    return InvalidArgument("worker_device '", worker_device,
                           "' must name a job and a task, as in '/job:worker/task:0'");
  }
  TF_ASSIGN_OR_RETURN(const std::string own_address, cluster.task_address(*own.job, *own.task));
  const auto host_of = [](const std::string& address) { return address.substr(0, address.rfind(':')); };
  HostPlan plan;
  plan.replicas = plan.on_host = 0;
  std::map<std::string, int> workers_of;  // by host
  for (const std::string& job : std::set<std::string>{*own.job, "chief", "master", "worker"}) {
    for (const int task : cluster.task_indices(job)) {
      TF_ASSIGN_OR_RETURN(const std::string address, cluster.task_address(job, task));
      if (++workers_of[host_of(address)] > 1) plan.meets = true;
      const bool is_own = job == *own.job && task == *own.task;
      if (is_own) plan.replica = plan.replicas;
      ++plan.replicas;
      if (host_of(address) != host_of(own_address)) continue;
      if (++plan.on_host > 1) continue;
      plan.sums_here = is_own;
      plan.sums_device = FullTaskName(job, task);
    }
  }
  return plan;
}

}  // namespace tensorbraid
