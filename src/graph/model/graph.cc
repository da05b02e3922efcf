// Implements the public handles (Graph, Operation, Output) and Operand, and converts numbers to constants. The nodes
// behind the handles are in node.h, the inside of a graph is in graph_impl.h.
#include "tensorbraid/graph/graph.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <set>
#include <utility>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/functions/function.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/operand_error.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {
namespace {

// A copy of `text` that is never destroyed, the same for equal texts. Thread-safe.
const char* Interned(const std::string& text) {
  static Mutex mu;
  static auto* texts = new std::set<std::string>;
  MutexLock lock(mu);
  return texts->insert(text).first->c_str();
}

}  // namespace

const std::string& Operation::name() const {
  static const std::string none;
  return node_ == nullptr ? none : node_->name();
}
const std::string& Operation::type() const {
  static const std::string none;
  return node_ == nullptr ? none : node_->type();
}
int Operation::num_inputs() const { return node_ == nullptr ? 0 : static_cast<int>(node_->inputs().size()); }
Output Operation::input(int i) const {
  Graph* const graph = node_ == nullptr ? nullptr : node_->graph();
  if (graph == nullptr) return {};
  const GraphLock lock(*graph);  // the loop of a Merge may be closed meanwhile
  return i < num_inputs() ? node_->inputs()[i] : Output();
}
const AttrValue* Operation::attr(std::string_view name) const {
  return node_ == nullptr ? nullptr : node_->FindAttr(name);
}
int Operation::num_outputs() const { return node_ == nullptr ? 0 : node_->num_outputs(); }
Output Operation::output(int i) const { return i < num_outputs() ? Output(node_, i) : Output(); }
const std::string& Operation::device() const {
  static const std::string none;
  return node_ == nullptr ? none : node_->device();
}
Graph* Operation::graph(std::source_location loc) const {
  return node_ == nullptr ? nullptr : &GraphUsedAt(*node_, loc);
}

DType Output::dtype() const { return valid() ? BaseType(node_->output_type(index_)) : DType::kInvalid; }
const Shape& Output::shape() const {
  static const Shape unknown = Shape::Unknown();
  return valid() ? node_->output_shape(index_) : unknown;
}
std::string Output::name() const { return valid() ? StrCat(node_->name(), ":", index_) : ""; }
Graph* Output::graph(std::source_location loc) const { return valid() ? &GraphUsedAt(*node_, loc) : nullptr; }

Operand::Operand(Output output, std::source_location loc) : value_(std::move(output)), loc_(loc) {}
Operand::Operand(Tensor constant, std::source_location loc) : value_(std::move(constant)), loc_(loc) {}
Operand::Operand(Number number, std::source_location loc) : value_(number), loc_(loc) {}
Operand::Operand(const Operand&) = default;
Operand::Operand(Operand&&) noexcept = default;
Operand& Operand::operator=(const Operand&) = default;
Operand& Operand::operator=(Operand&&) noexcept = default;
Operand::~Operand() = default;
bool Operand::is_number() const { return std::holds_alternative<Number>(value_); }

Graph* Operand::graph() const {
  const Output* output = std::get_if<Output>(&value_);
  return output == nullptr || !output->valid() ? nullptr : &GraphUsedAt(*output, loc_);
}

DType Operand::dtype() const {
  if (const Output* output = std::get_if<Output>(&value_)) return output->dtype();
  if (const Tensor* tensor = std::get_if<Tensor>(&value_)) return tensor->dtype();
  return DType::kInvalid;
}

namespace {

// Whether the integer dtype T holds a number. `integer` is the number as int64_t; a uint64_t that is too large for
// int64_t has become negative.
template <typename T>
bool Holds(double real, int64_t integer) {
  const bool wrapped = real > 0 && integer < 0;
  return wrapped ? std::is_same_v<T, uint64_t> : std::in_range<T>(integer);
}

template <typename T>
StatusOr<Tensor> IntegerConstant(double real, int64_t integer) {
  if (Holds<T>(real, integer)) return Tensor::Scalar(static_cast<T>(integer));
  using Limits = std::numeric_limits<T>;
  return InvalidArgument("which holds ", int64_t{Limits::min()}, " to ", uint64_t{Limits::max()});
}

template <typename T>
StatusOr<Tensor> FloatConstant(double real) {
  const T value(static_cast<float>(real));
  if (std::isfinite(real) && !std::isfinite(static_cast<float>(value))) {
    return InvalidArgument("in which it would be infinite");
  }
  return Tensor::Scalar(value);
}

// The number as a scalar of this dtype. The error completes "the number 300 does not fit int8, ".
StatusOr<Tensor> NumberConstant(double real, int64_t integer, bool is_integer, DType dtype) {
  if (IsInteger(dtype) && !is_integer) return InvalidArgument("which holds only integers");
  switch (dtype) {
    case DType::kFloat32:
      return FloatConstant<float>(real);
    case DType::kFloat64:
      return Tensor::Scalar(real);
    case DType::kFloat16:
      return FloatConstant<Float16>(real);
    case DType::kBfloat16:
      return FloatConstant<Bfloat16>(real);
    case DType::kComplex64: {
      TF_RETURN_IF_ERROR(FloatConstant<float>(real).status());
      return Tensor::Scalar(std::complex<float>(static_cast<float>(real)));
    }
    case DType::kComplex128:
      return Tensor::Scalar(std::complex<double>(real));
    case DType::kInt8:
      return IntegerConstant<int8_t>(real, integer);
    case DType::kInt16:
      return IntegerConstant<int16_t>(real, integer);
    case DType::kInt32:
      return IntegerConstant<int32_t>(real, integer);
    case DType::kInt64:
      return IntegerConstant<int64_t>(real, integer);
    case DType::kUint8:
      return IntegerConstant<uint8_t>(real, integer);
    case DType::kUint16:
      return IntegerConstant<uint16_t>(real, integer);
    case DType::kUint32:
      return IntegerConstant<uint32_t>(real, integer);
    case DType::kUint64:
      return IntegerConstant<uint64_t>(real, integer);
    case DType::kBool:
      if (real == 0 || real == 1) return Tensor::Scalar(real == 1);
      return InvalidArgument("which holds only true and false");
    default:
      return InvalidArgument("which has no numbers");
  }
}

}  // namespace

Output Operand::ToOutput(Graph& graph, DType number_type) const {
  if (const Output* output = std::get_if<Output>(&value_)) {
    if (!output->valid()) return {};
    Status exists = NodeOf(*output)->CheckGraphExists();
    if (exists.ok()) return *output;
    exists = Annotate(exists, LocationText(ImplOf(graph).UserLine(loc_)));
    exists.SetPayload(kNeedsOpName, absl::Cord());
    graph.AddError(exists);
    return {};
  }
  Tensor value;
  if (const Tensor* tensor = std::get_if<Tensor>(&value_)) {
    value = *tensor;
  } else {
    const Number& n = std::get<Number>(value_);
    const DType type = number_type != DType::kInvalid ? number_type : n.is_integer ? kInt32 : kFloat32;
    auto constant = NumberConstant(n.real, n.integer, n.is_integer, type);
    if (!constant.ok()) {
      const std::string number = !n.is_integer ? StrCat(n.real)
                                 : n.real > 0  ? StrCat(static_cast<uint64_t>(n.integer))
                                               : StrCat(n.integer);
      Status error = InvalidArgument("the number ", number, " (", LocationText(ImplOf(graph).UserLine(loc_)),
                                     ") does not fit ", type, ", ", constant.status().message());
      error.SetPayload(kNeedsOpName, absl::Cord());
      graph.AddError(error);
      return {};
    }
    value = *std::move(constant);
  }
  const DType dtype = value.dtype();
  return NodeBuilder(graph, "Const", loc_).Attr("value", std::move(value)).Attr("dtype", dtype).Output();
}

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue&) = default;
AttrValue::AttrValue(AttrValue&&) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue&) = default;
AttrValue& AttrValue::operator=(AttrValue&&) noexcept = default;
AttrValue::~AttrValue() = default;
AttrValue::AttrValue(const char* v) : value_(std::string(v)) {}
AttrValue::AttrValue(std::string v) : value_(std::move(v)) {}
AttrValue::AttrValue(int64_t v) : value_(v) {}
AttrValue::AttrValue(float v) : value_(v) {}
AttrValue::AttrValue(double v) : value_(static_cast<float>(v)) {}
AttrValue::AttrValue(bool v) : value_(v) {}
AttrValue::AttrValue(DType v) : value_(v) {}
AttrValue::AttrValue(Shape v) : value_(std::move(v)) {}
AttrValue::AttrValue(Tensor v) : value_(v.MayChange() ? v.DeepCopy() : std::move(v)) {}
AttrValue::AttrValue(Function v) : value_(std::make_shared<const Function>(std::move(v))) {}
AttrValue::AttrValue(std::vector<std::string> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<int64_t> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<float> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<bool> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<DType> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<Shape> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<Tensor> v) : value_(std::move(v)) {}
AttrValue::AttrValue(std::vector<std::shared_ptr<const Function>> v) : value_(std::move(v)) {}

std::string AttrValue::ToString() const {
  // A long list is cut: "[1, 2, 3, 4, 5, 6, 7, 8, ... (100 in all)]".
  static constexpr size_t kMostListed = 8;
  const auto text = [](const auto& self, const auto& v) -> std::string {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, std::monostate>) return "nothing";
    if constexpr (std::is_same_v<T, std::string>) return "'" + v + "'";
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float>) return StrCat(v);
    if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
    if constexpr (std::is_same_v<T, DType>) return DTypeName(v);
    if constexpr (std::is_same_v<T, Shape> || std::is_same_v<T, Tensor>) return v.ToString();
    if constexpr (std::is_same_v<T, std::shared_ptr<const Function>>) return v->name;
    if constexpr (requires { typename T::const_iterator; } && !std::is_same_v<T, std::string>) {
      std::vector<std::string> elements;
      for (size_t i = 0; i < std::min(v.size(), kMostListed); ++i) {
        elements.push_back(self(self, static_cast<typename T::value_type>(v[i])));
      }
      if (v.size() > kMostListed) elements.push_back(StrCat("... (", v.size(), " in all)"));
      return StrCat("[", StrJoin(elements, ", "), "]");
    }
    return "?";
  };
  return std::visit([&](const auto& v) { return text(text, v); }, value_);
}

namespace {

uint64_t NextGraphNumber() {
  static std::atomic<uint64_t> graphs{0};
  return ++graphs;
}

}  // namespace

GraphImpl::GraphImpl(Graph* self) : self_(self), number_(NextGraphNumber()) {
  static const auto* empty = new std::shared_ptr<const FunctionLibrary>(std::make_shared<FunctionLibrary>());
  functions_ = *empty;
}

Graph::Graph() : impl_(std::make_shared<GraphImpl>(this)) {}
Graph::~Graph() { impl_->End(); }
Graph::Graph(Graph&& o) noexcept : impl_(std::exchange(o.impl_, std::make_shared<GraphImpl>(&o))) {
  impl_->self_ = this;
}
Graph& Graph::operator=(Graph&& o) noexcept {
  if (this == &o) return *this;
  impl_->End();
  impl_ = std::exchange(o.impl_, std::make_shared<GraphImpl>(&o));
  impl_->self_ = this;
  return *this;
}

ScopeGuard Graph::Device(const std::string& device) {
  const auto parsed = DeviceName::Parse(device);
  AddError(parsed.status());
  impl_->here().device_scopes.push_back({.name = parsed.ok() ? device : "", .function = nullptr});
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.device_scopes.pop_back(); });
}

ScopeGuard Graph::Device(DeviceFunction function) {
  impl_->here().device_scopes.push_back({.name = "", .function = std::move(function)});
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.device_scopes.pop_back(); });
}

ScopeGuard Graph::NoDevice() {
  impl_->here().device_scopes.push_back({.name = "", .function = nullptr, .reset = true});
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.device_scopes.pop_back(); });
}

ScopeGuard Graph::NameScope(const std::string& name) {
  std::string prefix;
  if (name.ends_with("/")) {
    prefix = name.substr(0, name.size() - 1);
  } else if (!name.empty()) {
    prefix = impl_->UniqueName(name);
  }
  impl_->here().name_scopes.push_back(prefix);
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.name_scopes.pop_back(); });
}

ScopeGuard Graph::ControlDependencies(std::vector<Operation> operations) {
  GraphImpl::ControlScope scope{.nodes = {}, .reset = operations.empty()};
  for (const Operation& op : operations) {
    const Status usable = op.valid() ? impl_->CheckOwns(op) : InvalidArgument("one of the operations is not valid");
    if (usable.ok()) scope.nodes.push_back(NodeOf(op));
    AddError(Annotate(usable, "ControlDependencies"));
  }
  impl_->here().control_scopes.push_back(std::move(scope));
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.control_scopes.pop_back(); });
}

ScopeGuard Graph::ControlDependencies(const std::vector<Output>& outputs) {
  std::vector<Operation> operations;
  for (const Output& o : outputs) operations.push_back(o.op());
  return ControlDependencies(std::move(operations));
}

ScopeGuard Graph::ColocateWith(Operation op) {
  const Status owned = op.valid() ? impl_->CheckOwns(op) : OkStatus();
  AddError(Annotate(owned, "ColocateWith"));
  impl_->here().colocation_scopes.push_back(owned.ok() ? NodeOf(op) : nullptr);
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.colocation_scopes.pop_back(); });
}

ScopeGuard Graph::Container(std::string name) {
  impl_->here().container_scopes.push_back(std::move(name));
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.container_scopes.pop_back(); });
}

std::string Graph::name_scope() const { return impl_->name_scope(); }

ScopeGuard Graph::Location(const std::string& file, int line) {
  std::optional<SourceLine>& outer = impl_->here().user_line;
  if (outer.has_value()) return impl_->GuardOf([](GraphImpl::ThreadState&) {});
  outer = SourceLine(Interned(file), line);
  return impl_->GuardOf([](GraphImpl::ThreadState& thread) { thread.user_line.reset(); });
}

Status Graph::status() const { return impl_->ThreadStatus(); }
Status Graph::TakeStatus() { return impl_->TakeThreadStatus(); }
void Graph::AddError(const Status& status) { impl_->AddThreadError(status); }

StatusOr<Operation> Graph::FindOperation(std::string_view name) const {
  const GraphLock lock(*this);
  if (Node* node = impl_->Find(name)) return OperationOf(node);
  std::vector<std::string> names;
  for (const auto& [n, node] : impl_->by_name_) names.push_back(n);
  const std::string nearest = names.size() > 10'000 ? "" : NearestWord(name, names);
  return NotFound("the graph has no operation '", name, "'",
                  nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?"));
}

StatusOr<Output> Graph::FindOutput(std::string_view name) const {
  const size_t colon = name.rfind(':');
  int index = 0;
  if (colon == std::string_view::npos || colon + 1 == name.size()) {
    return InvalidArgument("'", name, "' does not name a tensor; tensors are named 'operation:output', as '", name,
                           ":0'");
  }
  for (char c : name.substr(colon + 1)) {
    if (c < '0' || c > '9' || index > 1'000'000) return InvalidArgument("'", name, "' does not name a tensor");
    index = index * 10 + (c - '0');
  }
  TF_ASSIGN_OR_RETURN(const Operation op, FindOperation(name.substr(0, colon)));
  if (index >= op.num_outputs()) {
    return NotFound("operation '", op.name(), "' has ", op.num_outputs(), " outputs; tensor '", name,
                    "' does not exist");
  }
  return op.output(index);
}

std::vector<Operation> Graph::operations() const {
  const GraphLock lock(*this);
  std::vector<Operation> ops;
  ops.reserve(impl_->nodes_.size());
  for (const auto& node : impl_->nodes_) ops.push_back(OperationOf(node.get()));
  return ops;
}

void Graph::SetRandomSeed(int64_t seed) { impl_->seed_ = seed; }
int64_t Graph::random_seed() const { return impl_->seed_; }

void Graph::AddToCollection(const std::string& key, Output output) {
  const GraphLock lock(*this);
  impl_->collections_[key].push_back(output);
}
std::vector<Output> Graph::GetCollection(const std::string& key) const {
  const GraphLock lock(*this);
  const auto it = impl_->collections_.find(key);
  return it == impl_->collections_.end() ? std::vector<Output>() : it->second;
}
std::vector<Variable> Graph::variables() const {
  const GraphLock lock(*this);
  return impl_->variables_;
}
std::vector<Variable> Graph::trainable_variables() const {
  const GraphLock lock(*this);
  std::vector<Variable> trainable;
  for (const Variable& v : impl_->variables_) {
    if (v.trainable()) trainable.push_back(v);
  }
  return trainable;
}

void Graph::Finalize(const std::string& reason) {
  MutexLock lock(impl_->mu_);
  if (impl_->finalized_by_.empty()) impl_->finalized_by_ = reason;
}
void Graph::Unfinalize() {
  MutexLock lock(impl_->mu_);
  impl_->finalized_by_.clear();
}
bool Graph::finalized() const { return !impl_->CheckMayChange().ok(); }

}  // namespace tensorbraid
