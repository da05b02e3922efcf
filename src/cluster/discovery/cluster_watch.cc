#include "cluster/discovery/cluster_watch.h"

#include <utility>

namespace tensorbraid {

ClusterSpec AfterMoves(const ClusterSpec& cluster, const AddressMoves& moves) {
  std::map<std::string, ClusterSpec::Tasks> jobs;
  for (const std::string& job : cluster.jobs()) {
    for (int index : cluster.task_indices(job)) {
      std::string address = *cluster.task_address(job, index);
      if (const auto move = moves.find(address); move != moves.end()) address = move->second;
      jobs[job][index] = std::move(address);
    }
  }
  return ClusterSpec::Sparse(std::move(jobs));
}

}  // namespace tensorbraid
