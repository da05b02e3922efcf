// Replaces Shape, Size and Rank nodes by constants if the shape of their input is known before the graph runs, so that
// the input itself need not be computed.
#include <algorithm>
#include <limits>

#include "executor/passes/pass.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Whether the tensor is the value of a reference, perhaps behind Identity nodes. Its rank is not folded: TensorFlow's
// assert_variables_initialized computes the rank of each variable, and must fail if a variable has no value.
bool ReadsReference(Output o) {
  while (NodeOf(o)->type() == "Identity" && !IsRef(NodeOf(o)->output_type(o.index()))) {
    const Output from = NodeOf(o)->inputs()[0];
    if (IsRef(NodeOf(from)->output_type(from.index()))) return true;
    o = from;
  }
  return false;
}

// The elements of the node's value. REQUIRES: the shape of the input is fully defined.
std::vector<int64_t> NumbersOf(const Node& node) {
  const Shape& shape = node.inputs()[0].shape();
  if (node.type() == "Shape") return {shape.dims().begin(), shape.dims().end()};
  return {node.type() == "Size" ? shape.num_elements() : shape.rank()};
}

bool IsKnown(const Node& node) {
  if (node.type() != "Shape" && node.type() != "Size" && node.type() != "Rank") return false;
  if (!IsPure(node) || !node.control_inputs().empty()) return false;
  if (node.type() == "Rank" && ReadsReference(node.inputs()[0])) return false;
  const Shape& shape = node.inputs()[0].shape();
  if (!shape.is_fully_defined()) return false;
  if (node.output_type(0) != kInt32) return true;
  // The kernel reports a number that does not fit.
  const std::vector<int64_t> numbers = NumbersOf(node);
  return std::all_of(numbers.begin(), numbers.end(),
                     [](int64_t number) { return number <= std::numeric_limits<int32_t>::max(); });
}

Tensor ValueOf(const Node& node) {
  const std::vector<int64_t> numbers = NumbersOf(node);
  Tensor value(node.output_type(0), node.output_shape(0));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (value.dtype() == kInt32) {
      value.inplace_data<int32_t>()[i] = static_cast<int32_t>(numbers[i]);
    } else {
      value.inplace_data<int64_t>()[i] = numbers[i];
    }
  }
  return value;
}

}  // namespace

Status FoldKnownShapes(Graph* graph, PassContext&) {
  const std::vector<bool> conditional = ConditionalNodes(*graph);
  const auto& nodes = ImplOf(*graph).nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {  // by index, because Become may move the vector
    Node* const node = nodes[i].get();
    if (!IsKnown(*node) || conditional[i]) continue;
    Tensor value = ValueOf(*node);
    NodeSpec constant;
    constant.op = "Const";
    constant.attrs = {{"dtype", value.dtype()}, {"value", std::move(value)}};
    TF_RETURN_IF_ERROR(ImplOf(*graph).Become(node, std::move(constant)));
  }
  return OkStatus();
}

}  // namespace tensorbraid
