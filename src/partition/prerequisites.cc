#include "partition/prerequisites.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "graph/model/graph_impl.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

bool MayWait(const Node& node) {
  static const auto* const kOps = new absl::flat_hash_set<std::string_view>{
      // Queues, and what else the steps of a program meet at.
      "BarrierTakeMany", "MutexLock", "QueueClose", "QueueDequeue", "QueueDequeueMany", "QueueDequeueUpTo",
      "QueueEnqueue", "QueueEnqueueMany", "ReaderRead", "ReaderReadUpTo",
      // Staging areas.
      "MapPeek", "MapStage", "MapUnstage", "MapUnstageNoKey", "OrderedMapPeek", "OrderedMapStage", "OrderedMapUnstage",
      "OrderedMapUnstageNoKey", "Stage", "StagePeek", "Unstage",
      // Workers that train together.
      "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient", "_AddToHostSums",
      "_FinishReplicaStep", "_JoinHostSums", "_JoinReplicas", "_ReadHostValues", "_TakeHostSums",
      // Functions of the program, and datasets, which may call them.
      "DatasetToSingleElement", "DeserializeIterator", "EagerPyFunc", "IteratorGetNext", "IteratorGetNextAsOptional",
      "IteratorGetNextSync", "OneShotIterator", "PyFunc", "PyFuncStateless", "ReduceDataset", "SaveDataset",
      "SaveDatasetV2", "SerializeIterator"};
  std::string_view op = node.type();
  if (op.ends_with("V2")) op.remove_suffix(2);
  if (kOps->contains(op)) return true;
  return node.op().is_stateful && !AddedKernels::Find(node.type()).empty();  // a custom op
}

int NumberedSets::Number(std::vector<int> elements) {
  const auto [it, added] = numbers_.try_emplace(std::move(elements), static_cast<int>(numbers_.size()));
  if (added) elements_.push_back(&it->first);
  return it->second;
}

int NumberedSets::Union(int a, int b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const auto [known, added] = unions_.try_emplace(std::pair(std::min(a, b), std::max(a, b)), 0);
  if (added) {
    std::vector<int> both;
    std::ranges::set_union(elements(a), elements(b), std::back_inserter(both));
    known->second = Number(std::move(both));
  }
  return known->second;
}

int NumberedSets::Intersection(int a, int b) {
  if (a == b) return a;
  std::vector<int> common;
  std::ranges::set_intersection(elements(a), elements(b), std::back_inserter(common));
  return Number(std::move(common));
}

int NumberedSets::Without(int a, int b) {
  std::vector<int> rest;
  std::ranges::set_difference(elements(a), elements(b), std::back_inserter(rest));
  return Number(std::move(rest));
}

Prerequisites::Prerequisites(const Graph& graph, const FrameAssignment& frames)
    : frames_(frames),
      waits_(ImplOf(graph).nodes().size()),
      branches_(ImplOf(graph).nodes().size()),
      is_known_(ImplOf(graph).nodes().size()) {
  for (const auto& node : ImplOf(graph).nodes()) {
    Loop* const loop = LoopOf(frames.frame_of[node->id()]);
    if (loop != nullptr && MayWait(*node)) loop->has_waits = true;
  }
  for (const Node* const node : InOrder(graph)) {
    const int id = node->id(), frame = frames.frame_of[id];
    waits_[id] = WaitsOf(*node);
    branches_[id] = BranchesOf(*node);
    is_known_[id] = true;
    if (frame != 0) continue;
    if (FlowKindOf(*node) == FlowKind::kSwitch) AddSides(*node);
    if (FlowKindOf(*node) == FlowKind::kEnter) {
      Loop& loop = *LoopOf(frames.out_frame_of[id]);
      loop.perhaps = sets_.Union(loop.perhaps, waits_[id].perhaps);
      loop.branches_differ = loop.branches_differ || loop.branches.value_or(branches_[id]) != branches_[id];
      loop.branches = branches_[id];
    }
  }
}

// Each node comes after those that it depends on, and the Exits of a loop come after all its Enters. Nodes for which
// this is impossible are left out.
std::vector<const Node*> Prerequisites::InOrder(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<std::vector<const Node*>> after(nodes.size());
  std::vector<int> before(nodes.size());
  std::map<const Loop*, std::pair<std::vector<const Node*>, std::vector<const Node*>>> ends;  // Enters and Exits
  const auto add = [&](const Node& first, const Node& then) {
    after[first.id()].push_back(&then);
    ++before[then.id()];
  };
  for (const auto& node : nodes) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      if (!IsBackEdge(*node, static_cast<int>(i))) add(*NodeOf(node->inputs()[i]), *node);
    }
    for (const Node* control : node->control_inputs()) add(*control, *node);
    const int id = node->id(), frame = frames_.frame_of[id], out_frame = frames_.out_frame_of[id];
    if (FlowKindOf(*node) == FlowKind::kEnter && frame == 0) ends[LoopOf(out_frame)].first.push_back(node.get());
    if (FlowKindOf(*node) == FlowKind::kExit && out_frame == 0) ends[LoopOf(frame)].second.push_back(node.get());
  }
  for (const auto& [loop, enters_and_exits] : ends) {
    for (const Node* enter : enters_and_exits.first) {
      for (const Node* exit : enters_and_exits.second) add(*enter, *exit);
    }
  }
  std::vector<const Node*> order;
  for (const auto& node : nodes) {
    if (before[node->id()] == 0) order.push_back(node.get());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Node* const then : after[order[i]->id()]) {
      if (--before[then->id()] == 0) order.push_back(then);
    }
  }
  return order;
}

std::optional<Prerequisites::Sets> Prerequisites::Of(const Output& tensor) const {
  const int id = NodeOf(tensor)->id();
  if (frames_.out_frame_of[id] != 0 || !is_known_[id]) return std::nullopt;
  return Sets{.waits = waits_[id].surely, .branches = BranchesOf(tensor)};
}

Prerequisites::Loop* Prerequisites::LoopOf(int frame) {
  if (frame == 0) return nullptr;
  while (frames_.frames[frame].parent > 0) frame = frames_.frames[frame].parent;
  return &loops_[frame];
}

Prerequisites::Waits Prerequisites::WaitsOf(const Node& node) {
  const int id = node.id(), frame = frames_.frame_of[id];
  const bool is_merge = FlowKindOf(node) == FlowKind::kMerge;
  Waits result;
  std::optional<Waits> merged;  // of the inputs of a Merge
  bool differ = false;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (IsBackEdge(node, static_cast<int>(i))) continue;
    const Waits& in = waits_[NodeOf(node.inputs()[i])->id()];
    if (!is_merge) {
      result = {.surely = sets_.Union(result.surely, in.surely), .perhaps = sets_.Union(result.perhaps, in.perhaps)};
    } else if (!merged) {
      merged = in;
    } else {
      differ = differ || merged->surely != in.surely;
      merged->surely = sets_.Intersection(merged->surely, in.surely);
      merged->perhaps = sets_.Union(merged->perhaps, in.perhaps);
    }
  }
  const auto add = [&](int waits) {
    result = {.surely = sets_.Union(result.surely, waits), .perhaps = sets_.Union(result.perhaps, waits)};
  };
  if (merged && frame != 0) {
    result = *merged;
  } else if (merged) {
    // A Merge does not wait for the input that is dead. If its inputs wait for the same, it waits for that.
    add(differ ? sets_.With(merged->surely, id) : merged->surely);
  }
  for (const Node* control : node.control_inputs()) {
    const Waits& in = waits_[control->id()];
    result = {.surely = sets_.Union(result.surely, in.surely), .perhaps = sets_.Union(result.perhaps, in.perhaps)};
  }
  if (MayWait(node)) add(sets_.Number({id}));
  if (FlowKindOf(node) == FlowKind::kExit && frames_.out_frame_of[id] == 0) {
    // What an iteration waits for depends on the number of iterations, unless the end of the loop waits for all of it.
    const Loop& loop = *LoopOf(frame);
    const bool surely = !loop.has_waits && loop.perhaps == result.surely;
    if (!surely) result.surely = sets_.With(result.surely, id);
    result.perhaps = result.surely;
  }
  return result;
}

int Prerequisites::BranchesOf(const Node& node) {
  const int id = node.id();
  const FlowKind kind = FlowKindOf(node);
  if (kind == FlowKind::kExit && frames_.out_frame_of[id] == 0) {
    const Loop& loop = *LoopOf(frames_.frame_of[id]);
    if (!loop.branches_differ) return loop.branches.value_or(0);
    return sets_.Number({EventOf({.node = id, .output = 0, .side = 0, .sides = 1})});
  }
  if (frames_.frame_of[id] != 0 || kind == FlowKind::kControlTrigger) return 0;
  int result = 0;
  if (kind == FlowKind::kMerge) {
    result = BranchesOfMerge(node);
  } else {
    for (const Output& in : node.inputs()) result = sets_.Union(result, BranchesOf(in));
  }
  for (const Node* control : node.control_inputs()) result = sets_.Union(result, branches_[control->id()]);
  return result;
}

int Prerequisites::BranchesOf(const Output& tensor) const {
  const auto found = of_switches_.find({NodeOf(tensor)->id(), tensor.index()});
  return found != of_switches_.end() ? found->second : branches_[NodeOf(tensor)->id()];
}

// A Merge of all sides of a Switch is alive, whichever side is taken.
int Prerequisites::BranchesOfMerge(const Node& merge) {
  std::vector<int> of_inputs;
  for (const Output& in : merge.inputs()) of_inputs.push_back(BranchesOf(in));
  int common = of_inputs[0];
  for (const int branches : of_inputs) common = sets_.Intersection(common, branches);
  std::vector<Side> sides;
  for (const int branches : of_inputs) {
    const std::vector<int>& rest = sets_.elements(sets_.Without(branches, common));
    if (rest.size() == 1) sides.push_back(sides_[static_cast<size_t>(rest[0])]);
  }
  std::vector<int> taken;
  for (const Side& side : sides) {
    const Side& first = sides[0];
    if (std::tie(side.node, side.output, side.sides) == std::tie(first.node, first.output, first.sides)) {
      taken.push_back(side.side);
    }
  }
  std::ranges::sort(taken);
  const bool all = taken.size() == of_inputs.size() && static_cast<int>(taken.size()) == sides[0].sides &&
                   std::ranges::adjacent_find(taken) == taken.end();
  if (all) {
    sides_of_merges_[merge.id()] = std::move(sides);
    return common;
  }
  return sets_.With(common, EventOf({.node = merge.id(), .output = 0, .side = 0, .sides = 1}));
}

void Prerequisites::AddSides(const Node& node) {
  const Output& by = node.inputs()[1];
  const int sides = node.num_outputs();
  // The gradient of a Merge goes to the input that was forwarded: to the side that was taken.
  const std::vector<Side>* merged = nullptr;
  int forwarded = 0;
  if (const Node& equal = *NodeOf(by); equal.type() == "Equal") {
    for (const int i : {0, 1}) {
      const Output &index = equal.inputs()[static_cast<size_t>(i)],
                   &number = equal.inputs()[static_cast<size_t>(1 - i)];
      const auto found = sides_of_merges_.find(NodeOf(index)->id());
      if (index.index() != 1 || found == sides_of_merges_.end() || NodeOf(number)->type() != "Const") continue;
      const auto& value = NodeOf(number)->attr<Tensor>("value");
      if (value.dtype() != kInt32 || value.num_elements() != 1) continue;
      forwarded = value.data<int32_t>()[0];
      if (forwarded >= 0 && forwarded < std::ssize(found->second)) merged = &found->second;
    }
  }
  for (int i = 0; i < sides; ++i) {
    Side side{.node = NodeOf(by)->id(), .output = by.index(), .side = i, .sides = sides};
    if (merged != nullptr && (i == 1 || merged->size() == 2)) {
      side = (*merged)[static_cast<size_t>(i == 1 ? forwarded : 1 - forwarded)];
    }
    of_switches_[{node.id(), i}] = sets_.With(branches_[node.id()], EventOf(side));
  }
}

int Prerequisites::EventOf(const Side& side) {
  const auto [it, added] = events_.try_emplace(side, static_cast<int>(sides_.size()));
  if (added) sides_.push_back(side);
  return it->second;
}

}  // namespace tensorbraid
