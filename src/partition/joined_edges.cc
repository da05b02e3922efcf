#include "partition/joined_edges.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/values/tensor_bytes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "kernels/cpu/wire/joined_tensors.h"

namespace tensorbraid {
namespace {

bool LooksUpTable(const Node& node) { return node.type() == "KvResourceGather" || node.type() == "KvResourceGatherV1"; }
bool UpdatesTable(const Node& node) { return node.type().find("KvResourceSparseApply") != std::string::npos; }

// Whether the op may wait for another step, or let one go on. Through such ops, a node may depend on another one
// without an edge.
bool MeetsOtherSteps(const Node& node) {
  // "tage": Stage, Unstage. A reader waits for a queue.
  constexpr std::array<std::string_view, 9> kWords = {"Queue", "Barrier",  "Accumulator", "tage", "Reader",
                                                      "Mutex", "HostSums", "Replica",     "Clock"};
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return node.type().find(word) != std::string::npos; });
}

// A number for each node: how many times the longest way to it goes from one task to another. Along each edge it does
// not fall, and along an edge between tasks it rises. So tensors that are made at one level and go to one task can wait
// for each other: none of them needs what that task makes of another one.
//
// Nodes of a loop have one number, since they depend on each other; so have all nodes that may wait for other steps, as
// these may wait for each other. There are no such numbers, and this returns nothing, if a way goes from one of these
// nodes to another task and back.
std::optional<std::vector<int>> LevelsOf(const Graph& graph, const std::vector<std::string>& tasks,
                                         const FrameAssignment& frames) {
  const auto& nodes = ImplOf(graph).nodes();
  // The outermost loop of a frame; 0 outside of loops.
  const auto loop_of = [&](int frame) {
    while (frame > 0 && frames.frames[frame].parent > 0) frame = frames.frames[frame].parent;
    return frame;
  };
  // Nodes with the same number share a level; 0 is none.
  std::vector<int> shared(nodes.size());
  const int others = static_cast<int>(frames.frames.size());
  for (const auto& node : nodes) {
    const int id = node->id();
    shared[id] = loop_of(frames.frame_of[id]);
    if (shared[id] == 0 && MeetsOtherSteps(*node)) shared[id] = others;
  }
  std::vector<int> levels(nodes.size()), level_of_shared(frames.frames.size() + 1);
  constexpr int kMostRounds = 16;  // usually one or two
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const auto& node : nodes) {
      const int id = node->id();
      int level = shared[id] > 0 ? level_of_shared[shared[id]] : 0;
      const auto follow = [&](const Node& from) {
        if (shared[id] > 0 && shared[from.id()] == shared[id]) return;
        level = std::max(level, levels[from.id()] + (tasks[from.id()] == tasks[id] ? 0 : 1));
      };
      for (const Output& in : node->inputs()) follow(*NodeOf(in));
      for (const Node* control : node->control_inputs()) follow(*control);
      changed = changed || level != levels[id];
      levels[id] = level;
      if (shared[id] > 0) level_of_shared[shared[id]] = level;
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
  for (const auto& node : nodes) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (!in.valid() || tasks[NodeOf(in)->id()] == tasks[node->id()]) continue;
      if (!LooksUpTable(*node) && !UpdatesTable(*node) && !LooksUpTable(*NodeOf(in))) continue;
      if (!IsPlain(in.dtype()) || references.Contains(in) || NodeOf(in)->type() == "Const") continue;
      const bool encoded = wire.At(*node, static_cast<int>(i)) != nullptr;
      crossings.push_back({.tensor = in, .to = &tasks[node->id()], .encoded = encoded});
    }
  }
  JoinedEdges result;
  if (crossings.size() < 2) return result;
  TF_ASSIGN_OR_RETURN(const std::vector<bool> inside, InsideControlFlow(graph));
  TF_ASSIGN_OR_RETURN(const FrameAssignment frames, AssignFrames(graph));
  const auto levels = LevelsOf(graph, tasks, frames);
  if (!levels.has_value()) return result;
  std::map<std::tuple<std::string, std::string, int>, JoinedGroup> groups;  // by sender, receiver and level
  std::map<std::tuple<std::string, std::string, int>, std::vector<cpu::JoinedPart>> parts;
  for (const Crossing& crossing : crossings) {
    const Node& from = *NodeOf(crossing.tensor);
    if (inside[from.id()]) continue;
    const std::tuple key(tasks[from.id()], *crossing.to, (*levels)[from.id()]);
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
    std::tie(group.from, group.to, std::ignore) = key;
    const auto& sizes = parts[key];
    const bool known = std::ranges::none_of(sizes, [](const cpu::JoinedPart& part) { return part.bytes < 0; });
    if (known) group.bytes = cpu::JoinedBytes(sizes);
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
