// Symbolic differentiation, backwards from ys to xs over the nodes in between.
#include <algorithm>
#include <map>
#include <set>

#include "core/strings.h"
#include "graph/node.h"

namespace tensorbraid {
namespace {

struct OutputLess {
  bool operator()(const Output& a, const Output& b) const {
    return std::pair(a.node()->id(), a.index()) < std::pair(b.node()->id(), b.index());
  }
};

bool IsDifferentiable(DType t) { return IsFloating(BaseType(t)) || IsComplex(BaseType(t)); }

// Gradients also flow to the handle of a variable, as those of all its reads together.
bool CarriesGradient(DType t) { return IsDifferentiable(t) || BaseType(t) == DType::kResource; }

Output Sum(Graph& graph, std::vector<Output> terms) {
  if (terms.size() == 1) return terms[0];
  const Operation with = terms[0].op();
  return NodeBuilder(graph, "AddN").InputList(std::move(terms)).ColocateWith(with).Output();
}

class Differentiator {
 public:
  Differentiator(const std::vector<Output>& ys, const std::vector<Output>& xs)
      : graph_(*ys[0].graph()), ys_(ys), xs_(xs) {}

  StatusOr<std::vector<Output>> Run(const std::vector<Output>& grad_ys) {
    auto scope = graph_.NameScope("gradients");
    Mark();
    for (size_t i = 0; i < ys_.size(); ++i) {
      Output seed = grad_ys.empty() ? Output() : grad_ys[i];
      if (!seed.valid()) {
        if (!IsDifferentiable(ys_[i].dtype())) {
          return InvalidArgument("cannot differentiate '", ys_[i].name(), "': it is ", ys_[i].dtype());
        }
        seed = NodeBuilder(graph_, "OnesLike").Name("grad_ys").Input(ys_[i]).ColocateWith(ys_[i].op()).Output();
      }
      grads_[ys_[i]].push_back(seed);
    }
    // Node ids rise along every edge, so a node's gradients are complete when all later nodes are done.
    for (auto it = between_.rbegin(); it != between_.rend(); ++it) TF_RETURN_IF_ERROR(Backward(*it));
    std::vector<Output> result;
    for (const Output& x : xs_) {
      auto it = grads_.find(x);
      result.push_back(it == grads_.end() ? Output() : Sum(graph_, it->second));
    }
    TF_RETURN_IF_ERROR(graph_.status());
    return result;
  }

 private:
  // Finds the nodes on a path from some x to some y.
  void Mark() {
    std::set<int> before_y;  // ys and all they depend on
    std::vector<Node*> stack;
    for (const Output& y : ys_) stack.push_back(y.node());
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (!before_y.insert(n->id()).second) continue;
      for (const Output& in : n->inputs()) stack.push_back(in.node());
    }
    std::set<int> after_x;
    const auto& nodes = graph_.impl().nodes();
    for (const Output& x : xs_) after_x.insert(x.node()->id());
    for (int id : before_y) {
      Node* n = nodes[id].get();
      if (n->op().not_differentiable) continue;
      for (const Output& in : n->inputs()) {
        if (CarriesGradient(n->input_type(InputIndex(*n, in))) && after_x.contains(in.node()->id())) {
          after_x.insert(id);
          between_.push_back(n);
          break;
        }
      }
    }
  }

  static int InputIndex(const Node& n, const Output& in) { return static_cast<int>(&in - n.inputs().data()); }

  Status Backward(Node* node) {
    std::vector<Output> output_grads;
    bool any = false;
    for (int i = 0; i < node->num_outputs(); ++i) {
      auto it = grads_.find(Output(node, i));
      if (it == grads_.end()) {
        output_grads.emplace_back();
        continue;
      }
      any = true;
      const Output total = Sum(graph_, it->second);
      it->second = {total};
      output_grads.push_back(total);
    }
    if (!any) return OkStatus();
    if (node->op().gradient == nullptr) {
      return InvalidArgument("no gradient is defined for ", node->Describe(), ", which lies between '", ys_[0].name(),
                             "' and what it is differentiated by");
    }
    std::vector<Output> input_grads(node->inputs().size());
    {
      // Gradients are computed where their op is.
      auto scope = graph_.NameScope(node->name() + "_grad");
      auto device = graph_.ColocateWith(Operation(node));
      TF_RETURN_IF_ERROR(node->op().gradient(Operation(node), output_grads, &input_grads));
    }
    TF_RETURN_IF_ERROR(graph_.status());
    for (size_t i = 0; i < input_grads.size(); ++i) {
      if (!input_grads[i].valid()) continue;
      const Output in = node->inputs()[i];
      if (in.dtype() != DType::kResource && !in.shape().IsCompatibleWith(input_grads[i].shape())) {
        return Internal("the gradient of ", node->Describe(), " for input ", i, " has shape ", input_grads[i].shape(),
                        ", the input ", in.shape());
      }
      grads_[in].push_back(input_grads[i]);
    }
    return OkStatus();
  }

  Graph& graph_;
  const std::vector<Output>& ys_;
  const std::vector<Output>& xs_;
  std::vector<Node*> between_;  // ids rising
  std::map<Output, std::vector<Output>, OutputLess> grads_;
};

}  // namespace

StatusOr<std::vector<Output>> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                        const std::vector<Output>& grad_ys) {
  if (ys.empty()) return InvalidArgument("Gradients: there is nothing to differentiate");
  for (const auto* list : {&ys, &xs}) {
    for (const Output& o : *list) {
      if (!o.valid()) {
        for (const Output& any : ys) {
          if (any.valid()) TF_RETURN_IF_ERROR(any.graph()->status());
        }
        return InvalidArgument("Gradients: one of the tensors is not valid (see the graph's status)");
      }
      if (o.graph() != ys[0].graph()) return InvalidArgument("Gradients: the tensors belong to different graphs");
    }
  }
  if (!grad_ys.empty() && grad_ys.size() != ys.size()) {
    return InvalidArgument("Gradients: ", grad_ys.size(), " grad_ys for ", ys.size(), " ys");
  }
  TF_RETURN_IF_ERROR(ys[0].graph()->status());
  return Differentiator(ys, xs).Run(grad_ys);
}

}  // namespace tensorbraid
