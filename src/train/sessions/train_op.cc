#include "train/sessions/train_op.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/node.h"

namespace tensorbraid {
namespace {

// Name of a collection with one read of the global step per training operation. That operation is the read's only
// control input.
constexpr char kStepsAfterTraining[] = "global_step_after_train_op";
// Name of a collection with the training operations that leave the global step as it is.
constexpr char kTrainOpsWithoutStep[] = "train_op_without_global_step";

// Whether the program itself changes the variable by a node of the graph; restoring it from a checkpoint does not
// count.
bool IsChanged(const Variable& variable) {
  for (const auto& node : ImplOf(*variable.graph()).nodes()) {
    if (node->inputs().size() < 2 || node->inputs()[0] != variable.handle()) continue;
    if (Operation(node.get()) == variable.initializer() || !node->type().starts_with("Assign")) continue;
    if (NodeOf(node->inputs()[1])->type() != "RestoreV2") return true;
  }
  return false;
}

}  // namespace

void RegisterTrainOp(const Operation& train, const Variable& global_step) {
  if (!train.valid()) return;
  Graph& graph = *train.graph();
  auto scope = graph.NameScope(train.name() + "/");
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  auto after = graph.ControlDependencies({train});
  const Output step = global_step.Read();
  if (step.valid()) graph.AddToCollection(kStepsAfterTraining, step);
}

void RegisterTrainOpWithoutStep(const Operation& train) {
  if (train.valid()) train.graph()->AddToCollection(kTrainOpsWithoutStep, Output(NodeOf(train), 0));
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

Output GlobalStepAfter(Graph& graph, const std::vector<const Node*>& fetched) {
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : NodeOf(step)->control_inputs()) {
      if (std::find(fetched.begin(), fetched.end(), train) != fetched.end()) return step;
    }
  }
  const Variable step = GetGlobalStep(graph);
  return step.valid() ? step.value() : Output();
}

std::vector<const Node*> TrainOps(const Graph& graph) {
  std::vector<const Node*> ops;
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : NodeOf(step)->control_inputs()) ops.push_back(train);
  }
  return ops;
}

}  // namespace tensorbraid
