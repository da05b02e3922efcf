#include "train/train_op.h"

#include <algorithm>

#include "graph/node.h"

namespace tensorbraid {
namespace {

// Holds one read of the global step for each training operation, which is the only control input of that read.
constexpr char kStepsAfterTraining[] = "global_step_after_train_op";

}  // namespace

void RegisterTrainOp(const Operation& train, const Variable& global_step) {
  if (!train.valid()) return;
  Graph& graph = *train.graph();
  auto scope = graph.NameScope(train.name() + "/");
  auto none = graph.ControlDependencies(std::vector<Operation>());
  auto after = graph.ControlDependencies({train});
  const Output step = global_step.Read();
  if (step.valid()) graph.AddToCollection(kStepsAfterTraining, step);
}

Output GlobalStepAfter(Graph& graph, const std::vector<const Node*>& fetched) {
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : step.node()->control_inputs()) {
      if (std::find(fetched.begin(), fetched.end(), train) != fetched.end()) return step;
    }
  }
  const Variable step = GetGlobalStep(graph);
  return step.valid() ? step.value() : Output();
}

std::vector<const Node*> TrainOps(const Graph& graph) {
  std::vector<const Node*> ops;
  for (const Output& step : graph.GetCollection(kStepsAfterTraining)) {
    for (const Node* train : step.node()->control_inputs()) ops.push_back(train);
  }
  return ops;
}

}  // namespace tensorbraid
