// Marks the nodes that an accelerator runs as one program.
//
// The marks are made for the whole graph, before it is divided by tasks: a task's part does not show that one of its
// nodes waits, by way of another task, for a node of the same program. The task makes the programs (executor/clusters).
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "executor/clusters/convex.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_nodes.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

Status MarkClusters(Graph* graph, PassContext& context) {
  const auto& nodes = ImplOf(*graph).nodes();
  if (std::ranges::none_of(nodes, [&](const auto& n) { return RunsPrograms(context.DeviceType(*n)); })) {
    return OkStatus();
  }
  const ProgramNodes programs(*graph);
  std::vector<int> device_of(nodes.size(), -1);
  std::map<std::string, int> devices;
  for (const auto& node : nodes) {
    if (!programs.Contains(*node)) continue;
    device_of[node->id()] = devices.try_emplace(node->device(), static_cast<int>(devices.size())).first->second;
  }
  const std::vector<int> sets = ConvexSets(*graph, device_of);
  for (const auto& node : nodes) {
    if (sets[node->id()] >= 0) ImplOf(*graph).SetAttr(node.get(), kClusterMark, int64_t{sets[node->id()]});
  }
  return OkStatus();
}

}  // namespace tensorbraid
