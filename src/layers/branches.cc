#include "layers/branches.h"

#include "graph/node.h"

namespace tensorbraid::layers {

std::vector<Output> SelectBranch(const Training& training, const std::vector<Output>& inputs, const Branch& train,
                                 const Branch& infer) {
  if (!training.is_tensor()) return training.fixed() ? train(inputs) : infer(inputs);
  if (!training.tensor().valid()) return std::vector<Output>(1);  // an invalid Output
  Graph& graph = *training.tensor().graph();
  std::vector<Output> if_false, if_true;
  for (const Output& input : inputs) {
    const Operation both = NodeBuilder(graph, "Switch").Input(input).Input(training.tensor()).Finish();
    if_false.push_back(both.output(0));
    if_true.push_back(both.output(1));
  }
  const std::vector<Output> inferred = infer(if_false), trained = train(if_true);
  std::vector<Output> merged;
  for (size_t i = 0; i < trained.size(); ++i) {
    merged.push_back(NodeBuilder(graph, "Merge").InputList({inferred[i], trained[i]}).Output());
  }
  return merged;
}

}  // namespace tensorbraid::layers
