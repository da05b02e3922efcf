#include "layers/branches.h"

#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/control_flow.h"

namespace tensorbraid::layers {

std::vector<Output> SelectBranch(const Training& training, const std::vector<Output>& inputs, const Branch& train,
                                 const Branch& infer) {
  if (!training.is_tensor()) return training.fixed() ? train(inputs) : infer(inputs);
  if (!training.tensor().valid()) return std::vector<Output>(1);  // an invalid Output
  Graph& graph = *training.tensor().graph();
  // The nodes of the branches have the line of the user's call of the layer.
  const auto here = [&, line = ImplOf(graph).user_line()](const Branch& branch) -> tensorbraid::Branch {
    return [&graph, &inputs, &branch, line] {
      if (!line.has_value()) return branch(inputs);
      const ScopedLocation at(graph, *line);
      return branch(inputs);
    };
  };
  return Cond(training.tensor(), here(train), here(infer));
}

}  // namespace tensorbraid::layers
