#include "train/sessions/train_op.h"

#include <algorithm>
#include <utility>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Name of a collection with one read of the global step per training operation. That operation is the read's only
// control input.
constexpr char kStepsAfterTraining[] = "global_step_after_train_op";
// Name of a collection with the training operations that leave the global step as it is.
constexpr char kTrainOpsWithoutStep[] = "train_op_without_global_step";

// Whether the node is an assignment with which the program itself changes the variable. Initialising the variable and
// restoring it from a checkpoint do not count.
bool Changes(const Node& node, const Variable& variable) {
  if (node.inputs().size() < 2 || node.inputs()[0] != variable.handle()) return false;
  const Operation initializer = variable.initializer();
  if (&node == NodeOf(initializer) || !node.type().starts_with("Assign")) return false;
  const std::string& value = NodeOf(node.inputs()[1])->type();
  return value != "RestoreV2" && value != "_RestoreIncrements";
}

bool IsChanged(const Variable& variable) {
  const GraphLock lock(*variable.graph());
  return std::ranges::any_of(ImplOf(*variable.graph()).nodes(),
                             [&](const auto& node) { return Changes(*node, variable); });
}

// Whether there is a read of the global step after the node.
bool IsRegistered(const Graph& graph, const Node* node) {
  return std::ranges::any_of(graph.GetCollection(kStepsAfterTraining), [&](const Output& step) {
    return std::ranges::count(NodeOf(step)->control_inputs(), node) > 0;
  });
}

}  // namespace

void RegisterTrainOp(const Operation& train, const Variable& global_step, const Variable& holder) {
  if (!train.valid()) return;
  Graph& graph = *train.graph();
  if (const Variable known = GetGlobalStep(graph); known.valid() && !(known == global_step)) {
    return RegisterTrainOpWithoutStep(train);
  }
  auto scope = graph.NameScope(train.name() + "/");
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  auto after = graph.ControlDependencies({train});
  const Output step = (holder.valid() ? holder : global_step).Read();
  if (step.valid()) graph.AddToCollection(kStepsAfterTraining, step);
}

void RegisterTrainOpWithoutStep(const Operation& train) {
  if (train.valid()) train.graph()->AddToCollection(kTrainOpsWithoutStep, OutputOf(NodeOf(train), 0));
}

Status CheckGlobalStep(const Graph& graph, const char* hook) {
  const Variable step = GetGlobalStep(graph);
  if (!step.valid()) {
    return FailedPrecondition(hook, " needs a global step: pass one to the optimizer, as in ",
                              "Minimize(loss, {.global_step = GetOrCreateGlobalStep(graph)})");
  }
  const std::vector<Output> without = graph.GetCollection(kTrainOpsWithoutStep);
  if (without.empty() || !graph.GetCollection(kStepsAfterTraining).empty() || IsChanged(step)) return OkStatus();
  return FailedPrecondition(hook, ": the global step '", step.name(), "' would never change, because ",
                            NodeOf(without[0])->Describe(), " trains without it: pass it to the optimizer, as in ",
                            "Minimize(loss, {.global_step = GetOrCreateGlobalStep(graph)})");
}

Status RegisterChangesOfStep(Graph& graph) {
  const Variable step = GetGlobalStep(graph);
  if (!step.valid()) return OkStatus();
  const GraphLock lock(graph);
  std::vector<Node*> changes;
  for (const auto& node : ImplOf(graph).nodes()) {
    if (Changes(*node, step) && !IsRegistered(graph, node.get())) changes.push_back(node.get());
  }
  if (changes.empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(const std::vector<bool> inside, InsideControlFlow(graph));
  for (Node* change : changes) {
    if (!inside[change->id()]) RegisterTrainOp(OperationOf(change), step);
  }
  return graph.status();
}

std::vector<bool> NodesBehind(const Graph& graph, const std::vector<std::pair<const Node*, int>>& fetches,
                              const std::vector<std::pair<const Node*, int>>& feeds) {
  const GraphLock lock(graph);
  std::vector<bool> executed(ImplOf(graph).nodes().size());
  std::vector<const Node*> open;
  const auto add = [&](const Node* node, int output) {
    if (node == nullptr || executed[node->id()]) return;
    if (output >= 0 && std::ranges::count(feeds, std::pair(node, output)) > 0) return;
    executed[node->id()] = true;
    open.push_back(node);
  };
  for (const auto& [node, output] : fetches) add(node, output);
  while (!open.empty()) {
    const Node* const node = open.back();
    open.pop_back();
    for (const Output& input : node->inputs()) add(NodeOf(input), input.index());
    for (const Node* control : node->control_inputs()) add(control, -1);
  }
  return executed;
}

std::vector<Output> StepsAfter(Graph& graph, const std::vector<bool>& executed) {
  const GraphLock lock(graph);
  // A node that was added later did not run.
  const auto ran = [&executed](const Node* node) {
    const auto id = static_cast<size_t>(node->id());
    return id < executed.size() && executed[id];
  };
  std::vector<std::pair<const Node*, Output>> after;
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : NodeOf(step)->control_inputs()) {
      if (ran(train)) after.emplace_back(train, step);
    }
  }
  std::vector<Output> steps;
  for (const auto& [train, step] : after) {
    // If another training operation depends on this one, only the read after that other operation counts.
    const bool overtaken = std::ranges::any_of(after, [&, train = train](const auto& other) {
      return other.first != train && NodesBehind(graph, {{other.first, -1}}, {})[train->id()];
    });
    if (!overtaken) steps.push_back(step);
  }
  const Variable step = GetGlobalStep(graph);
  if (steps.empty() && step.valid()) steps.push_back(step.value());
  return steps;
}

std::vector<const Node*> TrainOps(const Graph& graph) {
  std::vector<const Node*> ops;
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : NodeOf(step)->control_inputs()) ops.push_back(train);
  }
  for (const Output& train : graph.GetCollection(kTrainOpsWithoutStep)) ops.push_back(NodeOf(train));
  return ops;
}

}  // namespace tensorbraid
