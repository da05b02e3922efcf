#include "cluster/discovery/rank_tasks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

StatusOr<int> NumParameterServers(int size, int ps, int workers) {
  if (workers == 0) return InvalidArgument("TENSORBRAID_WORKERS=0: a job needs a worker; set it to 1 or more");
  if (ps >= 0 && workers > 0 && ps + workers != size) {
    return InvalidArgument("TENSORBRAID_PS=", ps, " and TENSORBRAID_WORKERS=", workers, " need ", ps + workers,
                           " processes, but the job has ", size, "; start ", ps + workers, ", or set only one of them");
  }
  if (ps >= size) {
    return InvalidArgument("TENSORBRAID_PS=", ps, " leaves no worker: the job has only ", size,
                           size == 1 ? " process" : " processes", "; start ", ps + 1,
                           " or more, or set a smaller number");
  }
  if (workers > size) {
    return InvalidArgument("TENSORBRAID_WORKERS=", workers, ", but the job has only ", size,
                           size == 1 ? " process" : " processes", "; start more, or set a smaller number");
  }
  if (ps >= 0) return ps;
  if (workers > 0) return size - workers;
  return size > 1 ? 1 : 0;
}

std::vector<TaskName> TasksOfRanks(const std::vector<std::string>& nodes, int ps) {
  const int size = static_cast<int>(nodes.size());
  TB_CHECK(0 <= ps && ps < size);
  // Sorted by the place on the node, then by rank.
  std::vector<std::pair<int, int>> place_and_rank;
  std::map<std::string, int> ranks_on_node;
  for (int rank = 0; rank < size; ++rank) place_and_rank.emplace_back(ranks_on_node[nodes[rank]]++, rank);
  std::sort(place_and_rank.begin(), place_and_rank.end());
  std::vector<TaskName> tasks(size);
  for (int i = 0; i < ps; ++i) tasks[place_and_rank[i].second] = {"ps", i};
  int worker = 0;
  for (TaskName& task : tasks) {
    if (task.job.empty()) task = {"worker", worker++};
  }
  return tasks;
}

}  // namespace tensorbraid
