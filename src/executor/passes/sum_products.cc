// Replaces an AddN and the MatMul nodes that it sums by one node, whose kernel adds each product to the sum while it
// computes the product. An unrolled recurrent layer has such a sum for its weights: one product per step, each as large
// as the weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/text/device_name.h"
#include "executor/passes/fuse_pairs.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

constexpr const char* kTransposes[] = {"transpose_a", "transpose_b"};

// Whether the two devices of a graph belong to one task.
bool AreOfOneTask(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto first = DeviceName::Parse(a), second = DeviceName::Parse(b);
  return first.ok() && second.ok() && first->TaskString() == second->TaskString();
}

// Whether `product` is a MatMul that may become a part of `sum` if nothing else uses it. It may be on another CPU
// device of the task, as the gradients of towers are: such devices share memory and threads.
bool IsTerm(const Node& product, const Node& sum, PassContext& context) {
  return product.type() == "MatMul" && IsPure(product) && product.control_inputs().empty() &&
         context.DeviceType(product) == "CPU" && AreOfOneTask(product.device(), sum.device());
}

// Whether all terms have the shape and the transposes of the first one. The shape must be known. If it is not, the
// nodes stay as they are, so that an error about terms of different shapes names the AddN.
bool AreAlike(const std::vector<const Node*>& products) {
  const Node& first = *products[0];
  return first.output_shape(0).is_fully_defined() &&
         std::all_of(products.begin(), products.end(), [&](const Node* product) {
           return product->output_shape(0) == first.output_shape(0) &&
                  std::all_of(std::begin(kTransposes), std::end(kTransposes), [&](const char* transpose) {
                    return product->attr<bool>(transpose) == first.attr<bool>(transpose);
                  });
         });
}

}  // namespace

Status SumProducts(Graph* graph, PassContext& context) {
  GraphImpl& impl = ImplOf(*graph);
  const size_t count = impl.nodes().size();
  const std::vector<int> uses = NumbersOfUses(*graph);
  std::vector<bool> removed(count, false);
  bool any = false;
  // Iterates by index, because Become changes the vector of nodes temporarily.
  for (size_t i = 0; i < count; ++i) {
    Node* const sum = impl.nodes()[i].get();
    if (sum->type() != "AddN" || sum->inputs().size() < 2 || sum->output_type(0) != kFloat32 || !IsPure(*sum) ||
        context.DeviceType(*sum) != "CPU") {
      continue;
    }
    std::vector<const Node*> products;
    for (const Output& in : sum->inputs()) {
      const Node* const product = NodeOf(in);
      if (IsTerm(*product, *sum, context) && uses[product->id()] == 1) products.push_back(product);
    }
    if (products.size() != sum->inputs().size() || !AreAlike(products)) continue;
    NodeSpec spec = LikeNode(*sum, "_SumOfMatMuls");
    spec.inputs.clear();
    for (const int operand : {0, 1}) {
      for (const Node* product : products) spec.inputs.push_back(product->inputs()[operand]);
    }
    for (const char* transpose : kTransposes) spec.attrs[transpose] = products[0]->attr<bool>(transpose);
    if (!impl.Become(sum, std::move(spec)).ok()) continue;
    for (const Node* product : products) removed[product->id()] = true;
    any = true;
  }
  if (any) impl.RemoveNodes(removed);
  return OkStatus();
}

}  // namespace tensorbraid
