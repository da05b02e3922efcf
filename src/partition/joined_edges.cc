#include "partition/joined_edges.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "core/values/joined_tensors.h"
#include "core/values/tensor_bytes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "partition/prerequisites.h"

namespace tensorbraid {
namespace {

bool LooksUpTable(const Node& node) { return node.type() == "KvResourceGather" || node.type() == "KvResourceGatherV1"; }
bool UpdatesTable(const Node& node) { return node.type().find("KvResourceSparseApply") != std::string::npos; }

// Whether the node gives rows to an accumulator of a growing table, the number of whose rows is not known.
bool AddsToTable(const Node& node) {
  if (node.type() != "_SparseAccumulatorApplyGradient") return false;
  const AttrValue* const shape = NodeOf(node.inputs()[0])->FindAttr("shape");
  const auto* const value = shape == nullptr ? nullptr : shape->get<Shape>();
  return value != nullptr && value->rank() == 2 && value->dim(0) < 0;
}

// The edges from other tasks that lead to lookups and updates of growing tables, and those that rows come by. Keyed by
// the id of the receiving node and the number of its input.
class TableEdges {
 public:
  TableEdges(const Graph& graph, const std::vector<std::string>& tasks) : tasks_(tasks) {
    const auto& nodes = ImplOf(graph).nodes();
    for (const auto& node : nodes) {
      if (LooksUpTable(*node) || UpdatesTable(*node) || AddsToTable(*node)) Follow(*node);
      FollowRows(*node, LooksUpTable);
    }
    if (edges_.empty()) return;
    // The versions of tables travel, too, if a worker sums gradients of several batches.
    for (const auto& node : nodes) {
      if (node->type() == "_AdmitGradient") Follow(*node);
      FollowRows(*node, [](const Node& from) { return from.type() == "_ReadUpdateClock"; });
    }
  }
  // In the order of the graph.
  const std::set<std::pair<int, int>>& edges() const { return edges_; }

 private:
  // Goes back to the edges from other tasks, through nodes that pass a gradient on or scale it.
  void Follow(const Node& node) {
    constexpr std::array<std::string_view, 5> kPasses = {"Cast", "Identity", "Mul", "RealDiv", "Switch"};
    if (!seen_.insert(node.id()).second) return;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Node* const from = NodeOf(node.inputs()[i]);
      if (from == nullptr) continue;
      if (tasks_[from->id()] != tasks_[node.id()]) {
        edges_.emplace(node.id(), static_cast<int>(i));
      } else if (std::ranges::find(kPasses, from->type()) != kPasses.end()) {
        Follow(*from);
      }
    }
  }

  // Adds the edges from nodes of other tasks that make rows, or versions.
  template <typename Makes>
  void FollowRows(const Node& node, const Makes& makes) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Node* const from = NodeOf(node.inputs()[i]);
      if (from == nullptr || tasks_[from->id()] == tasks_[node.id()] || !makes(*from)) continue;
      edges_.emplace(node.id(), static_cast<int>(i));
    }
  }

  const std::vector<std::string>& tasks_;
  std::set<int> seen_;
  std::set<std::pair<int, int>> edges_;
};

// A number for each node: how many times the longest way to it goes from one task to another. Along each edge it does
// not fall, and along an edge between tasks it rises. So of two tensors that are made at one level, none needs what
// another task makes of the other one. Nodes of a loop have one number, since they depend on each other. Nothing if
// there are no such numbers.
std::optional<std::vector<int>> LevelsOf(const Graph& graph, const std::vector<std::string>& tasks,
                                         const FrameAssignment& frames) {
  const auto& nodes = ImplOf(graph).nodes();
  // The outermost loop of a frame; 0 outside of loops.
  const auto loop_of = [&](int frame) {
    while (frame > 0 && frames.frames[frame].parent > 0) frame = frames.frames[frame].parent;
    return frame;
  };
  std::vector<int> levels(nodes.size()), level_of_loop(frames.frames.size());
  constexpr int kMostRounds = 16;  // usually one or two
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const auto& node : nodes) {
      const int id = node->id(), loop = loop_of(frames.frame_of[id]);
      int level = loop > 0 ? level_of_loop[loop] : 0;
      const auto follow = [&](const Node& from) {
        if (loop > 0 && loop_of(frames.frame_of[from.id()]) == loop) return;
        level = std::max(level, levels[from.id()] + (tasks[from.id()] == tasks[id] ? 0 : 1));
      };
      for (const Output& in : node->inputs()) follow(*NodeOf(in));
      for (const Node* control : node->control_inputs()) follow(*control);
      changed = changed || level != levels[id];
      levels[id] = level;
      if (loop > 0) level_of_loop[loop] = level;
    }
    if (!changed) return levels;
  }
  return std::nullopt;
}

}  // namespace

StatusOr<JoinedEdges> JoinedEdges::Find(const Graph& graph, const std::vector<std::string>& tasks,
                                        const std::vector<bool>& conditional, const ReferenceTensors& references,
                                        const WireEdges& wire) {
  struct Crossing {
    Output tensor;
    const std::string* to;
    bool encoded;
  };
  std::vector<Crossing> crossings;
  const auto& nodes = ImplOf(graph).nodes();
  const TableEdges tables(graph, tasks);
  for (const auto& [id, input] : tables.edges()) {
    const Node& node = *nodes[static_cast<size_t>(id)];
    const Output& in = node.inputs()[static_cast<size_t>(input)];
    if (!IsPlain(in.dtype()) || references.Contains(in) || NodeOf(in)->type() == "Const") continue;
    crossings.push_back({.tensor = in, .to = &tasks[id], .encoded = wire.At(node, input) != nullptr});
  }
  JoinedEdges result;
  if (crossings.size() < 2) return result;
  TF_ASSIGN_OR_RETURN(const FrameAssignment frames, AssignFrames(graph));
  const auto levels = LevelsOf(graph, tasks, frames);
  if (!levels.has_value()) return result;
  const Prerequisites prerequisites(graph, frames);
  // By sender, receiver, level and prerequisites.
  using Key = std::tuple<std::string, std::string, int, Prerequisites::Sets>;
  std::map<Key, JoinedGroup> groups;
  std::map<Key, std::vector<JoinedPart>> parts;
  for (const Crossing& crossing : crossings) {
    const Node& from = *NodeOf(crossing.tensor);
    const auto sets = prerequisites.Of(crossing.tensor);
    if (!sets.has_value()) continue;
    const Key key(tasks[from.id()], *crossing.to, (*levels)[from.id()], *sets);
    JoinedGroup& group = groups[key];
    if (std::ranges::find(group.tensors, crossing.tensor) != group.tensors.end()) {
      if (crossing.encoded) parts[key].push_back({.bytes = -1, .rank = 0});
      continue;
    }
    group.tensors.push_back(crossing.tensor);
    group.conditional = group.conditional || conditional[from.id()];
    const Shape& shape = crossing.tensor.shape();
    const int64_t bytes = crossing.encoded ? -1 : TensorBytes(shape, crossing.tensor.dtype());
    parts[key].push_back({.bytes = bytes, .rank = bytes < 0 ? 0 : shape.rank()});
  }
  for (auto& [key, group] : groups) {
    if (group.tensors.size() < 2) continue;
    group.from = std::get<0>(key);
    group.to = std::get<1>(key);
    const auto& sizes = parts[key];
    const bool known = std::ranges::none_of(sizes, [](const JoinedPart& part) { return part.bytes < 0; });
    if (known) group.bytes = BytesOfJoined(sizes);
    for (const Output& tensor : group.tensors) {
      result.group_of_[{NodeOf(tensor)->id(), tensor.index(), group.to}] = static_cast<int>(result.groups_.size());
    }
    result.groups_.push_back(std::move(group));
  }
  return result;
}

int JoinedEdges::GroupOf(const Output& tensor, const std::string& task) const {
  if (group_of_.empty()) return -1;
  const auto it = group_of_.find({NodeOf(tensor)->id(), tensor.index(), task});
  return it == group_of_.end() ? -1 : it->second;
}

}  // namespace tensorbraid
