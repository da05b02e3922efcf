#include "graph/model/node.h"

#include <algorithm>
#include <cctype>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/functions/function.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kGraphLifetime = "a Graph must outlive the use of everything made from it";

thread_local std::string logged_mistake;  // see TakeLoggedMistake

// TensorFlow's rule for node names: letters, digits, '.', '_', '-', '/', '\' and, as in newer versions, '>'.
bool IsValidNodeName(std::string_view name) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) || c == '.'; };
  // Names that begin with "_" are reserved for the runtime (_Send, _Arg).
  return !name.empty() && (letter(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return letter(c) || c == '_' || c == '-' || c == '/' || c == '>' || c == '\\';
         });
}

std::string_view BaseName(const char* file) {
  const std::string_view path(file);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The name of the value's type in attribute specifications.
std::string_view TypeWord(const AttrValue& v) {
  static constexpr std::string_view kWords[] = {
      "none",       "string",     "int",         "float",        "bool",      "type",
      "shape",      "tensor",     "func",        "list(string)", "list(int)", "list(float)",
      "list(bool)", "list(type)", "list(shape)", "list(tensor)", "list(func)"};
  return kWords[v.value().index()];
}

// Checks that `value` is allowed by `def`.
Status CheckAttr(const AttrDef& def, AttrValue* value) {
  // A float attribute also accepts an int, which is converted. So 1 can be written instead of 1.0.
  if (def.type == "float" && value->get<int64_t>() != nullptr) *value = static_cast<float>(*value->get<int64_t>());
  if (TypeWord(*value) != def.type) {
    if (std::holds_alternative<std::monostate>(value->value()))
      return InvalidArgument("attribute '", def.name, "' must be a ", def.type, ", but has no value");
    return InvalidArgument("attribute '", def.name, "' must be a ", def.type, ", got ", TypeWord(*value), " ",
                           value->ToString());
  }
  if (!def.allowed_types.empty()) {
    const auto allowed = [&](DType t) {
      return std::find(def.allowed_types.begin(), def.allowed_types.end(), BaseType(t)) != def.allowed_types.end();
    };
    std::vector<DType> types;
    if (const DType* t = value->get<DType>()) types = {*t};
    if (const auto* list = value->get<std::vector<DType>>()) types = *list;
    for (DType t : types) {
      if (allowed(t)) continue;
      std::vector<std::string> names;
      for (DType a : def.allowed_types) names.push_back(DTypeName(a));
      return InvalidArgument("attribute '", def.name, "' cannot be ", t, "; it can be ", StrJoin(names, ", "));
    }
  }
  if (!def.allowed_strings.empty()) {
    const std::string& s = *value->get<std::string>();
    if (std::find(def.allowed_strings.begin(), def.allowed_strings.end(), s) == def.allowed_strings.end()) {
      return InvalidArgument("attribute '", def.name, "' cannot be '", s, "'; it can be ",
                             StrJoin(def.allowed_strings, ", "));
    }
  }
  if (def.minimum) {
    const bool is_list = def.type.starts_with("list(");
    int64_t n = 0;
    if (const int64_t* i = value->get<int64_t>()) n = *i;
    if (is_list) {
      n = std::visit(
          [](const auto& v) -> int64_t {
            if constexpr (requires { v.size(); }) return static_cast<int64_t>(v.size());
            return 0;
          },
          value->value());
    }
    if (n < *def.minimum) {
      return InvalidArgument("attribute '", def.name, "' must ", is_list ? "have" : "be", " at least ", *def.minimum,
                             is_list ? " elements" : "", ", got ", n);
    }
  }
  return OkStatus();
}

// Infers the attributes that follow from the inputs, checks the others, and determines the declared types of all inputs
// (arguments flattened) and outputs.
class Typing {
 public:
  Typing(const OpDef& op, const std::vector<Output>& inputs, std::map<std::string, AttrValue>* attrs)
      : op_(op), inputs_(inputs), attrs_(*attrs) {}

  Status Run(std::vector<DType>* input_types, std::vector<DType>* output_types) {
    for (const ArgDef& arg : op_.inputs) TF_RETURN_IF_ERROR(InferFrom(arg));
    if (next_ != inputs_.size()) {
      return InvalidArgument("takes ", next_, " inputs, got ", inputs_.size());
    }
    for (const AttrDef& def : op_.attrs) {
      auto it = attrs_.find(def.name);
      if (it == attrs_.end()) {
        if (!def.default_value) return InvalidArgument("attribute '", def.name, "' (", def.type, ") is missing");
        it = attrs_.emplace(def.name, *def.default_value).first;
      }
      TF_RETURN_IF_ERROR(CheckAttr(def, &it->second));
    }
    for (const auto& [name, value] : attrs_) {
      if (!name.starts_with("_") && op_.FindAttr(name) == nullptr) {
        std::vector<std::string> names;
        for (const AttrDef& a : op_.attrs) names.push_back(a.name);
        const std::string nearest = NearestWord(name, names);
        return InvalidArgument("has no attribute '", name, "'",
                               nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?"));
      }
    }
    for (const ArgDef& arg : op_.inputs) TF_RETURN_IF_ERROR(Types(arg, input_types));
    for (const ArgDef& arg : op_.outputs) TF_RETURN_IF_ERROR(Types(arg, output_types));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].valid()) {
        if (FlowKindOf(op_.name) == FlowKind::kMerge) continue;
        return InvalidArgument("input ", i, " is missing");
      }
      const DType have = NodeOf(inputs_[i])->output_type(inputs_[i].index());
      const DType want = (*input_types)[i];
      if (BaseType(have) != BaseType(want)) {
        return InvalidArgument("input ", i, " must be ", want, ", got ", BaseType(have), " from '", inputs_[i].name(),
                               "'");
      }
      if (IsRef(want) && !IsRef(have)) {
        return InvalidArgument("input ", i, " must be a reference to a variable, got the value '", inputs_[i].name(),
                               "'");
      }
    }
    return OkStatus();
  }

 private:
  DType TypeOfNext() const { return next_ < inputs_.size() ? inputs_[next_].dtype() : DType::kInvalid; }

  // Steps over the inputs of one argument and sets the type attribute that they determine.
  Status InferFrom(const ArgDef& arg) {
    if (!arg.type_list_attr.empty()) {
      const auto it = attrs_.find(arg.type_list_attr);
      const auto* types = it == attrs_.end() ? nullptr : it->second.get<std::vector<DType>>();
      if (types == nullptr) return InvalidArgument("attribute '", arg.type_list_attr, "' (list(type)) is missing");
      next_ += types->size();
      return OkStatus();
    }
    size_t count = 1;
    if (!arg.number_attr.empty()) {
      const auto it = attrs_.find(arg.number_attr);
      const int64_t* n = it == attrs_.end() ? nullptr : it->second.get<int64_t>();
      if (n == nullptr || *n < 0)
        return InvalidArgument("attribute '", arg.number_attr, "' (int) is missing or negative");
      count = static_cast<size_t>(*n);
    }
    if (!arg.type_attr.empty() && count > 0 && TypeOfNext() != DType::kInvalid) {
      const auto [it, added] = attrs_.emplace(arg.type_attr, TypeOfNext());
      const DType* type = it->second.get<DType>();
      if (type != nullptr && BaseType(*type) != TypeOfNext()) {
        return InvalidArgument("input '", arg.name, "' is ", TypeOfNext(), ", but ", arg.type_attr, " is already ",
                               *type, "; give both the same dtype (see Cast)");
      }
    }
    next_ += count;
    if (next_ > inputs_.size()) return InvalidArgument("input '", arg.name, "' is missing");
    return OkStatus();
  }

  Status Types(const ArgDef& arg, std::vector<DType>* types) const {
    if (!arg.type_list_attr.empty()) {
      for (DType t : *attrs_.at(arg.type_list_attr).get<std::vector<DType>>()) types->push_back(t);
      return OkStatus();
    }
    const DType type = arg.type_attr.empty() ? arg.type : *attrs_.at(arg.type_attr).get<DType>();
    const int64_t count = arg.number_attr.empty() ? 1 : *attrs_.at(arg.number_attr).get<int64_t>();
    constexpr int64_t kMaxListLength = 1 << 20;  // so that a number in a malicious GraphDef cannot exhaust memory
    if (count < 0 || count > kMaxListLength) {
      return InvalidArgument("attribute '", arg.number_attr, "' is out of range: ", count);
    }
    types->insert(types->end(), static_cast<size_t>(count), arg.is_ref ? RefType(type) : type);
    return OkStatus();
  }

  const OpDef& op_;
  const std::vector<Output>& inputs_;
  std::map<std::string, AttrValue>& attrs_;
  size_t next_ = 0;  // the first input that InferFrom has not reached
};

}  // namespace

void LogMistake(std::string_view function, const std::source_location& loc, std::string_view message) {
  logged_mistake = StrCat(function, " (", LocationText(loc), "): ", message);
  TB_LOG(Error, "graph") << logged_mistake;
}

std::string TakeLoggedMistake() {
  const std::string mistake = std::exchange(logged_mistake, "");
  return mistake.empty() ? "" : StrCat("; the last mistake outside of a graph: ", mistake);
}

Operation OperationOf(Node* node) {
  return node == nullptr ? Operation() : Handles::ToOperation(node->shared_from_this());
}

Output OutputOf(Node* node, int index) {
  return node == nullptr ? Output() : Handles::ToOutput(node->shared_from_this(), index);
}

Graph* Node::graph() const { return graph_ == nullptr ? nullptr : graph_->graph(); }

Status Node::CheckGraphExists() const {
  if (graph_ != nullptr) return OkStatus();
  return FailedPrecondition(Describe(), " is used after its Graph was destroyed; ", kGraphLifetime);
}

Graph& GraphUsedAt(const Node& node, const std::source_location& loc) {
  if (Graph* const graph = node.graph(); graph != nullptr) [[likely]]
    return *graph;
  CheckFailed(loc.file_name(), static_cast<int>(loc.line()), "graph", std::string(node.CheckGraphExists().message()));
}

namespace {

Status CheckIsGraph(const Graph* graph, std::string_view user) {
  if (graph != nullptr) return OkStatus();
  return FailedPrecondition(user, ": the Graph has been destroyed; ", kGraphLifetime);
}

}  // namespace

GraphUse::GraphUse(std::shared_ptr<GraphImpl> impl) TB_NO_THREAD_SAFETY_ANALYSIS : impl_(std::move(impl)) {
  if (impl_ == nullptr) return;
  impl_->lock().Lock();
  graph_ = impl_->graph();
}

GraphUse::~GraphUse() TB_NO_THREAD_SAFETY_ANALYSIS {
  if (impl_ != nullptr) impl_->lock().Unlock();
}

Status GraphUse::CheckExists(std::string_view user) const { return CheckIsGraph(graph_, user); }

Status GraphRef::CheckExists(std::string_view user) const {
  const auto impl = impl_.lock();
  return CheckIsGraph(impl == nullptr ? nullptr : impl->graph(), user);
}

GraphUse GraphRef::Use() const { return GraphUse(impl_.lock()); }

Graph& GraphRef::operator*() const {
  const auto impl = impl_.lock();
  Graph* const graph = impl == nullptr ? nullptr : impl->graph();
  TB_CHECK_OK(CheckIsGraph(graph, "use of a Graph"));
  return *graph;
}

std::pair<int, int> Node::InputRange(int arg) const {
  int begin = 0;
  for (int i = 0;; ++i) {
    const ArgDef& def = op_->inputs[i];
    int count = 1;
    if (!def.number_attr.empty()) count = static_cast<int>(attr<int64_t>(def.number_attr));
    if (!def.type_list_attr.empty()) count = static_cast<int>(attr<std::vector<DType>>(def.type_list_attr).size());
    if (i == arg) return {begin, begin + count};
    begin += count;
  }
}

std::vector<std::string> Node::colocated_with() const {
  std::vector<std::string> names;
  const AttrValue* value = FindAttr("_class");
  const auto* list = value == nullptr ? nullptr : value->get<std::vector<std::string>>();
  if (list == nullptr) return names;
  for (const std::string& s : *list) {
    if (s.starts_with("loc:@")) names.push_back(s.substr(5));
  }
  return names;
}

const AttrValue* Node::FindAttr(std::string_view name) const {
  const auto it = attrs_.find(name);
  return it == attrs_.end() ? nullptr : &it->second;
}

void Node::MissingAttr(std::string_view name) const {
  CheckFailed(__FILE__, __LINE__, "attribute",
              StrCat(Describe(), " has no attribute '", name, "' of the requested type"));
}

std::string Node::location() const { return line_.has_value() ? LocationText(*line_) : ""; }

std::string LocationText(const SourceLine& line) { return StrCat(BaseName(line.file), ":", line.line); }

ScopedLocation::ScopedLocation(const Graph& graph, const SourceLine& line) : impl_(&ImplOf(graph)) {
  std::optional<SourceLine>& outer = impl_->here().user_line;
  if (outer.has_value()) {
    impl_ = nullptr;
  } else {
    outer = line;
  }
}
ScopedLocation::~ScopedLocation() {
  if (impl_ != nullptr) impl_->here().user_line.reset();
}

ScopedUserCode::ScopedUserCode(const Graph& graph)
    : impl_(ImplOf(graph)), outer_(std::exchange(impl_.here().user_line, std::nullopt)) {}
ScopedUserCode::~ScopedUserCode() { impl_.here().user_line = outer_; }

std::string Node::Describe() const {
  const std::string where = location();
  return StrCat(type(), " '", name_, "'", where.empty() ? "" : StrCat(" (", where, ")"));
}

// The graphs in which a thread has a state or an error, which go when the thread ends.
class ThreadsGraphs {
 public:
  ThreadsGraphs() = default;
  ThreadsGraphs(const ThreadsGraphs&) = delete;
  ThreadsGraphs& operator=(const ThreadsGraphs&) = delete;
  ~ThreadsGraphs() {
    for (const auto& weak : graphs_) {
      if (const auto graph = weak.lock()) graph->ForgetThread(ThreadNumber());
    }
  }
  void Add(std::weak_ptr<GraphImpl> graph) {
    if (graphs_.size() >= std::max(limit_, kFewGraphs)) {
      std::erase_if(graphs_, [](const auto& weak) { return weak.expired(); });
      limit_ = 2 * graphs_.size();
    }
    graphs_.push_back(std::move(graph));
  }
  static ThreadsGraphs& OfThisThread() {
    static thread_local ThreadsGraphs graphs;
    return graphs;
  }

 private:
  static constexpr size_t kFewGraphs = 16;
  std::vector<std::weak_ptr<GraphImpl>> graphs_;
  size_t limit_ = 0;  // with more, those that are gone are removed
};

GraphImpl::ThreadState& GraphImpl::here() const {
  // The graph that this thread used last. Numbers of graphs are never used again, so `state` exists if the number fits.
  constinit static thread_local struct {
    uint64_t graph = 0;
    ThreadState* state = nullptr;
  } last;
  if (last.graph != number_) [[unlikely]] {
    last.state = &StateOf(ThreadNumber());
    last.graph = number_;
  }
  return *last.state;
}

GraphImpl::ThreadState& GraphImpl::StateOf(uint64_t thread) const {
  bool is_new = false;
  ThreadState* state = nullptr;
  {
    MutexLock lock(mu_);
    auto& known = states_[thread];
    is_new = known == nullptr;
    if (is_new) known = std::make_unique<ThreadState>();
    state = known.get();
  }
  if (is_new && thread == ThreadNumber()) {
    ThreadsGraphs::OfThisThread().Add(std::const_pointer_cast<GraphImpl>(shared_from_this()));
  }
  return *state;
}

void GraphImpl::ForgetThread(uint64_t thread) {
  std::unique_ptr<ThreadState> forgotten;  // destroyed without the lock
  MutexLock lock(mu_);
  errors_.erase(thread);
  has_errors_ = !errors_.empty();
  const auto it = states_.find(thread);
  if (it == states_.end() || !it->second->is_empty()) return;
  forgotten = std::move(it->second);
  states_.erase(it);
}

Status GraphImpl::ThreadStatus() const {
  if (!has_errors_) return OkStatus();
  MutexLock lock(mu_);
  const auto it = errors_.find(ThreadNumber());
  return it == errors_.end() ? OkStatus() : it->second;
}

Status GraphImpl::TakeThreadStatus() {
  if (!has_errors_) return OkStatus();
  MutexLock lock(mu_);
  const auto it = errors_.find(ThreadNumber());
  if (it == errors_.end()) return OkStatus();
  Status status = std::move(it->second);
  errors_.erase(it);
  has_errors_ = !errors_.empty();
  return status;
}

void GraphImpl::AddThreadError(const Status& status) {
  if (status.ok()) return;
  here();  // so that the error goes when the thread ends
  MutexLock lock(mu_);
  errors_.try_emplace(ThreadNumber(), status);
  has_errors_ = true;
}

size_t GraphImpl::num_nodes() const {
  const GraphLock lock(*this);
  return nodes_.size();
}

void GraphImpl::AddVariable(Variable variable) {
  const GraphLock lock(*this);
  variables_.push_back(std::move(variable));
}

Node* GraphImpl::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OpDef* GraphImpl::FindOp(std::string_view op) const {
  if (const OpDef* def = OpRegistry::Global().Find(op)) return def;
  const Function* function = functions_->Find(op);
  return function == nullptr ? nullptr : &function->signature();
}

void GraphImpl::set_functions(std::shared_ptr<const FunctionLibrary> functions) { functions_ = std::move(functions); }

Status GraphImpl::CheckMayChange() const {
  MutexLock lock(mu_);
  return finalized_by_.empty() ? OkStatus() : FailedPrecondition("the graph can no longer change: ", finalized_by_);
}

StatusOr<Node*> GraphImpl::AddNode(NodeSpec spec) {
  TF_ASSIGN_OR_RETURN(auto node, MakeNode(std::move(spec)));
  return Publish(std::move(node));
}

StatusOr<Node*> GraphImpl::Publish(std::shared_ptr<Node> node) {
  Node* raw = node.get();
  raw->id_ = static_cast<int>(nodes_.size());
  if (!by_name_.emplace(raw->name_, raw).second) {
    return AlreadyExists(raw->Describe(), ": the graph already has a node of that name");
  }
  nodes_.push_back(std::move(node));
  return raw;
}

StatusOr<std::shared_ptr<Node>> GraphImpl::MakeNode(NodeSpec spec) {
  auto node = std::shared_ptr<Node>(new Node);
  node->graph_ = this;
  node->name_ = spec.name.empty() ? spec.op : std::move(spec.name);
  node->line_ = spec.line;
  node->flow_context_ = spec.flow_context;
  const std::string where = node->location();
  const auto annotate = [&](const Status& s) {
    std::vector<std::string> inputs;
    for (const Output& o : spec.inputs) {
      inputs.push_back(StrCat(o.name(), " ", o.dtype(), o.shape()));
    }
    return Annotate(s, StrCat(spec.op, " '", node->name_, "'", where.empty() ? "" : StrCat(" (", where, ")"),
                              inputs.empty() ? "" : StrCat(" of ", StrJoin(inputs, ", "))));
  };
  if (const Status may_change = CheckMayChange(); !may_change.ok()) return annotate(may_change);
  node->op_ = FindOp(spec.op);
  if (node->op_ == nullptr) {
    const std::string nearest = NearestWord(spec.op, OpRegistry::Global().names());
    return annotate(NotFound("op '", spec.op, "' does not exist",
                             nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?")));
  }
  if (!IsValidNodeName(node->name_)) return annotate(InvalidArgument("'", node->name_, "' is not a valid node name"));
  if (by_name_.contains(node->name_)) return annotate(AlreadyExists("the graph already has a node of that name"));
  const Status typed =
      Typing(*node->op_, spec.inputs, &spec.attrs).Run(&node->declared_input_types_, &node->output_types_);
  if (!typed.ok()) return annotate(typed);
  if (node->type() == "Const") {
    // Many places read the value of a constant before any kernel could check it.
    const DType dtype = *spec.attrs.at("dtype").get<DType>();
    const Tensor& value = *spec.attrs.at("value").get<Tensor>();
    if (value.dtype() != dtype) return annotate(InvalidArgument("the value is ", value.dtype(), ", not ", dtype));
  }
  node->inputs_ = std::move(spec.inputs);
  spec.inputs = node->inputs_;  // kept for messages
  for (Node* c : spec.controls) {
    if (std::find(node->control_inputs_.begin(), node->control_inputs_.end(), c) == node->control_inputs_.end()) {
      node->control_inputs_.push_back(c);
    }
  }
  for (auto& [key, value] : spec.attrs) node->attrs_.emplace(key, std::move(value));
  node->device_ = std::move(spec.device);
  if (!node->device_.empty()) {
    const auto parsed = DeviceName::Parse(node->device_);
    if (!parsed.ok()) return annotate(parsed.status());
  }
  node->output_shapes_.assign(node->output_types_.size(), Shape::Unknown());
  if (node->op_->shape_fn != nullptr) {
    ShapeContext context(*node, &node->output_shapes_);
    const Status shaped = node->op_->shape_fn(context);
    if (!shaped.ok()) {
      if (!spec.defer_shape_errors) return annotate(shaped);
      std::fill(node->output_shapes_.begin(), node->output_shapes_.end(), Shape::Unknown());
    }
  }
  return node;
}

StatusOr<Node*> GraphImpl::CopyNode(const Node& node, std::vector<Output> inputs, std::vector<Node*> controls) {
  // The checks of the original hold for the copy too; only the producers of the inputs differ.
  if (by_name_.contains(node.name())) return AlreadyExists("two nodes named '", node.name(), "'");
  if (functions_->empty()) functions_ = node.graph_->functions_;
  auto copy = std::make_shared<Node>(node);
  copy->graph_ = this;
  copy->flow_context_ = nullptr;  // the contexts belong to the other graph
  copy->inputs_ = std::move(inputs);
  copy->control_inputs_ = std::move(controls);
  copy->id_ = static_cast<int>(nodes_.size());
  Node* raw = copy.get();
  by_name_.emplace(raw->name_, raw);
  nodes_.push_back(std::move(copy));
  return raw;
}

void GraphImpl::End() {
  const GraphLock lock(*this);
  for (const auto& node : nodes_) Release(*node);
  self_ = nullptr;
}

void GraphImpl::Release(Node& node) const {
  if (functions_->Find(node.type()) != nullptr) node.kept_functions_ = functions_;
  node.graph_ = nullptr;
  // In a loop, nodes own each other through their inputs.
  node.inputs_.clear();
  node.control_inputs_.clear();
}

ScopeGuard GraphImpl::GuardOf(std::function<void(ThreadState&)> end) {
  return ScopeGuard([weak = weak_from_this(), end = std::move(end), opener = ThreadNumber()] {
    if (const auto impl = weak.lock()) end(opener == ThreadNumber() ? impl->here() : impl->StateOf(opener));
  });
}

Status GraphImpl::CheckOwns(const Operation& op) const {
  const Node& node = *NodeOf(op);
  if (node.graph_ == this) return OkStatus();
  TF_RETURN_IF_ERROR(node.CheckGraphExists());
  return InvalidArgument("'", node.name(), "' belongs to another graph");
}

void GraphImpl::RefineShape(Node* node, int output, const Shape& shape) {
  const GraphLock lock(*this);
  auto merged = node->output_shape(output).MergeWith(shape);
  TB_CHECK_OK(merged.status());
  if (*merged == node->output_shape(output)) return;
  auto refined = std::make_shared<Node::RefinedShapes>();
  for (int i = 0; i < node->num_outputs(); ++i) refined->shapes.push_back(node->output_shape(i));
  refined->shapes[output] = *std::move(merged);
  refined->earlier = node->refined_.all;
  node->refined_.all = refined;
  node->refined_.now.store(&refined->shapes, std::memory_order_release);
}

Status GraphImpl::CloseLoop(Node* merge, int input, Output from) {
  if (FlowKindOf(*merge) != FlowKind::kMerge || !from.valid() || NodeOf(from)->graph_ != this ||
      FlowKindOf(*NodeOf(from)) != FlowKind::kNextIteration) {
    return InvalidArgument("input ", input, " of ", merge->Describe(), " must come from a NextIteration");
  }
  const DType want = merge->declared_input_types_[input];
  const DType have = NodeOf(from)->output_type(from.index());
  if (BaseType(have) != BaseType(want) || (IsRef(want) && !IsRef(have))) {
    return InvalidArgument("input ", input, " of ", merge->Describe(), " must be ", want, ", got ", have, " from '",
                           from.name(), "'");
  }
  merge->inputs_[input] = from;
  return OkStatus();
}

Status GraphImpl::Become(Node* node, NodeSpec spec) {
  spec.name = node->name_;
  spec.device = node->device_;
  by_name_.erase(node->name_);
  auto added = AddNode(std::move(spec));
  by_name_[node->name_] = node;
  TF_RETURN_IF_ERROR(added.status());
  const std::shared_ptr<Node> made = std::move(nodes_.back());
  nodes_.pop_back();
  if (made->output_types_ != node->output_types_) {
    return Internal(node->Describe(), " cannot become a ", made->type(), " with other output types");
  }
  made->id_ = node->id_;
  made->line_ = node->line_;
  *node = std::move(*made);
  return OkStatus();
}

void GraphImpl::RemoveNodes(const std::vector<bool>& removed) {
  std::vector<std::shared_ptr<Node>> kept;
  kept.reserve(nodes_.size());
  for (auto& node : nodes_) {
    if (static_cast<size_t>(node->id_) < removed.size() && removed[node->id_]) {
      by_name_.erase(node->name_);
      Release(*node);
    } else {
      kept.push_back(std::move(node));
    }
  }
  nodes_ = std::move(kept);
  bool sorted = true;
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
  for (const auto& node : nodes_) {
    for (size_t i = 0; i < node->inputs_.size() && sorted; ++i) {
      sorted = NodeOf(node->inputs_[i])->id_ < node->id_ || IsBackEdge(*node, static_cast<int>(i));
    }
    for (const Node* c : node->control_inputs_) sorted = sorted && c->id_ < node->id_;
  }
  if (!sorted) Sort();
}

void GraphImpl::Sort() {
  // Depth first in the order of ids, so that nodes move only if they must. Uses an explicit stack, because a graph may
  // be too deep for recursion.
  std::vector<std::shared_ptr<Node>> ordered;
  ordered.reserve(nodes_.size());
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<std::pair<Node*, bool>> stack;
  for (size_t first = 0; first < seen.size(); ++first) {
    if (!seen[first]) stack.emplace_back(nodes_[first].get(), false);
    while (!stack.empty()) {
      const auto [node, inputs_done] = stack.back();
      stack.pop_back();
      if (inputs_done) {
        ordered.push_back(std::move(nodes_[node->id_]));
        continue;
      }
      if (seen[node->id_]) continue;
      seen[node->id_] = true;
      stack.emplace_back(node, true);
      for (size_t i = 0; i < node->inputs_.size(); ++i) {
        Node* const from = NodeOf(node->inputs_[i]);
        if (!seen[from->id_] && !IsBackEdge(*node, static_cast<int>(i))) stack.emplace_back(from, false);
      }
      for (Node* c : node->control_inputs_) {
        if (!seen[c->id_]) stack.emplace_back(c, false);
      }
    }
  }
  nodes_ = std::move(ordered);
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
}

void GraphImpl::AddControlEdge(Node* from, Node* to) {
  auto& controls = to->control_inputs_;
  if (std::find(controls.begin(), controls.end(), from) == controls.end()) controls.push_back(from);
}

}  // namespace tensorbraid
