// Implements Variable, the ops that initialize several variables, and the global step.
#include "tensorbraid/graph/variable.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/text/strings.h"
#include "graph/control_flow/flow_context.h"
#include "graph/model/attr_or.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "graph/model/variable_ops.h"

namespace tensorbraid {

struct Variable::State {
  Output handle;
  Operation initializer;
  Output initial_value;
  Output is_initialized;
  Output read;  // shared by all uses outside of a ControlDependencies scope
  Shape shape;
  DType dtype = kFloat32;
  bool trainable = true;
  bool local = false;
  bool reference = false;
  std::optional<VariablePart> part_of;
  std::optional<TableDescription> table;
};

namespace {

constexpr char kTableHandle[] = "KvVarHandleOp";

// The op that says whether the variable with this handle has a value.
const char* IsInitializedOp(const Output& handle, bool reference) {
  if (handle.op().type() == kTableHandle) return "KvVarIsInitializedOp";
  return reference ? "IsVariableInitialized" : "VarIsInitializedOp";
}

// Starts the op that says whether the variable has a value, and its name after that of the variable.
NodeBuilder IsInitializedOf(const Output& handle, bool reference, const std::source_location& loc) {
  NodeBuilder node(*handle.graph(), IsInitializedOp(handle, reference), loc);
  node.Input(handle);
  return node;
}
constexpr char kIsInitialized[] = "IsInitialized/VarIsInitializedOp";
constexpr char kTableIsInitialized[] = "IsInitialized/KvVarIsInitializedOp";

constexpr std::string_view kKinds[] = {"constant", "uniform", "normal", "truncated_normal"};  // by InitialRows::Kind

Output TableHandle(Graph& graph, const std::string& name, const Shape& shape, const TableDescription& table,
                   const std::source_location& loc) {
  NodeBuilder handle(graph, kTableHandle, loc);
  handle.Name(name + "/").Attr("dtype", kFloat32).Attr("shape", Shape({shape.dim(1)})).Attr("shared_name", name);
  const InitialRows& rows = table.initial_rows;
  handle.Attr("_whole", table.whole).Attr("_part", int64_t{table.part}).Attr("_parts", int64_t{table.parts});
  if (!table.slot_of.empty()) {
    handle.Attr("_table", table.slot_of).Attr("_initial", static_cast<float>(rows.a));
    const Node* const of = ImplOf(graph).Find(table.slot_of);
    const Shape row = of == nullptr ? Shape::Unknown() : AttrOr<Shape>(*of, "shape", Shape::Unknown());
    if (row.has_rank() && row.rank() == 1 && row.dim(0) != shape.dim(1)) handle.Attr("_dim", row.dim(0));
    return handle.Output();
  }
  std::vector<float> args = {static_cast<float>(rows.a)};
  if (rows.kind != InitialRows::Kind::kConstant) args.push_back(static_cast<float>(rows.b));
  handle.Attr("_seed", rows.seed)
      .Attr("_initializer", std::string(kKinds[static_cast<size_t>(rows.kind)]))
      .Attr("_initializer_args", args);
  if (rows.matrix_rows > 0) handle.Attr("_matrix_rows", rows.matrix_rows);
  if (rows.matrix.is_valid()) handle.Attr("_matrix", rows.matrix);
  if (table.filter_freq > 0) {
    handle.Attr("_filter_freq", table.filter_freq).Attr("_no_permission", table.no_permission);
    if (table.filter_keys > 0) {
      handle.Attr("_filter_keys", table.filter_keys).Attr("_filter_error", static_cast<float>(table.filter_error));
    }
  }
  if (table.skip_not_finite) handle.Attr("_skip_not_finite", true);
  const TableEviction& evict = table.evict;
  if (evict.l2_threshold >= 0) handle.Attr("_l2_threshold", static_cast<float>(evict.l2_threshold));
  for (const auto& [name, limit] : {std::pair("_steps_to_live", evict.steps_to_live),
                                    {"_max_rows", evict.max_rows},
                                    {"_max_bytes", evict.max_bytes}}) {
    if (limit > 0) handle.Attr(name, limit);
  }
  return handle.Output();
}

// The description in the attributes of a handle's node. Without them: a table in one part, whose rows begin as zeros.
TableDescription DescriptionOf(const Node& handle) {
  TableDescription table;
  table.whole = AttrOr<std::string>(handle, "_whole", handle.name());
  table.part = static_cast<int>(AttrOr<int64_t>(handle, "_part", 0));
  table.parts = static_cast<int>(AttrOr<int64_t>(handle, "_parts", 1));
  table.slot_of = AttrOr<std::string>(handle, "_table", "");
  if (!table.slot_of.empty()) {
    table.initial_rows.a = AttrOr<float>(handle, "_initial", 0);
    return table;
  }
  table.initial_rows.seed = AttrOr<int64_t>(handle, "_seed", 0);
  const auto kind = std::ranges::find(kKinds, AttrOr<std::string>(handle, "_initializer", ""));
  if (kind != std::end(kKinds)) table.initial_rows.kind = static_cast<InitialRows::Kind>(kind - std::begin(kKinds));
  const auto args = AttrOr<std::vector<float>>(handle, "_initializer_args", {});
  if (!args.empty()) table.initial_rows.a = args[0];
  if (args.size() > 1) table.initial_rows.b = args[1];
  table.initial_rows.matrix_rows = AttrOr<int64_t>(handle, "_matrix_rows", 0);
  table.initial_rows.matrix = AttrOr<Tensor>(handle, "_matrix", {});
  table.filter_freq = AttrOr<int64_t>(handle, "_filter_freq", 0);
  table.no_permission = AttrOr<float>(handle, "_no_permission", 0);
  table.filter_keys = AttrOr<int64_t>(handle, "_filter_keys", 0);
  table.filter_error = AttrOr<float>(handle, "_filter_error", 0);
  table.skip_not_finite = AttrOr<bool>(handle, "_skip_not_finite", false);
  table.evict = {.steps_to_live = AttrOr<int64_t>(handle, "_steps_to_live", 0),
                 .l2_threshold = AttrOr<float>(handle, "_l2_threshold", -1),
                 .max_rows = AttrOr<int64_t>(handle, "_max_rows", 0),
                 .max_bytes = AttrOr<int64_t>(handle, "_max_bytes", 0)};
  return table;
}

// Records that a growing table is used like a variable that has a value.
void RefuseWhole(const Output& handle, std::string_view use, const std::source_location& loc) {
  Graph& graph = *handle.graph();
  graph.AddError(InvalidArgument("the growing table '", handle.op().name(), "' (",
                                 LocationText(ImplOf(graph).UserLine(loc)), ") cannot be ", use,
                                 " as a whole: its keys are not known beforehand; look up the rows ",
                                 "of some keys with nn::EmbeddingLookup (in Python: tf.nn.embedding_lookup)"));
}

// Starts a read of the whole variable.
NodeBuilder ReadOf(const Output& handle, DType dtype, bool reference, const std::source_location& loc) {
  NodeBuilder read(GraphUsedAt(handle, loc), reference ? "Identity" : "ReadVariableOp", loc);
  read.Input(handle);
  if (!reference) read.Attr("dtype", dtype);
  return read;
}

}  // namespace

Variable::Variable(Graph& graph, const Shape& shape, const Initializer& initializer, VariableOptions options,
                   std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const SourceLine line = ImplOf(graph).UserLine(loc);
  if (options.table ? shape.rank() != 2 || shape.dim(1) < 1 : options.fixed_shape && !shape.is_fully_defined()) {
    graph.AddError(InvalidArgument("Variable '", options.name, "' (", LocationText(line),
                                   options.table ? "): the shape of a growing table is [-1, dim] with dim >= 1, got "
                                                 : "): the shape must be fully known, got ",
                                   shape));
    return;
  }
  auto state = std::make_shared<State>();
  state->shape = shape;
  state->dtype = options.dtype;
  state->trainable = options.trainable;
  state->local = options.local;
  state->reference = options.reference;
  state->part_of = options.part_of;

  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  const ScopedFlowContext outside(graph, nullptr);  // a variable exists once, also if a loop's body makes it
  const std::string name = ImplOf(graph).UniqueName(options.name);
  if (options.table) {
    state->table = options.table;
    if (state->table->whole.empty()) state->table->whole = name;
    state->handle = TableHandle(graph, name, shape, *state->table, loc);
    if (!state->handle.valid()) return;
    auto place = graph.ColocateWith(state->handle.op());
    auto scope = graph.NameScope(name + "/");
    state->initializer = NodeBuilder(graph, "_InitializeTable", loc).Name("Assign").Input(state->handle).Finish();
    state->is_initialized = IsInitializedOf(state->handle, false, loc).Name(kTableIsInitialized).Output();
    if (!state->initializer.valid() || !state->is_initialized.valid()) return;
    Register(graph, std::move(state));
    return;
  }
  NodeBuilder handle(graph, options.reference ? "VariableV2" : "VarHandleOp", loc);
  handle.Name(name + "/").Attr("dtype", options.dtype).Attr("shape", shape);  // the "/" says that the name is complete
  if (!options.reference) handle.Attr("shared_name", name);
  state->handle = handle.Output();
  if (!state->handle.valid()) return;
  auto place = graph.ColocateWith(state->handle.op());
  {
    auto scope = graph.NameScope(name + "/Initializer/");
    ImplOf(graph).set_initialized_part(state->part_of);
    state->initial_value = initializer(graph, shape, options.dtype);
    ImplOf(graph).set_initialized_part(std::nullopt);
  }
  auto scope = graph.NameScope(name + "/");
  if (!state->initial_value.valid()) {
    graph.AddError(
        InvalidArgument("Variable '", name, "' (", LocationText(line), "): its initializer returned no tensor"));
    return;
  }
  if (state->initial_value.dtype() != options.dtype || !state->initial_value.shape().IsCompatibleWith(shape)) {
    graph.AddError(InvalidArgument("Variable '", name, "' (", LocationText(line), ") is ", options.dtype, shape,
                                   ", but its initializer returns ", state->initial_value.dtype(),
                                   state->initial_value.shape()));
    return;
  }
  state->initializer = NodeBuilder(graph, options.reference ? "Assign" : "AssignVariableOp", loc)
                           .Name("Assign")
                           .Input(state->handle)
                           .Input(state->initial_value)
                           .Finish();
  state->is_initialized = IsInitializedOf(state->handle, options.reference, loc).Name(kIsInitialized).Output();
  state->read = ReadOf(state->handle, options.dtype, options.reference, loc)
                    .Name(options.reference ? "read" : "Read/ReadVariableOp")
                    .Output();
  if (!state->read.valid()) return;
  Register(graph, std::move(state));
}

void Variable::Register(Graph& graph, std::shared_ptr<State> state) {
  state_ = std::move(state);
  graph.AddToCollection(state_->local ? "local_variables" : "global_variables", state_->handle);
  if (state_->trainable) graph.AddToCollection("trainable_variables", state_->handle);
  ImplOf(graph).AddVariable(*this);
}

StatusOr<Variable> Variable::FromNodes(Graph& graph, const Output& handle, const Operation& initializer,
                                       const Output& initial_value, const Output& read, VariableOptions options) {
  const bool table = handle.op().type() == kTableHandle;
  if (table && !initializer.valid()) return InvalidArgument("the table '", handle.name(), "' has no initializer");
  const bool reference = handle.op().type() == "VariableV2" || handle.op().type() == "Variable";
  if (!table && ((!reference && handle.op().type() != "VarHandleOp") ||
                 read.op().type() != (reference ? "Identity" : "ReadVariableOp") ||
                 NodeOf(read)->inputs()[0] != handle || !initializer.valid())) {
    return InvalidArgument("the nodes '", handle.name(), "' (", handle.op().type(), ") and '", read.name(), "' (",
                           read.op().type(), ") are not those of a variable");
  }
  auto state = std::make_shared<State>();
  state->handle = handle;
  state->initializer = initializer;
  if (table) {
    state->table = DescriptionOf(*NodeOf(handle));
    state->shape = Shape({Shape::kUnknownDim, NodeOf(handle)->attr<Shape>("shape").dim(0)});
  } else {
    state->initial_value = initial_value;
    state->read = read;
    state->shape = NodeOf(handle)->attr<Shape>("shape");
  }
  state->dtype = NodeOf(handle)->attr<DType>("dtype");
  state->trainable = options.trainable;
  state->local = options.local;
  state->reference = reference;
  state->part_of = options.part_of;
  const std::string initialized = StrCat(handle.op().name(), "/", table ? kTableIsInitialized : kIsInitialized);
  if (const auto known = graph.FindOutput(initialized + ":0"); known.ok()) {
    state->is_initialized = *known;
  } else {
    auto place = graph.ColocateWith(handle.op());
    state->is_initialized =
        IsInitializedOf(handle, reference, std::source_location::current()).Name(initialized + "/").Output();
  }
  TF_RETURN_IF_ERROR(graph.status());
  Variable variable;
  variable.Register(graph, std::move(state));
  return variable;
}

const std::string& Variable::name() const { return handle().op().name(); }
DType Variable::dtype() const { return valid() ? state_->dtype : DType::kInvalid; }
const Shape& Variable::shape() const {
  static const Shape unknown = Shape::Unknown();
  return valid() ? state_->shape : unknown;
}
bool Variable::trainable() const { return valid() && state_->trainable; }
bool Variable::is_reference() const { return valid() && state_->reference; }
bool Variable::local() const { return valid() && state_->local; }
const VariablePart* Variable::part_of() const { return valid() && state_->part_of ? &*state_->part_of : nullptr; }
const TableDescription* Variable::table() const { return valid() && state_->table ? &*state_->table : nullptr; }
Output Variable::handle() const { return valid() ? state_->handle : Output(); }
Operation Variable::initializer() const { return valid() ? state_->initializer : Operation(); }
Output Variable::initial_value() const { return valid() ? state_->initial_value : Output(); }
Output Variable::is_initialized() const { return valid() ? state_->is_initialized : Output(); }
Graph* Variable::graph(std::source_location loc) const { return valid() ? state_->handle.graph(loc) : nullptr; }

Output Variable::shared_read() const { return valid() ? state_->read : Output{}; }

Output Variable::value(std::source_location loc) const {
  if (!valid()) return {};
  if (table() != nullptr) return Read(loc);
  // If the graph was destroyed, the op that uses the read reports it.
  const Graph* const graph = NodeOf(state_->read)->graph();
  if (graph == nullptr || graph->finalized()) return state_->read;
  if (!ImplOf(*graph).in_control_scope() && ImplOf(*graph).flow_context() == nullptr) return state_->read;
  return Read(loc);
}

Output Variable::Read(std::source_location loc) const {
  if (!valid()) return {};
  if (table() != nullptr) {
    GraphUsedAt(state_->handle, loc);  // the graph exists
    RefuseWhole(state_->handle, "read", loc);
    return {};
  }
  return ReadOf(state_->handle, state_->dtype, state_->reference, loc).ColocateWith(state_->handle.op()).Output();
}

Output Variable::SparseRead(const Operand& indices, const std::string& name) const {
  if (!valid()) return {};
  Graph& g = GraphUsedAt(state_->handle, indices.location());
  const ScopedLocation at(g, indices.location());
  if (table() != nullptr) {
    Output keys = indices.ToOutput(g, kInt64);
    if (!keys.valid()) return {};
    if (keys.dtype() == kInt32) keys = NodeBuilder(g, "Cast").Input(keys).Attr("DstT", kInt64).Output();
    if (keys.dtype() != kInt64) {
      g.AddError(InvalidArgument(
          "the keys of the growing table '", state_->handle.op().name(), "' (",
          LocationText(ImplOf(g).UserLine(indices.location())), ") must be int64 or int32, got ", keys.dtype(),
          keys.dtype() == kString ? "; turn strings into keys with StringToHashBucketFast" : ""));
      return {};
    }
    auto place = g.ColocateWith(state_->handle.op());
    const Output none = NodeBuilder(g, "Const").Attr("value", Tensor(kFloat32, {0})).Attr("dtype", kFloat32).Output();
    return NodeBuilder(g, "KvResourceGather", indices.location())
        .Name(name)
        .Input(state_->handle)
        .Input(keys)
        .Input(none)
        .Attr("dtype", state_->dtype)
        .Output();
  }
  if (state_->reference) {
    return NodeBuilder(g, "Gather", indices.location())
        .Name(name)
        .Input(state_->handle)
        .Input(indices.ToOutput(g))
        .ColocateWith(state_->handle.op())
        .Output();
  }
  return NodeBuilder(g, "ResourceGather", indices.location())
      .Name(name)
      .Input(state_->handle)
      .Input(indices.ToOutput(g))
      .Attr("dtype", state_->dtype)
      .ColocateWith(state_->handle.op())
      .Output();
}

namespace {

Operation Update(const Variable& variable, const char* op, const Operand& value) {
  if (!variable.valid()) return {};
  Graph& graph = *variable.graph(value.location());
  if (variable.table() != nullptr) {
    RefuseWhole(variable.handle(), "assigned", value.location());
    return {};
  }
  NodeBuilder update(graph, OpOnVariable(variable, op), value.location());
  update.Input(variable.handle()).Input(value.ToOutput(graph, variable.dtype()));
  if (std::string_view(op) == "AssignVariableOp") update.Attr("validate_shape", variable.shape().is_fully_defined());
  return update.ColocateWith(variable.handle().op()).Finish();
}

}  // namespace

Operation Variable::Assign(const Operand& value) const { return Update(*this, "AssignVariableOp", value); }
Operation Variable::AssignAdd(const Operand& delta) const { return Update(*this, "AssignAddVariableOp", delta); }
Operation Variable::AssignSub(const Operand& delta) const { return Update(*this, "AssignSubVariableOp", delta); }

Operand::Operand(const Variable& variable, std::source_location loc) : value_(variable.value(loc)), loc_(loc) {}

Operation VariablesInitializer(Graph& graph, const std::vector<Variable>& variables, const std::string& name,
                               std::source_location loc) {
  NodeBuilder init(graph, "NoOp", loc);
  init.Name(name);
  for (const Variable& v : variables) init.Control(v.initializer());
  return init.Finish();
}

Operation GlobalVariablesInitializer(Graph& graph, std::source_location loc) {
  std::vector<Variable> variables;
  for (const Variable& v : graph.variables()) {
    if (!v.local()) variables.push_back(v);
  }
  return VariablesInitializer(graph, variables, "init", loc);
}

Operation LocalVariablesInitializer(Graph& graph, std::source_location loc) {
  std::vector<Variable> variables;
  for (const Variable& v : graph.variables()) {
    if (v.local()) variables.push_back(v);
  }
  return VariablesInitializer(graph, variables, "init_local", loc);
}

Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  auto scope = graph.NameScope("report_uninitialized_variables");
  std::vector<std::string> names;
  std::vector<Output> flags;
  for (const Variable& v : variables) {
    if (!v.valid()) continue;
    names.push_back(v.name());
    flags.push_back(IsInitializedOf(v.handle(), v.is_reference(), loc).ColocateWith(v.handle().op()).Output());
  }
  const Output all = NodeBuilder(graph, "Const").Attr("value", Tensor::Vector(names)).Attr("dtype", kString).Output();
  if (names.empty()) return all;
  const Output initialized = NodeBuilder(graph, "Pack").InputList(flags).Output();
  const Output missing = NodeBuilder(graph, "LogicalNot").Input(initialized).Output();
  const Output where = NodeBuilder(graph, "Where").Input(missing).Output();
  const Output indices =
      NodeBuilder(graph, "Squeeze").Input(where).Attr("squeeze_dims", std::vector<int64_t>{1}).Output();
  const Output axis =
      NodeBuilder(graph, "Const").Attr("value", Tensor::Scalar<int32_t>(0)).Attr("dtype", kInt32).Output();
  return NodeBuilder(graph, "GatherV2").Input(all).Input(indices).Input(axis).Output();
}

Variable GetGlobalStep(const Graph& graph) {
  const std::vector<Output> marked = graph.GetCollection("global_step");
  for (const Variable& v : graph.variables()) {
    if (!marked.empty() ? v.handle() == marked[0] : v.name() == "global_step") return v;
  }
  return {};
}

Variable GetOrCreateGlobalStep(Graph& graph, std::source_location loc) {
  if (Variable v = GetGlobalStep(graph); v.valid()) return v;
  auto top = graph.NameScope("");
  Variable step(graph, {}, Zeros(), {.name = "global_step", .dtype = kInt64, .trainable = false}, loc);
  if (step.valid()) graph.AddToCollection("global_step", step.handle());
  return step;
}

}  // namespace tensorbraid
