// Marks outputs that nothing uses, on nodes whose kernels save much work by not computing them.
#include <cstdint>
#include <utility>
#include <vector>

#include "executor/passes/pass.h"
#include "graph/gradients/unused_outputs.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Whether the node's kernel saves much work by leaving out unused outputs. These ops compute the gradients of an LSTM
// over a sequence. The gradient of the sequence's inputs is a fifth of the arithmetic of training, and is not needed if
// the inputs are data.
bool CanLeaveOutOutputs(const Node& node) {
  return node.type() == "BlockLSTMGrad" || node.type() == "BlockLSTMGradV2" || node.type() == "_BlockLSTMGrad";
}

}  // namespace

Status MarkUnusedOutputs(Graph* graph, PassContext&) {
  GraphImpl& impl = ImplOf(*graph);
  // For each node, indexed by id: whether each of its outputs is used. Empty for nodes that are not to be marked.
  std::vector<std::vector<bool>> used(impl.nodes().size());
  bool any = false;
  for (const auto& node : impl.nodes()) {
    if (!CanLeaveOutOutputs(*node)) continue;
    used[node->id()].resize(node->num_outputs());
    any = true;
  }
  if (!any) return OkStatus();
  for (const auto& node : impl.nodes()) {
    for (const Output& in : node->inputs()) {
      if (std::vector<bool>& outputs = used[NodeOf(in)->id()]; !outputs.empty()) outputs[in.index()] = true;
    }
  }
  for (size_t id = 0; id < used.size(); ++id) {
    std::vector<int64_t> unused;
    for (size_t i = 0; i < used[id].size(); ++i) {
      if (!used[id][i]) unused.push_back(static_cast<int64_t>(i));
    }
    if (unused.empty()) continue;
    Node* const node = impl.nodes()[id].get();
    NodeSpec spec;
    spec.op = node->type();
    spec.inputs = node->inputs();
    spec.controls = node->control_inputs();
    spec.attrs.insert(node->attrs().begin(), node->attrs().end());
    spec.attrs[kUnusedOutputsAttr] = std::move(unused);
    TF_RETURN_IF_ERROR(impl.Become(node, std::move(spec)));
  }
  return OkStatus();
}

}  // namespace tensorbraid
