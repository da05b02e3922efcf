// Implements the public functions that define and call library functions: captures, and the definition of a body.
#include "tensorbraid/graph/library_function.h"

#include <atomic>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/format/attr_proto.h"
#include "graph/format/graph.pb.h"
#include "graph/functions/function.h"
#include "graph/functions/function_scope.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {

struct LibraryFunction::Data {
  std::string name;
  std::vector<TensorSpec> args, results;
  std::vector<Output> captures;
  bool is_stateful = false;
};

const std::string& LibraryFunction::name() const {
  static const std::string none;
  return valid() ? data_->name : none;
}
const std::vector<TensorSpec>& LibraryFunction::args() const {
  static const std::vector<TensorSpec> none;
  return valid() ? data_->args : none;
}
const std::vector<TensorSpec>& LibraryFunction::results() const {
  static const std::vector<TensorSpec> none;
  return valid() ? data_->results : none;
}
const std::vector<Output>& LibraryFunction::captures() const {
  static const std::vector<Output> none;
  return valid() ? data_->captures : none;
}
bool LibraryFunction::is_stateful() const { return valid() && data_->is_stateful; }
AttrValue LibraryFunction::attr() const { return AttrValue::Function{name(), {}}; }

StatusOr<Output> UsableIn(GraphImpl& graph, const Output& output) {
  const Status owned = graph.CheckOwns(output.op());
  if (owned.ok()) return output;
  TF_RETURN_IF_ERROR(NodeOf(output)->CheckGraphExists());
  const FunctionScope& scope = graph.extension<FunctionScope>();
  if (!scope.capture) return owned;
  // A tensor of another body inside of the outer graph: the node that gets it as capture will move into that body.
  if (BodyInside(*scope.outer, {output}) != nullptr) return scope.capture(output);
  TF_ASSIGN_OR_RETURN(const Output outer, UsableIn(*scope.outer, output));
  return scope.capture(outer);
}

namespace {

// The graph that is no body around `graph`.
const GraphImpl& RootOf(GraphImpl& graph) {
  GraphImpl* root = &graph;
  while (GraphImpl* const outer = root->extension<FunctionScope>().outer) root = outer;
  return *root;
}

}  // namespace

GraphImpl* BodyInside(GraphImpl& graph, const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    const Graph* const owner = output.valid() ? NodeOf(output)->graph() : nullptr;
    if (owner == nullptr || owner == graph.graph()) continue;
    GraphImpl& body = ImplOf(*owner);
    const FunctionScope& scope = body.extension<FunctionScope>();
    for (GraphImpl* at = scope.outer; at != nullptr; at = at->extension<FunctionScope>().outer) {
      if (at == &graph) return &body;
    }
    // A body is built while another one is, but for a dataset of an outer graph.
    const FunctionScope& own = graph.extension<FunctionScope>();
    if (own.capture && scope.capture && scope.order > own.order && &RootOf(graph) == &RootOf(body)) return &body;
  }
  return nullptr;
}

namespace {

// Adds a node outside of all scopes that are open. `name` is made unique.
StatusOr<Output> AddArgument(GraphImpl& body, const std::string& name, const TensorSpec& spec, const SourceLine& line) {
  TF_ASSIGN_OR_RETURN(Node * node, body.AddNode({.name = body.UniqueName(name + "/"),
                                                 .op = "Placeholder",
                                                 .inputs = {},
                                                 .controls = {},
                                                 .attrs = {{"dtype", spec.dtype}, {"shape", spec.shape}},
                                                 .device = "",
                                                 .line = line}));
  return OutputOf(node, 0);
}

// Whether the state of a node lies in the iterator or dataset that it makes, so that a copy does not miss anything.
bool MayBeCopied(const Node& node) {
  if (!node.op().is_stateful) return true;
  static const auto* const kShared =
      new std::set<std::string, std::less<>>{"DummyIterationCounter", "DummySeedGenerator", "DummyMemoryCache"};
  return (node.num_outputs() == 1 && node.output_type(0) == DType::kVariant) || kShared->contains(node.type());
}

// Copies a node and everything from which it is computed into the graph of a body, but, as in TensorFlow, no control
// inputs, such as checks of a file name. `copies` has the nodes that were copied before.
StatusOr<Node*> CopyInto(GraphImpl& body, const Node& node, std::map<const Node*, Node*>* copies) {
  if (const auto it = copies->find(&node); it != copies->end()) return it->second;
  if (node.type().starts_with("Placeholder")) {
    return InvalidArgument("Cannot capture a placeholder (name:", node.name(), ", type:", node.type(), ") by value.");
  }
  if (!MayBeCopied(node)) {
    return InvalidArgument("Cannot capture a stateful node (name:", node.name(), ", type:", node.type(), ") by value.");
  }
  if (FlowKindOf(node) != FlowKind::kNone) {
    return InvalidArgument("Cannot capture a control flow op (name:", node.name(), ", type:", node.type(),
                           ") by value.");
  }
  NodeSpec spec{
      .name = node.name(), .op = node.type(), .inputs = {}, .controls = {}, .attrs = {}, .device = node.device()};
  for (const Output& input : node.inputs()) {
    TF_ASSIGN_OR_RETURN(Node * copy, CopyInto(body, *NodeOf(input), copies));
    spec.inputs.push_back(OutputOf(copy, input.index()));
  }
  for (const auto& [name, value] : node.attrs()) {
    if (name != "_class") spec.attrs.emplace(name, value);  // the body may lack the node that this one is placed with
  }
  TF_ASSIGN_OR_RETURN(Node * copy, body.AddNode(std::move(spec)));
  copies->emplace(&node, copy);
  return copy;
}

// The names of the tensors of a node in a function's definition: "node:argument:index".
std::vector<std::string> TensorNames(const Node& node) {
  std::vector<std::string> names;
  for (const ArgDef& arg : node.op().outputs) {
    size_t count = 1;
    if (!arg.number_attr.empty()) count = static_cast<size_t>(node.attr<int64_t>(arg.number_attr));
    if (!arg.type_list_attr.empty()) count = node.attr<std::vector<DType>>(arg.type_list_attr).size();
    for (size_t i = 0; i < count; ++i) names.push_back(StrCat(node.name(), ":", arg.name, ":", i));
  }
  return names;
}

}  // namespace

struct FunctionBuilder::State {
  State(Graph& outer, Graph& body, std::string wanted, Capture how, const SourceLine& at)
      : outer_graph(outer),
        outer(ImplOf(outer)),
        body_graph(body),
        body_owner(Handles::ToImpl(body)),
        body(*body_owner),
        name(std::move(wanted)),
        capture(how),
        line(at) {}

  StatusOr<Output> CaptureTensor(const Output& tensor);
  // Makes the name one that neither an op nor a function has.
  void MakeNameUnique();
  StatusOr<std::shared_ptr<const Function>> Define(const std::vector<Output>& results) const;
  Status AddToLibraries(const std::shared_ptr<const Function>& function);
  StatusOr<LibraryFunction> Finish(std::vector<Output> results);

  Graph& outer_graph;
  GraphImpl& outer;
  Graph& body_graph;
  const std::shared_ptr<GraphImpl> body_owner;  // the graph may be destroyed after Finish
  GraphImpl& body;
  std::string name;
  const Capture capture;
  const SourceLine line;
  std::vector<TensorSpec> specs;
  std::vector<Output> args;
  std::vector<std::pair<Output, Output>> captured;  // tensors of the outer graph, and the arguments for them
  std::map<const Node*, Node*> copies;
};

StatusOr<Output> FunctionBuilder::State::CaptureTensor(const Output& tensor) {
  if (capture == Capture::kAsCopy) {
    TF_ASSIGN_OR_RETURN(Node * copy, CopyInto(body, *NodeOf(tensor), &copies));
    return OutputOf(copy, tensor.index());
  }
  for (const auto& [from, to] : captured) {
    if (from == tensor) return to;
  }
  TF_ASSIGN_OR_RETURN(const Output arg,
                      AddArgument(body, StrCat("captured_", captured.size()), {tensor.dtype(), tensor.shape()}, line));
  captured.emplace_back(tensor, arg);
  return arg;
}

void FunctionBuilder::State::MakeNameUnique() {
  const GraphImpl& root = RootOf(outer);
  const auto taken = [&](const std::string& n) {
    return root.functions()->FindOp(n) != nullptr || body.functions()->FindOp(n) != nullptr;
  };
  const std::string wanted = name.empty() ? "function" : name;
  name = wanted;
  for (int i = 1; taken(name); ++i) name = StrCat(wanted, "_", i);
}

StatusOr<std::shared_ptr<const Function>> FunctionBuilder::State::Define(const std::vector<Output>& results) const {
  proto::FunctionDef def;
  proto::OpDef& signature = *def.mutable_signature();
  signature.set_name(name);
  std::map<const Node*, std::vector<std::string>> tensors;
  const auto add_arg = [&](const Output& arg) {
    auto* out = signature.add_input_arg();
    out->set_name(NodeOf(arg)->name());
    out->set_type(static_cast<proto::DataType>(arg.dtype()));
    tensors[NodeOf(arg)] = {NodeOf(arg)->name()};
  };
  for (const Output& arg : args) add_arg(arg);
  for (const auto& [from, arg] : captured) add_arg(arg);
  for (const auto& node : body.nodes()) {
    if (!tensors.contains(node.get())) tensors[node.get()] = TensorNames(*node);
  }
  for (const auto& node : body.nodes()) {
    if (tensors[node.get()] == std::vector<std::string>{node->name()}) continue;  // an argument
    proto::NodeDef* out = def.add_node_def();
    out->set_name(node->name());
    out->set_op(node->type());
    out->set_device(node->device());
    for (const Output& input : node->inputs()) out->add_input(tensors[NodeOf(input)][input.index()]);
    for (const Node* control : node->control_inputs()) out->add_input("^" + control->name());
    for (const auto& [attr, value] : node->attrs()) ToProto(value, &(*out->mutable_attr())[attr]);
    if (!node->op().is_stateful) continue;
    signature.set_is_stateful(true);
    signature.add_control_output(node->name());
    (*def.mutable_control_ret())[node->name()] = node->name();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    auto* out = signature.add_output_arg();
    out->set_name(StrCat("output_", i));
    out->set_type(static_cast<proto::DataType>(results[i].dtype()));
    (*def.mutable_ret())[out->name()] = tensors[NodeOf(results[i])][results[i].index()];
  }
  return Function::FromProto(def);
}

Status FunctionBuilder::State::AddToLibraries(const std::shared_ptr<const Function>& function) {
  const GraphLock lock(RootOf(outer));  // whose names the functions of all bodies share
  // All graphs around the body get the function, and the functions that were defined in the body.
  proto::FunctionDefLibrary inner;
  body.functions()->ToProto(&inner);
  for (GraphImpl* graph = &outer; graph != nullptr; graph = graph->extension<FunctionScope>().outer) {
    const GraphLock changed(*graph);
    auto library = std::make_shared<FunctionLibrary>(*graph->functions());
    TF_RETURN_IF_ERROR(library->Add(function));
    for (const auto& def : inner.function()) {
      if (library->Find(def.signature().name()) != nullptr) continue;
      TF_ASSIGN_OR_RETURN(auto nested, Function::FromProto(def));
      TF_RETURN_IF_ERROR(library->Add(std::move(nested)));
    }
    graph->set_functions(std::move(library));
  }
  return OkStatus();
}

StatusOr<LibraryFunction> FunctionBuilder::State::Finish(std::vector<Output> results) {
  TF_RETURN_IF_ERROR(body_graph.TakeStatus());
  if (!body_graph.variables().empty()) {
    return InvalidArgument("the body makes the variable '", body_graph.variables().front().name(),
                           "'; variables must be made outside of functions");
  }
  std::vector<TensorSpec> result_specs;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].valid()) return InvalidArgument("result ", i, " is not valid", TakeLoggedMistake());
    const auto usable = UsableIn(body, results[i]);
    if (!usable.ok()) return Annotate(usable.status(), StrCat("result ", i));
    results[i] = *usable;
    const Node& node = *NodeOf(results[i]);
    if (IsRef(node.output_type(results[i].index()))) {
      results[i] = NodeBuilder(body_graph, "Identity").Input(results[i]).Output();
      TF_RETURN_IF_ERROR(body_graph.TakeStatus());
    }
    result_specs.push_back({results[i].dtype(), results[i].shape()});
  }
  const GraphLock naming(RootOf(outer));  // until the function has its name in the library
  MakeNameUnique();
  TF_ASSIGN_OR_RETURN(const auto function, Define(results));
  TF_RETURN_IF_ERROR(AddToLibraries(function));
  LibraryFunction::Data data{.name = name,
                             .args = specs,
                             .results = std::move(result_specs),
                             .captures = {},
                             .is_stateful = function->signature().is_stateful};
  for (const auto& [from, to] : captured) data.captures.push_back(from);
  return LibraryFunction(std::make_shared<const LibraryFunction::Data>(std::move(data)));
}

FunctionBuilder::FunctionBuilder(Graph& outer, Graph& body, const std::string& name,
                                 const std::vector<TensorSpec>& args, Capture capture, std::source_location loc)
    : state_(std::make_unique<State>(outer, body, name, capture, ImplOf(outer).UserLine(loc))) {
  State& s = *state_;
  if (!s.body.nodes().empty()) {
    outer.AddError(InvalidArgument("function '", name, "' (", LocationText(s.line),
                                   "): the graph for its body must be ", "empty, but has ", s.body.nodes().size(),
                                   " nodes"));
  }
  s.body.set_functions(s.outer.functions());
  body.SetRandomSeed(outer.random_seed());
  s.specs = args;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto arg = AddArgument(s.body, StrCat("args_", i), args[i], s.line);
    if (!arg.ok()) body.AddError(Annotate(arg.status(), StrCat("argument ", i)));
    s.args.push_back(arg.ok() ? *arg : Output());
  }
  FunctionScope& scope = s.body.extension<FunctionScope>();
  static std::atomic<int64_t> bodies{0};
  scope.order = ++bodies;
  scope.outer = &s.outer;
  scope.capture = [&s](const Output& tensor) { return s.CaptureTensor(tensor); };
}

FunctionBuilder::~FunctionBuilder() { state_->body.extension<FunctionScope>() = {}; }

const std::vector<Output>& FunctionBuilder::args() const { return state_->args; }

LibraryFunction FunctionBuilder::Finish(const std::vector<Output>& results) {
  State& s = *state_;
  auto made = s.Finish(results);
  s.body.extension<FunctionScope>() = {};
  if (made.ok()) return *std::move(made);
  s.outer_graph.AddError(Annotate(made.status(), StrCat("function '", s.name, "' (", LocationText(s.line), ")")));
  return {};
}

LibraryFunction DefineFunction(Graph& graph, const std::string& name, const std::vector<TensorSpec>& args,
                               const BodyFunction& body, Capture capture, std::source_location loc) {
  Graph inner;
  FunctionBuilder builder(graph, inner, name, args, capture, loc);
  return builder.Finish(body(inner, builder.args()));
}

std::vector<Output> CallFunction(Graph& graph, const LibraryFunction& function, const std::vector<Operand>& inputs,
                                 const std::string& name, std::source_location loc) {
  const size_t num_results = function.results().size();
  if (!function.valid()) return {};
  const auto refuse = [&](const std::string& why) {
    graph.AddError(InvalidArgument("call of function '", function.name(), "' (",
                                   LocationText(ImplOf(graph).UserLine(loc)), "): ", why));
    return std::vector<Output>(num_results);
  };
  if (inputs.size() != function.args().size()) {
    return refuse(StrCat("it has ", function.args().size(), " arguments, got ", inputs.size()));
  }
  const ScopedLocation at(graph, loc);
  std::vector<Output> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(inputs[i].ToOutput(graph, function.args()[i].dtype));
    if (values.back().valid() && values.back().dtype() != function.args()[i].dtype) {
      return refuse(StrCat("argument ", i, " must be ", function.args()[i].dtype, ", got ", values.back().dtype()));
    }
  }
  values.insert(values.end(), function.captures().begin(), function.captures().end());
  std::vector<DType> types;
  for (const TensorSpec& result : function.results()) types.push_back(result.dtype);
  const Operation call = NodeBuilder(graph, function.is_stateful() ? "StatefulPartitionedCall" : "PartitionedCall", loc)
                             .Name(name)
                             .InputList(std::move(values))
                             .Attr("Tout", std::move(types))
                             .Attr("f", function.attr())
                             .Finish();
  std::vector<Output> results(num_results);
  for (size_t i = 0; call.valid() && i < num_results; ++i) {
    ImplOf(*call.graph()).RefineShape(NodeOf(call), static_cast<int>(i), function.results()[i].shape);
    results[i] = call.output(static_cast<int>(i));
  }
  return results;
}

}  // namespace tensorbraid
