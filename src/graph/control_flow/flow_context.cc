#include "graph/control_flow/flow_context.h"

#include <algorithm>
#include <optional>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Adds nodes of control flow itself: they take their inputs as they are, whatever context is open, and their names are
// complete. With a valid `place`, they are colocated with it; otherwise the open device scopes apply.
class Machinery {
 public:
  Machinery(GraphImpl& graph, FlowContext* context, std::string name, Operation place)
      : graph_(graph), context_(context), name_(std::move(name)), place_(place) {}

  StatusOr<Node*> Add(const std::string& op, std::vector<Output> inputs, std::map<std::string, AttrValue> attrs = {},
                      std::vector<Node*> controls = {}) {
    NodeSpec spec{.name = graph_.UniqueName(StrCat(name_, name_.empty() ? "" : "/", op, "/")),
                  .op = op,
                  .inputs = std::move(inputs),
                  .controls = std::move(controls),
                  .attrs = std::move(attrs),
                  .device = "",
                  .line = graph_.user_line(),
                  .flow_context = context_};
    if (place_.valid()) {
      const Node& with = *NodeOf(place_);
      std::vector<std::string> classes;
      for (const std::string& name : with.colocated_with()) classes.push_back("loc:@" + name);
      if (classes.empty()) classes.push_back("loc:@" + with.name());
      spec.attrs.emplace("_class", std::move(classes));
      spec.device = with.device();
    }
    TF_ASSIGN_OR_RETURN(Node * node, graph_.AddNode(std::move(spec)));
    if (!place_.valid()) node->set_device(graph_.DeviceFor(*node));
    return node;
  }

 private:
  GraphImpl& graph_;
  FlowContext* const context_;
  const std::string name_;
  const Operation place_;
};

GraphImpl& ImplOfNode(const Output& tensor) { return ImplOf(*NodeOf(tensor)->graph()); }

bool IsReference(const Output& tensor) { return IsRef(NodeOf(tensor)->output_type(tensor.index())); }

// Where the node through which a tensor enters a context runs: references and resources stay with their variable, and
// lists stay where they are.
Operation PlaceOf(const Output& tensor) {
  const bool stays = IsReference(tensor) || tensor.dtype() == DType::kResource || tensor.dtype() == DType::kVariant;
  return stays ? tensor.op() : Operation();
}

// Lets a tensor of the outer context into the context.
StatusOr<Output> CaptureTensor(FlowContext* context, const Output& tensor, const std::string& name) {
  const auto it = context->captured.find(KeyOf(tensor));
  if (it != context->captured.end()) return it->second;
  Machinery machinery(ImplOfNode(tensor), context, name, PlaceOf(tensor));
  Output inside;
  if (context->is_loop()) {
    TF_ASSIGN_OR_RETURN(Node * enter, machinery.Add(IsReference(tensor) ? "RefEnter" : "Enter", {tensor},
                                                    {{"frame_name", context->frame},
                                                     {"is_constant", true},
                                                     {"parallel_iterations", context->parallel_iterations}}));
    context->machinery.insert(enter);
    context->gates.insert(enter);
    inside = OutputOf(enter, 0);
  } else {
    TF_ASSIGN_OR_RETURN(Node * gate,
                        machinery.Add(IsReference(tensor) ? "RefSwitch" : "Switch", {tensor, context->predicate}));
    context->gates.insert(gate);
    inside = OutputOf(gate, context->side);
  }
  context->captured.emplace(KeyOf(tensor), inside);
  return inside;
}

// The branches around the node of a tensor, up to its loop, the outermost first.
std::vector<FlowContext*> BranchesAround(const Output& tensor) {
  std::vector<FlowContext*> branches;
  for (FlowContext* c = ContextOf(tensor); c != nullptr && !c->is_loop(); c = c->outer) {
    branches.insert(branches.begin(), c);
  }
  return branches;
}

// Applies `change` to a list in the innermost of `branches`, if all of them are taken in this iteration. The list is in
// the context around the branches, and so is the result.
template <typename Change>
StatusOr<Output> ChangeInBranches(const Output& list, const std::vector<FlowContext*>& branches,
                                  const std::string& name, Operation place, const Change& change) {
  std::vector<Output> outside;
  Output inner = list;
  for (FlowContext* branch : branches) {
    outside.push_back(inner);
    TF_ASSIGN_OR_RETURN(inner, VisibleIn(branch, inner, name));
  }
  TF_ASSIGN_OR_RETURN(inner, change(inner));
  Graph& graph = *NodeOf(list)->graph();
  const ScopeGuard place_scope = graph.ColocateWith(place);
  for (size_t i = branches.size(); i-- > 0;) {
    TF_ASSIGN_OR_RETURN(FlowContext * other, OtherSide(branches[i]));
    TF_ASSIGN_OR_RETURN(const Output unchanged, VisibleIn(other, outside[i], name));
    const ScopedFlowContext around(graph, branches[i]->outer);
    TF_ASSIGN_OR_RETURN(inner,
                        branches[i]->side == 1 ? AddMerge(graph, unchanged, inner) : AddMerge(graph, inner, unchanged));
  }
  return inner;
}

// The list of the values that a tensor of a loop has in the iterations, outside of the loop. If the tensor is in
// branches, the list has its values of the iterations in which they are taken.
StatusOr<Output> HistoryOf(FlowContext* loop, const Output& tensor, const std::string& name) {
  const auto it = loop->histories.find(KeyOf(tensor));
  if (it != loop->histories.end()) return it->second;
  Graph& graph = *NodeOf(tensor)->graph();
  const Operation place = tensor.op();
  const ScopeGuard place_scope = graph.ColocateWith(place);
  Output empty;
  {
    const ScopedFlowContext outside(graph, loop->outer);
    const ScopeGuard no_controls = graph.ControlDependencies(std::vector<Operation>());
    TF_ASSIGN_OR_RETURN(empty, EmptyList(graph, tensor.dtype(), tensor.shape()));
  }
  TF_ASSIGN_OR_RETURN(const size_t variable, AddLoopVariable(loop, empty, {}, place));
  const auto push = [&](const Output& list) -> StatusOr<Output> {
    Machinery machinery(ImplOf(graph), ContextOf(tensor), name, place);
    TF_ASSIGN_OR_RETURN(Node * pushed, machinery.Add("TensorListPushBack", {list, tensor}));
    return OutputOf(pushed, 0);
  };
  TF_ASSIGN_OR_RETURN(const Output next, ChangeInBranches(Output(loop->variables[variable].body),
                                                          BranchesAround(tensor), name, place, push));
  TF_RETURN_IF_ERROR(CloseLoopVariable(loop, variable, next));
  return loop->histories[KeyOf(tensor)] = loop->variables[variable].exit;
}

// The value that a tensor of the forward loop had in the iteration that the gradient loop goes back over.
StatusOr<Output> ForwardValue(FlowContext* gradient_loop, const Output& tensor, const std::string& name) {
  FlowContext* const loop = gradient_loop->forward;
  Node& node = *NodeOf(tensor);
  Graph& graph = *node.graph();
  if (loop->gates.contains(&node)) return VisibleIn(gradient_loop, node.inputs()[0], name);
  if (FlowContext* const branch = ContextOf(tensor); branch != loop && branch->gates.contains(&node)) {
    TF_ASSIGN_OR_RETURN(FlowContext * of_gradient, GradientBranch(gradient_loop, branch));
    return VisibleIn(of_gradient, node.inputs()[0], name);
  }
  if (node.type() == "Const") {
    const ScopedFlowContext outside(graph, nullptr);
    const ScopeGuard no_controls = graph.ControlDependencies(std::vector<Operation>());
    const Output constant = NodeBuilder(graph, "Const")
                                .Attr("value", *node.FindAttr("value"))
                                .Attr("dtype", node.attr<DType>("dtype"))
                                .ColocateWith(tensor.op())
                                .Output();
    TF_RETURN_IF_ERROR(graph.status());
    return VisibleIn(gradient_loop, constant, name);
  }
  const auto it = gradient_loop->popped.find(KeyOf(tensor));
  if (it != gradient_loop->popped.end()) return it->second;
  TF_ASSIGN_OR_RETURN(Output history, HistoryOf(loop, tensor, name));
  TF_ASSIGN_OR_RETURN(history, VisibleIn(gradient_loop->outer, history, name));
  TF_ASSIGN_OR_RETURN(const size_t variable, AddLoopVariable(gradient_loop, history, {}, tensor.op()));
  std::vector<FlowContext*> branches;
  for (FlowContext* branch : BranchesAround(tensor)) {
    TF_ASSIGN_OR_RETURN(FlowContext * of_gradient, GradientBranch(gradient_loop, branch));
    branches.push_back(of_gradient);
  }
  FlowContext* const innermost = branches.empty() ? gradient_loop : branches.back();
  Output value;
  const auto pop = [&](const Output& list) -> StatusOr<Output> {
    Output shape;
    {
      const ScopedFlowContext outside(graph, nullptr);
      const ScopeGuard no_controls = graph.ControlDependencies(std::vector<Operation>());
      shape = ShapeConstant(graph, tensor.shape());
      TF_RETURN_IF_ERROR(graph.status());
    }
    TF_ASSIGN_OR_RETURN(shape, VisibleIn(innermost, shape, name));
    Machinery machinery(ImplOf(graph), innermost, name, tensor.op());
    TF_ASSIGN_OR_RETURN(Node * popped,
                        machinery.Add("TensorListPopBack", {list, shape}, {{"element_dtype", tensor.dtype()}}));
    ImplOf(graph).RefineShape(popped, 1, tensor.shape());
    value = OutputOf(popped, 1);
    return OutputOf(popped, 0);
  };
  TF_ASSIGN_OR_RETURN(const Output next, ChangeInBranches(Output(gradient_loop->variables[variable].body), branches,
                                                          name, tensor.op(), pop));
  TF_RETURN_IF_ERROR(CloseLoopVariable(gradient_loop, variable, next));
  return gradient_loop->popped[KeyOf(tensor)] = value;
}

// Adds the nodes of a variable that depend on the condition, and pass its value to the body or out of the loop. Keeps
// the nodes that a variable of an imported loop has already.
Status AddGate(FlowContext* loop, LoopVariable* v) {
  GraphImpl& impl = ImplOfNode(v->merge);
  if (!v->body.valid()) {
    TF_ASSIGN_OR_RETURN(Node * gate,
                        Machinery(impl, loop, loop->name, v->place).Add("Switch", {v->merge, loop->condition}));
    loop->machinery.insert(gate);
    v->body = OutputOf(gate, 1);
  }
  if (!v->exit.valid()) {
    TF_ASSIGN_OR_RETURN(Node * exit,
                        Machinery(impl, loop->outer, loop->name, v->place).Add("Exit", {OutputOf(NodeOf(v->body), 0)}));
    loop->machinery.insert(exit);
    v->exit = OutputOf(exit, 0);
  }
  return OkStatus();
}

std::string Describe(const FlowContext* context) {
  if (context->is_loop()) return StrCat("the loop '", context->frame, "'");
  return StrCat("a branch of the conditional on '", context->predicate.name(), "'");
}

// Whether a node only asks for the shape of a tensor of the forward loop. Such a node belongs to the forward loop,
// which then keeps the shapes instead of the tensors.
bool IsShapeOfForwardValue(const NodeSpec& spec, const FlowContext* context) {
  if (context == nullptr || (spec.op != "Shape" && spec.op != "Size" && spec.op != "Rank")) return false;
  const FlowContext* const from = ContextOf(spec.inputs[0]);
  if (from == nullptr || IsInside(context, from) || from->gates.contains(NodeOf(spec.inputs[0]))) return false;
  for (; context != nullptr; context = context->outer) {
    if (context->forward != nullptr && IsInside(from, context->forward)) return true;
  }
  return false;
}

// The node for which nodes of the context wait in place of `control`, which is outside of the context's loop.
StatusOr<Node*> ControlFromOutside(FlowContext* context, Node* control, const std::string& name) {
  Output signal = OutputOf(control, 0);
  if (control->num_outputs() == 0 || IsReference(signal)) {
    // Only tensors enter a loop, so a constant carries the signal.
    Machinery machinery(ImplOf(*control->graph()), control->flow_context(), name, OperationOf(control));
    TF_ASSIGN_OR_RETURN(
        Node * constant,
        machinery.Add("Const", {}, {{"value", Tensor::Scalar(true)}, {"dtype", DType::kBool}}, {control}));
    signal = OutputOf(constant, 0);
  }
  TF_ASSIGN_OR_RETURN(signal, VisibleIn(context, signal, name));
  return NodeOf(signal);
}

}  // namespace

Output ShapeConstant(Graph& graph, const Shape& shape) {
  Tensor value = Tensor::Scalar(int32_t{-1});  // any shape
  if (shape.has_rank()) {
    std::vector<int32_t> dims;
    for (const int64_t dim : shape.dims()) dims.push_back(dim < 0 ? -1 : static_cast<int32_t>(dim));
    value = Tensor::Vector(dims);
  }
  return NodeBuilder(graph, "Const").Attr("value", value).Attr("dtype", kInt32).Output();
}

StatusOr<Output> EmptyList(Graph& graph, DType dtype, const Shape& element) {
  const Output list = NodeBuilder(graph, "EmptyTensorList")
                          .Input(ShapeConstant(graph, element))
                          .Input(NodeBuilder(graph, "Const")
                                     .Attr("value", Tensor::Scalar(int32_t{-1}))  // no limit of elements
                                     .Attr("dtype", kInt32)
                                     .Output())
                          .Attr("element_dtype", dtype)
                          .Output();
  TF_RETURN_IF_ERROR(graph.status());
  return list;
}

FlowContext* ContextOf(const Output& tensor) {
  FlowContext* const context = NodeOf(tensor)->flow_context();
  if (context == nullptr || context->is_loop() || tensor.index() == context->side || context->other == nullptr ||
      !context->gates.contains(NodeOf(tensor))) {
    return context;
  }
  return context->other;
}

FlowContext* LoopOf(FlowContext* context) {
  while (context != nullptr && !context->is_loop()) context = context->outer;
  return context;
}

bool IsInside(const FlowContext* context, const FlowContext* outer) {
  while (context != outer && context != nullptr) context = context->outer;
  return context == outer;
}

ScopedFlowContext::ScopedFlowContext(Graph& graph, FlowContext* context)
    : impl_(ImplOf(graph)), before_(impl_.flow_context()) {
  impl_.set_flow_context(context);
}
ScopedFlowContext::~ScopedFlowContext() { impl_.set_flow_context(before_); }

FlowContext* GraphImpl::MakeFlowContext() {
  const GraphLock lock(*this);
  flow_contexts_.push_back(std::make_shared<FlowContext>());
  return flow_contexts_.back().get();
}

Status GraphImpl::EnterFlowContext(NodeSpec* spec) {
  const ThreadState& scopes = here();
  if (IsShapeOfForwardValue(*spec, scopes.flow_context)) {
    spec->flow_context = ContextOf(spec->inputs[0]);
    spec->controls.clear();
    return OkStatus();
  }
  FlowContext* const context = scopes.flow_context;
  FlowContext* const loop = LoopOf(context);
  spec->flow_context = context;
  bool varies = false;  // whether an input is computed in each iteration
  for (Output& input : spec->inputs) {
    if (!input.valid() || ContextOf(input) == context) {
      varies = varies || (input.valid() && (loop == nullptr || !loop->gates.contains(NodeOf(input))));
      continue;
    }
    TF_ASSIGN_OR_RETURN(input, VisibleIn(context, input, spec->name));
    varies = varies || loop == nullptr || !loop->gates.contains(NodeOf(input));
  }
  // Control inputs from outside of the open loop: those of the builder and of scopes opened in the loop hold for each
  // iteration; those of earlier scopes hold for the loop's beginning.
  std::vector<Node*> controls = std::move(spec->controls);
  const size_t earlier = loop == nullptr ? 0 : loop->control_scopes;
  for (size_t i = scopes.control_scopes.size(); i-- > 0 && !scopes.control_scopes[i].reset;) {
    for (Node* control : scopes.control_scopes[i].nodes) {
      if (i >= earlier || LoopOf(control->flow_context()) == loop) controls.push_back(control);
    }
  }
  for (Node* control : controls) {
    if (LoopOf(control->flow_context()) != loop) {
      TF_ASSIGN_OR_RETURN(control, ControlFromOutside(context, control, spec->name));
    } else {
      varies = true;
    }
    spec->controls.push_back(control);
  }
  if (context != nullptr && (!varies || (spec->inputs.empty() && !context->is_loop()))) {
    spec->controls.push_back(context->pivot);
  }
  return OkStatus();
}

StatusOr<Output> VisibleIn(FlowContext* context, const Output& tensor, const std::string& name) {
  const GraphLock lock(ImplOfNode(tensor));
  FlowContext* const from = ContextOf(tensor);
  if (from == context) return tensor;
  if (context != nullptr && IsInside(context, from)) {
    TF_ASSIGN_OR_RETURN(const Output outside, VisibleIn(context->outer, tensor, name));
    return CaptureTensor(context, outside, name);
  }
  for (FlowContext* c = context; c != nullptr; c = c->outer) {
    if (c->forward == nullptr || !IsInside(from, c->forward)) continue;
    TF_ASSIGN_OR_RETURN(const Output value, ForwardValue(c, tensor, name));
    return VisibleIn(context, value, name);
  }
  return InvalidArgument("'", tensor.name(), "' is inside ", Describe(from),
                         " and can be used only there; use the results of the loop or the conditional");
}

StatusOr<FlowContext*> AddBranch(Graph& graph, const Output& predicate, int side) {
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  FlowContext* const branch = impl.MakeFlowContext();
  branch->kind = FlowContext::Kind::kBranch;
  branch->outer = impl.flow_context();
  TF_ASSIGN_OR_RETURN(branch->predicate, VisibleIn(branch->outer, predicate, NodeOf(predicate)->name()));
  branch->side = side;
  const std::string name = impl.UniqueName(side == 1 ? "switch_t" : "switch_f");
  Machinery machinery(impl, branch, name, {});
  TF_ASSIGN_OR_RETURN(Node * gate, machinery.Add("Switch", {branch->predicate, branch->predicate}));
  TF_ASSIGN_OR_RETURN(branch->pivot, machinery.Add("Identity", {OutputOf(gate, side)}));
  branch->gates.insert(gate);
  branch->captured.emplace(KeyOf(branch->predicate), OutputOf(branch->pivot, 0));
  return branch;
}

StatusOr<FlowContext*> OtherSide(FlowContext* branch) {
  const GraphLock lock(ImplOfNode(branch->predicate));
  if (branch->other == nullptr) {
    Graph& graph = *NodeOf(branch->predicate)->graph();
    const ScopedFlowContext around(graph, branch->outer);
    TF_ASSIGN_OR_RETURN(branch->other, AddBranch(graph, branch->predicate, 1 - branch->side));
    branch->other->other = branch;
  }
  return branch->other;
}

StatusOr<Output> AddMerge(Graph& graph, const Output& if_false, const Output& if_true) {
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  const std::string name = impl.UniqueName("Merge");
  NodeSpec spec{.name = name,
                .op = "Merge",
                .inputs = {if_false, if_true},
                .controls = {},
                .attrs = {},
                .device = "",
                .line = impl.user_line(),
                .flow_context = impl.flow_context()};
  spec.attrs.emplace("N", 2);
  TF_ASSIGN_OR_RETURN(Node * merge, impl.AddNode(std::move(spec)));
  merge->set_device(impl.DeviceFor(*merge));
  return OutputOf(merge, 0);
}

FlowContext* BeginLoop(Graph& graph, const LoopOptions& options) {
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  FlowContext* const loop = impl.MakeFlowContext();
  loop->kind = FlowContext::Kind::kLoop;
  loop->outer = impl.flow_context();
  loop->name = impl.name_scope();
  loop->frame = impl.UniqueName("while_context");
  loop->parallel_iterations = options.parallel_iterations;
  loop->differentiable = options.differentiable;
  loop->control_scopes = impl.num_control_scopes();
  return loop;
}

StatusOr<size_t> AddLoopVariable(FlowContext* loop, const Output& initial, const Shape& shape, const Operation& place) {
  GraphImpl& impl = ImplOfNode(initial);
  const GraphLock lock(impl);
  Machinery machinery(impl, loop, loop->name, place);
  NodeSpec waits;  // its control inputs are what the loop as a whole waits for
  if (!loop->condition.valid()) {
    const ScopedFlowContext around(*impl.graph(), loop->outer);
    waits.name = loop->frame;
    TF_RETURN_IF_ERROR(impl.EnterFlowContext(&waits));
  }
  TF_ASSIGN_OR_RETURN(
      Node * enter,
      machinery.Add("Enter", {initial},
                    {{"frame_name", loop->frame}, {"parallel_iterations", loop->parallel_iterations}}, waits.controls));
  TF_ASSIGN_OR_RETURN(Node * merge,
                      machinery.Add("Merge", {OutputOf(enter, 0), Output()}, {{"N", 2}, {"T", initial.dtype()}}));
  impl.RefineShape(merge, 0, shape);
  loop->machinery.insert({enter, merge});
  if (loop->pivot == nullptr) loop->pivot = merge;
  loop->variables.push_back(
      {.enter = OutputOf(enter, 0), .merge = OutputOf(merge, 0), .body = {}, .exit = {}, .next = {}, .place = place});
  if (loop->condition.valid()) TF_RETURN_IF_ERROR(AddGate(loop, &loop->variables.back()));
  return loop->variables.size() - 1;
}

Status SetLoopCondition(FlowContext* loop, const Output& condition) {
  GraphImpl& impl = ImplOfNode(condition);
  const GraphLock lock(impl);
  TF_ASSIGN_OR_RETURN(const Output inside, VisibleIn(loop, condition, loop->frame));
  // A condition that does not depend on the loop's variables is evaluated in each iteration, too.
  std::vector<Node*> controls;
  if (loop->gates.contains(NodeOf(inside))) controls.push_back(loop->pivot);
  TF_ASSIGN_OR_RETURN(Node * node, Machinery(impl, loop, loop->name, {}).Add("LoopCond", {inside}, {}, controls));
  loop->machinery.insert(node);
  loop->condition = OutputOf(node, 0);
  for (LoopVariable& variable : loop->variables) TF_RETURN_IF_ERROR(AddGate(loop, &variable));
  TF_ASSIGN_OR_RETURN(loop->pivot, Machinery(impl, loop, loop->name, {}).Add("Identity", {loop->variables[0].body}));
  return OkStatus();
}

Status CloseLoopVariable(FlowContext* loop, size_t variable, const Output& next) {
  const GraphLock lock(ImplOfNode(next));
  const LoopVariable v = loop->variables[variable];  // a copy: VisibleIn may add variables
  Node* const merge = NodeOf(v.merge);
  if (next.dtype() != v.merge.dtype()) {
    return InvalidArgument("variable ", variable, " of the loop begins as ", v.merge.dtype(),
                           ", but an iteration makes it ", next.dtype(), " ('", next.name(), "')");
  }
  const auto merged = v.merge.shape().MergeWith(next.shape());
  if (!merged.ok() || *merged != next.shape()) {
    return InvalidArgument("variable ", variable, " of the loop has shape ", v.merge.shape(),
                           ", but an iteration makes it ", next.shape(), " ('", next.name(),
                           "'); the shape must stay as known as it begins, so give a less known shape as its ",
                           "shape invariant");
  }
  TF_ASSIGN_OR_RETURN(const Output inside, VisibleIn(loop, next, loop->frame));
  std::vector<Node*> controls;
  if (loop->gates.contains(NodeOf(inside))) controls.push_back(loop->pivot);
  TF_ASSIGN_OR_RETURN(Node * node, Machinery(ImplOfNode(v.merge), loop, loop->name, v.place)
                                       .Add("NextIteration", {inside}, {}, std::move(controls)));
  loop->machinery.insert(node);
  loop->variables[variable].next = inside;
  return ImplOfNode(v.merge).CloseLoop(merge, 1, OutputOf(node, 0));
}

Status CompleteContext(Graph& graph, FlowContext* context) {
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  if (!context->is_loop()) {
    if (context->pivot != nullptr) return OkStatus();
    Machinery machinery(impl, context, impl.UniqueName(context->side == 1 ? "switch_t" : "switch_f"), {});
    TF_ASSIGN_OR_RETURN(Node * gate, machinery.Add("Switch", {context->predicate, context->predicate}));
    context->gates.insert(gate);
    TF_ASSIGN_OR_RETURN(context->pivot, machinery.Add("Identity", {OutputOf(gate, context->side)}));
    context->captured.emplace(KeyOf(context->predicate), OutputOf(context->pivot, 0));
    return OkStatus();
  }
  if (!context->condition.valid()) return OkStatus();  // the gradient of this loop says what is missing
  for (LoopVariable& variable : context->variables) TF_RETURN_IF_ERROR(AddGate(context, &variable));
  if (context->pivot == nullptr && !context->variables.empty()) {
    TF_ASSIGN_OR_RETURN(context->pivot,
                        Machinery(impl, context, context->name, {}).Add("Identity", {context->variables[0].body}));
  }
  return OkStatus();
}

StatusOr<Output> IterationsOf(FlowContext* loop) {
  const GraphLock lock(ImplOfNode(loop->condition));
  if (loop->iterations.valid()) return loop->iterations;
  Graph& graph = *NodeOf(loop->condition)->graph();
  const auto number = [&](int32_t n) {
    return NodeBuilder(graph, "Const").Attr("value", Tensor::Scalar(n)).Attr("dtype", kInt32).Output();
  };
  const ScopeGuard no_controls = graph.ControlDependencies(std::vector<Operation>());
  Output zero;
  {
    const ScopedFlowContext outside(graph, loop->outer);
    zero = number(0);
    TF_RETURN_IF_ERROR(graph.status());
  }
  TF_ASSIGN_OR_RETURN(const size_t variable, AddLoopVariable(loop, zero, {}));
  Output next;
  {
    const ScopedFlowContext inside(graph, loop);
    next = NodeBuilder(graph, "AddV2").Input(loop->variables[variable].body).Input(number(1)).Output();
    TF_RETURN_IF_ERROR(graph.status());
  }
  TF_RETURN_IF_ERROR(CloseLoopVariable(loop, variable, next));
  return loop->iterations = loop->variables[variable].exit;
}

StatusOr<FlowContext*> GradientBranch(FlowContext* gradient_loop, FlowContext* branch) {
  const GraphLock lock(ImplOfNode(branch->predicate));
  const auto it = gradient_loop->branches.find(branch);
  if (it != gradient_loop->branches.end()) return it->second;
  FlowContext* outer = gradient_loop;
  if (branch->outer != gradient_loop->forward) {
    TF_ASSIGN_OR_RETURN(outer, GradientBranch(gradient_loop, branch->outer));
  }
  Graph& graph = *NodeOf(branch->predicate)->graph();
  const ScopedFlowContext around(graph, outer);
  TF_ASSIGN_OR_RETURN(FlowContext * of_gradient, AddBranch(graph, branch->predicate, branch->side));
  return gradient_loop->branches[branch] = of_gradient;
}

}  // namespace tensorbraid
