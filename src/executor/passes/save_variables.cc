// Replaces SaveV2 by an op that reads the variables itself, one after the other. SaveV2 would hold a snapshot of every
// variable until the last one is written, and an update of a variable in the meantime would need a second buffer.
#include <vector>

#include "executor/clusters/program_nodes.h"
#include "executor/passes/fuse_pairs.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

constexpr size_t kFirstTensor = 3;  // inputs of SaveV2: prefix, names, slices, then the tensors

// The node that replaces a SaveV2, and the reads that are no longer needed.
struct Fused {
  NodeSpec spec;
  std::vector<const Node*> reads;
  bool any = false;  // whether the node takes any variable instead of its value
};

// `uses` has the number of edges that leave each node, by id.
Fused Fuse(const Node& save, const std::vector<int>& uses) {
  Fused fused;
  fused.spec = LikeNode(save, "_SaveVariables");
  std::vector<DType> types;
  for (size_t i = kFirstTensor; i < save.inputs().size(); ++i) {
    Output& input = fused.spec.inputs[i];
    const Node& from = *NodeOf(input);
    types.push_back(BaseType(save.input_type(static_cast<int>(i))));
    if (from.device() != save.device()) continue;  // the value is on another task or in another memory
    if (IsRef(save.input_type(static_cast<int>(i)))) {
      types.back() = save.input_type(static_cast<int>(i));
    } else if (from.type() == "ReadVariableOp" && uses[from.id()] == 1) {
      types.back() = DType::kResource;
      input = from.inputs()[0];
      fused.spec.controls.insert(fused.spec.controls.end(), from.control_inputs().begin(), from.control_inputs().end());
      fused.reads.push_back(&from);
    } else {
      continue;
    }
    fused.any = true;
  }
  fused.spec.attrs["Tvariables"] = std::move(types);
  return fused;
}

}  // namespace

Status SaveVariables(Graph* graph, PassContext& context) {
  GraphImpl& impl = ImplOf(*graph);
  const size_t count = impl.nodes().size();
  const std::vector<bool> conditional = ConditionalNodes(*graph);
  std::vector<int> uses(count, 0);
  for (const auto& node : impl.nodes()) {
    for (const Output& in : node->inputs()) ++uses[NodeOf(in)->id()];
    for (const Node* c : node->control_inputs()) ++uses[c->id()];
  }
  std::vector<bool> removed(count, false);
  for (size_t i = 0; i < count; ++i) {  // by index, because Become changes the vector temporarily
    Node* const node = impl.nodes()[i].get();
    if (node->type() != "SaveV2" || conditional[i]) continue;
    // The new op reads memory of the host. The values of an accelerator are copied there, as those of any input.
    if (RunsPrograms(context.DeviceType(*node))) continue;
    Fused fused = Fuse(*node, uses);
    if (!fused.any || !impl.Become(node, std::move(fused.spec)).ok()) continue;
    for (const Node* read : fused.reads) removed[read->id()] = true;
  }
  impl.RemoveNodes(removed);
  return OkStatus();
}

}  // namespace tensorbraid
