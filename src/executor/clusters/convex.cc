#include "executor/clusters/convex.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

std::vector<int> ConvexSets(const Graph& graph, const std::vector<int>& kind_of) {
  const auto& nodes = ImplOf(graph).nodes();
  const bool has_loops = std::ranges::any_of(nodes, [](const auto& n) { return FlowKindOf(*n) == FlowKind::kExit; });
  const auto frames = has_loops ? AssignFrames(graph) : FrameAssignment();
  std::vector<int> level(nodes.size(), 0), loop_level(frames.ok() ? frames->frames.size() : 0, 0);
  // Again if a node of a loop that comes behind an Exit has a higher level than the Exit.
  for (bool again = true; std::exchange(again, false);) {
    for (const auto& node : nodes) {
      const int kind = kind_of[node->id()];
      int& own = level[node->id()];
      const auto after = [&](const Node& before) {
        const int from = kind_of[before.id()];
        own = std::max(own, level[before.id()] + (from >= 0 && from != kind ? 1 : 0));
      };
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        if (!IsBackEdge(*node, i)) after(*NodeOf(node->inputs()[i]));
      }
      for (const Node* control : node->control_inputs()) after(*control);
      if (loop_level.empty()) continue;
      const bool is_exit = FlowKindOf(*node) == FlowKind::kExit;
      int& of_loop = loop_level[is_exit ? frames->frame_of[node->id()] : frames->out_frame_of[node->id()]];
      if (is_exit) own = std::max(own, of_loop);
      again = again || own > of_loop;
      of_loop = std::max(own, of_loop);
    }
  }
  std::vector<int> set_of(nodes.size(), -1);
  std::map<std::pair<int, int>, int> numbers;  // keyed by kind and level
  for (const auto& node : nodes) {
    const int kind = kind_of[node->id()];
    if (kind < 0) continue;
    set_of[node->id()] = numbers.try_emplace({kind, level[node->id()]}, static_cast<int>(numbers.size())).first->second;
  }
  return set_of;
}

}  // namespace tensorbraid
