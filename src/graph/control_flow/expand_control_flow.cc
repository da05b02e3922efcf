// The part of Expander (expander.h) that expands If, Case, While and For to v1 control flow.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/functions/expander.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid::expansion {
namespace {

bool IsConstantEnter(const Node& node) { return node.type() == "Enter" && node.attr<bool>("is_constant"); }

// Whether output i of the body is always the unchanged argument i.
bool IsInvariant(const FunctionBody& body, size_t i) {
  Output o = body.returns[i];
  while (NodeOf(o)->type() == "Identity" && NodeOf(o)->control_inputs().empty()) o = NodeOf(o)->inputs()[0];
  return NodeOf(o) == body.args[i];
}

}  // namespace

StatusOr<Output> Expander::Constant(const Call& call, const std::string& name, Tensor value) {
  const DType dtype = value.dtype();
  std::vector<Node*> controls = call.controls;
  if (controls.empty() && call.pivot != nullptr) controls = {call.pivot};
  TF_ASSIGN_OR_RETURN(
      Node * node, Add(call, name, "Const", {}, {{"dtype", dtype}, {"value", std::move(value)}}, std::move(controls)));
  return OutputOf(node, 0);
}

StatusOr<Output> Expander::Truth(const Call& call, Output value, const std::string& name) {
  if (value.dtype() == kBool) return value;
  TF_ASSIGN_OR_RETURN(Node * node, Add(call, name, "ToBool", {value}));
  return OutputOf(node, 0);
}

StatusOr<std::vector<Output>> Expander::Predicates(const Call& call, size_t branches) {
  std::vector<Output> predicates;
  const Output index = call.inputs[0];
  Output before, after;  // index < 0, index >= branches - 1
  for (size_t i = 0; i + 1 < branches; ++i) {
    TF_ASSIGN_OR_RETURN(const Output number,
                        Constant(call, StrCat("_branch_", i), Tensor::Scalar(static_cast<int32_t>(i))));
    TF_ASSIGN_OR_RETURN(Node * equal, Add(call, StrCat("_is_branch_", i), "Equal", {index, number}));
    predicates.push_back(OutputOf(equal, 0));
  }
  if (branches == 1) {
    TF_ASSIGN_OR_RETURN(Node * always, Add(call, "_is_branch_0", "Equal", {index, index}));
    return std::vector<Output>{OutputOf(always, 0)};
  }
  TF_ASSIGN_OR_RETURN(const Output zero, Constant(call, "_first", Tensor::Scalar(int32_t{0})));
  TF_ASSIGN_OR_RETURN(const Output last, Constant(call, "_last", Tensor::Scalar(static_cast<int32_t>(branches - 1))));
  TF_ASSIGN_OR_RETURN(Node * less, Add(call, "_is_below", "Less", {index, zero}));
  TF_ASSIGN_OR_RETURN(Node * more, Add(call, "_is_above", "GreaterEqual", {index, last}));
  TF_ASSIGN_OR_RETURN(Node * other, Add(call, "_is_other", "LogicalOr", {OutputOf(less, 0), OutputOf(more, 0)}));
  predicates.push_back(OutputOf(other, 0));
  return predicates;
}

StatusOr<Replacement> Expander::Branches(const Call& call) {
  std::vector<FunctionAttr> functions;
  std::vector<Output> predicates;
  // By branch: the number of its predicate, and the output of the Switch nodes that is live if the branch is taken.
  std::vector<std::pair<size_t, int>> switch_outputs;
  if (IsIf(call.node)) {
    functions = {call.node.attr<FunctionAttr>("else_branch"), call.node.attr<FunctionAttr>("then_branch")};
    TF_ASSIGN_OR_RETURN(const Output truth, Truth(call, call.inputs[0], "_truth"));
    predicates = {truth};
    switch_outputs = {{0, 0}, {0, 1}};
  } else {
    functions = call.node.attr<std::vector<FunctionAttr>>("branches");
    if (functions.empty()) return InvalidArgument("attribute 'branches' is empty; expected at least one function");
    TF_ASSIGN_OR_RETURN(predicates, Predicates(call, functions.size()));
    for (size_t b = 0; b < functions.size(); ++b) switch_outputs.emplace_back(b, 1);
  }
  const std::vector<Output> args(call.inputs.begin() + 1, call.inputs.end());
  const auto returns = static_cast<size_t>(call.node.num_outputs());
  TF_ASSIGN_OR_RETURN(const std::vector<Node*> started, ControlsOfReads(call, call.inputs));
  const auto controls_of = [&](const Output& value, const Output& predicate) {
    return MayBeReference(value) || MayBeReference(predicate) ? started : call.controls;
  };
  std::vector<Node*> pivots;
  std::vector<std::vector<Output>> switched;  // indexed by predicate
  for (size_t p = 0; p < predicates.size(); ++p) {
    TF_ASSIGN_OR_RETURN(Node * pivot, Add(call, "_switch_pred", "Switch", {predicates[p], predicates[p]}, {},
                                          controls_of(predicates[p], predicates[p])));
    pivots.push_back(pivot);
    switched.emplace_back();
    for (size_t i = 0; i < args.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Node * s, Add(call, StrCat("_switch_", i), "Switch", {args[i], predicates[p]}, {},
                                        controls_of(args[i], predicates[p])));
      switched.back().push_back(OutputOf(s, 0));
    }
  }
  std::vector<std::vector<Output>> results(returns);
  std::vector<Output> ends;
  for (size_t b = 0; b < functions.size(); ++b) {
    const auto [p, live] = switch_outputs[b];
    TF_ASSIGN_OR_RETURN(const FunctionBody body, Body(call, functions[b], args, returns));
    TF_ASSIGN_OR_RETURN(Node * pivot, Add(call, StrCat("_pivot_", b), "Identity", {OutputOf(pivots[p], live)}));
    const std::string branch = IsIf(call.node) ? (b == 0 ? "else" : "then") : StrCat("branch_", b);
    Surroundings inside{.prefix = StrCat(call.name, "/", branch, "/"),
                        .device = call.device,
                        .args = {},
                        .pivot = pivot,
                        .gates_args = false,
                        .depth = call.depth};
    for (const Output& s : switched[p]) inside.args.push_back(OutputOf(NodeOf(s), live));
    TF_ASSIGN_OR_RETURN(const Placed placed, Place(body, inside));
    for (size_t i = 0; i < returns; ++i) {
      if (placed.returns[i].dtype() != BaseType(call.node.output_type(static_cast<int>(i)))) {
        return InvalidArgument("output ", i, " of function '", functions[b]->name, "' must be ",
                               BaseType(call.node.output_type(static_cast<int>(i))), ", got ",
                               placed.returns[i].dtype());
      }
      results[i].push_back(placed.returns[i]);
    }
    if (call.waited_for) {
      TF_ASSIGN_OR_RETURN(Node * end, Add(call, StrCat("_end_", b), "Identity", {OutputOf(pivot, 0)}, {}, placed.done));
      ends.push_back(OutputOf(end, 0));
    }
  }
  const auto merge = [&](const std::string& name, const std::vector<Output>& values) {
    return Add(call, name, "Merge", values, {{"N", static_cast<int64_t>(values.size())}});
  };
  Replacement r;
  for (size_t i = 0; i < returns; ++i) {
    TF_ASSIGN_OR_RETURN(Node * merged, merge(StrCat("_merge_", i), results[i]));
    r.outputs.push_back(OutputOf(merged, 0));
  }
  if (call.waited_for) {
    TF_ASSIGN_OR_RETURN(Node * end, merge("_end", ends));
    r.done = {end};
  }
  return r;
}

StatusOr<Replacement> Expander::Loop(const Call& call) {
  const std::vector<Output>& initial = call.inputs;
  const size_t variables = initial.size();
  TF_ASSIGN_OR_RETURN(const FunctionBody cond,
                      Body(call, call.node.attr<FunctionAttr>("cond"), initial, /*returns=*/1, Role::kCondition));
  TF_ASSIGN_OR_RETURN(const FunctionBody body,
                      Body(call, call.node.attr<FunctionAttr>("body"), initial, variables, Role::kWhileBody));
  TF_RETURN_IF_ERROR(CheckBodyTypes(body, initial));
  const AttrValue* parallel_attr = call.node.FindAttr("parallel_iterations");
  const int64_t* parallel = parallel_attr == nullptr ? nullptr : parallel_attr->get<int64_t>();
  LoopParts parts{.initial = initial, .invariant = {}, .cond = {}, .body = {}, .parallel_iterations = 10};
  if (parallel != nullptr) parts.parallel_iterations = *parallel;
  for (size_t i = 0; i < variables; ++i) parts.invariant.push_back(IsInvariant(body, i));
  // At least one variable must pass through a NextIteration, because that is what begins an iteration.
  if (std::find(parts.invariant.begin(), parts.invariant.end(), false) == parts.invariant.end()) {
    TF_ASSIGN_OR_RETURN(const Output counter, Constant(call, "_turn", Tensor::Scalar(false)));
    parts.initial.push_back(counter);
    parts.invariant.push_back(false);
  }
  const auto inside = [&](const std::string& name, const std::vector<Output>& args, Node* pivot) {
    return Surroundings{.prefix = StrCat(call.name, "/", name, "/"),
                        .device = call.device,
                        .args = {args.begin(), args.begin() + static_cast<std::ptrdiff_t>(variables)},
                        .pivot = pivot,
                        .gates_args = false,
                        .depth = call.depth};
  };
  parts.cond = [&](const std::vector<Output>& args, Node* pivot) { return Place(cond, inside("cond", args, pivot)); };
  parts.body = [&](const std::vector<Output>& args, Node* pivot) -> StatusOr<Placed> {
    TF_ASSIGN_OR_RETURN(Placed placed, Place(body, inside("body", args, pivot)));
    if (args.size() > variables) placed.returns.push_back(args.back());  // the variable that was added above
    return placed;
  };
  TF_ASSIGN_OR_RETURN(Replacement r, BuildLoop(call, parts));
  r.outputs.resize(variables);
  return r;
}

StatusOr<Replacement> Expander::ForLoop(const Call& call) {
  // The inputs of a For are start, limit, delta, and then the initial values of the body's variables.
  const std::vector<Output> carried(call.inputs.begin() + 3, call.inputs.end());
  std::vector<Output> args = {call.inputs[0]};
  args.insert(args.end(), carried.begin(), carried.end());
  TF_ASSIGN_OR_RETURN(const FunctionBody body,
                      Body(call, call.node.attr<FunctionAttr>("body"), args, carried.size(), Role::kForBody));
  TF_RETURN_IF_ERROR(CheckBodyTypes(body, carried));
  TF_ASSIGN_OR_RETURN(Node * count, Add(call, "_turns", "_ForTurns", {call.inputs[0], call.inputs[1], call.inputs[2]},
                                        {}, call.controls));
  TF_ASSIGN_OR_RETURN(const Output zero, Constant(call, "_first", Tensor::Scalar(int32_t{0})));
  TF_ASSIGN_OR_RETURN(const Output one, Constant(call, "_one", Tensor::Scalar(int32_t{1})));
  // The variables of the loop: number of the iteration, number of iterations, first index, step, the constant 1, and
  // then the variables of the body.
  constexpr size_t kOwn = 5;
  LoopParts parts{.initial = {zero, OutputOf(count, 0), call.inputs[0], call.inputs[2], one},
                  .invariant = {false, true, true, true, true},
                  .cond = {},
                  .body = {},
                  .parallel_iterations = 10};
  parts.initial.insert(parts.initial.end(), carried.begin(), carried.end());
  parts.invariant.resize(parts.initial.size(), false);
  parts.cond = [&](const std::vector<Output>& in, Node*) -> StatusOr<Placed> {
    TF_ASSIGN_OR_RETURN(Node * more, Add(call, "_more", "Less", {in[0], in[1]}));
    return Placed{.returns = {OutputOf(more, 0)}, .done = {more}};
  };
  parts.body = [&](const std::vector<Output>& in, Node* pivot) -> StatusOr<Placed> {
    TF_ASSIGN_OR_RETURN(Node * offset, Add(call, "_way", "Mul", {in[0], in[3]}));
    TF_ASSIGN_OR_RETURN(Node * index, Add(call, "_index", "Add", {in[2], OutputOf(offset, 0)}));
    TF_ASSIGN_OR_RETURN(Node * next, Add(call, "_next", "Add", {in[0], in[4]}));
    Surroundings inside{.prefix = StrCat(call.name, "/body/"),
                        .device = call.device,
                        .args = {OutputOf(index, 0)},
                        .pivot = pivot,
                        .gates_args = false,
                        .depth = call.depth};
    inside.args.insert(inside.args.end(), in.begin() + kOwn, in.end());
    TF_ASSIGN_OR_RETURN(Placed placed, Place(body, inside));
    std::vector<Output> returns = {OutputOf(next, 0), in[1], in[2], in[3], in[4]};
    returns.insert(returns.end(), placed.returns.begin(), placed.returns.end());
    placed.returns = std::move(returns);
    return placed;
  };
  TF_ASSIGN_OR_RETURN(Replacement r, BuildLoop(call, parts));
  r.outputs.erase(r.outputs.begin(), r.outputs.begin() + kOwn);
  return r;
}

Status Expander::CheckBodyTypes(const FunctionBody& body, const std::vector<Output>& variables) {
  for (size_t i = 0; i < variables.size(); ++i) {
    if (body.returns[i].dtype() != variables[i].dtype()) {
      return InvalidArgument("output ", i, " of the loop body must be ", variables[i].dtype(), ", got ",
                             body.returns[i].dtype());
    }
  }
  return OkStatus();
}

StatusOr<Replacement> Expander::BuildLoop(const Call& call, const LoopParts& parts) {
  const std::string frame = call.name + "/_frame";
  const size_t all = parts.initial.size();
  std::vector<Output> in_cond(all), in_body(all), exits(all);
  std::vector<Node*> merges(all, nullptr);
  Node* first_merge = nullptr;
  TF_ASSIGN_OR_RETURN(const std::vector<Node*> started, ControlsOfReads(call, parts.initial));
  for (size_t i = 0; i < all; ++i) {
    TF_ASSIGN_OR_RETURN(Node * enter, Add(call, StrCat("_enter_", i), "Enter", {parts.initial[i]},
                                          {{"frame_name", frame},
                                           {"is_constant", static_cast<bool>(parts.invariant[i])},
                                           {"parallel_iterations", parts.parallel_iterations}},
                                          MayBeReference(parts.initial[i]) ? started : call.controls));
    if (parts.invariant[i]) {
      in_cond[i] = in_body[i] = OutputOf(enter, 0);
      continue;
    }
    TF_ASSIGN_OR_RETURN(merges[i],
                        Add(call, StrCat("_merge_", i), "Merge", {OutputOf(enter, 0), Output()}, {{"N", int64_t{2}}}));
    in_cond[i] = OutputOf(merges[i], 0);
    if (first_merge == nullptr) first_merge = merges[i];
  }
  TF_ASSIGN_OR_RETURN(const Placed tested, parts.cond(in_cond, first_merge));
  TF_ASSIGN_OR_RETURN(const Output truth, Truth(call, tested.returns[0], "_truth"));
  TF_ASSIGN_OR_RETURN(Node * loop_cond, Add(call, "_loop_cond", "LoopCond", {truth}, {},
                                            tested.has_effects ? tested.done : std::vector<Node*>()));
  Node* pivot = nullptr;
  for (size_t i = 0; i < all; ++i) {
    if (parts.invariant[i]) continue;
    TF_ASSIGN_OR_RETURN(Node * s, Add(call, StrCat("_switch_", i), "Switch", {in_cond[i], OutputOf(loop_cond, 0)}));
    TF_ASSIGN_OR_RETURN(Node * exit, Add(call, StrCat("_exit_", i), "Exit", {OutputOf(s, 0)}));
    in_body[i] = OutputOf(s, 1);
    exits[i] = OutputOf(exit, 0);
    if (pivot == nullptr) {
      TF_ASSIGN_OR_RETURN(pivot, Add(call, "_pivot", "Identity", {in_body[i]}));
    }
  }
  TF_ASSIGN_OR_RETURN(const Placed body, parts.body(in_body, pivot));
  std::vector<Node*> body_done;
  if (body.has_effects) body_done = body.done;
  if (body_done.size() > 1) {
    TF_ASSIGN_OR_RETURN(Node * ended, Add(call, "_turn_ended", "NoOp", {}, {}, body_done));
    body_done = {ended};
  }
  Replacement r;
  for (size_t i = 0; i < all; ++i) {
    if (parts.invariant[i]) {
      r.outputs.push_back(parts.initial[i]);
      continue;
    }
    Output next = body.returns[i];
    if (IsConstantEnter(*NodeOf(next))) {
      // The new value is a constant of the loop, which is live in every iteration. Without a gate, its NextIteration
      // would begin iterations for ever.
      TF_ASSIGN_OR_RETURN(Node * gated, Add(call, StrCat("_taken_", i), "Identity", {next}, {}, {pivot}));
      next = OutputOf(gated, 0);
    }
    // The side effects of an iteration are complete before the next one begins.
    TF_ASSIGN_OR_RETURN(Node * again, Add(call, StrCat("_next_", i), "NextIteration", {next}, {}, body_done));
    TF_RETURN_IF_ERROR(ImplOf(*out_).CloseLoop(merges[i], /*input=*/1, OutputOf(again, 0)));
    r.outputs.push_back(exits[i]);
    r.done.push_back(NodeOf(exits[i]));
  }
  return Finish(call, std::move(r.outputs), std::move(r.done));
}

}  // namespace tensorbraid::expansion
