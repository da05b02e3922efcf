#include "graph/control_flow/control_flow.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

FlowKind FlowKindOf(std::string_view op) {
  static const auto* const kinds = new absl::flat_hash_map<std::string_view, FlowKind>{
      {"Switch", FlowKind::kSwitch},
      {"RefSwitch", FlowKind::kSwitch},
      {"_SwitchN", FlowKind::kSwitch},
      {"Merge", FlowKind::kMerge},
      {"RefMerge", FlowKind::kMerge},
      {"Enter", FlowKind::kEnter},
      {"RefEnter", FlowKind::kEnter},
      {"Exit", FlowKind::kExit},
      {"RefExit", FlowKind::kExit},
      {"NextIteration", FlowKind::kNextIteration},
      {"RefNextIteration", FlowKind::kNextIteration},
      {"LoopCond", FlowKind::kLoopCond},
      {"ControlTrigger", FlowKind::kControlTrigger},
  };
  const auto it = kinds->find(op);
  return it == kinds->end() ? FlowKind::kNone : it->second;
}

bool IsBackEdge(const Node& node, int input) {
  const Node* from = NodeOf(node.inputs()[input]);
  return from != nullptr && FlowKindOf(*from) == FlowKind::kNextIteration && FlowKindOf(node) == FlowKind::kMerge;
}

StatusOr<FrameAssignment> AssignFrames(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  FrameAssignment a;
  a.frames.push_back({});
  a.frame_of.assign(nodes.size(), 0);
  a.out_frame_of.assign(nodes.size(), 0);
  std::map<std::pair<int, std::string>, int> known;  // numbers of frames, keyed by parent and name
  const auto differ = [&](const Node& node, const Node& one, const Node& other) {
    const auto name = [&](const Node& n) {
      const int frame = a.out_frame_of[n.id()];
      return frame == 0 ? std::string("no loop") : StrCat("loop '", a.frames[frame].name, "'");
    };
    return InvalidArgument(node.Describe(), " has inputs from different frames: '", one.name(), "' is in ", name(one),
                           ", '", other.name(), "' in ", name(other));
  };
  for (const auto& node : nodes) {
    const Node* first = nullptr;
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      if (IsBackEdge(*node, static_cast<int>(i))) continue;
      const Node* from = NodeOf(node->inputs()[i]);
      if (first == nullptr) first = from;
      if (a.out_frame_of[from->id()] != a.out_frame_of[first->id()]) return differ(*node, *first, *from);
    }
    for (const Node* from : node->control_inputs()) {
      if (first == nullptr) first = from;
      if (a.out_frame_of[from->id()] != a.out_frame_of[first->id()]) return differ(*node, *first, *from);
    }
    const int frame = first == nullptr ? 0 : a.out_frame_of[first->id()];
    a.frame_of[node->id()] = a.out_frame_of[node->id()] = frame;
    if (FlowKindOf(*node) == FlowKind::kEnter) {
      const auto& name = node->attr<std::string>("frame_name");
      const auto [it, added] = known.try_emplace({frame, name}, static_cast<int>(a.frames.size()));
      if (added) {
        const auto parallel = std::clamp<int64_t>(node->attr<int64_t>("parallel_iterations"), 1, 1 << 20);
        a.frames.push_back({.name = name, .parent = frame, .parallel_iterations = static_cast<int>(parallel)});
      }
      a.out_frame_of[node->id()] = it->second;
    } else if (FlowKindOf(*node) == FlowKind::kExit) {
      if (frame == 0) return InvalidArgument(node->Describe(), " is not in a loop");
      a.out_frame_of[node->id()] = a.frames[frame].parent;
    }
  }
  for (const auto& node : nodes) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Node* from = NodeOf(node->inputs()[i]);
      if (!IsBackEdge(*node, static_cast<int>(i))) continue;
      if (a.frame_of[from->id()] == 0) return InvalidArgument(from->Describe(), " is not in a loop");
      if (a.frame_of[node->id()] != a.frame_of[from->id()]) return differ(*node, *node, *from);
    }
  }
  return a;
}

StatusOr<std::vector<bool>> InsideControlFlow(const Graph& graph) {
  TF_ASSIGN_OR_RETURN(const FrameAssignment frames, AssignFrames(graph));
  const auto& nodes = ImplOf(graph).nodes();
  // How many conditionals the node is in. Conditionals within a loop are not counted: all of the loop is inside anyway.
  std::vector<int> branches(nodes.size());
  std::vector<bool> inside(nodes.size());
  for (const auto& node : nodes) {
    int depth = 0;
    for (const Output& input : node->inputs()) depth = std::max(depth, branches[NodeOf(input)->id()]);
    for (const Node* control : node->control_inputs()) depth = std::max(depth, branches[control->id()]);
    const std::string& op = node->op().name;
    if (op == "Switch" || op == "RefSwitch") ++depth;
    if (op == "Merge" || op == "RefMerge") depth = std::max(0, depth - 1);
    const bool in_loop = frames.out_frame_of[node->id()] != 0;
    branches[node->id()] = in_loop || op == "Exit" || op == "RefExit" ? 0 : depth;
    inside[node->id()] = in_loop || depth > 0;
  }
  return inside;
}

}  // namespace tensorbraid
