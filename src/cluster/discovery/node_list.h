// Slurm's notation for many host names.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_NODE_LIST_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_NODE_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Expands "alpha,rack[1-2]-node[08-10,12]" into the names, in their order. Numbers keep their zeros. InvalidArgument
// for a list with a wrong bracket or range, or with more than 100,000 names.
StatusOr<std::vector<std::string>> ExpandNodeList(std::string_view list);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_NODE_LIST_H_
