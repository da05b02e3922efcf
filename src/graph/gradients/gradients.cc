// Symbolic differentiation: walks backwards from ys to xs over the nodes between them.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/control_flow/flow_context.h"
#include "graph/control_flow/imported_flow.h"
#include "graph/gradients/gradient_overrides.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"

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

// Makes the open name scope that of the gradients. The destructor restores the outer one, also if a gradient function
// of the program has thrown an exception.
class InnerGradientScope {
 public:
  explicit InnerGradientScope(GraphImpl& graph) : graph_(graph), outer_(graph.gradient_scope()) {
    graph_.set_gradient_scope(graph_.name_scope());
  }
  ~InnerGradientScope() { graph_.set_gradient_scope(outer_); }
  InnerGradientScope(const InnerGradientScope&) = delete;
  InnerGradientScope& operator=(const InnerGradientScope&) = delete;

 private:
  GraphImpl& graph_;
  const std::string outer_;
};

class Differentiator {
 public:
  Differentiator(const std::vector<Output>& ys, const std::vector<Output>& xs, const GradientsOptions& options)
      : graph_(*ys[0].graph()), ys_(ys), xs_(xs), name_(options.name) {
    for (const Output& tensor : options.stop_gradients) stops_.insert(NodeOf(tensor));
  }

  StatusOr<std::vector<Gradient>> Run(const std::vector<Output>& grad_ys) {
    auto scope = graph_.NameScope(name_);
    const InnerGradientScope inner(ImplOf(graph_));
    return AddGradients(grad_ys);
  }

 private:
  // Nodes that are differentiated together: one node, or a loop with all its nodes.
  struct Unit {
    Node* node = nullptr;             // null for a loop
    FlowContext* loop = nullptr;      // null for a node
    int last = 0;                     // the largest id of its nodes
    int uses = 0;                     // edges to it from units that have not been differentiated yet
    std::vector<const void*> inputs;  // the units that it depends on, one for each edge
  };

  StatusOr<std::vector<Gradient>> AddGradients(const std::vector<Output>& grad_ys) {
    // In a loop or a branch, tensors from outside are differentiated as they are inside.
    FlowContext* const context = ImplOf(graph_).flow_context();
    for (std::vector<Output>* tensors : {&ys_, &xs_}) {
      for (Output& tensor : *tensors) {
        TF_ASSIGN_OR_RETURN(tensor, VisibleIn(context, tensor, NodeOf(tensor)->name()));
      }
    }
    Mark();
    for (size_t i = 0; i < ys_.size(); ++i) {
      Output seed = grad_ys.empty() ? Output() : grad_ys[i];
      TF_RETURN_IF_ERROR(CheckSeed(ys_[i], seed));
      if (!seed.valid()) {
        seed = NodeBuilder(graph_, "OnesLike").Name("grad_ys").Input(ys_[i]).ColocateWith(ys_[i].op()).Output();
      }
      grads_[ys_[i]].push_back(seed);
    }
    TF_RETURN_IF_ERROR(BackwardThrough(LoopOf(context)));
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
      FlowContext* const loop = LoopOf(n->flow_context());
      has_loops_ = has_loops_ || loop != nullptr;
      if (loop != nullptr && (n->type() == "StackPop" || n->type() == "StackPopV2")) loops_with_stacks_.insert(loop);
      for (const Output& in : n->inputs()) {
        if (in.valid()) stack.push_back(NodeOf(in));  // not valid: the back edge of a loop whose body is being built
      }
    }
    std::set<int> after_x;
    const auto& nodes = ImplOf(graph_).nodes();
    for (const Output& x : xs_) after_x.insert(NodeOf(x)->id());
    // In a graph with loops, a node may depend on a later one through a back edge, so it takes several passes.
    std::set<int> between;
    size_t before = 0;
    do {  // In a loop, a node may depend on a later one through a back edge, so one pass may not be enough.
      before = between.size();
      for (int id : before_y) {
        Node* n = nodes[id].get();
        if (between.contains(id) || stops_.contains(n)) continue;
        if (n->op().not_differentiable && GradientOverrideOf(ImplOf(graph_), *n) == nullptr) continue;
        for (const Output& in : n->inputs()) {
          if (in.valid() && CarriesGradient(n->input_type(InputIndex(*n, in))) && after_x.contains(NodeOf(in)->id())) {
            after_x.insert(id);
            between.insert(id);
            break;
          }
        }
      }
    } while (has_loops_ && between.size() != before);
    for (int id : between) between_.push_back(nodes[id].get());
    marked_.insert(between_.begin(), between_.end());
  }

  // The number of an input, of which `in` is the element of n.inputs() itself.
  static int InputIndex(const Node& n, const Output& in) { return static_cast<int>(&in - n.inputs().data()); }

  // Differentiates the nodes directly in a loop whose gradient loop is being built (null: those in no loop), and the
  // loops inside it. A unit's gradients are complete when all units that depend on it are done.
  Status BackwardThrough(FlowContext* loop) {
    if (!has_loops_) {  // Node ids rise along every edge.
      for (auto it = between_.rbegin(); it != between_.rend(); ++it) TF_RETURN_IF_ERROR(Backward(*it));
      return OkStatus();
    }
    std::map<const void*, Unit> units;
    for (Node* n : between_) {
      const auto [key, inner] = UnitOf(loop, n);
      if (key == nullptr) continue;
      Unit& unit = units[key];
      unit.node = inner == nullptr ? n : nullptr;
      unit.loop = inner;
      unit.last = std::max(unit.last, n->id());
      for (const Output& in : n->inputs()) {
        if (!marked_.contains(NodeOf(in))) continue;
        const void* const from = UnitOf(loop, NodeOf(in)).first;
        if (from != nullptr && from != key) unit.inputs.push_back(from);
      }
    }
    for (const auto& [key, unit] : units) {
      for (const void* from : unit.inputs) ++units[from].uses;
    }
    std::map<int, const void*> ready;  // by the largest id, which is done first
    for (const auto& [key, unit] : units) {
      if (unit.uses == 0) ready.emplace(unit.last, key);
    }
    while (!ready.empty()) {
      const Unit& unit = units[ready.rbegin()->second];
      ready.erase(std::prev(ready.end()));
      TF_RETURN_IF_ERROR(unit.loop != nullptr ? BackwardLoop(unit.loop) : Backward(unit.node));
      for (const void* from : unit.inputs) {
        if (--units[from].uses == 0) ready.emplace(units[from].last, from);
      }
    }
    return OkStatus();
  }

  // The unit of a node among those directly in `loop`: its key and, if it is a loop, the loop. A null key: none,
  // because the node is outside of `loop` or moves the values of its variables.
  static std::pair<const void*, FlowContext*> UnitOf(FlowContext* loop, const Node* n) {
    if (loop != nullptr && loop->machinery.contains(n)) return {nullptr, nullptr};
    FlowContext* inner = LoopOf(n->flow_context());
    // An Exit is outside of its loop, but belongs to it.
    if (FlowKindOf(*n) == FlowKind::kExit) {
      FlowContext* const left = LoopOf(NodeOf(n->inputs()[0])->flow_context());
      if (left != nullptr && left->machinery.contains(n)) inner = left;
    }
    if (!IsInside(inner, loop)) return {nullptr, nullptr};
    if (inner == loop) return {n, nullptr};
    while (LoopOf(inner->outer) != loop) inner = LoopOf(inner->outer);
    return {inner, inner};
  }

  // The context of the gradients of a context's nodes.
  StatusOr<FlowContext*> GradientContext(FlowContext* context) {
    FlowContext* const loop = LoopOf(context);
    const auto it = gradient_loops_.find(loop);
    if (it == gradient_loops_.end()) return context;
    if (context == loop) return it->second;
    return GradientBranch(it->second, context);
  }

  // The total gradient of a tensor; not valid if nothing depends on it.
  Gradient Total(const Output& tensor) {
    const auto it = grads_.find(tensor);
    if (it == grads_.end()) return {};
    const Gradient total = Sum(it->second, tensor.op());
    it->second = {total};
    return total;
  }

  Status Backward(Node* node) {
    std::vector<Gradient> output_grads;
    bool any = false;
    TF_ASSIGN_OR_RETURN(FlowContext * context, GradientContext(node->flow_context()));
    const ScopedFlowContext inside(graph_, context);
    for (int i = 0; i < node->num_outputs(); ++i) {
      TF_ASSIGN_OR_RETURN(FlowContext * of_output, GradientContext(ContextOf(OutputOf(node, i))));
      const ScopedFlowContext with_output(graph_, of_output);
      output_grads.push_back(Total(OutputOf(node, i)));
      any = any || output_grads.back().valid();
    }
    if (!any) return OkStatus();
    const GradientFunction* const known = GradientOverrideOf(ImplOf(graph_), *node);
    const GradientFunction own = known == nullptr ? nullptr : *known;
    if (own == nullptr && !node->op().has_gradient()) {
      return InvalidArgument("no gradient is defined for ", node->Describe(), ", which is on a path from '",
                             ys_[0].name(), "' back to the tensors that it is differentiated with respect to");
    }
    std::vector<Gradient> input_grads(node->inputs().size());
    {
      // The gradient of an op is placed on the device of the op.
      auto scope = graph_.NameScope(node->name() + "_grad");
      auto device = graph_.ColocateWith(OperationOf(node));
      TF_ASSIGN_OR_RETURN(const bool is_gate, BackwardGate(node, output_grads, &input_grads));
      if (own != nullptr) {
        std::vector<Output> dense;
        for (const Gradient& g : output_grads) dense.push_back(g.ToDense());
        const std::vector<Output> made = [&] {
          const GraphUnlocked program(graph_);
          return own(OperationOf(node), dense);
        }();
        if (made.size() != input_grads.size()) {
          return InvalidArgument("the gradient function of ", node->Describe(),
                                 " must return a gradient for each of its ", input_grads.size(),
                                 " inputs, but returns ", made.size());
        }
        input_grads.assign(made.begin(), made.end());
      } else if (!is_gate) {
        TF_RETURN_IF_ERROR(InputGradients(OperationOf(node), output_grads, &input_grads));
      }
    }
    TF_RETURN_IF_ERROR(graph_.status());
    for (size_t i = 0; i < input_grads.size(); ++i) {
      if (!input_grads[i].valid()) continue;
      const Output in = node->inputs()[i];
      if (input_grads[i].is_sparse()) {
        grads_[in].push_back(input_grads[i]);
        continue;
      }
      const Output dense = input_grads[i].dense();
      if (in.dtype() != DType::kResource) {
        // A gradient may be a slice whose sizes only a step knows. It has the shape of the input, and the variables of
        // a gradient loop must keep their shapes.
        const auto shape = dense.shape().MergeWith(in.shape());
        if (!shape.ok()) {
          return Internal("the gradient of ", node->Describe(), " for input ", i, " has shape ", dense.shape(),
                          ", but the input has shape ", in.shape());
        }
        ImplOf(graph_).RefineShape(NodeOf(dense), dense.index(), *shape);
      }
      grads_[in].push_back(input_grads[i]);
    }
    return OkStatus();
  }

  // The gradients of the nodes at the edges of a conditional. Returns false if `node` is none of them.
  StatusOr<bool> BackwardGate(Node* node, const std::vector<Gradient>& output_grads,
                              std::vector<Gradient>* input_grads) {
    FlowContext* const context = node->flow_context();
    if (FlowKindOf(*node) == FlowKind::kMerge) {
      // The gradient of each branch's result enters the branch.
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        FlowContext* const branch = ContextOf(node->inputs()[i]);
        if (branch == context || branch == nullptr) return false;
        TF_ASSIGN_OR_RETURN(FlowContext * of_gradient, GradientContext(branch));
        TF_ASSIGN_OR_RETURN((*input_grads)[i],
                            VisibleIn(of_gradient, output_grads[0].ToDense(), ImplOf(graph_).name_scope()));
      }
      return true;
    }
    if (context == nullptr || context->is_loop() || !context->gates.contains(node)) return false;
    // The tensor's gradient is that of the branch that was taken. It is zeros if this branch does not use the tensor.
    TF_ASSIGN_OR_RETURN(FlowContext * of_gradient, GradientContext(context));
    std::vector<Output> of_sides(2);
    for (int side = 0; side < 2; ++side) {
      TF_ASSIGN_OR_RETURN(FlowContext * of_output, GradientContext(ContextOf(OutputOf(node, side))));
      const ScopedFlowContext with_output(graph_, of_output);
      of_sides[side] = output_grads[side].ToDense();
    }
    const ScopedFlowContext around(graph_, of_gradient->outer);
    for (int side = 0; side < 2; ++side) {
      if (of_sides[side].valid()) continue;
      TF_ASSIGN_OR_RETURN(const Output zeros, ZerosFor(node->inputs()[0], of_sides[1 - side]));
      FlowContext* branch = of_gradient;
      if (side != context->side) {
        TF_ASSIGN_OR_RETURN(branch, OtherSide(of_gradient));
      }
      TF_ASSIGN_OR_RETURN(of_sides[side], VisibleIn(branch, zeros, ImplOf(graph_).name_scope()));
    }
    TF_ASSIGN_OR_RETURN((*input_grads)[0], AddMerge(graph_, of_sides[0], of_sides[1]));
    return true;
  }

  // Zeros that are added to `gradient`, a gradient of the forward tensor `tensor`.
  StatusOr<Output> ZerosFor(const Output& tensor, const Output& gradient) {
    const DType dtype = gradient.dtype();
    if (gradient.shape().is_fully_defined() && dtype != DType::kVariant) {
      TF_ASSIGN_OR_RETURN(Tensor zero, Tensor::Create(dtype, {}));
      std::memset(zero.inplace_raw_data(), 0, zero.num_bytes());
      const Output value = NodeBuilder(graph_, "Const").Attr("value", zero).Attr("dtype", dtype).Output();
      return NodeBuilder(graph_, "Fill").Input(ShapeConstant(graph_, gradient.shape())).Input(value).Output();
    }
    Output like = tensor;
    if (tensor.dtype() == DType::kResource) {
      like = NodeBuilder(graph_, "ReadVariableOp").Input(tensor).Attr("dtype", gradient.dtype()).Output();
    }
    const Output zeros = NodeBuilder(graph_, "ZerosLike").Input(like).Output();
    TF_RETURN_IF_ERROR(graph_.status());
    return zeros;
  }

  // Adds the gradient loop of `loop`: it runs the iterations backwards. Its variables are the number of iterations that
  // are left, the gradients of the loop's variables, and the sums of the gradients of the tensors from outside.
  Status BackwardLoop(FlowContext* loop) {
    TF_ASSIGN_OR_RETURN(FlowContext * around, GradientContext(loop->outer));
    const ScopedFlowContext outside(graph_, around);
    std::vector<size_t> wanted;  // the loop's variables that depend on an x
    std::vector<Output> totals(loop->variables.size());
    bool any = false;
    for (size_t i = 0; i < totals.size(); ++i) {
      const LoopVariable& v = loop->variables[i];
      if (!marked_.contains(NodeOf(v.merge))) continue;
      wanted.push_back(i);
      if (!stops_.contains(NodeOf(v.exit))) totals[i] = Total(v.exit).ToDense();
      any = any || totals[i].valid();
    }
    if (!any) return OkStatus();
    if (!loop->differentiable) return OkStatus();  // its results are constants for the gradient, as in TensorFlow
    if (loops_with_stacks_.contains(loop)) {
      return InvalidArgument("the loop '", loop->frame,
                             "' takes values from a stack, through which no gradient passes. ",
                             "It is probably TensorFlow's gradient of a loop, which has no second gradient in ",
                             "TensorFlow either; import the graph without its gradients, and differentiate it twice");
    }
    if (!loop->condition.valid()) {
      return InvalidArgument("the imported loop '", loop->frame, "' has no LoopCond, so it has no gradient");
    }
    auto scope = graph_.NameScope(loop->name.empty() ? "while_grad" : loop->name + "_grad");
    TF_ASSIGN_OR_RETURN(Output left, IterationsOf(loop));
    TF_ASSIGN_OR_RETURN(left, VisibleIn(around, left, loop->frame));
    for (size_t i : wanted) {
      const Output exit = loop->variables[i].exit;
      if (!totals[i].valid()) totals[i] = NodeBuilder(graph_, "ZerosLike").Input(exit).ColocateWith(exit.op()).Output();
    }
    TF_RETURN_IF_ERROR(graph_.status());

    FlowContext* const back = BeginLoop(graph_, {.parallel_iterations = loop->parallel_iterations});
    back->forward = loop;
    gradient_loops_[loop] = back;
    TF_ASSIGN_OR_RETURN(const size_t counter, AddLoopVariable(back, left, {}));
    std::map<size_t, size_t> position;  // of a variable's gradient among the variables of `back`
    for (size_t i : wanted) {
      const LoopVariable& v = loop->variables[i];
      TF_ASSIGN_OR_RETURN(position[i], AddLoopVariable(back, totals[i], v.merge.shape(), v.exit.op()));
    }
    const ScopedFlowContext inside(graph_, back);
    const auto number = [&](int32_t n) {
      return NodeBuilder(graph_, "Const").Attr("value", Tensor::Scalar(n)).Attr("dtype", kInt32).Output();
    };
    const Output more = NodeBuilder(graph_, "Greater").Input(back->variables[counter].merge).Input(number(0)).Output();
    TF_RETURN_IF_ERROR(graph_.status());
    TF_RETURN_IF_ERROR(SetLoopCondition(back, more));
    const Output fewer = NodeBuilder(graph_, "Sub").Input(back->variables[counter].body).Input(number(1)).Output();
    TF_RETURN_IF_ERROR(graph_.status());
    TF_RETURN_IF_ERROR(CloseLoopVariable(back, counter, fewer));

    for (size_t i : wanted) {
      grads_[loop->variables[i].next].push_back(back->variables[position[i]].body);
    }
    TF_RETURN_IF_ERROR(BackwardThrough(loop));
    for (size_t i : wanted) {
      const Output body = loop->variables[i].body;
      Output gradient = Total(body).ToDense();
      if (!gradient.valid()) {
        TF_ASSIGN_OR_RETURN(gradient, ZerosFor(body, back->variables[position[i]].body));
      }
      TF_RETURN_IF_ERROR(graph_.status());
      TF_RETURN_IF_ERROR(CloseLoopVariable(back, position[i], gradient));
      grads_[NodeOf(loop->variables[i].enter)->inputs()[0]].push_back(back->variables[position[i]].exit);
    }
    for (const auto& [key, captured] : loop->captured) {
      if (!marked_.contains(NodeOf(captured))) continue;
      const Gradient gradient = Total(captured);
      if (!gradient.valid()) continue;
      const Output original = NodeOf(captured)->inputs()[0];
      TF_ASSIGN_OR_RETURN(const Gradient sum, SumOverIterations(back, original, gradient));
      grads_[original].push_back(sum);
    }
    gradient_loops_.erase(loop);
    return OkStatus();
  }

  // The sum over all iterations of the gradient of a tensor that entered the loop from outside.
  StatusOr<Gradient> SumOverIterations(FlowContext* back, const Output& tensor, const Gradient& gradient) {
    if (gradient.is_sparse()) return SlicesOfIterations(back, gradient.slices());
    const Output& dense = gradient.dense();
    Output zeros;
    {
      const ScopedFlowContext outside(graph_, back->outer);
      auto place = graph_.ColocateWith(dense.op());
      TF_ASSIGN_OR_RETURN(zeros, ZerosFor(tensor, dense));
    }
    const Shape shape = dense.shape().IsCompatibleWith(zeros.shape()) ? dense.shape() : Shape::Unknown();
    TF_ASSIGN_OR_RETURN(const size_t sum, AddLoopVariable(back, zeros, shape, dense.op()));
    Output next;
    if (dense.dtype() == DType::kVariant) {
      next = NodeBuilder(graph_, "AddN").InputList({back->variables[sum].body, dense}).Output();
    } else {
      next =
          NodeBuilder(graph_, "AddV2").Input(back->variables[sum].body).Input(dense).ColocateWith(dense.op()).Output();
    }
    TF_RETURN_IF_ERROR(graph_.status());
    TF_RETURN_IF_ERROR(CloseLoopVariable(back, sum, next));
    return Gradient(back->variables[sum].exit);
  }

  // The slices of all iterations, in one.
  StatusOr<Gradient> SlicesOfIterations(FlowContext* back, const IndexedSlices& slices) {
    std::map<const Output*, Output> all;
    for (const Output* part : {&slices.values, &slices.indices}) {
      const ScopedFlowContext outside(graph_, back->outer);
      auto place = graph_.ColocateWith(part->op());
      Shape element = part->shape();
      if (element.has_rank() && element.rank() > 0) element.set_dim(0, Shape::kUnknownDim);
      TF_ASSIGN_OR_RETURN(const Output list, EmptyList(graph_, part->dtype(), element));
      TF_ASSIGN_OR_RETURN(const size_t variable, AddLoopVariable(back, list, {}, part->op()));
      {
        const ScopedFlowContext inside(graph_, back);
        const Output pushed =
            NodeBuilder(graph_, "TensorListPushBack").Input(back->variables[variable].body).Input(*part).Output();
        TF_RETURN_IF_ERROR(graph_.status());
        TF_RETURN_IF_ERROR(CloseLoopVariable(back, variable, pushed));
      }
      all[part] = NodeBuilder(graph_, "TensorListConcatV2")
                      .Input(back->variables[variable].exit)
                      .Input(ShapeConstant(graph_, element))
                      .Input(NodeBuilder(graph_, "Const")
                                 .Attr("value", Tensor::Vector(std::vector<int64_t>()))
                                 .Attr("dtype", kInt64)
                                 .Output())
                      .Attr("element_dtype", part->dtype())
                      .Output();
      TF_RETURN_IF_ERROR(graph_.status());
    }
    const ScopedFlowContext outside(graph_, back->outer);
    Output dense_shape = slices.dense_shape;
    if (ContextOf(dense_shape) != back->outer) {
      // The shape is the same in all iterations: the one of the last is taken.
      TF_ASSIGN_OR_RETURN(dense_shape, LastValue(back, dense_shape));
    }
    return Gradient(
        IndexedSlices{.values = all[&slices.values], .indices = all[&slices.indices], .dense_shape = dense_shape});
  }

  // Outside of a loop: the value of a vector in the last iteration, or an empty vector if there was none.
  StatusOr<Output> LastValue(FlowContext* loop, const Output& vector) {
    const Output none =
        NodeBuilder(graph_, "Const")
            .Attr("value", Tensor::Vector(std::vector<int64_t>(vector.shape().has_rank() && vector.shape().dim(0) > 0
                                                                   ? static_cast<size_t>(vector.shape().dim(0))
                                                                   : 0)))
            .Attr("dtype", kInt64)
            .Output();
    TF_RETURN_IF_ERROR(graph_.status());
    TF_ASSIGN_OR_RETURN(const size_t variable, AddLoopVariable(loop, none, Shape::Unknown(), vector.op()));
    TF_RETURN_IF_ERROR(CloseLoopVariable(loop, variable, vector));
    return loop->variables[variable].exit;
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
  std::vector<Output> ys_;
  std::vector<Output> xs_;
  const std::string name_;
  std::set<const Node*> stops_;                          // the nodes that no gradient passes through
  std::vector<Node*> between_;                           // the nodes on paths from an x to a y, sorted by id
  std::set<const Node*> marked_;                         // the same
  bool has_loops_ = false;                               // whether a y depends on a node in a loop
  std::set<const FlowContext*> loops_with_stacks_;       // those that ys depend on and that pop elements of a stack
  std::map<FlowContext*, FlowContext*> gradient_loops_;  // of the loops that are being differentiated
  std::map<Output, std::vector<Gradient>, OutputLess> grads_;
};

}  // namespace

StatusOr<std::vector<Gradient>> SparseGradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                                const std::vector<Output>& grad_ys, const GradientsOptions& options,
                                                std::source_location loc) {
  const std::string self = StrCat("Gradients (", LocationText(loc), ")");
  if (ys.empty()) return InvalidArgument(self, ": ys is empty; expected at least one tensor to differentiate");
  for (const auto* list : {&ys, &xs, &grad_ys, &options.stop_gradients}) {
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
  if (const Status changes = ImplOf(*ys[0].graph()).CheckMayChange(); !changes.ok()) return Annotate(changes, self);
  const GraphLock lock(*ys[0].graph());
  const ScopedLocation at(*ys[0].graph(), loc);
  TF_RETURN_IF_ERROR(CompleteImportedFlow(*ys[0].graph()));
  return Differentiator(ys, xs, options).Run(grad_ys);
}

StatusOr<std::vector<Output>> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                        const std::vector<Output>& grad_ys, const GradientsOptions& options,
                                        std::source_location loc) {
  TF_ASSIGN_OR_RETURN(const std::vector<Gradient> gradients, SparseGradients(ys, xs, grad_ys, options, loc));
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
