// Computes expressions of constants once, before the first step. An expression whose evaluation fails stays in the
// graph, so the error appears only if it runs.
#include "core/text/strings.h"
#include "core/values/tensor_bytes.h"
#include "executor/evaluate.h"
#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Maximum size of a folded tensor. Constants are sent with the partition when it is registered on its task, so a large
// value, such as an initial value, is cheaper to compute where it is used.
constexpr int64_t kMaxFoldedBytes = 16 << 10;

// Whether the outputs are small enough to fold, judging by their known shapes. BroadcastGradientArgs has outputs of
// unknown shape, but they are about as small as its inputs, which are shapes.
bool IsSmall(const Node& node) {
  if (node.type() == "BroadcastGradientArgs") return true;
  int64_t bytes_left = kMaxFoldedBytes;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const int64_t bytes = TensorBytes(node.output_shape(i), node.output_type(i));
    if (bytes < 0 || bytes > bytes_left) return false;
    bytes_left -= bytes;
  }
  return node.num_outputs() > 0;
}

bool CanFold(const Node& node) {
  if (node.inputs().empty() || !node.control_inputs().empty()) return false;
  for (const Output& in : node.inputs()) {
    if (NodeOf(in)->type() != "Const") return false;
  }
  for (DType t : node.output_types()) {
    if (BaseType(t) == DType::kVariant) return false;  // a constant cannot hold a variant
  }
  return IsPure(node) && IsSmall(node);
}

// Evaluates the node in a separate graph.
StatusOr<std::vector<Tensor>> Compute(const Node& node) {
  Graph alone;
  std::map<const Node*, Node*> constants;
  std::vector<Output> inputs;
  for (const Output& in : node.inputs()) {
    Node*& constant = constants[NodeOf(in)];
    if (constant == nullptr) {
      TF_ASSIGN_OR_RETURN(constant, ImplOf(alone).CopyNode(*NodeOf(in), {}, {}));
    }
    inputs.push_back(OutputOf(constant, 0));
  }
  TF_ASSIGN_OR_RETURN(Node * copy, ImplOf(alone).CopyNode(node, std::move(inputs), {}));
  std::vector<Output> fetches;
  for (int i = 0; i < node.num_outputs(); ++i) fetches.push_back(OutputOf(copy, i));
  return Evaluate(fetches);
}

NodeSpec ConstantOf(Tensor value) {
  NodeSpec spec;
  spec.op = "Const";
  const DType dtype = value.dtype();
  spec.attrs = {{"dtype", dtype}, {"value", std::move(value)}};
  return spec;
}

}  // namespace

Status FoldConstants(Graph* graph, PassContext& context) {
  const std::vector<bool> conditional = ConditionalNodes(*graph);
  GraphImpl& impl = ImplOf(*graph);
  Replacements r(graph, context);
  for (Node* node : r.nodes()) {
    r.Update(node);
    // Conditional nodes are not folded: a constant would be live even if the node were dead, and would run outside of
    // its loop.
    if (conditional[node->id()] || !CanFold(*node)) continue;
    TF_RETURN_IF_ERROR(context.CheckWanted());
    auto values = Compute(*node);
    if (!values.ok()) continue;
    if (values->size() == 1) {
      TF_RETURN_IF_ERROR(impl.Become(node, ConstantOf(std::move(values->front()))));
      continue;
    }
    std::vector<Output> constants;
    for (size_t i = 0; i < values->size(); ++i) {
      NodeSpec spec = ConstantOf(std::move((*values)[i]));
      spec.name = StrCat(node->name(), "/_folded_", i);
      spec.device = node->device();
      TF_ASSIGN_OR_RETURN(Node * constant, impl.AddNode(std::move(spec)));
      constants.push_back(OutputOf(constant, 0));
    }
    r.Replace(node, std::move(constants));
  }
  return r.Finish();
}

}  // namespace tensorbraid
