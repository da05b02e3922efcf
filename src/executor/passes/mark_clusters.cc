// Marks the nodes that an accelerator runs as one program.
//
// The marks are made for the whole graph, before it is divided by tasks: a task's part does not show that one of its
// nodes waits, by way of another task, for a node of the same program, nor which of them run at the same times. The
// task makes the programs (executor/clusters).
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "executor/clusters/convex.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_nodes.h"
#include "executor/clusters/run_conditions.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

Status MarkClusters(Graph* graph, PassContext& context) {
  const auto& nodes = ImplOf(*graph).nodes();
  if (std::ranges::none_of(nodes, [&](const auto& n) { return RunsPrograms(context.DeviceType(*n)); })) {
    return OkStatus();
  }
  const ProgramNodes programs(*graph);
  TF_ASSIGN_OR_RETURN(const std::vector<int> conditions, RunConditions(*graph));
  std::vector<int> kind_of(nodes.size(), -1);
  std::map<std::pair<std::string, int>, int> kinds;  // keyed by device and condition
  for (const auto& node : nodes) {
    if (!programs.Contains(*node)) continue;
    kind_of[node->id()] =
        kinds.try_emplace({node->device(), conditions[node->id()]}, static_cast<int>(kinds.size())).first->second;
  }
  const std::vector<int> sets = ConvexSets(*graph, kind_of);
  for (const auto& node : nodes) {
    if (sets[node->id()] >= 0) ImplOf(*graph).SetAttr(node.get(), kClusterMark, int64_t{sets[node->id()]});
  }
  return OkStatus();
}

}  // namespace tensorbraid
