// Implements ExpandFunctions, and the part of Expander (expander.h) that replaces function calls.
#include "graph/functions/expand_functions.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/functions/expander.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"

namespace tensorbraid {
namespace expansion {
namespace {

// Without a limit, a chain of functions, each of which calls the next one twice, would expand to an exponential number
// of nodes.
constexpr size_t kMaxAddedNodes = 4 << 20;
constexpr int kMaxDepth = 256;

bool HasFlow(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return FlowKindOf(*n) != FlowKind::kNone; });
}

// Whether one of the inputs is a resource. A node that takes a resource is placed with the resource, whatever device
// the call requests.
bool TakesResource(const std::vector<Output>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Output& o) { return o.valid() && o.dtype() == DType::kResource; });
}

// Whether `node`, which replaces `original`, is a constant Enter of the loop around the body. Its value is live in the
// last iteration too, in which the condition is false and the body does not run.
bool IsConstantOfLoop(const Node& original, const Node& node) {
  return original.type() != "Enter" && node.type() == "Enter" && node.attr<bool>("is_constant");
}

bool HasState(const Node& node) { return (node.op().is_stateful && node.type() != "_Arg") || IsFunctionCall(node); }

}  // namespace

bool MayBeReference(Output tensor) {
  while (true) {
    const Node& node = *NodeOf(tensor);
    if (IsRef(node.output_type(tensor.index()))) return true;
    if (node.inputs().empty() || !ForwardsInput(node, 0)) return false;
    // The Merge of a loop has two inputs: one comes from outside the loop. The other comes from a NextIteration, and so
    // leads back to this Merge, or is not set yet.
    const Output& first = node.inputs()[0];
    const bool leads_back = !first.valid() || FlowKindOf(*NodeOf(first)) == FlowKind::kNextIteration;
    tensor = leads_back ? node.inputs().back() : first;
  }
}

bool IsPlainCall(const Node& node) {
  return node.type() == "PartitionedCall" || node.type() == "StatefulPartitionedCall";
}
bool IsIf(const Node& node) { return node.type() == "If" || node.type() == "StatelessIf"; }
bool IsCase(const Node& node) { return node.type() == "Case" || node.type() == "StatelessCase"; }
bool IsGradient(const Node& node) { return node.type() == "SymbolicGradient"; }
bool IsWhile(const Node& node) { return node.type() == "While" || node.type() == "StatelessWhile"; }
bool IsFor(const Node& node) { return node.type() == "For"; }
bool IsRemoteCall(const Node& node) { return node.type() == "RemoteCall"; }

StatusOr<std::unique_ptr<Graph>> Expander::Run() {
  TF_RETURN_IF_ERROR(functions_->CheckNotRecursive(ImplOf(graph_)));
  const Surroundings top;
  TF_RETURN_IF_ERROR(Copy(graph_, top, std::vector<bool>(ImplOf(graph_).nodes().size(), true)).status());
  return std::move(out_);
}

std::string Expander::NewName(const std::string& wanted) const {
  std::string name = wanted;
  for (int i = 1; ImplOf(*out_).Find(name) != nullptr || ImplOf(graph_).Find(name) != nullptr; ++i) {
    name = StrCat(wanted, "_", i);
  }
  return name;
}

std::string Expander::CallName(const Node& node, const Surroundings& around) {
  std::string name = around.prefix + node.name();
  if (around.prefix.empty()) {
    calls_.insert(name);
    return name;
  }
  for (int i = 1; ImplOf(graph_).Find(name) != nullptr || !calls_.insert(name).second; ++i) {
    name = StrCat(around.prefix, node.name(), "_", i);
  }
  return name;
}

Status Expander::Count(size_t nodes) {
  added_ += nodes;
  if (added_ <= kMaxAddedNodes) return CheckStillWanted(still_wanted_);
  return ResourceExhausted("the graph has more than ", kMaxAddedNodes, " nodes when its functions are expanded");
}

StatusOr<Node*> Expander::Add(const Call& call, const std::string& name, const std::string& op,
                              std::vector<Output> inputs, std::map<std::string, AttrValue> attrs,
                              std::vector<Node*> controls) {
  TF_RETURN_IF_ERROR(Count(1));
  std::string device = TakesResource(inputs) ? "" : call.device;
  return ImplOf(*out_).AddNode({.name = NewName(StrCat(call.name, "/", name)),
                                .op = op,
                                .inputs = std::move(inputs),
                                .controls = std::move(controls),
                                .attrs = std::move(attrs),
                                .device = std::move(device),
                                .line = std::nullopt,
                                .defer_shape_errors = true});
}

std::string Expander::DeviceOf(const Node& node, const Surroundings& around) {
  if (TakesResource(node.inputs())) return node.device();
  if (around.device.empty() || node.device() == around.device) return node.device();
  if (node.device().empty()) return around.device;
  const auto own = DeviceName::Parse(node.device());
  const auto outer = DeviceName::Parse(around.device);
  return own.ok() && outer.ok() ? own->MergedOver(*outer).ToString() : node.device();
}

StatusOr<std::vector<Replacement>> Expander::Copy(const Graph& from, const Surroundings& around,
                                                  const std::vector<bool>& needed,
                                                  const std::vector<Node*>& control_returns) {
  const auto& nodes = ImplOf(from).nodes();
  std::vector<Replacement> made(nodes.size());
  std::vector<bool> waited_for(nodes.size(), false);
  for (const Node* n : control_returns) waited_for[n->id()] = true;
  for (const auto& node : nodes) {
    for (const Node* c : node->control_inputs()) waited_for[c->id()] = true;
  }
  const bool has_flow = HasFlow(from);
  BackEdges back_edges;
  for (const auto& node : nodes) {
    if (!needed[node->id()]) continue;
    const bool in_body = !around.prefix.empty();
    if (in_body && node->type() == "_Arg") {
      TF_ASSIGN_OR_RETURN(made[node->id()], Argument(*node, around, waited_for[node->id()]));
      continue;
    }
    std::vector<Output> inputs;
    std::vector<int> missing;
    bool takes_args = false;
    bool takes_constants = false;
    bool is_gated = false;  // an input or control input is live only if the body runs
    // No control edge may lead into a loop. The nodes of a loop wait for the tensors that enter the loop.
    bool waits_for_start = !has_flow && HasState(*node);
    const auto note = [&](const Node& original, const Node& node) {
      const bool constant = IsConstantOfLoop(original, node);
      takes_constants = takes_constants || constant;
      is_gated = is_gated || !constant;
    };
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (NodeOf(in)->type() == "_Arg") {
        takes_args = true;
        waits_for_start =
            waits_for_start || in.dtype() == DType::kResource || MayBeReference(made[NodeOf(in)->id()].outputs[0]);
      }
      if (IsBackEdge(*node, static_cast<int>(i)) && made[NodeOf(in)->id()].outputs.empty()) {
        missing.push_back(static_cast<int>(i));
        inputs.emplace_back();
        is_gated = true;
      } else {
        inputs.push_back(made[NodeOf(in)->id()].outputs[in.index()]);
        note(*NodeOf(in), *NodeOf(inputs.back()));
      }
    }
    std::vector<Node*> controls;
    absl::flat_hash_set<const Node*> waits_for;
    for (const Node* c : node->control_inputs()) {
      for (Node* done : made[c->id()].done) {
        note(*c, *done);
        if (waits_for.insert(done).second) controls.push_back(done);
      }
    }
    const bool is_source = inputs.empty() && controls.empty();
    // A call that takes constants of the loop needs the pivot, too: once the call is expanded, some of its nodes may
    // depend on these constants alone.
    const bool needs_pivot =
        is_source || !is_gated || (around.gates_args && takes_args) || (takes_constants && IsFunctionCall(*node));
    if (around.pivot != nullptr && needs_pivot && !waits_for.contains(around.pivot)) {
      controls.push_back(around.pivot);
      waits_for.insert(around.pivot);
    }
    if (around.start != nullptr && waits_for_start && waits_for.insert(around.start).second) {
      controls.push_back(around.start);
    }
    if (IsFunctionCall(*node)) {
      Call call{.node = *node,
                .name = CallName(*node, around),
                .device = DeviceOf(*node, around),
                .inputs = std::move(inputs),
                .controls = std::move(controls),
                .pivot = around.pivot,
                .waited_for = in_body || waited_for[node->id()],
                .depth = around.depth + 1};
      if (has_flow && !call.inputs.empty() && call.controls.empty()) {
        // Only the inputs of the call determine whether it runs and in which frame.
        TF_ASSIGN_OR_RETURN(call.pivot, Add(call, "_pivot", "Identity", {call.inputs[0]}));
      }
      auto replaced = Replace(call);
      if (!replaced.ok()) return AtNode(replaced.status(), *node);
      made[node->id()] = *std::move(replaced);
      continue;
    }
    TF_ASSIGN_OR_RETURN(Node * copy, CopyNode(*node, around, std::move(inputs), std::move(controls)));
    for (int i : missing) back_edges.Add(copy, i, node->inputs()[i]);
    Replacement& r = made[node->id()];
    for (int i = 0; i < node->num_outputs(); ++i) r.outputs.push_back(OutputOf(copy, i));
    r.done = {copy};
  }
  TF_RETURN_IF_ERROR(back_edges.Close([&](const Output& o) { return made[NodeOf(o)->id()].outputs[o.index()]; }));
  return made;
}

StatusOr<Node*> Expander::Start(const Call& call) {
  std::vector<Node*> controls = call.controls;
  absl::flat_hash_set<const Node*> waits_for(controls.begin(), controls.end());
  for (const Output& in : call.inputs) {
    Node* n = NodeOf(in);
    if (n->inputs().empty() && n->control_inputs().empty()) continue;
    if (waits_for.insert(n).second) controls.push_back(n);
  }
  if (controls.size() == call.controls.size()) return nullptr;
  if (controls.size() == 1) return controls[0];
  return Add(call, "_ready", "NoOp", {}, {}, std::move(controls));
}

StatusOr<std::vector<Node*>> Expander::ControlsOfReads(const Call& call, const std::vector<Output>& values) {
  if (std::none_of(values.begin(), values.end(), MayBeReference)) return call.controls;
  TF_ASSIGN_OR_RETURN(Node * start, Start(call));
  return start == nullptr ? call.controls : std::vector<Node*>{start};
}

StatusOr<Replacement> Expander::Argument(const Node& arg, const Surroundings& around, bool waited_for) {
  const Output value = around.args[static_cast<size_t>(arg.attr<int64_t>("index"))];
  Replacement r{.outputs = {value}, .done = {NodeOf(value)}};
  // A Switch runs whichever output it takes. To wait for one of its outputs, a control edge must come from a consumer
  // of that output.
  if (waited_for && FlowKindOf(*NodeOf(value)) == FlowKind::kSwitch) {
    TF_ASSIGN_OR_RETURN(Node * consumer,
                        ImplOf(*out_).AddNode({.name = NewName(around.prefix + arg.name()),
                                               .op = "Identity",
                                               .inputs = {value},
                                               .controls = {},
                                               .attrs = {},
                                               .device = TakesResource({value}) ? "" : around.device}));
    r.done = {consumer};
  }
  return r;
}

StatusOr<Node*> Expander::CopyNode(const Node& node, const Surroundings& around, std::vector<Output> inputs,
                                   std::vector<Node*> controls) {
  bool same_shapes = around.prefix.empty();
  for (size_t i = 0; i < inputs.size() && same_shapes; ++i) {
    same_shapes = !inputs[i].valid() || inputs[i].shape() == node.inputs()[i].shape();
  }
  if (same_shapes) return ImplOf(*out_).CopyNode(node, std::move(inputs), std::move(controls));
  TF_RETURN_IF_ERROR(Count(1));
  NodeSpec spec{.name = around.prefix.empty() ? node.name() : NewName(around.prefix + node.name()),
                .op = node.type(),
                .inputs = std::move(inputs),
                .controls = std::move(controls),
                .attrs = {node.attrs().begin(), node.attrs().end()},
                .device = DeviceOf(node, around),
                .line = std::nullopt,
                // The node may be in a branch that never runs.
                .defer_shape_errors = true};
  if (const auto it = spec.attrs.find("_class"); it != spec.attrs.end() && !around.prefix.empty()) {
    std::vector<std::string> classes;
    for (const std::string& name : node.colocated_with()) {
      const Node* other = ImplOf(*node.graph()).Find(name);
      if (other == nullptr) continue;
      if (other->type() != "_Arg") {
        classes.push_back(StrCat("loc:@", around.prefix, name));
      } else {
        classes.push_back(
            StrCat("loc:@", NodeOf(around.args[static_cast<size_t>(other->attr<int64_t>("index"))])->name()));
      }
    }
    it->second = AttrValue(std::move(classes));
  }
  if (const auto it = spec.attrs.find("frame_name"); it != spec.attrs.end() && !around.prefix.empty()) {
    // If a function has a loop, each call of the function has a loop of its own.
    if (const auto* frame = it->second.get<std::string>()) it->second = AttrValue(around.prefix + *frame);
  }
  return ImplOf(*out_).AddNode(std::move(spec));
}

StatusOr<FunctionBody> Expander::Body(const Call& call, const std::string& name,
                                      const std::map<std::string, AttrValue>& attrs, const std::vector<Output>& args,
                                      size_t returns, Role role) {
  if (call.depth > kMaxDepth) return InvalidArgument("calls are nested more than ", kMaxDepth, " deep");
  const Function* function = functions_->Find(name);
  if (function == nullptr) return InvalidArgument("the library has no function '", name, "'");
  TF_ASSIGN_OR_RETURN(FunctionBody body, function->Instantiate(attrs, functions_));
  if (body.args.size() != args.size()) {
    return InvalidArgument("function '", name, "' takes ", body.args.size(), " arguments, got ", args.size());
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const DType want = BaseType(body.args[i]->output_type(0));
    if (args[i].dtype() != want) {
      return InvalidArgument("argument ", i, " of function '", name, "' must be ", want, ", got ", args[i].dtype());
    }
  }
  if (body.returns.size() != returns) {
    switch (role) {
      case Role::kCondition:
        return InvalidArgument("function '", name, "' is the condition of a loop. Expected a single scalar, got ",
                               body.returns.size(), " tensors.");
      case Role::kWhileBody:
      case Role::kForBody:
        return InvalidArgument(role == Role::kForBody ? "For" : "While", " loop body returned ", body.returns.size(),
                               " arguments. Expected: ", returns, ", of function '", name, "'");
      case Role::kCalled:
        return InvalidArgument("function '", name, "' returns ", body.returns.size(), " outputs, but the call expects ",
                               returns);
    }
  }
  return body;
}

StatusOr<FunctionBody> Expander::Body(const Call& call, const FunctionAttr& f, const std::vector<Output>& args,
                                      size_t returns, Role role) {
  const auto differentiated = f->attrs.find("f");
  if (f->name == "SymbolicGradient" && differentiated != f->attrs.end()) {
    if (const auto* of = differentiated->second.get<FunctionAttr>()) return GradientBody(call, *of, args, returns);
  }
  return Body(call, f->name, f->attrs, args, returns, role);
}

StatusOr<Placed> Expander::Place(const FunctionBody& body, const Surroundings& around) {
  const auto& nodes = ImplOf(*body.graph).nodes();
  std::vector<bool> needed(nodes.size(), false);
  std::vector<const Node*> stack(body.control_returns.begin(), body.control_returns.end());
  std::vector<const Node*> effects = stack;
  for (const Output& o : body.returns) stack.push_back(NodeOf(o));
  // In a body with v1 control flow, a stateful node may be dead or inside a loop, so nodes outside cannot wait for it.
  const bool has_flow = HasFlow(*body.graph);
  for (const auto& node : nodes) {
    if (!node->op().is_stateful || node->type() == "_Arg") continue;
    stack.push_back(node.get());
    if (!has_flow) effects.push_back(node.get());
  }
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (needed[n->id()]) continue;
    needed[n->id()] = true;
    for (const Output& in : n->inputs()) stack.push_back(NodeOf(in));
    for (const Node* c : n->control_inputs()) stack.push_back(c);
  }
  for (const Node* arg : body.args) needed[arg->id()] = true;
  TF_ASSIGN_OR_RETURN(const auto made, Copy(*body.graph, around, needed, body.control_returns));
  Placed placed;
  absl::flat_hash_set<const Node*> waited_for;
  const auto wait_for = [&](const Node* n) {
    for (Node* done : made[n->id()].done) {
      if (waited_for.insert(done).second) placed.done.push_back(done);
    }
  };
  for (const Output& o : body.returns) {
    placed.returns.push_back(made[NodeOf(o)->id()].outputs[o.index()]);
    if (NodeOf(o)->type() != "_Arg") wait_for(NodeOf(o));
  }
  for (const Node* n : effects) wait_for(n);
  placed.has_effects = !effects.empty();
  if (placed.done.empty() && around.pivot != nullptr) placed.done.push_back(around.pivot);
  return placed;
}

StatusOr<FunctionBody> Expander::Called(const Call& call) {
  const auto returns = static_cast<size_t>(call.node.num_outputs());
  if (IsPlainCall(call.node) || IsRemoteCall(call.node)) {
    return Body(call, call.node.attr<FunctionAttr>("f"), call.inputs, returns);
  }
  if (IsGradient(call.node)) return GradientBody(call, call.node.attr<FunctionAttr>("f"), call.inputs, returns);
  return Body(call, call.node.type(), {call.node.attrs().begin(), call.node.attrs().end()}, call.inputs, returns);
}

StatusOr<FunctionBody> Expander::GradientBody(const Call& call, const FunctionAttr& f, const std::vector<Output>& args,
                                              size_t returns) {
  if (const std::string* gradient = functions_->FindGradient(f->name)) {
    return Body(call, *gradient, f->attrs, args, returns);
  }
  if (args.size() < returns) {
    return InvalidArgument("takes at least as many inputs as it has outputs; got ", args.size(), " inputs and ",
                           returns, " outputs");
  }
  const std::vector<Output> of_f(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(returns));
  TF_ASSIGN_OR_RETURN(FunctionBody body, Body(call, f, of_f, args.size() - returns));
  Graph& graph = *body.graph;
  std::vector<Output> xs, grad_ys, dxs;
  for (Node* arg : body.args) xs.push_back(OutputOf(arg, 0));
  for (const Output& y : body.returns) {
    const size_t index = body.args.size();
    if (args[index].dtype() != y.dtype()) {
      return InvalidArgument("input ", index, " is the gradient of a ", y.dtype(), " tensor and cannot be ",
                             args[index].dtype());
    }
    TF_ASSIGN_OR_RETURN(Node * arg,
                        ImplOf(graph).AddNode(
                            {.name = StrCat("_grad_y_", index),
                             .op = "_Arg",
                             .inputs = {},
                             .controls = {},
                             .attrs = {{"T", y.dtype()}, {"index", static_cast<int64_t>(index)}, {"shape", y.shape()}},
                             .device = ""}));
    body.args.push_back(arg);
    grad_ys.push_back(OutputOf(arg, 0));
  }
  TF_ASSIGN_OR_RETURN(dxs, Gradients(body.returns, xs, grad_ys));
  TF_RETURN_IF_ERROR(graph.status());
  for (size_t i = 0; i < dxs.size(); ++i) {
    if (dxs[i].valid()) continue;
    // The gradient is zero where none flows. The gradient for a variable's handle is the gradient for its value.
    const DType type = static_cast<int>(i) < call.node.num_outputs()
                           ? BaseType(call.node.output_type(static_cast<int>(i)))
                           : xs[i].dtype();
    if (xs[i].dtype() == DType::kResource && type != DType::kResource) {
      const Output value = NodeBuilder(graph, "ReadVariableOp").Input(xs[i]).Attr("dtype", type).Output();
      dxs[i] = NodeBuilder(graph, "ZerosLike").Input(value).Output();
    } else {
      dxs[i] = NodeBuilder(graph, "ZerosLike").Input(xs[i]).Output();
    }
  }
  TF_RETURN_IF_ERROR(graph.status());
  body.returns = std::move(dxs);
  body.control_returns.clear();
  return body;
}

// Returns `call`, a RemoteCall, as a call without the first input, which is the target.
Call PlainCall(const Call& call, std::string device, std::vector<Node*> controls) {
  return Call{.node = call.node,
              .name = call.name,
              .device = std::move(device),
              .inputs = {call.inputs.begin() + 1, call.inputs.end()},
              .controls = std::move(controls),
              .pivot = call.pivot,
              .waited_for = call.waited_for,
              .depth = call.depth};
}

StatusOr<Call> Expander::OnThisTask(const Call& call) {
  TF_ASSIGN_OR_RETURN(Node * check, Add(call, "_check_target", "_CheckOwnTask", {call.inputs[0]}, {}, call.controls));
  return PlainCall(call, call.device, {check});
}

StatusOr<Call> Expander::AtTarget(const Call& call) {
  const Node* target = NodeOf(call.inputs[0]);
  while (target->type() == "Identity" || target->type() == "Enter" || target->type() == "Switch") {
    target = NodeOf(target->inputs()[0]);
  }
  if (target->type() != "Const") {
    return Unimplemented("the target of a RemoteCall must be a constant, but it is the output of ", target->type(),
                         " '", target->name(), "'");
  }
  const auto& value = target->attr<Tensor>("value");
  if (value.num_elements() != 1) {
    return InvalidArgument("the target of a RemoteCall must be one string, got shape ", value.shape());
  }
  TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(value.data<std::string>()[0]));
  if (const auto outer = DeviceName::Parse(call.device); !call.device.empty() && outer.ok()) {
    device = device.MergedOver(*outer);
  }
  return PlainCall(call, device.ToString(), call.controls);
}

StatusOr<Replacement> Expander::Replace(const Call& call) {
  constexpr size_t kWeightOfCall = 64;  // expanding takes time even if the body has no nodes
  TF_RETURN_IF_ERROR(Count(kWeightOfCall));
  if (IsIf(call.node) || IsCase(call.node)) return Branches(call);
  if (IsWhile(call.node)) return Loop(call);
  if (IsFor(call.node)) return ForLoop(call);
  if (IsRemoteCall(call.node)) {
    TF_ASSIGN_OR_RETURN(const Call plain,
                        remote_calls_ == RemoteCalls::kOnThisTask ? OnThisTask(call) : AtTarget(call));
    return Inline(plain);
  }
  return Inline(call);
}

StatusOr<Replacement> Expander::Inline(const Call& call) {
  StatusOr<FunctionBody> body = Called(call);
  TF_RETURN_IF_ERROR(body.status());
  Surroundings inside{.prefix = call.name + "/",
                      .device = call.device,
                      .args = call.inputs,
                      .pivot = call.pivot,
                      .gates_args = !call.controls.empty(),
                      .depth = call.depth};
  if (call.controls.size() == 1) {
    inside.pivot = call.controls[0];
  } else if (!call.controls.empty()) {
    TF_ASSIGN_OR_RETURN(inside.pivot, Add(call, "_start", "NoOp", {}, {}, call.controls));
  }
  // In TensorFlow, a call runs when all of its inputs have been computed. Here, nodes of the body that have no state
  // may run earlier, as soon as their own inputs have been computed.
  const auto& nodes = ImplOf(*body->graph).nodes();
  if (std::any_of(nodes.begin(), nodes.end(), [](const auto& n) { return HasState(*n); }) ||
      std::any_of(call.inputs.begin(), call.inputs.end(), MayBeReference)) {
    TF_ASSIGN_OR_RETURN(inside.start, Start(call));
  }
  TF_ASSIGN_OR_RETURN(Placed placed, Place(*body, inside));
  return Finish(call, std::move(placed.returns), std::move(placed.done));
}

StatusOr<Replacement> Expander::Finish(const Call& call, std::vector<Output> outputs, std::vector<Node*> done) {
  Replacement r{.outputs = std::move(outputs), .done = std::move(done)};
  if (call.waited_for && r.done.size() != 1) {
    std::vector<Node*> controls = r.done;
    if (controls.empty()) {
      controls = call.controls;
      if (call.pivot != nullptr) {
        controls.push_back(call.pivot);
      } else {
        for (const Output& o : call.inputs) controls.push_back(NodeOf(o));
      }
    }
    TF_ASSIGN_OR_RETURN(Node * end, Add(call, "_end", "NoOp", {}, {}, std::move(controls)));
    r.done = {end};
  }
  return r;
}

}  // namespace expansion

bool IsFunctionCall(const Node& node) {
  using namespace expansion;  // NOLINT: names of this file
  return IsPlainCall(node) || IsIf(node) || IsCase(node) || IsWhile(node) || IsFor(node) || IsRemoteCall(node) ||
         IsGradient(node) || ImplOf(*node.graph()).functions()->Find(node.type()) != nullptr;
}

StatusOr<std::unique_ptr<Graph>> ExpandFunctions(const Graph& graph, const StillWanted& still_wanted,
                                                 RemoteCalls remote_calls) {
  const auto& nodes = ImplOf(graph).nodes();
  if (std::none_of(nodes.begin(), nodes.end(), [](const auto& n) { return IsFunctionCall(*n); })) {
    TF_RETURN_IF_ERROR(ImplOf(graph).functions()->CheckNotRecursive(ImplOf(graph)));
    return nullptr;
  }
  return expansion::Expander(graph, still_wanted, remote_calls).Run();
}

}  // namespace tensorbraid
