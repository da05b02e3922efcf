#include "executor/clusters/compute_on_host.h"

#include "executor/evaluate.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {

StatusOr<std::vector<Tensor>> ComputeOnHost(const Node& node, const std::vector<Tensor>& values) {
  Graph g;
  std::vector<Output> inputs, outputs;
  for (const Tensor& value : values) inputs.push_back(Const(g, value));
  TF_ASSIGN_OR_RETURN(Node * copy, ImplOf(g).CopyNode(node, std::move(inputs), {}));
  for (int i = 0; i < node.num_outputs(); ++i) outputs.push_back(OutputOf(copy, i));
  return Evaluate(outputs);
}

}  // namespace tensorbraid
