#include "train/sessions/staged_lookups.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/data_flow.h"

namespace tensorbraid {
namespace {

using Names = std::set<std::string, std::less<>>;

bool IsLookup(const Node& node) {
  static const Names* const ops =
      new Names{"KvResourceGather", "KvResourceGatherV1", "ResourceGather", "ResourceGatherNd"};
  return ops->contains(node.type());
}

// Whether a stateful op only reads.
bool IsReader(const Node& node) {
  static const Names* const ops = new Names{"LookupTableFind", "LookupTableFindV2"};
  return IsLookup(node) || ops->contains(node.type());
}

bool IsHandle(const Node& node) {
  static const Names* const ops =
      new Names{"HashTable", "HashTableV2", "KvVarHandleOp", "MutableHashTable", "MutableHashTableV2", "VarHandleOp"};
  return ops->contains(node.type());
}

bool IsNeverMoved(const Node& node) {
  static const Names* const ops = new Names{"Enter",         "Exit",        "LoopCond",      "Merge",
                                            "NextIteration", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
                                            "RefEnter",      "RefExit",     "RefMerge",      "RefNextIteration",
                                            "RefSwitch",     "Switch"};
  return ops->contains(node.type());
}

// Finds the nodes of a graph that are computed from a batch.
class Followers {
 public:
  Followers(const GraphImpl& graph, Node* taken) : graph_(graph), taken_(taken), derived_{taken} {
    for (const auto& node : graph.nodes()) {
      if (node.get() != taken && IsDerived(*node)) derived_.insert(node.get());
    }
  }

  // The nodes to move, in the order of the graph: lookups, marked nodes, and what they are computed from.
  std::vector<Node*> Moved(const std::set<Node*>& marked) const {
    std::vector<Node*> waiting;
    for (Node* const node : derived_) {
      if (node != taken_ && (IsLookup(*node) || marked.contains(node))) waiting.push_back(node);
    }
    std::set<Node*> moved;
    while (!waiting.empty()) {
      Node* const node = waiting.back();
      waiting.pop_back();
      if (!moved.insert(node).second) continue;
      for (const Output& x : node->inputs()) {
        Node* const from = NodeOf(x);
        if (from != taken_ && derived_.contains(from)) waiting.push_back(from);
      }
    }
    std::vector<Node*> ordered;
    for (const auto& node : graph_.nodes()) {
      if (moved.contains(node.get())) ordered.push_back(node.get());
    }
    return ordered;
  }

 private:
  // Whether a node is computed from the batch and from what never changes.
  bool IsDerived(const Node& node) {
    const auto follows = [this](const Output& x) { return derived_.contains(NodeOf(x)); };
    if (IsNeverMoved(node) || !node.control_inputs().empty() || std::ranges::none_of(node.inputs(), follows)) {
      return false;
    }
    if (!IsReader(node) && node.op().is_stateful) return false;
    return std::ranges::all_of(node.inputs(), [&](const Output& x) { return follows(x) || IsFixed(NodeOf(x)); });
  }

  // Whether the outputs of a node are the same in all steps.
  bool IsFixed(const Node* node) {
    if (node == nullptr) return false;
    const auto known = fixed_.find(node);
    if (known != fixed_.end()) return known->second;
    const bool stateless = !IsNeverMoved(*node) && !node->op().is_stateful && node->control_inputs().empty();
    const bool is_fixed =
        IsHandle(*node) ||
        (stateless && std::ranges::all_of(node->inputs(), [this](const Output& x) { return IsFixed(NodeOf(x)); }));
    return fixed_[node] = is_fixed;
  }

  const GraphImpl& graph_;
  Node* const taken_;
  std::set<Node*> derived_;
  std::map<const Node*, bool> fixed_;
};

// A tensor that moved nodes make, and the inputs of other nodes that have it.
struct Row {
  Output made;
  std::vector<std::pair<Node*, int>> uses;
};

std::vector<Row> RowsOf(const GraphImpl& graph, const std::vector<Node*>& moved, const Node* taken) {
  const std::set<const Node*> inside(moved.begin(), moved.end());
  std::vector<Row> rows;
  for (const auto& node : graph.nodes()) {
    if (node.get() == taken || inside.contains(node.get())) continue;
    for (int i = 0; i < std::ssize(node->inputs()); ++i) {
      const Output& x = node->inputs()[static_cast<size_t>(i)];
      if (!inside.contains(NodeOf(x))) continue;
      auto row = std::ranges::find(rows, x, &Row::made);
      if (row == rows.end()) row = rows.insert(rows.end(), Row{.made = x, .uses = {}});
      row->uses.emplace_back(node.get(), i);
    }
  }
  return rows;
}

std::vector<DType> TypesOf(const std::vector<Output>& tensors) {
  std::vector<DType> types;
  for (const Output& x : tensors) types.push_back(x.dtype());
  return types;
}

// Gives a tensor the shape of another one, with whose values it is filled.
void TakeShape(GraphImpl& graph, const Output& from, const Output& to) {
  const auto merged = to.shape().MergeWith(from.shape());
  if (merged.ok()) graph.RefineShape(NodeOf(to), to.index(), *merged);
}

// The device of a node, whose open parts are those of `outer`.
std::string DeviceWithin(const std::string& device, const std::string& outer) {
  const auto own = DeviceName::Parse(device), around = DeviceName::Parse(outer);
  if (device.empty() || !own.ok() || !around.ok()) return device.empty() ? outer : device;
  return own->MergedOver(*around).ToString();
}

// Copies the nodes into the open name scope, with the tensors `batch` in the place of the outputs of `taken`. Returns
// the node of each copy.
StatusOr<std::map<const Node*, Node*>> Copy(GraphImpl& graph, const std::vector<Node*>& moved, const Node* taken,
                                            const std::vector<Output>& batch) {
  std::map<const Node*, Node*> copies;
  for (const Node* const node : moved) {
    NodeSpec spec{.name = graph.UniqueName(node->name()),
                  .op = node->type(),
                  .inputs = {},
                  .controls = {},
                  .attrs = {node->attrs().begin(), node->attrs().end()},
                  .device = DeviceWithin(node->device(), taken->device()),
                  .line = node->line()};
    spec.attrs.erase("_class");  // copies of lookups are placed with their tables
    for (const Output& x : node->inputs()) {
      const auto copy = copies.find(NodeOf(x));
      spec.inputs.push_back(NodeOf(x) == taken     ? batch[static_cast<size_t>(x.index())]
                            : copy != copies.end() ? OutputOf(copy->second, x.index())
                                                   : x);
    }
    TF_ASSIGN_OR_RETURN(copies[node], graph.AddNode(std::move(spec)));
  }
  return copies;
}

Operation CloseAll(Graph& g, const std::vector<FIFOQueue>& queues, bool cancels) {
  std::vector<Operation> closes;
  for (const FIFOQueue& queue : queues) closes.push_back(queue.Close(cancels));
  return Group(g, closes, cancels ? "cancel" : "close");
}

}  // namespace

StatusOr<std::optional<QueueRunner>> LookUpAhead(const Output& queue, const Operation& taken,
                                                 const std::vector<Operation>& marked) {
  Graph& g = *taken.graph();
  GraphImpl& graph = ImplOf(g);
  const GraphLock lock(g);
  TF_RETURN_IF_ERROR(graph.CheckMayChange());
  Node* const take = NodeOf(taken);
  std::set<Node*> also;
  for (const Operation& operation : marked) also.insert(NodeOf(operation));
  const std::vector<Node*> moved = Followers(graph, take).Moved(also);
  const std::vector<Row> rows = RowsOf(graph, moved, take);
  if (rows.empty()) return std::optional<QueueRunner>();

  std::vector<Output> batch_of_step, made;
  for (int i = 0; i < take->num_outputs(); ++i) batch_of_step.push_back(taken.output(i));
  for (const Row& row : rows) made.push_back(row.made);
  const auto no_controls = g.ControlDependencies(std::vector<Operation>{});
  const auto no_device = g.NoDevice();
  const auto device = g.Device(queue.op().device());
  const auto scope = g.NameScope("staged_lookups");
  const FIFOQueue turns(g, {kBool}, {.shapes = {Shape()}, .capacity = 1, .name = "turns"});
  const FIFOQueue batches(g, TypesOf(batch_of_step), {.capacity = 1, .name = "batches"});
  const FIFOQueue found(g, TypesOf(made), {.capacity = 1, .name = "rows"});

  // The thread.
  NodeBuilder dequeue(g, "QueueDequeueV2");
  dequeue.Input(queue).Attr("component_types", TypesOf(batch_of_step)).Control(turns.Enqueue({true}));
  const Operation next = dequeue.Finish();
  TF_RETURN_IF_ERROR(g.status());
  std::vector<Output> batch;
  for (size_t i = 0; i < batch_of_step.size(); ++i) {
    batch.push_back(next.output(static_cast<int>(i)));
    TakeShape(graph, batch_of_step[i], batch[i]);
  }
  std::vector<Operand> copied;
  {
    const auto ahead = g.NameScope("ahead");
    TF_ASSIGN_OR_RETURN(const auto copies, Copy(graph, moved, take, batch));
    for (const Output& row : made) copied.emplace_back(OutputOf(copies.at(NodeOf(row)), row.index()));
  }
  const Operation fill = Group(g, {batches.Enqueue({batch.begin(), batch.end()}), found.Enqueue(copied)}, "fill");
  const std::vector<FIFOQueue> filled = {batches, found, turns};
  QueueRunner runner({fill}, CloseAll(g, filled, false), CloseAll(g, filled, true));

  // The step takes the rows, its turn and the batch, in this order.
  const std::vector<Output> given = found.Dequeue();
  TF_RETURN_IF_ERROR(g.status());
  Output handle;
  {
    const auto after_rows = g.ControlDependencies({given[0].op()});
    const std::vector<Output> turn = turns.Dequeue();
    TF_RETURN_IF_ERROR(g.status());
    const auto after_turn = g.ControlDependencies({turn[0].op()});
    handle = Identity(batches.handle());
  }
  // A step takes a batch and its rows, or none of them.
  const auto after_batch = g.ControlDependencies({taken});
  std::vector<Output> values;
  for (size_t i = 0; i < rows.size(); ++i) {
    TakeShape(graph, rows[i].made, given[i]);
    values.push_back(Identity(given[i]));
  }
  TF_RETURN_IF_ERROR(g.status());
  graph.SetInput(take, 0, handle);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [node, input] : rows[i].uses) graph.SetInput(node, input, values[i]);
  }
  graph.RemoveNodes({});  // removes none, but sorts them, because edges lead to older nodes now
  return std::optional<QueueRunner>(std::move(runner));
}

}  // namespace tensorbraid
