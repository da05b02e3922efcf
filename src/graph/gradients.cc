// Symbolic differentiation: walks backwards from ys to xs over the nodes between them.
#include <algorithm>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "graph/node.h"

namespace tensorbraid {
namespace {

struct OutputLess {
  bool operator()(const Output& a, const Output& b) const {
    return std::pair(NodeOf(a)->id(), a.index()) < std::pair(NodeOf(b)->id(), b.index());
  }
};

bool IsDifferentiable(DType t) { return IsFloating(BaseType(t)) || IsComplex(BaseType(t)); }

// Whether gradients flow along a tensor of this type. The gradient of a resource handle is the sum of the gradients of
// all reads of its variable. The gradient of a variant, which holds a list of tensors, is a list as well.
bool CarriesGradient(DType t) {
  return IsDifferentiable(t) || BaseType(t) == DType::kResource || BaseType(t) == DType::kVariant;
}

// Whether `seed` may be the initial gradient of y.
Status CheckSeed(const Output& y, const Output& seed) {
  if (!seed.valid()) {
    if (IsComplex(BaseType(y.dtype()))) {
      return InvalidArgument("cannot differentiate '", y.name(), "' without grad_ys: gradients of complex tensors (",
                             y.dtype(), ") must set grad_ys, for example to a constant of ones; to minimize a real ",
                             "loss, differentiate its real part or its absolute value");
    }
    if (IsDifferentiable(y.dtype())) return OkStatus();
    return InvalidArgument("cannot differentiate '", y.name(), "': its dtype is ", y.dtype(),
                           "; expected a floating-point dtype, or grad_ys");
  }
  // 1: real, 2: complex, 3: anything else.
  const auto kind = [](DType t) { return IsFloating(t) || IsInteger(t) ? 1 : IsComplex(t) ? 2 : 3; };
  const DType of_y = BaseType(y.dtype()), of_seed = BaseType(seed.dtype());
  if (of_y == DType::kResource || kind(of_y) == kind(of_seed)) return OkStatus();
  return InvalidArgument("the initial gradient '", seed.name(), "' of '", y.name(), "' has dtype ", of_seed,
                         ", but the tensor has dtype ", of_y, "; both must be real, or both complex");
}

// The sum of the gradients of one output of `node`. If a term is on the device of the node, the sum is placed with this
// term: then only the other terms are sent, and the gradient of the node does not wait for a sum that was made
// elsewhere. Otherwise, as for a variable on a parameter server, the sum is placed with the first term, so that only
// the sum is sent.
Gradient Sum(const std::vector<Gradient>& terms, const Operation& node) {
  const auto here = std::find_if(terms.begin(), terms.end(),
                                 [&](const Gradient& term) { return term.op().device() == node.device(); });
  auto place = terms[0].graph()->ColocateWith((here == terms.end() ? terms[0] : *here).op());
  if (!std::all_of(terms.begin(), terms.end(), [](const Gradient& g) { return g.is_sparse(); })) {
    return SumOfGradients(terms);
  }
  // Gradients arrive in the reverse order of the ops that use the output. As in TensorFlow, rows are concatenated, and
  // later summed, in the order of the lookups.
  return SumOfGradients({terms.rbegin(), terms.rend()});
}

class Differentiator {
 public:
  Differentiator(const std::vector<Output>& ys, const std::vector<Output>& xs)
      : graph_(*ys[0].graph()), ys_(ys), xs_(xs) {}

  StatusOr<std::vector<Gradient>> Run(const std::vector<Output>& grad_ys) {
    auto scope = graph_.NameScope("gradients");
    const std::string outer = ImplOf(graph_).gradient_scope();
    ImplOf(graph_).set_gradient_scope(ImplOf(graph_).name_scope());
    auto result = AddGradients(grad_ys);
    ImplOf(graph_).set_gradient_scope(outer);
    return result;
  }

 private:
  StatusOr<std::vector<Gradient>> AddGradients(const std::vector<Output>& grad_ys) {
    Mark();
    for (size_t i = 0; i < ys_.size(); ++i) {
      Output seed = grad_ys.empty() ? Output() : grad_ys[i];
      TF_RETURN_IF_ERROR(CheckSeed(ys_[i], seed));
      if (!seed.valid()) {
        seed = NodeBuilder(graph_, "OnesLike").Name("grad_ys").Input(ys_[i]).ColocateWith(ys_[i].op()).Output();
      }
      grads_[ys_[i]].push_back(seed);
    }
    // Node ids rise along every edge, so a node's gradients are complete when all later nodes are done.
    for (auto it = between_.rbegin(); it != between_.rend(); ++it) TF_RETURN_IF_ERROR(Backward(*it));
    std::vector<Gradient> result;
    for (const Output& x : xs_) {
      auto it = grads_.find(x);
      result.push_back(it == grads_.end() ? Gradient() : Sum(it->second, x.op()));
    }
    TF_RETURN_IF_ERROR(graph_.status());
    return result;
  }

  // Finds the nodes on paths from any x to any y.
  void Mark() {
    std::set<int> before_y;  // ys and all nodes that they depend on
    std::vector<Node*> stack;
    for (const Output& y : ys_) stack.push_back(NodeOf(y));
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (!before_y.insert(n->id()).second) continue;
      for (const Output& in : n->inputs()) stack.push_back(NodeOf(in));
    }
    std::set<int> after_x;
    const auto& nodes = ImplOf(graph_).nodes();
    for (const Output& x : xs_) after_x.insert(NodeOf(x)->id());
    for (int id : before_y) {
      Node* n = nodes[id].get();
      if (n->op().not_differentiable) continue;
      for (const Output& in : n->inputs()) {
        if (CarriesGradient(n->input_type(InputIndex(*n, in))) && after_x.contains(NodeOf(in)->id())) {
          after_x.insert(id);
          between_.push_back(n);
          break;
        }
      }
    }
  }

  // The number of an input, of which `in` is the element of n.inputs() itself.
  static int InputIndex(const Node& n, const Output& in) { return static_cast<int>(&in - n.inputs().data()); }

  Status Backward(Node* node) {
    std::vector<Gradient> output_grads;
    bool any = false;
    for (int i = 0; i < node->num_outputs(); ++i) {
      auto it = grads_.find(OutputOf(node, i));
      if (it == grads_.end()) {
        output_grads.emplace_back();
        continue;
      }
      any = true;
      const Gradient total = Sum(it->second, OperationOf(node));
      it->second = {total};
      output_grads.push_back(total);
    }
    if (!any) return OkStatus();
    if (!node->op().has_gradient()) {
      return InvalidArgument("no gradient is defined for ", node->Describe(), ", which is on a path from '",
                             ys_[0].name(), "' back to the tensors that it is differentiated with respect to");
    }
    std::vector<Gradient> input_grads(node->inputs().size());
    {
      // The gradient of an op is placed on the device of the op.
      auto scope = graph_.NameScope(node->name() + "_grad");
      auto device = graph_.ColocateWith(OperationOf(node));
      TF_RETURN_IF_ERROR(InputGradients(OperationOf(node), output_grads, &input_grads));
    }
    TF_RETURN_IF_ERROR(graph_.status());
    for (size_t i = 0; i < input_grads.size(); ++i) {
      if (!input_grads[i].valid()) continue;
      const Output in = node->inputs()[i];
      if (input_grads[i].is_sparse()) {
        grads_[in].push_back(input_grads[i]);
        continue;
      }
      const Shape& shape = input_grads[i].dense().shape();
      if (in.dtype() != DType::kResource && !in.shape().IsCompatibleWith(shape)) {
        return Internal("the gradient of ", node->Describe(), " for input ", i, " has shape ", shape,
                        ", but the input has shape ", in.shape());
      }
      grads_[in].push_back(input_grads[i]);
    }
    return OkStatus();
  }

  // Calls the gradient function of the op. Most gradient functions take and return dense gradients only.
  static Status InputGradients(const Operation& op, const std::vector<Gradient>& output_grads,
                               std::vector<Gradient>* input_grads) {
    if (NodeOf(op)->op().sparse_gradient != nullptr) {
      return NodeOf(op)->op().sparse_gradient(op, output_grads, input_grads);
    }
    std::vector<Output> dense_outputs, dense_inputs(input_grads->size());
    for (const Gradient& g : output_grads) dense_outputs.push_back(g.ToDense());
    TF_RETURN_IF_ERROR(NodeOf(op)->op().gradient(op, dense_outputs, &dense_inputs));
    input_grads->assign(dense_inputs.begin(), dense_inputs.end());
    return OkStatus();
  }

  Graph& graph_;
  const std::vector<Output>& ys_;
  const std::vector<Output>& xs_;
  std::vector<Node*> between_;  // sorted by id
  std::map<Output, std::vector<Gradient>, OutputLess> grads_;
};

}  // namespace

StatusOr<std::vector<Gradient>> SparseGradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                                const std::vector<Output>& grad_ys, std::source_location loc) {
  const std::string self = StrCat("Gradients (", LocationText(loc), ")");
  if (ys.empty()) return InvalidArgument(self, ": ys is empty; expected at least one tensor to differentiate");
  for (const auto* list : {&ys, &xs, &grad_ys}) {
    for (const Output& o : *list) {
      if (!o.valid()) {
        if (list == &grad_ys) continue;  // stands for a tensor of ones
        for (const Output& any : ys) {
          if (any.valid() && NodeOf(any)->graph() != nullptr) TF_RETURN_IF_ERROR(any.graph()->status());
        }
        return InvalidArgument(self, ": one of the tensors is not valid (see the graph's status)", TakeLoggedMistake());
      }
      if (const Status exists = NodeOf(o)->CheckGraphExists(); !exists.ok()) return Annotate(exists, self);
      if (o.graph() != ys[0].graph()) return InvalidArgument(self, ": the tensors belong to different graphs");
    }
  }
  if (!grad_ys.empty() && grad_ys.size() != ys.size()) {
    return InvalidArgument(self, ": ", grad_ys.size(), " grad_ys for ", ys.size(), " ys");
  }
  TF_RETURN_IF_ERROR(ys[0].graph()->status());
  const ScopedLocation at(*ys[0].graph(), loc);
  return Differentiator(ys, xs).Run(grad_ys);
}

StatusOr<std::vector<Output>> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                        const std::vector<Output>& grad_ys, std::source_location loc) {
  TF_ASSIGN_OR_RETURN(const std::vector<Gradient> gradients, SparseGradients(ys, xs, grad_ys, loc));
  std::vector<Output> result;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!gradients[i].is_sparse()) {
      result.push_back(gradients[i].dense());
      continue;
    }
    auto place = xs[i].graph()->ColocateWith(gradients[i].op());
    result.push_back(gradients[i].ToDense(loc));
  }
  TF_RETURN_IF_ERROR(ys[0].graph()->status());
  return result;
}

}  // namespace tensorbraid
