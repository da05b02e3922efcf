// Decides which ranks of a job are parameter servers and which are workers.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_RANK_TASKS_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_RANK_TASKS_H_

#include <string>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct TaskName {
  std::string job;
  int index = 0;
  friend bool operator==(const TaskName&, const TaskName&) = default;
};

// The number of parameter servers of a job of `size` ranks. `ps` and `workers` are the values of TENSORBRAID_PS and
// TENSORBRAID_WORKERS, or -1 if they are not set. Without both, a job of two ranks or more has one parameter server.
// InvalidArgument, naming the variable, if no worker would be left or the numbers do not add up.
StatusOr<int> NumParameterServers(int size, int ps, int workers);

// The task of each rank. `nodes` has the node of each rank. Parameter servers are spread over the nodes: they are the
// first rank of each node, then the second of each, and so on. The other ranks are workers, in their order.
// REQUIRES: 0 <= ps < nodes.size() (checked).
std::vector<TaskName> TasksOfRanks(const std::vector<std::string>& nodes, int ps);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_RANK_TASKS_H_
