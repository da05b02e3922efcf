#include "executor/clusters/run_conditions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

using Conditions = std::vector<int>;  // numbers of conditions, in increasing order

Conditions Union(const Conditions& a, const Conditions& b) {
  Conditions all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

// One sweep over the graph. It supposes that loops are regular: all Merge nodes of a loop run in each iteration, and
// its Exits run once, when it ends. Loops for which this turns out to be wrong are reported; for these the next sweep
// supposes nothing.
class Sweep {
 public:
  Sweep(const Graph& graph, const FrameAssignment& frames, const std::set<int>& irregular)
      : nodes_(ImplOf(graph).nodes()),
        frames_(frames),
        irregular_(irregular),
        of_node_(nodes_.size()),
        loops_(frames.frames.size()) {}

  // Returns the loops that are not regular, although they were supposed to be.
  std::set<int> Run() {
    for (const auto& node : nodes_) of_node_[node->id()] = Of(*node);
    std::set<int> found;
    for (const auto& node : nodes_) {
      if (FlowKindOf(*node) != FlowKind::kMerge) continue;
      const int frame = frames_.frame_of[node->id()];
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        if (!IsBackEdge(*node, i)) continue;
        const Conditions& next = of_node_[NodeOf(node->inputs()[i])->id()];
        Loop& loop = loops_[frame];
        const bool is_first = !std::exchange(loop.has_next, true);
        if (is_first) loop.next = next;
        if (loop.next != next || !loop.merges_run) found.insert(frame);
      }
    }
    for (size_t frame = 0; frame < loops_.size(); ++frame) {
      for (const Conditions& at_exit : loops_[frame].exits) {
        if (!IsOtherwise(at_exit, loops_[frame].next)) found.insert(static_cast<int>(frame));
      }
    }
    for (const int frame : irregular_) found.erase(frame);
    return found;
  }

  std::vector<int> Numbers() const {
    std::map<std::pair<int, Conditions>, int> numbers;
    std::vector<int> result;
    for (const auto& node : nodes_) {
      const std::pair key(frames_.frame_of[node->id()], of_node_[node->id()]);
      result.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
    }
    return result;
  }

 private:
  // A condition is a branch of a predicate, or something that is known by its number only.
  struct Condition {
    bool is_branch = false;
    std::pair<int, int> predicate = {};  // node id and output
    int branch = 0, num_branches = 0;
    friend auto operator<=>(const Condition&, const Condition&) = default;
  };
  struct Loop {
    bool is_entered = false;
    Conditions outside;      // those of the loop itself
    bool merges_run = true;  // all Merge nodes run in the first iteration
    bool has_next = false;
    Conditions next;                // those under which there is a next iteration
    std::vector<Conditions> exits;  // those of its Exits
  };

  int NumberOf(const Condition& condition) {
    const auto [at, added] = known_.try_emplace(condition, static_cast<int>(conditions_.size()));
    if (added) conditions_.push_back(condition);
    return at->second;
  }
  // The number of a condition that is the same for equal keys.
  template <typename Key>
  int NumberOf(std::map<Key, int>& known, const Key& key) {
    const auto [at, added] = known.try_emplace(key, static_cast<int>(conditions_.size()));
    if (added) conditions_.emplace_back();
    return at->second;
  }

  // The conditions of output `index`.
  Conditions OfOutput(const Node& node, int index) {
    const Conditions& own = of_node_[node.id()];
    switch (FlowKindOf(node)) {
      case FlowKind::kSwitch:
        return Union(own, {NumberOf({.is_branch = true,
                                     .predicate = PredicateOf(node),
                                     .branch = index,
                                     .num_branches = node.num_outputs()})});
      case FlowKind::kEnter: {
        Loop& loop = loops_[frames_.out_frame_of[node.id()]];
        if (!std::exchange(loop.is_entered, true)) loop.outside = own;
        return own == loop.outside ? Conditions() : Conditions{NumberOf(entered_, own)};
      }
      case FlowKind::kExit: {
        const int frame = frames_.frame_of[node.id()];
        if (!irregular_.contains(frame)) return loops_[frame].outside;
        return {NumberOf(exited_, std::pair(frame, own))};
      }
      default:
        return own;
    }
  }

  // The tensor that decides, behind nodes that only pass it on.
  static std::pair<int, int> PredicateOf(const Node& node) {
    Output tensor = node.inputs()[1];
    while (NodeOf(tensor)->type() == "Identity" || NodeOf(tensor)->type() == "LoopCond") {
      tensor = NodeOf(tensor)->inputs()[0];
    }
    return {NodeOf(tensor)->id(), tensor.index()};
  }

  Conditions Of(const Node& node) {
    const FlowKind kind = FlowKindOf(node);
    if (kind == FlowKind::kControlTrigger) return {};
    if (kind == FlowKind::kMerge) return OfMerge(node);
    Conditions all;
    for (const Output& in : node.inputs()) all = Union(all, OfOutput(*NodeOf(in), in.index()));
    for (const Node* control : node.control_inputs()) all = Union(all, OfControl(*control));
    if (kind == FlowKind::kExit) loops_[frames_.frame_of[node.id()]].exits.push_back(all);
    return all;
  }
  // A Switch runs, and so do those that wait for it, whichever branch is taken.
  Conditions OfControl(const Node& node) {
    return FlowKindOf(node) == FlowKind::kSwitch ? of_node_[node.id()] : OfOutput(node, 0);
  }

  Conditions OfMerge(const Node& node) {
    std::set<Conditions> inputs;
    bool has_back_edge = false;
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const bool is_back_edge = IsBackEdge(node, i);
      has_back_edge = has_back_edge || is_back_edge;
      if (!is_back_edge) inputs.insert(OfOutput(*NodeOf(node.inputs()[i]), node.inputs()[i].index()));
    }
    const int frame = frames_.frame_of[node.id()];
    if (has_back_edge && irregular_.contains(frame)) return {NumberOf(irregular_merges_, node.id())};
    Conditions merged = OfAny(std::move(inputs));
    for (const Node* control : node.control_inputs()) merged = Union(merged, OfControl(*control));
    if (has_back_edge && !merged.empty()) loops_[frame].merges_run = false;
    return merged;
  }

  // The conditions under which at least one of the inputs of a Merge is alive.
  Conditions OfAny(std::set<Conditions> inputs) {
    if (inputs.size() == 1) return *inputs.begin();
    for (const int candidate : inputs.empty() ? Conditions() : *inputs.begin()) {
      const Condition& condition = conditions_[candidate];
      if (!condition.is_branch || condition.num_branches != static_cast<int>(inputs.size())) continue;
      std::set<int> branches;
      std::set<Conditions> rests;
      for (const Conditions& input : inputs) {
        Conditions rest;
        for (const int number : input) {
          if (conditions_[number].is_branch && conditions_[number].predicate == condition.predicate) {
            branches.insert(conditions_[number].branch);
          } else {
            rest.push_back(number);
          }
        }
        rests.insert(std::move(rest));
      }
      if (rests.size() == 1 && static_cast<int>(branches.size()) == condition.num_branches) return *rests.begin();
    }
    return {NumberOf(merged_, inputs)};
  }

  // Whether one of them is a single branch, and the other one the other branch of the same predicate.
  bool IsOtherwise(const Conditions& a, const Conditions& b) const {
    if (a.size() != 1 || b.size() != 1) return false;
    const Condition &x = conditions_[a[0]], &y = conditions_[b[0]];
    return x.is_branch && y.is_branch && x.predicate == y.predicate && x.num_branches == 2 && x.branch != y.branch;
  }

  const std::vector<std::shared_ptr<Node>>& nodes_;
  const FrameAssignment& frames_;
  const std::set<int>& irregular_;
  std::vector<Conditions> of_node_;  // by node id
  std::vector<Loop> loops_;          // by frame
  std::vector<Condition> conditions_;
  std::map<Condition, int> known_;
  std::map<Conditions, int> entered_;                 // by the conditions of an Enter that differ from the loop's
  std::map<std::pair<int, Conditions>, int> exited_;  // by frame and conditions of an Exit
  std::map<std::set<Conditions>, int> merged_;        // by those of the inputs of a Merge
  std::map<int, int> irregular_merges_;               // by node id, of loops that are not regular
};

}  // namespace

StatusOr<std::vector<int>> RunConditions(const Graph& graph) {
  TF_ASSIGN_OR_RETURN(const FrameAssignment frames, AssignFrames(graph));
  std::set<int> irregular;
  while (true) {
    Sweep sweep(graph, frames, irregular);
    const std::set<int> found = sweep.Run();
    if (found.empty()) return sweep.Numbers();
    irregular.insert(found.begin(), found.end());
  }
}

}  // namespace tensorbraid
